"""What models answer in words that code understands: claims, segments, routes, decisions.

The field names are the paper's (RoboGaze, A.3); what code must be able to check is narrowed per clip: types and
dimensions to the domain's, cited frames to those that were shown, times to the clip.
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from robogaze.core.time import Span
from robogaze.domains import Dimension
from robogaze.domains.contract import LIST_LIMIT, Answer, Text, list_of

A = TypeVar("A", bound=BaseModel)

SeverityAnswer = Annotated[int, Field(ge=1, le=5)]
ShareAnswer = Annotated[float, Field(ge=0, le=1)]


def one_of(values: Iterable[str | int]) -> Any:
    """The type of one of some values; true and 1.0 are not the number 1."""
    return Annotated[Literal[tuple(values)], BeforeValidator(_text_or_whole)]


def _text_or_whole(value: Any) -> Any:
    if isinstance(value, bool | float):
        raise ValueError(f"{json.dumps(value)} is no whole number")
    return value


def narrowed(base: type[A], **fields: Any) -> type[A]:
    """A contract with some fields narrowed to narrower types."""
    declared: Any = {name: (kind, ...) for name, kind in fields.items()}
    made: type[A] = create_model(base.__name__, __base__=base, **declared)
    return made


def seconds(duration_s: float) -> Any:
    """The type of a span as two times within a clip of that length."""
    return Annotated[list[Annotated[float, Field(ge=0, le=duration_s)]], Field(min_length=2, max_length=2)]


class FaultAnswer(Answer):
    """A fault as a model states it: what is said before how it is labelled, so that the label follows from it."""

    description: Text
    evidence: Text
    frames: list[int]
    dimension: str
    type: str


class ClaimAnswer(FaultAnswer):
    """A fault with its time."""

    span_s: list[float]

    @model_validator(mode="after")
    def _span_is_in_order(self) -> Self:
        if len(self.span_s) == 2:
            Span(*self.span_s)
        return self


class RecurringAnswer(FaultAnswer):
    """A fault with every time it can be seen at."""

    spans_s: list[list[float]]

    @model_validator(mode="after")
    def _spans_are_apart(self) -> Self:
        spans = sorted((Span(*one) for one in self.spans_s if len(one) == 2), key=lambda span: span.start)
        for before, after in pairwise(spans):
            if after.start <= before.end:
                raise ValueError(
                    f"spans_s: [{after.start}, {after.end}] begins before [{before.start}, {before.end}] is over; "
                    "state what is seen without a break as one span"
                )
        return self


@lru_cache(maxsize=256)
def claim(
    base: type[FaultAnswer], duration_s: float, dimensions: tuple[Dimension, ...], frames: tuple[int, ...]
) -> type[FaultAnswer]:
    """A fault's contract for clips of one length: the dimensions with their types, and the frames to cite from."""
    span = seconds(duration_s)
    times = {"spans_s": list_of(span, LIST_LIMIT, least=1)} if issubclass(base, RecurringAnswer) else {"span_s": span}
    return narrowed(
        base,
        dimension=one_of(dimension.id for dimension in dimensions),
        type=one_of(kind.id for dimension in dimensions for kind in dimension.types),
        frames=list_of(one_of(frames), 8, least=1),
        **times,
    )


@lru_cache(maxsize=256)
def wrapped(name: str, item: type[BaseModel], limit: int) -> type[Answer]:
    """A contract with one list."""
    declared: Any = {name: (list_of(item, limit), ...)}
    made: type[Answer] = create_model(name.title(), __base__=Answer, **declared)
    return made


def keyed(name: str, item: type[Answer], keys: Iterable[str], *, may_miss: bool = False) -> type[Answer]:
    """A contract with one record for each key, so that a grammar can leave none out.

    With `may_miss` an answer that lacks some is still read, with None in their place: a server without grammars
    should not lose what it did say.
    """
    wanted = list(keys)
    declared: Any = dict.fromkeys(wanted, (item | None, None) if may_miss else (item, ...))
    records = create_model(f"{name.title()}ByKey", __base__=_AllKeys, **declared)
    outer: Any = {name: (records, ...)}
    made: type[Answer] = create_model(name.title(), __base__=Answer, **outer)
    return made


def _demand_all(schema: dict[str, Any]) -> None:
    """In the schema every key is required and none may be null, whatever the reader forgives."""
    for key, part in schema["properties"].items():
        schema["properties"][key] = part["anyOf"][0] if "anyOf" in part else part
    schema["required"] = list(schema["properties"])


class _AllKeys(Answer):
    model_config = ConfigDict(json_schema_extra=_demand_all)
