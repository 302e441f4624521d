"""A report at a glance: what a run of many clips keeps in mind of each.

A report with its ledger is long. Counting clips, knowing which want to be asked again, and summing up what a run cost
take little of it, and only that is read here.
"""

from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict

from robogaze.core.coverage import Coverage, CoverageState, states
from robogaze.core.report import SCHEMA_VERSION, Report, Status, Usage, Verdict, checked_schema
from robogaze.errors import FailureKind


class _Glance(BaseModel):
    """Reads its fields and passes over all others."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class EventSummary(_Glance):
    """An event, less where it is and what is said of it."""

    type: str
    dimension: str
    severity: int | None = None


class FailureSummary(_Glance):
    """A failure, less its message."""

    stage: str
    kind: FailureKind
    dimension: str | None = None


class ReportSummary(_Glance):
    """What a run keeps in mind of a report; the fields are the report's."""

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
        """The summary of a report."""
        return cls.model_validate(report, from_attributes=True)

    @property
    def clean(self) -> bool:
        """Complete, no event, and every dimension examined or ruled out."""
        return self.verdict == "clean"

    @property
    def states(self) -> dict[str, CoverageState]:
        """How far each dimension was examined."""
        return states(self.coverage)
