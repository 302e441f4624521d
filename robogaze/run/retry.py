"""Decides which clips with a report are scored again."""

from robogaze.backends import AnswerStore
from robogaze.core.report import Report
from robogaze.core.report_summary import ReportSummary
from robogaze.errors import FailureKind


def awaits_answer(report: Report | ReportSummary) -> bool:
    """Whether a request got no answer; the next start sends it again."""
    return any(failure.kind.unanswered for failure in report.failures)


def has_invalid_answers(report: Report | ReportSummary) -> bool:
    """Whether a model refused to answer, or gave an answer that is invalid or leaves something undecided.
    `--retry-failed` requests new answers.
    """
    return any(failure.kind.retried_on_request for failure in report.failures)


def found_no_server(report: Report | ReportSummary) -> bool:
    """Whether the clip is unscored because no server could be reached."""
    return report.status == "unscored" and any(failure.kind is FailureKind.UNREACHABLE for failure in report.failures)


def forget_answers(report: Report, answers: AnswerStore) -> None:
    """Delete the clip's invalid and undecided answers from the cache, so that their requests are sent again."""
    undecided = {failure.stage for failure in report.failures if failure.kind is FailureKind.UNDECIDED}
    calls = [call for call in report.provenance.calls if call.outcome == "invalid" or call.stage in undecided]
    answers.forget(call.key for call in calls)
