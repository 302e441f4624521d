"""A report at a glance: what a run of many clips keeps in mind of each.

A report with its ledger is long. Counting clips, knowing which want to be asked again, and summing up what a run cost
take little of it, and only that is read here.
"""

from typing import Self

from pydantic import BaseModel, ConfigDict

from robogaze.core.report import Report, Status, Usage


class _Glance(BaseModel):
    """Reads its fields and passes over all others."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Mark(_Glance):
    """An event, less where it is and what is said of it."""

    type: str
    dimension: str
    severity: int | None = None


class Lack(_Glance):
    """A failure, less its message."""

    stage: str
    kind: str


class Digest(_Glance):
    """What a run keeps in mind of a report; the fields are the report's."""

    pipeline: str
    author: str
    status: Status
    assessed: tuple[str, ...]
    in_part: tuple[str, ...] = ()
    judged: tuple[str, ...]
    events: tuple[Mark, ...]
    failures: tuple[Lack, ...] = ()
    notes: tuple[str, ...] = ()
    usage: Usage = Usage()

    @classmethod
    def of(cls, report: Report) -> Self:
        """A report's digest."""
        return cls.model_validate(report, from_attributes=True)

    @property
    def clean(self) -> bool:
        """Every assessed dimension was judged and nothing was found."""
        return self.status == "ok" and not self.events
