"""The counts of a set of reports and the sentences that describe them.

Every clip is counted by its verdict (faulty, clean, undecided), and by its status if that is not complete (partial,
unscored). A clip whose file cannot be read has no verdict: it counts as unreadable. A clip of a stopped run that has no
report yet is pending; it is in no count but its own.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar, get_args

from robogaze.core.coverage import COVERED, CoverageState
from robogaze.core.events import NOT_MEASURED, TOO_UNCERTAIN
from robogaze.core.report import Report, Status, Unreadable, Verdict
from robogaze.core.report_summary import ReportSummary
from robogaze.domains import Domain
from robogaze.reporting.wording import Total, amount, count, listed, money

Counted = TypeVar("Counted", Report, ReportSummary)


def worst_severity(report: Report | ReportSummary) -> int | None:
    """The highest severity among the events; None if no event has a severity."""
    return max((event.severity for event in report.events if event.severity is not None), default=None)


@dataclass(frozen=True)
class RunSummary(Generic[Counted]):
    """Counts and sums over clips. `pending` is the number of clips that have no report yet."""

    reports: tuple[Counted, ...]
    unreadable: tuple[Unreadable, ...]
    domain: Domain
    pending: int = 0

    @cached_property
    def verdicts(self) -> Counter[str]:
        """The number of clips with a report by verdict."""
        return Counter[str](report.verdict for report in self.reports)

    @cached_property
    def statuses(self) -> Counter[str]:
        """The number of clips with a report by status."""
        return Counter[str](report.status for report in self.reports)

    @property
    def counts(self) -> dict[str, int]:
        """The number of clips by verdict and by status, of unreadable clips, and of clips without a report yet."""
        return {
            **{name: self.verdicts[name] for name in get_args(Verdict)},
            **{name: self.statuses[name] for name in get_args(Status)},
            "unreadable": len(self.unreadable),
            "pending": self.pending,
        }

    @property
    def usage(self) -> dict[str, float | None]:
        """The sums of calls, tokens and cost. A sum is None if a part of it is not known."""
        sums = {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cost_usd": self.cost_usd,
        }
        return {"calls": self.calls, **{name: None if total.unknown else total.known for name, total in sums.items()}}

    @property
    def clips(self) -> int:
        """The number of clips, including unreadable clips, without the pending clips."""
        return len(self.reports) + len(self.unreadable)

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
        """The part of the sent tokens that a server already had in its prefix cache."""
        return Total.of([report.usage.cached_tokens for report in self.reports])

    @property
    def completion_tokens(self) -> Total:
        """Tokens received."""
        return Total.of([report.usage.completion_tokens for report in self.reports])

    @property
    def cost_usd(self) -> Total:
        """The cost of the calls in US dollars."""
        return Total.of([report.usage.cost_usd for report in self.reports])

    @cached_property
    def coverage(self) -> dict[str, dict[str, int]]:
        """For each dimension, the number of reports in each coverage state. The dimensions are all dimensions of the
        domain and any others that a report names.
        """
        named = dict.fromkeys((*self.domain.dimensions, *(name for report in self.reports for name in report.coverage)))
        found = Counter((name, coverage.state) for report in self.reports for name, coverage in report.coverage.items())
        return {name: {state: found[name, state] for state in get_args(CoverageState)} for name in named}


AnySummary = RunSummary[Report] | RunSummary[ReportSummary]


def dimension_names(dimensions: Sequence[str], domain: Domain | None) -> str:
    """The names of dimensions, in the domain's order. If there is no domain, or if the domain does not have a
    dimension, the id of the dimension is used.
    """
    known = {} if domain is None else domain.dimensions
    order = [*known, *dimensions]
    return listed([_dimension_name(name, domain) for name in sorted(set(dimensions), key=order.index)])


def _dimension_name(dimension: str, domain: Domain | None) -> str:
    return domain.dimensions[dimension].name if domain and dimension in domain.dimensions else dimension


def clips_so_far(summary: AnySummary) -> str:
    """The number of clips that the counts are out of: `50 clips`, or `4 clips so far` if others are pending."""
    return f"{count(summary.clips, 'clip')}{' so far' if summary.pending else ''}"


def not_scored_yet(summary: AnySummary) -> str:
    """How many clips have no report yet: `46 of 50 clips are not scored yet`; empty if there are none."""
    number = summary.pending
    if not number:
        return ""
    verb = "is" if number == 1 else "are"
    return f"{number:,} of {count(number + summary.clips, 'clip')} {verb} not scored yet"


def headline(summary: AnySummary) -> str:
    """The counts in one line: `5 clips: 2 faulty, 1 clean, 1 undecided, 1 unreadable (status: 1 partial)`. A stopped
    run's line also gives the number of pending clips, and nothing else if every clip is pending.
    """
    if summary.pending and not summary.clips:
        return not_scored_yet(summary)
    found, statuses = summary.verdicts, summary.statuses
    parts = [f"{found['faulty']} faulty", f"{found['clean']} clean", f"{found['undecided']} undecided"]
    if summary.unreadable:
        parts.append(f"{len(summary.unreadable)} unreadable")
    incomplete = ", ".join(f"{statuses[name]} {name}" for name in ("partial", "unscored") if statuses[name])
    line = f"{clips_so_far(summary)}: {', '.join(parts)}{f' (status: {incomplete})' if incomplete else ''}"
    return f"{line}; {not_scored_yet(summary)}" if summary.pending else line


def nothing_found(dimensions: Iterable[str], domain: Domain | None) -> str:
    """The statement that these dimensions have no fault, such as `no visual-quality fault found`."""
    names = [_dimension_name(name, domain) for name in dimensions]
    if not names:
        return "no event found, but no dimension was fully examined"
    if len(names) == 1:
        return f"no {names[0].lower().replace(' ', '-')} fault found"
    return f"no fault found in {listed([name.lower() for name in names])}"


def without_event(report: Report, domain: Domain | None) -> str:
    """For a report without events: the dimensions that have no fault, and the dimensions that are undecided."""
    undecided, examined = report.undecided_dimensions, covered(report)
    free = [name for name in examined if name not in undecided]
    found = nothing_found(free, domain) if free or not examined else "no event found"
    return f"{found}; undecided in {dimension_names(undecided, domain)}" if undecided else found


def covered(report: Report | ReportSummary) -> tuple[str, ...]:
    """The dimensions of a report for which the absence of findings means that there is no fault."""
    return tuple(name for name, coverage in report.coverage.items() if coverage.state in COVERED)


def without_events(summary: AnySummary) -> list[str]:
    """Sentences on the complete clips without events. Clips in which the same dimensions were examined share a
    sentence.
    """
    groups = Counter(
        (report.clean, covered(report))
        for report in summary.reports
        if report.status == "complete" and not report.events
    )
    total = len(summary.domain.dimensions)
    return [
        f"{count(number, 'clip')} clean in all {count(total, 'dimension')}."
        if clean
        else f"{count(number, 'clip')} undecided: {nothing_found(names, summary.domain)} "
        f"({len(names)} of {count(total, 'dimension')} examined)."
        for (clean, names), number in groups.most_common()
    ]


def not_examined(summary: AnySummary) -> str:
    """Which dimensions were examined partially or not at all; empty without a report."""
    if not summary.reports:
        return ""
    parts = [
        f"{words}: {'; '.join(_where(summary, state))}."
        for state, words in (("not_examined", "Not examined"), ("partial", "Partially covered"))
        if any(found[state] for found in summary.coverage.values())
    ]
    return " ".join(parts) or "Every dimension was examined or ruled out in every clip with a report."


def _where(summary: AnySummary, state: str) -> list[str]:
    """The dimensions in a coverage state; dimensions in this state in every clip come first."""
    total = len(summary.reports)
    numbers = {name: found[state] for name, found in summary.coverage.items() if found[state]}
    everywhere = [name for name, number in numbers.items() if number == total]
    by_reason: dict[str, list[str]] = {}
    for name in everywhere:
        reasons = {report.coverage[name].reason for report in summary.reports}
        # The reason for partial coverage is long; the report gives it.
        by_reason.setdefault(reasons.pop() if len(reasons) == 1 and state == "not_examined" else "", []).append(name)
    parts = [
        f"{dimension_names(names, summary.domain)}{f' ({reason})' if reason else ''}"
        for reason, names in by_reason.items()
    ]
    return parts + [
        f"{dimension_names([name], summary.domain)} in {number} of {total} clips"
        for name, number in numbers.items()
        if number < total
    ]


def unmeasured(summary: AnySummary) -> str:
    """A sentence that says in how many clips some frames could not be measured. It is empty if there are none."""
    gaps = [sum(note.startswith(NOT_MEASURED) for note in report.notes) for report in summary.reports]
    if not any(gaps):
        return ""
    clips = f"{sum(number > 0 for number in gaps)} of {count(len(gaps), 'clip')} with a report"
    return (
        f"In {clips}, some frames could not be measured, for up to {count(max(gaps), 'event type')}; "
        "faults in these frames are missed (the notes of each clip name the frames)."
    )


def only_evidence(summary: AnySummary) -> str:
    """A sentence that says in how many clips a measurement is too uncertain to be an event. It is empty if there are
    none.
    """
    start = TOO_UNCERTAIN.capitalize()
    number = sum(any(note.startswith(start) for note in report.notes) for report in summary.reports)
    if not number:
        return ""
    clips = f"{number} of {count(len(summary.reports), 'clip')} with a report"
    return f"In {clips}, a measurement is too uncertain to be an event; the notes of each clip name the measurement."


def cost_line(summary: AnySummary) -> str:
    """Calls, tokens and cost in one line."""
    if not summary.calls:
        return "No model was asked."
    return (
        f"{count(summary.calls, 'call')}; {amount(summary.prompt_tokens, 'tokens sent')}; "
        f"{amount(summary.completion_tokens, 'tokens received')}; cost {money(summary.cost_usd)}."
    )


def short_verdict(report: Report, domain: Domain | None) -> str:
    """The verdict on a clip with the number of its events, or the dimensions in which it has no fault."""
    if report.status == "unscored":
        return "Unscored: no dimension was examined, so nothing is known about this clip"
    if report.clean:
        return f"Clean: no fault found in any of the {len(report.coverage)} dimensions"
    if not report.events:
        return f"{report.verdict.capitalize()}: {without_event(report, domain)}"
    undecided = report.undecided_dimensions
    more = f"; undecided in {dimension_names(undecided, domain)}" if undecided else ""
    return f"{report.verdict.capitalize()}: {count(len(report.events), 'event')}{more}"


def verdict_sentence(report: Report, domain: Domain | None) -> str:
    """The verdict on a clip, and the dimensions that were examined partially or not at all."""
    parts = [short_verdict(report, domain)]
    if report.status != "unscored" and not report.clean:
        for state, words in (("partial", "partially covered"), ("not_examined", "not examined")):
            names = [
                name
                for name, coverage in report.coverage.items()
                if coverage.state == state and name not in report.undecided_dimensions
            ]
            if names:
                parts.append(f"{words}: {dimension_names(names, domain)}")
    return f"{'; '.join(parts)}."


def coverage_sentence(report: Report, domain: Domain | None) -> str:
    """The dimensions by coverage state: `Coverage: examined: A and B; not examined: C.`"""
    parts = []
    for state in get_args(CoverageState):
        names = [name for name, coverage in report.coverage.items() if coverage.state == state]
        if names:
            parts.append(f"{state.replace('_', ' ')}: {dimension_names(names, domain)}")
    return f"Coverage: {'; '.join(parts) or 'no dimension'}."
