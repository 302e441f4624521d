"""Where a value stands in a JSON text, so that a message can name the line."""

import json
from json import JSONDecodeError

Place = tuple[str | int, ...]
"""The way to a value from the outermost one: the keys of objects and the numbers of items."""

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


def line_of(text: str, place: Place) -> int | None:
    """The 1-based line on which a value begins, or else the nearest value around it.

    None when the text ceases to be JSON on the way there.
    """
    at = _after_space(text, 0)
    try:
        for step in place:
            inner = _member(text, at, step)
            if inner is None:
                break
            at = inner
    except (JSONDecodeError, IndexError, StopIteration):
        return None
    return text.count("\n", 0, at) + 1


def _member(text: str, at: int, step: str | int) -> int | None:
    """Where a member of the object or array at a place begins; None when there is none."""
    closing = {"{": "}", "[": "]"}.get(text[at])
    if closing is None or isinstance(step, str) != (closing == "}"):
        return None
    at, number = _after_space(text, at + 1), 0
    while text[at] != closing:
        name: str | int = number
        if closing == "}":
            name, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)
        if name == step:
            return at
        at = _after_space(text, _DECODER.raw_decode(text, at)[1])
        at, number = _after_space(text, at + 1) if text[at] == "," else at, number + 1
    return None


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
