"""Where a value stands in a JSON text, so that a message can name the line."""

import json

Place = tuple[str | int, ...]
"""The way to a value from the outermost one: the keys of objects and the numbers of items."""

_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


class Lines:
    """The lines on which the values of a JSON text begin. What was searched once is remembered."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, dict[str | int, int]] = {}

    def of(self, place: Place) -> int:
        """The 1-based line of a value; where there is none, that of the nearest value around it."""
        at = self._after_space(0)
        for step in place:
            if at not in self._known:
                self._known[at] = self._members(at)
            if step not in self._known[at]:
                break
            at = self._known[at][step]
        return self._text.count("\n", 0, at) + 1

    def _members(self, at: int) -> dict[str | int, int]:
        """Where the members of an object or array begin, as far as the text is JSON; none for any other value."""
        found: dict[str | int, int] = {}
        opening = self._text[at : at + 1]
        if opening not in ("{", "["):
            return found
        try:
            at = self._after_space(at + 1)
            while self._text[at] not in "}]":
                name: str | int = len(found)
                if opening == "{":
                    name, at = _DECODER.raw_decode(self._text, at)
                    at = self._after_space(self._after_space(at) + 1)
                found[name] = at
                at = self._after_space(_DECODER.raw_decode(self._text, at)[1])
                at = self._after_space(at + 1) if self._text[at] == "," else at
        except (json.JSONDecodeError, IndexError):
            pass
        return found

    def _after_space(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in _SPACE:
            at += 1
        return at
