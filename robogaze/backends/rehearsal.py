"""Answers requests without a model: each answer is the simplest one that the JSON schema allows.

A rehearsal renders every prompt and runs every stage of a pipeline, so that errors appear before requests cost money.
The answers mean nothing, so no command offers this backend as a model.
"""

import json
from collections.abc import Mapping
from typing import Any

from robogaze.backends.base import Completion, Request


def plainest(schema: Mapping[str, Any]) -> Any:
    """The simplest value that a schema allows.

    If null is allowed, the value is null. Otherwise it is the first value of an enumeration, the middle of a range, or
    a list of one item. If a list can contain all values of an enumeration, it contains each value once.
    """
    return _value(schema, schema.get("$defs", {}))


def _value(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> Any:
    if "$ref" in schema:
        return _value(defs[schema["$ref"].rsplit("/", 1)[-1]], defs)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return None if {"type": "null"} in schema["anyOf"] else _value(schema["anyOf"][0], defs)
    kind = schema["type"]
    if kind == "object":
        return {name: _value(property_schema, defs) for name, property_schema in schema["properties"].items()}
    if kind == "array":
        return _list(schema, defs)
    if kind in ("number", "integer"):
        middle = (schema.get("minimum", 0) + schema.get("maximum", 2)) / 2
        return int(middle) if kind == "integer" else middle
    return {"string": "rehearsed", "boolean": False, "null": None}[kind]


def _list(schema: Mapping[str, Any], defs: Mapping[str, Any]) -> list[Any]:
    item = schema["items"]
    item = defs[item["$ref"].rsplit("/", 1)[-1]] if "$ref" in item else item
    max_items = schema.get("maxItems", 1)
    if "minimum" in item and "maximum" in item and schema.get("minItems") == max_items and max_items in (2, 4):
        half = max_items // 2  # the whole of a span or of a box
        return [item["minimum"]] * half + [item["maximum"]] * half
    values = item.get("enum", [])
    if len(values) == max_items:
        return list(values)
    return [_value(item, defs)] * max(1, schema.get("minItems", 0))


class RehearsalBackend:
    """Answers every request with the simplest value of its schema."""

    @property
    def identity(self) -> Mapping[str, Any]:
        return {"kind": "rehearsal"}

    async def complete(self, request: Request) -> Completion:
        """The simplest answer, or an empty object for a request without a schema."""
        answer = {} if request.schema is None else plainest(request.schema)
        return Completion(json.dumps(answer), model="rehearsal", finish_reason="stop")

    async def ready(self) -> None:
        """Always ready."""

    async def close(self) -> None:
        """Nothing to release."""
