"""What a set of reports adds up to, with no clip forgotten and nothing claimed that was not judged.

Every clip has one standing:

events      every assessed dimension was judged, something was found
clean       every assessed dimension was judged, nothing was found
partial     something was judged or looked at, and something stays open
unscored    nothing was judged
unreadable  the file could not be read; there is no report, and the clip is counted all the same
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Literal, TypeVar

from robogaze.core.digest import Digest
from robogaze.core.report import Report, Unreadable
from robogaze.domains import Domain
from robogaze.reporting.wording import Total, amount, count, listed, money

UNMEASURED = "Not measured: "
"""How a note begins that tells of frames in which something could not be measured (docs/reports.md)."""
ONLY_EVIDENCE = "Measured, but evidence only: "
"""How a note begins that tells of a finding that makes no event."""

Counted = TypeVar("Counted", Report, Digest)

Standing = Literal["events", "clean", "partial", "unscored"]


def standing(report: Report | Digest) -> Standing:
    """Where a clip with a report stands."""
    if report.status == "ok":
        return "clean" if report.clean else "events"
    return report.status


def worst_severity(report: Report | Digest) -> int | None:
    """The highest severity among the events; None when none of them has one."""
    return max((event.severity for event in report.events if event.severity is not None), default=None)


@dataclass(frozen=True)
class Tally(Generic[Counted]):
    """Sums over the clips of one page or table."""

    reports: tuple[Counted, ...]
    unreadable: tuple[Unreadable, ...]
    domain: Domain

    @cached_property
    def standings(self) -> Counter[str]:
        """The number of clips by standing, the unreadable among them."""
        found = Counter[str](standing(report) for report in self.reports)
        found["unreadable"] = len(self.unreadable)
        return found

    @property
    def clips(self) -> int:
        """All clips, the unreadable among them."""
        return len(self.reports) + len(self.unreadable)

    @property
    def pipelines(self) -> list[str]:
        """The pipelines the reports come from, each once."""
        return list(dict.fromkeys(report.pipeline for report in self.reports))

    @property
    def authors(self) -> list[str]:
        """Who made the reports, each once."""
        return list(dict.fromkeys(report.author for report in self.reports))

    @property
    def calls(self) -> int:
        """Calls to models."""
        return sum(report.usage.calls for report in self.reports)

    @property
    def prompt_tokens(self) -> Total:
        """Tokens sent."""
        return Total.of([report.usage.prompt_tokens for report in self.reports])

    @property
    def cached_tokens(self) -> Total:
        """Those of the tokens sent that a server had in its prefix cache."""
        return Total.of([report.usage.cached_tokens for report in self.reports])

    @property
    def completion_tokens(self) -> Total:
        """Tokens received."""
        return Total.of([report.usage.completion_tokens for report in self.reports])

    @property
    def cost_usd(self) -> Total:
        """What the calls cost."""
        return Total.of([report.usage.cost_usd for report in self.reports])

    @cached_property
    def assessed_in(self) -> dict[str, int]:
        """In how many reports each dimension was assessed, in the domain's order, zeros included."""
        return self._by_dimension(report.assessed for report in self.reports)

    @cached_property
    def in_part_in(self) -> dict[str, int]:
        """In how many reports each dimension was looked at in part, in the domain's order, zeros included."""
        return self._by_dimension(report.in_part for report in self.reports)

    def _by_dimension(self, named: Iterable[Sequence[str]]) -> dict[str, int]:
        found: Counter[str] = Counter(dimension for dimensions in named for dimension in dimensions)
        return {dimension: found[dimension] for dimension in dict.fromkeys((*self.domain.dimensions, *found))}


AnyTally = Tally[Report] | Tally[Digest]


def dimension_names(dimensions: Sequence[str], domain: Domain) -> str:
    """Dimensions by their names, in the domain's order; one the domain does not know by its id."""
    order = [*domain.dimensions, *dimensions]
    names = [
        domain.dimensions[d].name if d in domain.dimensions else d for d in sorted(set(dimensions), key=order.index)
    ]
    return listed(names)


