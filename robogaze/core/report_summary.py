"""The summary of a report; a run keeps one per clip in memory.

A report with its ledger is large. Progress, retries and the totals of a run need only these fields.
"""

from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from robogaze.core.coverage import Coverage, CoverageState, states
from robogaze.core.report import SCHEMA_VERSION, Report, Status, Usage, Verdict, checked_schema
from robogaze.errors import FailureKind


class _Partial(BaseModel):
    """Reads its own fields and ignores all other fields."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class EventSummary(_Partial):
    """The labels and the severity of an event."""

    type: str
    dimension: str
    severity: int | None = None


class FailureSummary(_Partial):
    """A failure without its message."""

    stage: str
    kind: FailureKind
    dimension: str | None = None


class ReportSummary(_Partial):
    """The fields of `Report` that a run needs."""

    schema_version: Annotated[int, BeforeValidator(checked_schema)] = SCHEMA_VERSION
    pipeline: str
    author: str
    status: Status
    verdict: Verdict
    coverage: dict[str, Coverage]
    events: tuple[EventSummary, ...]
    failures: tuple[FailureSummary, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()

    @classmethod
    def of(cls, report: Report) -> Self:
        return cls.model_validate(report, from_attributes=True)

    @property
    def clean(self) -> bool:
        """Complete, no event, and every dimension examined or ruled out."""
        return self.verdict == "clean"

    @property
    def states(self) -> dict[str, CoverageState]:
        """The coverage of each dimension, without the reasons."""
        return states(self.coverage)
