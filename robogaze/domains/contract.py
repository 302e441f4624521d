"""The contract of an answer: a type that checks it, and the JSON schema that the model is sent.

Everything in the schema is bounded, so that a model that decodes under a grammar can always finish and cannot fill the
context. Text is bounded by a pattern and not by `maxLength`, because under `maxLength` some grammar backends let a
model write control characters, which are not valid JSON. The check allows longer texts and lists than the schema.
Therefore, an answer from a server without grammars is not rejected if it is merely one sentence too long.

In their front matter, the prompts of a domain declare the part of their answer that depends on the domain. A
declaration combines these five kinds of value:

    answer:
      goal: text                                  a sentence or two
      nearest_object: phrase                      a few words
      place: box                                  [left, top, right, bottom] in thousandths of a picture
      objects: [phrase]                           a list
      subtasks: [{name: phrase, outcome: text}]   a list of records
"""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    StringConstraints,
    WithJsonSchema,
    create_model,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

TEXT_LIMIT, PHRASE_LIMIT, LIST_LIMIT = 400, 120, 12
_TOLERANCE = 4


def _schema(limit: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": rf'^[^\u0000-\u001f"\\]{{1,{limit}}}$'})


Text = Annotated[str, StringConstraints(min_length=1, max_length=_TOLERANCE * TEXT_LIMIT), _schema(TEXT_LIMIT)]
"""A sentence or two: about TEXT_LIMIT characters at most."""

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=_TOLERANCE * PHRASE_LIMIT), _schema(PHRASE_LIMIT)]
"""A few words: about PHRASE_LIMIT characters at most."""


def _not_empty(sides: list[int]) -> list[int]:
    left, top, right, bottom = sides
    if left >= right or top >= bottom:
        raise ValueError(f"{sides} is empty; a box is [left, top, right, bottom] with left < right and top < bottom")
    return sides


BoxSides = Annotated[
    list[Annotated[int, Field(ge=0, le=1000)]], Field(min_length=4, max_length=4), AfterValidator(_not_empty)
]
"""[left, top, right, bottom] in thousandths of a picture's width and height, from its top left corner; never empty."""


class Answer(BaseModel):
    """The base class of answers: unknown keys are refused, and nothing is converted from another type.

    An answer that `stands_alone` is accepted only without text around it. Docstrings are for developers: they are not
    part of the schema that a model is sent.
    """

    stands_alone: ClassVar[bool] = False

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        written = handler(schema)
        handler.resolve_ref_schema(written).pop("description", None)
        return written


def list_of(kind: Any, limit: int = LIST_LIMIT, least: int = 0) -> Any:
    """The type of a list with at least `least` and at most about `limit` items."""
    bounds = Field(min_length=least, max_length=_TOLERANCE * limit, json_schema_extra={"maxItems": limit})
    return Annotated[list[kind], bounds]


def record(name: str, fields: dict[str, Any]) -> type[Answer]:
    """The type of a record that is declared in front matter. All fields of the record are required.

    The same declaration gives the same type. Raises ValueError for an unknown kind and for an invalid field name.
    """
    for field in fields:
        if not isinstance(field, str) or not field.isidentifier() or field[0] == "_" or hasattr(Answer, field):
            raise ValueError(f"{field}: cannot name a field; use another word of letters, digits and _")
    for key, value in fields.items():
        _kind(key, value)
    return _made(name, json.dumps(fields))


@lru_cache(maxsize=256)
def _made(name: str, written: str) -> type[Answer]:
    declared: Any = {key: (_kind(key, value), ...) for key, value in json.loads(written).items()}
    made: type[Answer] = create_model(name, __base__=Answer, **declared)
    return made


_WORDS: Mapping[str, Any] = {"text": Text, "phrase": Phrase, "box": BoxSides}


def _kind(name: str, declared: Any) -> Any:
    if isinstance(declared, str) and declared in _WORDS:
        return _WORDS[declared]
    if isinstance(declared, dict) and declared:
        return record(name, declared)
    if isinstance(declared, list) and len(declared) == 1:
        return list_of(_kind(name, declared[0]))
    raise ValueError(
        f"{name}: an answer is 'text', 'phrase', 'box', a record, or a list of one of these, not {declared!r}"
    )


@lru_cache(maxsize=256)
def json_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, without titles, which only repeat the names."""
    schema: dict[str, Any] = _without_titles(answer.model_json_schema())
    return schema


def _without_titles(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: {name: _without_titles(part) for name, part in value.items()}
            if key in ("properties", "$defs")
            else _without_titles(value)
            for key, value in schema.items()
            if key != "title"
        }
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    return schema
