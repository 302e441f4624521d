"""What the reader of a report should know of measured rules: what they look for, and where they could not tell."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby

from robogaze.core.events import Name
from robogaze.domains import Domain
from robogaze.evidence import Evidence, Gap
from robogaze.stages.event_rule import EventRule

UNMEASURED = "Not measured: "
"""How a note begins that tells of a gap, so that whoever sums up reports can count them."""

ONLY_EVIDENCE = "Measured, but evidence only: "
"""How a note begins that tells of a finding that makes no event."""

_SHOWN_STRETCHES = 3


def types_looked_for(domain: Domain, types: Collection[Name], in_part: Collection[Name]) -> Iterator[str]:
    """Which types of event can be found: in the dimensions that are judged, and in each that is looked at in part."""
    names = {
        name: [domain.types[kind].name for kind in dict.fromkeys(types) if domain.dimension_of[kind] == name]
        for name in domain.dimensions
    }
    judged = [name for name, found in names.items() if found and name not in in_part]
    if judged:
        found = ", ".join(one for name in judged for one in names[name])
        missing = any(domain.dimension_of[kind] in judged for kind in domain.types if kind not in types)
        rest = "; their other types need a model" if missing else ""
        yield f"Measured in pixels, of the dimensions judged here: {found}{rest}."
    for name in (name for name in domain.dimensions if name in in_part):
        yield (
            f"Looked at in part: {domain.dimensions[name].name}, of which some faults of these types can be found: "
            f"{', '.join(names[name])}. That nothing is found there is no judgement."
        )


def gaps_in_words(
    found: Sequence[tuple[EventRule, Gap]], evidence: Evidence, domain: Domain
) -> Iterator[tuple[Name, str]]:
    """Gaps in words, those of a type that have one reason in one sentence; each with its dimension."""
    for (kind, why), same in groupby(found, key=lambda one: (one[0].type, one[1].why)):
        where = ", ".join(_where(gap, evidence) for _, gap in same)
        yield domain.dimension_of[kind], f"{UNMEASURED}{domain.types[kind].name} in {where}: {why}"


def _where(gap: Gap, evidence: Evidence) -> str:
    """How many frames of which view, and when: the longest stretches."""
    edges = (*evidence.frame_times_s, evidence.duration_s)
    longest = sorted(gap.runs, key=lambda run: edges[run[0]] - edges[run[1]])[:_SHOWN_STRETCHES]
    when = ", ".join(f"{edges[first]:.2f}-{edges[end]:.2f} s" for first, end in sorted(longest))
    more = f" and {len(gap.runs) - len(longest)} more" if len(gap.runs) > len(longest) else ""
    view = f" of the view {gap.view}" if len(evidence.views) > 1 else ""
    return f"{gap.frames} of {gap.of} frames{view} ({when}{more})"
