"""What a reader must know before trusting the numbers: a set of checks, each answered either way."""

from dataclasses import dataclass

from robogaze.core.report import Report
from robogaze.domains import Domain
from robogaze.reporting.tally import Tally, coverage, dimension_names, unmeasured
from robogaze.reporting.wording import count


@dataclass(frozen=True)
class Check:
    """One answer: a sentence, whether it is a good one, and the clips' status to filter by for a closer look."""

    good: bool
    sentence: str
    status: str | None = None


def checks(tally: Tally[Report]) -> tuple[Check, ...]:
    """All checks, in order of weight. Without a single report only that is said."""
    if not tally.reports:
        return (_unreadable(tally), Check(False, "There is no report: nothing is known about any clip."))
    return (
        _unscored(tally),
        _unreadable(tally),
        _partial(tally),
        _assessed(tally),
        _unseen(tally),
        _unmeasured(tally),
        _calls(tally),
        _fingerprint(tally),
    )


def _unscored(tally: Tally[Report]) -> Check:
    number = tally.standings["unscored"]
    if not number:
        return Check(True, "No clip is unscored.")
    of = f"{number} of {count(tally.clips, 'clip')}"
    return Check(False, f"{of} unscored: no dimension could be judged, so nothing is known about them.", "unscored")


def _unreadable(tally: Tally[Report]) -> Check:
    number = len(tally.unreadable)
    if not number:
        return Check(True, "Every file could be read.")
    return Check(
        False, f"{count(number, 'file')} could not be read, so nothing is known about the content.", "unreadable"
    )


def _partial(tally: Tally[Report]) -> Check:
    number = tally.standings["partial"]
    if not number:
        return Check(True, "No clip is partial.")
    missing = [name for report in tally.reports if report.status == "partial" for name in report.left_open]
    names = dimension_names(missing, tally.domain)
    why = f"{names} not judged; events there would be missing" if names else "no dimension is judged as a whole"
    return Check(False, f"{count(number, 'clip')} partial: {why}.", "partial")


def _assessed(tally: Tally[Report]) -> Check:
    return Check(all(number == len(tally.reports) for number in tally.assessed_in.values()), coverage(tally))


def _unseen(tally: Tally[Report]) -> Check:
    shares = sorted(share for report in tally.reports if (share := unseen_frames(report) / report.clip.frame_count))
    if not shares:
        return Check(True, "No report names a frame that went unseen.")
    extent = f"{shares[0]:.0%}" if f"{shares[0]:.0%}" == f"{shares[-1]:.0%}" else f"{shares[0]:.0%} to {shares[-1]:.0%}"
    where = f"In {len(shares)} of {count(len(tally.reports), 'clip')} with a report"
    return Check(
        False, f"{where}, {extent} of the frames were shown to no specialist; what happens only there is missed."
    )


def _unmeasured(tally: Tally[Report]) -> Check:
    said = unmeasured(tally)
    return Check(not said, said or "No report tells of frames that could not be measured.")


def _calls(tally: Tally[Report]) -> Check:
    calls = [call for report in tally.reports for call in report.provenance.calls]
    failed = sum(call.outcome == "failed" for call in calls)
    invalid = sum(call.outcome == "invalid" for call in calls)
    if not calls:
        return Check(True, "No call to a model is recorded.")
    if not failed + invalid:
        return Check(True, f"All {len(calls)} recorded calls were answered in the form asked for.")
    return Check(
        False,
        f"Of {len(calls)} recorded calls {failed} failed and {invalid} brought an answer that broke the form; "
        "a later attempt may have made up for it.",
    )


def _fingerprint(tally: Tally[Report]) -> Check:
    other = sum(differs(report, tally.domain) for report in tally.reports)
    if not other:
        return Check(True, "All reports speak in the same version of the domain as this page.")
    return Check(
        False, f"{count(other, 'report')} made under another version of the domain; names and severities may differ."
    )


def differs(report: Report, domain: Domain) -> bool:
    """Whether a report was made under another domain, or another version of it."""
    return report.domain.fingerprint != domain.fingerprint


def unseen_frames(report: Report) -> int:
    """How many frames no specialist was shown."""
    return sum(end - first for first, end in report.unseen)
