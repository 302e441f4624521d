"""Answer contracts: what a model must answer, as a checked type and as the JSON schema that it is sent.

Everything in the schema is bounded: a model that decodes under a grammar can always finish, and a babbling one
cannot fill the context. Text is bounded by a pattern rather than by `maxLength` because grammar backends differ
in what they let through under `maxLength` (control characters that are not JSON). The check is more patient than
the schema about lengths: a server without grammars should not be asked again for one sentence too many.

A domain's prompts declare the free part of their contracts in front matter, in four words:

    answer:
      goal: text                                  a sentence or two
      nearest_object: phrase                      a few words
      objects: [phrase]                           a list
      subtasks: [{name: phrase, outcome: text}]   a list of records
"""

import json
from functools import lru_cache
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, WithJsonSchema, create_model

TEXT_LIMIT, PHRASE_LIMIT, LIST_LIMIT = 400, 120, 12
_PATIENCE = 4


def _schema(limit: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": rf'^[^\u0000-\u001f"\\]{{1,{limit}}}$'})


Text = Annotated[str, StringConstraints(min_length=1, max_length=_PATIENCE * TEXT_LIMIT), _schema(TEXT_LIMIT)]
"""A sentence or two: about TEXT_LIMIT characters at most."""

Phrase = Annotated[str, StringConstraints(min_length=1, max_length=_PATIENCE * PHRASE_LIMIT), _schema(PHRASE_LIMIT)]
"""A few words: about PHRASE_LIMIT characters at most."""


class Answer(BaseModel):
    """The base of what models answer: unknown keys are refused and nothing is converted from another type.

    An answer that `stands_alone` is read only where no prose is around it.
    """

    stands_alone: ClassVar[bool] = False

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, frozen=True)


def list_of(kind: Any, limit: int = LIST_LIMIT, least: int = 0) -> Any:
    """The type of a list of at least `least` and at most about `limit` items."""
    bounds = Field(min_length=least, max_length=_PATIENCE * limit, json_schema_extra={"maxItems": limit})
    return Annotated[list[kind], bounds]


def record(name: str, fields: dict[str, Any]) -> type[Answer]:
    """A record type whose fields are all required, from a declaration in front matter.

    The same declaration gives the same type. Raises ValueError for a declaration that is none of the four, and for a
    field that cannot have its name.
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


def _kind(name: str, declared: Any) -> Any:
    if declared in ("text", "phrase"):
        return Text if declared == "text" else Phrase
    if isinstance(declared, dict) and declared:
        return record(name, declared)
    if isinstance(declared, list) and len(declared) == 1:
        return list_of(_kind(name, declared[0]))
    raise ValueError(f"{name}: an answer is 'text', 'phrase', a record, or a list of one of these, not {declared!r}")


@lru_cache(maxsize=256)
def json_schema(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, without the titles that only repeat its names."""
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
