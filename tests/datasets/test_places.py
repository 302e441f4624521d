"""The line of a key in a JSON text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.datasets.documents import JsonLines, Place

TEXT = """{
  "a, [": "one } \\" {",
  "clips": [
    {"id": 1, "events": []},

    {
      "id": 2,
      "events": [{"x": [[1, 2],
                        [3, 4]]}]
    }
  ]
}"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ((), 1),
        (("a, [",), 2),
        (("clips",), 3),
        (("clips", 0), 4),
        (("clips", 0, "events"), 4),
        (("clips", 1), 6),
        (("clips", 1, "id"), 7),
        (("clips", 1, "events", 0, "x", 0, 1), 8),
        (("clips", 1, "events", 0, "x", 1), 9),
    ],
)
def test_the_line_is_the_one_on_which_the_value_begins(place: Place, line: int) -> None:
    assert JsonLines(TEXT).line_of(place) == line


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("clips", 1, "severity"), 6),
        (("clips", 0, "events", 0), 4),
        (("clips", 7), 3),
        (("clips", "id"), 3),
        (("id", 1), 1),
        (("clips", 1, "id", "x"), 7),
    ],
)
def test_for_what_is_not_there_it_is_that_of_what_should_hold_it(place: Place, line: int) -> None:
    assert JsonLines(TEXT).line_of(place) == line


@pytest.mark.parametrize("text", ["", "  ", "{", '{"b": tru', '{"b": 1', '{"b": 1, ', '{"b": "', "7", "{1: 2}"])
def test_a_text_that_breaks_off_before_the_key_is_not_searched_further(text: str) -> None:
    assert JsonLines(text).line_of(("a",)) == 1


@given(
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    )
)
def test_on_a_text_with_a_line_a_value_every_value_has_its_own_line(value: Any) -> None:
    text = json.dumps(value, indent=1)
    lines, known = text.split("\n"), JsonLines(text)

    def check(inner: Any, place: Place) -> None:
        line = known.line_of(place)
        begins = json.dumps(inner)[:1]
        shown = lines[line - 1].strip()
        told = shown if not place or isinstance(place[-1], int) else shown[len(json.dumps(place[-1])) + 2 :]
        assert told.startswith(begins)
        for step, one in (
            inner.items() if isinstance(inner, dict) else enumerate(inner) if isinstance(inner, list) else ()
        ):
            check(one, (*place, step))

    check(value, ())
