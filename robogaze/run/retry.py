"""Which clips with a report are scored again, and how."""

from robogaze.backends import AnswerStore
from robogaze.core.report import Report
from robogaze.core.report_summary import ReportSummary
from robogaze.errors import RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable

_UNANSWERED = frozenset(kind.__name__ for kind in (RateLimited, ServerFault, ServerStalled, Unreachable))
"""Failures in which no answer came: the request is still open."""

_UNDECIDED = "Undecided"
_INVALID = frozenset({"InvalidAnswer", RequestRefused.__name__, _UNDECIDED})
"""Failures that another answer may remove."""


def awaits_answer(report: Report | ReportSummary) -> bool:
    """Whether a request of a clip was never answered: the next start sends it again."""
    return any(failure.kind in _UNANSWERED for failure in report.failures)


def has_invalid_answers(report: Report | ReportSummary) -> bool:
    """Whether a clip's answers were refused, invalid or undecided: `retry_failed` asks for new ones."""
    return any(failure.kind in _INVALID for failure in report.failures)


def found_no_server(report: Report | ReportSummary) -> bool:
    """Whether a clip is unscored because no server could be reached."""
    return report.status == "unscored" and any(failure.kind == Unreachable.__name__ for failure in report.failures)


def forget_answers(report: Report, answers: AnswerStore) -> None:
    """Forget the answers that were invalid or left something undecided; the cache would only repeat them."""
    undecided = {failure.stage for failure in report.failures if failure.kind == _UNDECIDED}
    calls = [call for call in report.provenance.calls if call.outcome == "invalid" or call.stage in undecided]
    answers.forget(call.key for call in calls)
