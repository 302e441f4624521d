"""What the reader of a report should know of measured rules: where they could not measure."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from robogaze.core.events import Name
from robogaze.domains import Domain
from robogaze.evidence import ClipSignals, MeasurementGap
from robogaze.stages.event_rule import EventRule

UNMEASURED = "Not measured: "
"""How a note on a gap begins, so that whoever sums up reports can count them."""

ONLY_EVIDENCE = "Measured, but evidence only: "
"""How a note on a finding that makes no event begins."""

_SHOWN_STRETCHES = 3


def gaps_in_words(
    found: Sequence[tuple[EventRule, MeasurementGap]], evidence: ClipSignals, domain: Domain
) -> Iterator[tuple[Name, str]]:
    """Gaps in words, those of a type that have one reason in one sentence; each with its dimension."""
    for (kind, why), same in groupby(found, key=lambda one: (one[0].type, one[1].why)):
        where = ", ".join(_where(gap, evidence) for _, gap in same)
        yield domain.dimension_of[kind], f"{UNMEASURED}{domain.types[kind].name} in {where}: {why}"


def _where(gap: MeasurementGap, evidence: ClipSignals) -> str:
    """How many frames of which view, and when: the longest stretches."""
    edges = (*evidence.frame_times_s, evidence.duration_s)
    longest = sorted(gap.runs, key=lambda run: edges[run[0]] - edges[run[1]])[:_SHOWN_STRETCHES]
    when = ", ".join(f"{edges[first]:.2f}-{edges[end]:.2f} s" for first, end in sorted(longest))
    more = f" and {len(gap.runs) - len(longest)} more" if len(gap.runs) > len(longest) else ""
    view = f" of the view {gap.view}" if len(evidence.views) > 1 else ""
    return f"{gap.frames} of {gap.of} frames{view} ({when}{more})"
