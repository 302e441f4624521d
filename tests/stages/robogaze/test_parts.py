"""Segments divided into parts that one query covers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.core.time import Span, union
from robogaze.stages.robogaze.parts import divide, intersection

spans = st.lists(st.tuples(st.integers(0, 200), st.integers(1, 40)), min_size=1, max_size=6).map(
    lambda pairs: union(Span(start, start + length) for start, length in pairs)
)


def total(parts: tuple[Span, ...]) -> float:
    return sum(span.length for span in parts)


@pytest.mark.parametrize(
    ("given", "count", "parts"),
    [
        ([(0, 4)], 1, [[(0, 4)]]),
        ([(0, 4)], 2, [[(0, 2)], [(2, 4)]]),
        ([(0, 10)], 3, [[(0, 3.33)], [(3.33, 6.67)], [(6.67, 10)]]),
        ([(0, 1), (5, 8)], 2, [[(0, 1), (5, 6)], [(6, 8)]]),
        ([(0, 2), (5, 7)], 2, [[(0, 2)], [(5, 7)]]),
    ],
)
def test_parts_have_equal_length_and_follow_one_another(given: list, count: int, parts: list) -> None:  # type: ignore[type-arg]
    found = divide([Span(*pair) for pair in given], count)
    assert [[(span.start, span.end) for span in part] for part in found] == parts


@given(spans, st.integers(1, 9))
def test_parts_cover_the_spans_without_overlap(given: tuple[Span, ...], count: int) -> None:
    parts = divide(given, count)
    assert union(span for part in parts for span in part) == given
    assert sum(total(part) for part in parts) == pytest.approx(total(given))
    assert max(total(part) for part in parts) <= total(given) / count + 0.02


@given(spans, spans)
def test_an_intersection_is_inside_both(left: tuple[Span, ...], right: tuple[Span, ...]) -> None:
    shared = intersection(left, right)
    assert shared == intersection(right, left)
    assert total(shared) == total(left) + total(right) - total(union([*left, *right]))
