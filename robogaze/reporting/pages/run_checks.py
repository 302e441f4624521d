"""The checks of a run: what limits its counts, and what does not."""

from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.reporting.pages.results import ValidityCheck
from robogaze.reporting.summary import RunSummary, dimension_names, not_examined, not_scored_yet, unmeasured
from robogaze.reporting.wording import count


def checks(summary: RunSummary[Report]) -> tuple[ValidityCheck, ...]:
    """All checks, the most important first; without reports, only the check that says that there are no reports."""
    if not summary.reports:
        nothing = ValidityCheck(False, "There is no report, so nothing is known about the clips.")
        return (*([_pending(summary)] if summary.pending else []), _unreadable(summary), nothing)
    return (
        _pending(summary),
        _unscored(summary),
        _unreadable(summary),
        _partial(summary),
        _examined(summary),
        _unseen(summary),
        _unmeasured(summary),
        _calls(summary),
        _fingerprint(summary),
    )


def _pending(summary: RunSummary[Report]) -> ValidityCheck:
    if not summary.pending:
        return ValidityCheck(True, "No clip of the run waits to be scored.")
    what = f"{not_scored_yet(summary)}, so no count includes them"
    return ValidityCheck(False, f"{what}; to score them, run the same command again.")


def _unscored(summary: RunSummary[Report]) -> ValidityCheck:
    number = summary.statuses["unscored"]
    if not number:
        return ValidityCheck(True, "No clip is unscored.")
    of = f"{number} of {count(summary.clips, 'clip')}"
    return ValidityCheck(
        False, f"{of} unscored: no dimension could be examined, so nothing is known about these clips.", "unscored"
    )


def _unreadable(summary: RunSummary[Report]) -> ValidityCheck:
    number = len(summary.unreadable)
    if not number:
        return ValidityCheck(True, "Every file could be read.")
    return ValidityCheck(
        False, f"{count(number, 'file')} could not be read, so their content is not known.", "unreadable"
    )


def _partial(summary: RunSummary[Report]) -> ValidityCheck:
    number = summary.statuses["partial"]
    if not number:
        return ValidityCheck(True, "No clip is partial.")
    partial = [report for report in summary.reports if report.status == "partial"]
    names = dimension_names([name for report in partial for name in report.undecided_dimensions], summary.domain)
    why = (
        f"undecided in {names}; events in these dimensions may be missing"
        if names
        else "a stage failed (see the failures of each clip)"
    )
    return ValidityCheck(False, f"{count(number, 'clip')} partial: {why}.", "partial")


def _examined(summary: RunSummary[Report]) -> ValidityCheck:
    short = any(found["partial"] or found["not_examined"] for found in summary.coverage.values())
    return ValidityCheck(
        not short, not_examined(summary), "undecided" if short and summary.verdicts["undecided"] else None
    )


def _unseen(summary: RunSummary[Report]) -> ValidityCheck:
    shares = sorted(share for report in summary.reports if (share := unseen_frames(report) / report.clip.frame_count))
    if not shares:
        return ValidityCheck(True, "According to the reports, every frame was shown to a specialist.")
    extent = f"{shares[0]:.0%}" if f"{shares[0]:.0%}" == f"{shares[-1]:.0%}" else f"{shares[0]:.0%} to {shares[-1]:.0%}"
    where = f"In {len(shares)} of {count(len(summary.reports), 'clip')} with a report"
    return ValidityCheck(
        False,
        f"{where}, no specialist saw {extent} of the frames; faults that are visible only in these frames are missed.",
    )


def _unmeasured(summary: RunSummary[Report]) -> ValidityCheck:
    sentence = unmeasured(summary)
    return ValidityCheck(not sentence, sentence or "No report mentions frames that could not be measured.")


def _calls(summary: RunSummary[Report]) -> ValidityCheck:
    calls = [call for report in summary.reports for call in report.provenance.calls]
    failed = sum(call.outcome == "failed" for call in calls)
    invalid = sum(call.outcome == "invalid" for call in calls)
    if not calls:
        return ValidityCheck(True, "No call to a model is recorded.")
    if not failed + invalid:
        return ValidityCheck(True, f"All {len(calls)} recorded calls got a valid answer.")
    return ValidityCheck(
        False,
        f"Of {len(calls)} recorded calls, {failed} failed and {invalid} got an invalid answer; a later attempt "
        f"may have "
        "succeeded.",
    )


def _fingerprint(summary: RunSummary[Report]) -> ValidityCheck:
    other = sum(differs(report, summary.domain) for report in summary.reports)
    if not other:
        return ValidityCheck(True, "All reports and this page use the same version of the domain.")
    return ValidityCheck(
        False,
        f"{count(other, 'report')} made with a different version of the domain than this page; names and "
        f"severities may differ.",
    )


def differs(report: Report, domain: Domain) -> bool:
    """Whether a report was made with another domain or with another version of this domain."""
    return report.domain.fingerprint != domain.fingerprint


def unseen_frames(report: Report) -> int:
    """The number of frames that no specialist saw."""
    return sum(end - first for first, end in report.unseen)
