"""The types that records of foreign formats are checked against.

A foreign record may have more keys than are read here. What is read is taken as it is: a number is a number and no
text that looks like one, true is not 1, NaN is not a time.
"""

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from robogaze.core.data import first_fault
from robogaze.datasets.documents import FormatError

_MOST_FRAMES = 10**7
"""More than a day at 100 frames a second; a larger number is a mistake, and would fill the memory."""


class Foreign(BaseModel):
    """A record of a foreign format."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore", allow_inf_nan=False)


def _whole(value: Any) -> Any:
    # JSON does not tell 4 from 4.0, and some programs write every number in the second way.
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_whole)]
Level = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=5)]
"""A severity."""
Share = Annotated[float, Field(ge=0, le=1)]
Rate = Annotated[float, Field(gt=0)]
Count = Annotated[int, BeforeValidator(_whole), Field(ge=1, le=_MOST_FRAMES)]
Frame = Annotated[int, BeforeValidator(_whole), Field(le=_MOST_FRAMES)]
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]
Identifier = str | Whole
"""A name, or a number that serves as one."""

Record = TypeVar("Record", bound=Foreign)


def parse(kind: type[Record], value: Any) -> Record:
    """A value as a record. Raises Fault with the place of what does not fit."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        place, message = first_fault(error)
        raise FormatError(message, _keys(value, place)) from error


def _keys(value: Any, place: Sequence[str | int]) -> tuple[str | int, ...]:
    """A place without the names that pydantic adds for the members of a union."""
    kept: list[str | int] = []
    for step in place:
        if isinstance(value, dict):
            kept.append(step)
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int):
            kept.append(step)
            value = value[step] if step < len(value) else None
    return tuple(kept)
