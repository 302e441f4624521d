"""What a reader must know before trusting the numbers: a set of checks, each answered either way."""

from dataclasses import dataclass

from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.reporting.summary import Tally, dimension_names, not_examined, unmeasured
from robogaze.reporting.wording import count


@dataclass(frozen=True)
class ValidityCheck:
    """One answer: a sentence, whether it is a good one, and which clips to look at.

    `status` is a status or a verdict to filter the list of clips by, None for no filter.
    """

    good: bool
    sentence: str
    status: str | None = None


def checks(tally: Tally[Report]) -> tuple[ValidityCheck, ...]:
    """All checks, in order of weight. Without a single report only that is said."""
    if not tally.reports:
        return (_unreadable(tally), ValidityCheck(False, "There is no report: nothing is known about any clip."))
    return (
        _unscored(tally),
        _unreadable(tally),
        _partial(tally),
        _examined(tally),
        _unseen(tally),
        _unmeasured(tally),
        _calls(tally),
        _fingerprint(tally),
    )


def _unscored(tally: Tally[Report]) -> ValidityCheck:
    number = tally.statuses["unscored"]
    if not number:
        return ValidityCheck(True, "No clip is unscored.")
    of = f"{number} of {count(tally.clips, 'clip')}"
    return ValidityCheck(
        False, f"{of} unscored: no dimension could be examined, so nothing is known about them.", "unscored"
    )


def _unreadable(tally: Tally[Report]) -> ValidityCheck:
    number = len(tally.unreadable)
    if not number:
        return ValidityCheck(True, "Every file could be read.")
    return ValidityCheck(
        False, f"{count(number, 'file')} could not be read, so nothing is known about the content.", "unreadable"
    )


def _partial(tally: Tally[Report]) -> ValidityCheck:
    number = tally.statuses["partial"]
    if not number:
        return ValidityCheck(True, "No clip is partial.")
    partial = [report for report in tally.reports if report.status == "partial"]
    names = dimension_names([name for report in partial for name in report.undecided_dimensions], tally.domain)
    why = (
        f"undecided in {names}; events there may be missing"
        if names
        else "a stage failed (see the failures of each clip)"
    )
    return ValidityCheck(False, f"{count(number, 'clip')} partial: {why}.", "partial")


def _examined(tally: Tally[Report]) -> ValidityCheck:
    short = any(found["partial"] or found["not_examined"] for found in tally.coverage.values())
    return ValidityCheck(not short, not_examined(tally), "undecided" if short and tally.verdicts["undecided"] else None)


def _unseen(tally: Tally[Report]) -> ValidityCheck:
    shares = sorted(share for report in tally.reports if (share := unseen_frames(report) / report.clip.frame_count))
    if not shares:
        return ValidityCheck(True, "No report names a frame that went unseen.")
    extent = f"{shares[0]:.0%}" if f"{shares[0]:.0%}" == f"{shares[-1]:.0%}" else f"{shares[0]:.0%} to {shares[-1]:.0%}"
    where = f"In {len(shares)} of {count(len(tally.reports), 'clip')} with a report"
    return ValidityCheck(
        False, f"{where}, {extent} of the frames were shown to no specialist; a fault that only these show is missed."
    )


def _unmeasured(tally: Tally[Report]) -> ValidityCheck:
    said = unmeasured(tally)
    return ValidityCheck(not said, said or "No report names frames that could not be measured.")


def _calls(tally: Tally[Report]) -> ValidityCheck:
    calls = [call for report in tally.reports for call in report.provenance.calls]
    failed = sum(call.outcome == "failed" for call in calls)
    invalid = sum(call.outcome == "invalid" for call in calls)
    if not calls:
        return ValidityCheck(True, "No call to a model is recorded.")
    if not failed + invalid:
        return ValidityCheck(True, f"All {len(calls)} recorded calls were answered in the form asked for.")
    return ValidityCheck(
        False,
        f"Of {len(calls)} recorded calls {failed} failed and {invalid} brought an answer that broke the form; "
        "a later attempt may have made up for it.",
    )


def _fingerprint(tally: Tally[Report]) -> ValidityCheck:
    other = sum(differs(report, tally.domain) for report in tally.reports)
    if not other:
        return ValidityCheck(True, "All reports speak in the same version of the domain as this page.")
    return ValidityCheck(
        False, f"{count(other, 'report')} made under another version of the domain; names and severities may differ."
    )


def differs(report: Report, domain: Domain) -> bool:
    """Whether a report was made under another domain, or another version of it."""
    return report.domain.fingerprint != domain.fingerprint


def unseen_frames(report: Report) -> int:
    """How many frames no specialist was shown."""
    return sum(end - first for first, end in report.unseen)
