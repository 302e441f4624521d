"""What a set of reports adds up to. No clip is left out, and nothing is claimed that was not examined.

Every clip is counted by its verdict (faulty, clean, undecided), and by its status where that is not complete (partial,
unscored). A file that could not be read has no report and is counted all the same (unreadable).
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar, get_args

from robogaze.core.coverage import COVERED, CoverageState
from robogaze.core.report import Report, Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.wording import Total, amount, count, listed, money

UNMEASURED = "Not measured: "
"""How a note on frames in which something could not be measured begins (docs/reports.md)."""
ONLY_EVIDENCE = "Too uncertain for an event: "
"""How a note on a finding that makes no event begins."""

Counted = TypeVar("Counted", Report, ReportSummary)


def worst_severity(report: Report | ReportSummary) -> int | None:
    """The highest severity among the events; None when none of them has one."""
    return max((event.severity for event in report.events if event.severity is not None), default=None)


@dataclass(frozen=True)
class Tally(Generic[Counted]):
    """Sums over the clips of one page or table."""

    reports: tuple[Counted, ...]
    unreadable: tuple[Unreadable, ...]
    domain: Domain

    @cached_property
    def verdicts(self) -> Counter[str]:
        """The number of clips with a report by verdict."""
        return Counter[str](report.verdict for report in self.reports)

    @cached_property
    def statuses(self) -> Counter[str]:
        """The number of clips with a report by status."""
        return Counter[str](report.status for report in self.reports)

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
    def coverage(self) -> dict[str, dict[str, int]]:
        """For each dimension of the domain, and others that reports name, the number of reports by state."""
        named = dict.fromkeys((*self.domain.dimensions, *(name for report in self.reports for name in report.coverage)))
        found = Counter((name, each.state) for report in self.reports for name, each in report.coverage.items())
        return {name: {state: found[name, state] for state in get_args(CoverageState)} for name in named}


AnyTally = Tally[Report] | Tally[ReportSummary]


def dimension_names(dimensions: Sequence[str], domain: Domain) -> str:
    """Dimensions by their names, in the domain's order; one the domain does not know by its id."""
    order = [*domain.dimensions, *dimensions]
    names = [
        domain.dimensions[d].name if d in domain.dimensions else d for d in sorted(set(dimensions), key=order.index)
    ]
    return listed(names)


def headline(tally: AnyTally) -> str:
    """The counts in one line: `5 clips: 2 faulty, 1 clean, 1 undecided, 1 unreadable (status: 1 partial)`."""
    found, statuses = tally.verdicts, tally.statuses
    parts = [f"{found['faulty']} faulty", f"{found['clean']} clean", f"{found['undecided']} undecided"]
    if tally.unreadable:
        parts.append(f"{len(tally.unreadable)} unreadable")
    incomplete = ", ".join(f"{statuses[name]} {name}" for name in ("partial", "unscored") if statuses[name])
    return f"{count(tally.clips, 'clip')}: {', '.join(parts)}{f' (status: {incomplete})' if incomplete else ''}"


def nothing_found(dimensions: Iterable[str], domain: Domain) -> str:
    """That no fault was found in these dimensions, and in no others: `no visual-quality fault found`."""
    names = [domain.dimensions[name].name if name in domain.dimensions else name for name in dimensions]
    if not names:
        return "no event found, but no dimension was examined as a whole"
    if len(names) == 1:
        return f"no {names[0].lower().replace(' ', '-')} fault found"
    return f"no fault found in {listed([name.lower() for name in names])}"


def without_event(report: Report, domain: Domain) -> str:
    """What is said of a report without events: in which dimensions no fault was found, and which are undecided."""
    open_, examined = report.undecided_dimensions, covered(report)
    free = [name for name in examined if name not in open_]
    found = nothing_found(free, domain) if free or not examined else "no event found"
    return f"{found}; undecided in {dimension_names(open_, domain)}" if open_ else found


def covered(report: Report | ReportSummary) -> tuple[str, ...]:
    """The dimensions of a report in which no finding means no fault."""
    return tuple(name for name, each in report.coverage.items() if each.state in COVERED)


