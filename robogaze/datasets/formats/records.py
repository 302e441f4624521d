"""Strict types for the records of a format.

A record may have additional keys, which are ignored. Values are not converted: the text "1" is not accepted as a
number, true is not accepted as 1, and NaN is not accepted as a time.
"""

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from robogaze.core.data import first_fault
from robogaze.datasets.documents import FormatError, Place

_MAX_FRAMES = 10**7
"""More than a day at 100 frames per second; a larger number is a mistake and would fill the memory."""


class ForeignRecord(BaseModel):
    """A record of another tool's format."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


def _whole(value: Any) -> Any:
    # JSON does not distinguish 4 from 4.0, and some programs write every number as the latter.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
SeverityLevel = Annotated[Whole, Field(ge=1, le=5)]
Confidence = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0)]
"""A frame rate, or a duration in seconds."""
FrameCount = Annotated[Whole, Field(ge=1, le=_MAX_FRAMES)]
FrameNumber = Annotated[Whole, Field(le=_MAX_FRAMES)]
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]
Identifier = str | Whole
"""A name, or a number used as one."""

Record = TypeVar("Record", bound=ForeignRecord)


def parse(record: type[Record], value: Any, place: Place = ()) -> Record:
    """Validate a value as a `record`; `place` says where the value is in its document. If a part of the value does not
    fit, raises FormatError with the place of this part.
    """
    try:
        return record.model_validate(value)
    except ValidationError as error:
        inner, message = first_fault(error)
        raise FormatError(message, (*place, *_keys(value, inner))) from error


def _keys(value: Any, place: Sequence[str | int]) -> tuple[str | int, ...]:
    """A place without the names that pydantic adds for the members of a union."""
    keys: list[str | int] = []
    for step in place:
        if isinstance(value, dict):
            keys.append(step)
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            keys.append(step)
            value = value[step] if step < len(value) else None
    return tuple(keys)
