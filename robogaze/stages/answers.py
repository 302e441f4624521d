"""The answers that several stages share, and the functions that narrow their fields to one clip.

The field names are the paper's (RoboGaze, A.3). For each clip, types and dimensions are narrowed to those of the
domain, cited frames to the shown frames, and times to the length of the clip.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any, Literal, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from robogaze.core.time import Span
from robogaze.domains import Dimension
from robogaze.domains.contract import LIST_LIMIT, Answer, Text, list_of

A = TypeVar("A", bound=BaseModel)

SeverityAnswer = Annotated[int, Field(ge=1, le=5)]
ShareAnswer = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True)
class _InOrder:
    """Keeps types separate if they differ only in the order of their values: `typing` caches these types as one."""

    values: tuple[str | int, ...]


def one_of(values: Iterable[str | int]) -> Any:
    """The type of a value that must be one of `values`; a schema lists them in this order. Neither true nor 1.0 is
    accepted as the number 1.
    """
    ordered = tuple(values)
    return Annotated[Literal[ordered], BeforeValidator(_text_or_whole), _InOrder(ordered)]


def _text_or_whole(value: Any) -> Any:
    if isinstance(value, bool | float):
        raise ValueError(f"{json.dumps(value)} is not a whole number")
    return value


def narrowed(base: type[A], **fields: Any) -> type[A]:
    """A subclass of a contract in which the given fields have narrower types. Equal types give the same subclass."""
    return _made(base.__name__, base, {name: (kind, ...) for name, kind in fields.items()})


_models: dict[Any, Any] = {}
_MOST_MODELS = 1024


def _made(name: str, base: type[A], fields: dict[str, tuple[Any, Any]]) -> type[A]:
    """A model with these fields (types and defaults). The same structure gives the same model, because making a model
    and its schema takes milliseconds.
    """
    key = name, base, tuple((field, _structure(kind), default) for field, (kind, default) in fields.items())
    made: type[A] | None = _models.get(key)
    if made is None:
        if len(_models) >= _MOST_MODELS:
            _models.clear()
        declared: Any = fields
        # Another thread may have made the same one meanwhile.
        made = _models.setdefault(key, create_model(name, __base__=base, **declared))
    return made


def _structure(kind: Any) -> Any:
    """A key that is equal for equal types. A class is equal only to itself; bounds are compared by their text."""
    arguments = get_args(kind)
    if not arguments:
        return kind if isinstance(kind, type) else repr(kind)
    return get_origin(kind), tuple(map(_structure, arguments))


def span_in(duration_s: float) -> Any:
    """The type of a span: two times in seconds, within a clip of this length.

    Prompts round the length to hundredths of a second. The schema contains the same rounded length as the prompt, and
    the check accepts the rounded length as the end of the clip. `Clip.clamp` cuts times above the exact length.
    """
    rounded = round(duration_s, 2) or duration_s
    time = Annotated[float, Field(ge=0, le=max(duration_s, rounded), json_schema_extra={"maximum": rounded})]
    return Annotated[list[time], Field(min_length=2, max_length=2)]


class FaultAnswer(Answer):
    """A fault as a model reports it. The description comes before the labels, so that the labels follow from it."""

    description: Text
    evidence: Text
    frames: list[int]
    dimension: str
    type: str


class SingleFaultAnswer(FaultAnswer):
    """A fault with one span."""

    span_s: list[float]

    @model_validator(mode="after")
    def _span_is_in_order(self) -> Self:
        if len(self.span_s) == 2:
            Span(*self.span_s)
        return self


class RecurringFaultAnswer(FaultAnswer):
    """A fault with a span for each time it appears."""

    spans_s: list[list[float]]

    @model_validator(mode="after")
    def _spans_are_apart(self) -> Self:
        spans = sorted((Span(*pair) for pair in self.spans_s if len(pair) == 2), key=lambda span: span.start)
        for before, after in pairwise(spans):
            if after.start <= before.end:
                raise ValueError(
                    f"spans_s: [{after.start}, {after.end}] begins before [{before.start}, {before.end}] ends; "
                    "give what is seen without a break as one span"
                )
        return self


F = TypeVar("F", bound=FaultAnswer)


def fault_contract(
    base: type[F], duration_s: float, dimensions: tuple[Dimension, ...], frames: tuple[int, ...]
) -> type[F]:
    """The contract of a fault in one clip: the possible dimensions and types, and the frames that may be cited."""
    span = span_in(duration_s)
    is_recurring = issubclass(base, RecurringFaultAnswer)
    times = {"spans_s": list_of(span, LIST_LIMIT, least=1)} if is_recurring else {"span_s": span}
    return narrowed(
        base,
        dimension=one_of(dimension.id for dimension in dimensions),
        type=one_of(kind.id for dimension in dimensions for kind in dimension.types),
        frames=list_of(one_of(frames), 8, least=1),
        **times,
    )


def list_answer(name: str, item: type[BaseModel], limit: int, least: int = 0) -> type[Answer]:
    """A contract with one field: a list that has at least `least` items and at most about `limit` items."""
    return _made(name.title(), Answer, {name: (list_of(item, limit, least), ...)})


def keyed_answer(name: str, item: type[Answer], keys: Iterable[str], *, may_miss: bool = False) -> type[Answer]:
    """A contract with one record for each key; a server that enforces grammars cannot omit any record.

    With `may_miss`, an answer may omit keys; their records are None. If a server without grammars omits a key, the rest
    of its answer is therefore not lost.
    """
    records = _made(
        f"{name.title()}ByKey", _AllKeys, dict.fromkeys(keys, (item | None, None) if may_miss else (item, ...))
    )
    return _made(name.title(), Answer, {name: (records, ...)})


def _demand_all(schema: dict[str, Any]) -> None:
    """The schema requires every key and allows no null, even where the check accepts an answer without it."""
    for key, part in schema["properties"].items():
        schema["properties"][key] = part["anyOf"][0] if "anyOf" in part else part
    schema["required"] = list(schema["properties"])


class _AllKeys(Answer):
    model_config = ConfigDict(json_schema_extra=_demand_all)