def headline(tally: AnyTally) -> str:
    """The counts in one line: `7 clips: 5 ok (2 without events), 1 partial, 1 unscored`."""
    found = tally.standings
    parts = [f"{found['events'] + found['clean']} ok ({found['clean']} without events)"]
    parts += [f"{found[name]} {name}" for name in ("partial", "unscored", "unreadable") if found[name]]
    return f"{count(tally.clips, 'clip')}: {', '.join(parts)}"


def clean_claims(tally: AnyTally) -> list[str]:
    """What the clips without events are free of: a sentence for each set of dimensions they were judged in."""
    groups = Counter((tuple(sorted(one.assessed)), tuple(sorted(one.in_part))) for one in tally.reports if one.clean)
    return [
        f"{count(number, 'clip')} without events, judged in {dimension_names(dimensions, tally.domain)} "
        f"({len(dimensions)} of {count(len(tally.domain.dimensions), 'dimension')})"
        f"{f'; looked at in part: {dimension_names(in_part, tally.domain)}' if in_part else ''}."
        for (dimensions, in_part), number in groups.most_common()
    ]


def coverage(tally: AnyTally) -> str:
    """Which dimensions were not assessed, or in part only; empty without a report."""
    total = len(tally.reports)
    if not total:
        return ""
    without = {name: total - number - tally.in_part_in.get(name, 0) for name, number in tally.assessed_in.items()}
    never = [name for name, number in without.items() if number == total]
    parts = [f"{dimension_names(never, tally.domain)} in {'any clip' if total > 1 else 'this clip'}"] if never else []
    parts += [
        f"{dimension_names([name], tally.domain)} in {number} of {total} clips"
        for name, number in without.items()
        if 0 < number < total
    ]
    said = [f"Not assessed: {'; '.join(parts)}."] if parts else []
    if in_part := [name for name, number in tally.in_part_in.items() if number]:
        said.append(
            f"Looked at in part (nothing found there is no judgement): {dimension_names(in_part, tally.domain)}."
        )
    return " ".join(said) or f"All {count(len(without), 'dimension')} were assessed in every clip with a report."


def unmeasured(tally: AnyTally) -> str:
    """In how many clips something could not be measured, though their dimensions count as judged; empty for none."""
    told = [sum(note.startswith(UNMEASURED) for note in report.notes) for report in tally.reports]
    if not any(told):
        return ""
    clips = f"{sum(number > 0 for number in told)} of {count(len(told), 'clip')} with a report"
    return (
        f"In {clips} some frames could not be measured, for up to {count(max(told), 'type')} of event; "
        "what happens only there is missed (the notes of each clip say where)."
    )


def only_evidence(tally: AnyTally) -> str:
    """In how many clips something was found that is not sure enough to be an event; empty for none."""
    told = sum(any(note.startswith(ONLY_EVIDENCE) for note in report.notes) for report in tally.reports)
    if not told:
        return ""
    clips = f"{told} of {count(len(tally.reports), 'clip')} with a report"
    return f"In {clips} something was measured that is not sure enough to be an event; the notes of each clip say what."


def cost_line(tally: AnyTally) -> str:
    """Calls, tokens and cost in one line."""
    if not tally.calls:
        return "No model was asked."
    return (
        f"{count(tally.calls, 'call')}; {amount(tally.prompt_tokens, 'tokens sent')}; "
        f"{amount(tally.completion_tokens, 'tokens received')}; cost {money(tally.cost_usd)}."
    )


def verdict(report: Report, domain: Domain) -> str:
    """What the report says about its clip, with the dimensions it says it for."""
    if report.status == "unscored":
        return "No dimension was judged: this report says nothing about the clip."
    found = count(len(report.events), "event") if report.events else "Nothing found"
    parts = [f"{found}, judged in {dimension_names(report.judged, domain) or 'no dimension completely'}"]
    if report.left_open:
        parts.append(f"not judged: {dimension_names(report.left_open, domain)}")
    if rest := [name for name in report.in_part if name not in report.left_open]:
        parts.append(f"looked at in part: {dimension_names(rest, domain)}")
    said = (*report.assessed, *report.left_open, *report.in_part)
    if outside := [dimension for dimension in domain.dimensions if dimension not in said]:
        parts.append(f"not assessed: {dimension_names(outside, domain)}")
    return f"{'; '.join(parts)}."