def without_events(tally: AnyTally) -> list[str]:
    """What is said of the clips without events: a sentence for each set of dimensions that they were examined in."""
    groups = Counter((one.clean, covered(one)) for one in tally.reports if one.status == "complete" and not one.events)
    total = len(tally.domain.dimensions)
    return [
        f"{count(number, 'clip')} clean in all {count(total, 'dimension')}."
        if clean
        else f"{count(number, 'clip')} undecided: {nothing_found(names, tally.domain)} "
        f"({len(names)} of {count(total, 'dimension')} examined)."
        for (clean, names), number in groups.most_common()
    ]


def not_examined(tally: AnyTally) -> str:
    """Which dimensions were examined partially or not at all; empty without a report."""
    if not tally.reports:
        return ""
    said = [
        f"{words}: {'; '.join(_where(tally, state))}."
        for state, words in (("not_examined", "Not examined"), ("partial", "Partially covered"))
        if any(found[state] for found in tally.coverage.values())
    ]
    return " ".join(said) or "Every dimension was examined or ruled out in every clip with a report."


def _where(tally: AnyTally, state: str) -> list[str]:
    """The dimensions in a state, those of every clip first."""
    total = len(tally.reports)
    numbers = {name: found[state] for name, found in tally.coverage.items() if found[state]}
    everywhere = [name for name, number in numbers.items() if number == total]
    by_reason: dict[str, list[str]] = {}
    for name in everywhere:
        reasons = {report.coverage[name].reason for report in tally.reports}
        # What is partially covered says at length what can be found there; the report has it.
        by_reason.setdefault(reasons.pop() if len(reasons) == 1 and state == "not_examined" else "", []).append(name)
    parts = [
        f"{dimension_names(names, tally.domain)}{f' ({reason})' if reason else ''}"
        for reason, names in by_reason.items()
    ]
    return parts + [
        f"{dimension_names([name], tally.domain)} in {number} of {total} clips"
        for name, number in numbers.items()
        if number < total
    ]


def unmeasured(tally: AnyTally) -> str:
    """In how many clips something could not be measured in some frames; empty for none."""
    gaps = [sum(note.startswith(UNMEASURED) for note in report.notes) for report in tally.reports]
    if not any(gaps):
        return ""
    clips = f"{sum(number > 0 for number in gaps)} of {count(len(gaps), 'clip')} with a report"
    return (
        f"In {clips} some frames could not be measured, for up to {count(max(gaps), 'type')} of event; "
        "what happens only there is missed (the notes of each clip say where)."
    )


def only_evidence(tally: AnyTally) -> str:
    """In how many clips something was found that is not sure enough to be an event; empty for none."""
    number = sum(any(note.startswith(ONLY_EVIDENCE) for note in report.notes) for report in tally.reports)
    if not number:
        return ""
    clips = f"{number} of {count(len(tally.reports), 'clip')} with a report"
    return f"In {clips} something was measured that is not sure enough to be an event; the notes of each clip say what."


def cost_line(tally: AnyTally) -> str:
    """Calls, tokens and cost in one line."""
    if not tally.calls:
        return "No model was asked."
    return (
        f"{count(tally.calls, 'call')}; {amount(tally.prompt_tokens, 'tokens sent')}; "
        f"{amount(tally.completion_tokens, 'tokens received')}; cost {money(tally.cost_usd)}."
    )


def verdict_sentence(report: Report, domain: Domain) -> str:
    """The verdict on a clip, and the dimensions it rests on."""
    if report.status == "unscored":
        return "Unscored: no dimension was examined, so nothing is known about this clip."
    if report.clean:
        return f"Clean: no fault found in any of the {len(report.coverage)} dimensions."
    open_ = report.undecided_dimensions
    found = count(len(report.events), "event") if report.events else without_event(report, domain)
    parts = [f"{report.verdict.capitalize()}: {found}"]
    if open_ and report.events:
        parts.append(f"undecided in {dimension_names(open_, domain)}")
    for state, words in (("partial", "partially covered"), ("not_examined", "not examined")):
        names = [name for name, each in report.coverage.items() if each.state == state and name not in open_]
        if names:
            parts.append(f"{words}: {dimension_names(names, domain)}")
    return f"{'; '.join(parts)}."
