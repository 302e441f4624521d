"""Which clips with a report want to be done again."""

from robogaze.backends import AnswerStore
from robogaze.core.report import Report
from robogaze.core.report_summary import ReportSummary
from robogaze.errors import RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable

_PASSING = frozenset(kind.__name__ for kind in (RateLimited, ServerFault, ServerStalled, Unreachable))
"""Failures in which no answer came, so that asking again is asking for the first time."""

_UNDECIDED = "Undecided"
_WANTING = frozenset({"InvalidAnswer", RequestRefused.__name__, _UNDECIDED})
"""Failures that another answer would mend."""


def awaits_answer(report: Report | ReportSummary) -> bool:
    """Whether a question of a clip was never answered, so that the same command puts it again."""
    return any(failure.kind in _PASSING for failure in report.failures)


def wants_other_answers(report: Report | ReportSummary) -> bool:
    """Whether a clip's answers were refused, could not be used or settled nothing; `retry_failed` asks for others."""
    return any(failure.kind in _WANTING for failure in report.failures)


def found_no_server(report: Report | ReportSummary) -> bool:
    """Whether a clip was not judged because no server could be reached."""
    return report.status == "unscored" and any(one.kind == Unreachable.__name__ for one in report.failures)


def forget_answers(report: Report, answers: AnswerStore) -> None:
    """Forget the answers that broke their contract or left something undecided; the cache would only repeat them."""
    undecided = {failure.stage for failure in report.failures if failure.kind == _UNDECIDED}
    calls = [call for call in report.provenance.calls if call.outcome == "invalid" or call.stage in undecided]
    answers.forget(call.key for call in calls)
