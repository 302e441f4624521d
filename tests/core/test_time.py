"""Spans, their unions and their overlap, exact and on frames."""

import json
import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.core.data import Data
from robogaze.core.time import Span, frame_iou, frames_in, iou, runs, union


class Marked(Data):
    spans: tuple[Span, ...]


def times(fps: float, count: int) -> tuple[float, ...]:
    """Frame times as a reader of videos gives them: to the microsecond."""
    return tuple(round(number / fps, 6) for number in range(count))


TEN_A_SECOND = times(10, 100)


# Spans.


def test_span_contains_its_start_and_not_its_end() -> None:
    span = Span(1.0, 2.0)
    assert 1.0 in span
    assert 1.999 in span
    assert 2.0 not in span
    assert 0.999 not in span


@pytest.mark.parametrize(
    ("start", "end", "fault"),
    [
        (2.0, 1.0, "must end after it starts"),
        (1.0, 1.0, "must end after it starts"),
        (math.nan, 1.0, "finite"),
        (0.0, math.nan, "finite"),
        (0.0, math.inf, "finite"),
        (-math.inf, 0.0, "finite"),
    ],
)
def test_span_must_be_finite_and_end_after_its_start(start: float, end: float, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Span(start, end)


@pytest.mark.parametrize(
    ("a", "b", "shared"),
    [
        (Span(0, 2), Span(1, 3), 1),
        (Span(0, 4), Span(1, 2), 1),
        (Span(0, 1), Span(1, 2), 0),  # they only touch
        (Span(0, 1), Span(2, 3), 0),
    ],
)
def test_overlap_of_two_spans(a: Span, b: Span, shared: float) -> None:
    assert a.overlap(b) == b.overlap(a) == shared


# JSON.


def test_span_round_trips_through_json() -> None:
    marked = Marked(spans=(Span(0.1, 0.25), Span(1, 2)))
    written = marked.model_dump_json()
    assert json.loads(written) == {"spans": [[0.1, 0.25], [1.0, 2.0]]}
    assert Marked.model_validate_json(written) == marked
    assert Marked.model_validate_json(written).model_dump_json() == written


def test_span_is_read_from_a_list() -> None:
    assert Marked.model_validate({"spans": [[0, 1.5]]}).spans == (Span(0.0, 1.5),)


@pytest.mark.parametrize(
    "pair", ["[1, 0]", "[1, 1]", "[0]", "[0, 1, 2]", "[0, NaN]", "[0, 1e999]", "[0, null]", '"0-1"']
)
def test_invalid_json_of_a_span_is_refused(pair: str) -> None:
    with pytest.raises(ValueError, match="spans"):
        Marked.model_validate_json(f'{{"spans": [{pair}]}}')


def test_json_schema_of_a_span_is_a_pair_of_numbers() -> None:
    (schema,) = [Marked.model_json_schema()["properties"]["spans"]["items"]]
    assert schema["type"] == "array"
    assert [item["type"] for item in schema["prefixItems"]] == ["number", "number"]


# Unions.


def test_spans_that_overlap_or_touch_are_joined() -> None:
    # 0    1    2    3    4    5    6
    # |=========|
    #      |=========|
    #                |====|              touches
    #                          |====|    stands apart
    # |===================|    |====|
    assert union([Span(5, 6), Span(1, 3), Span(0, 2), Span(3, 4)]) == (Span(0, 4), Span(5, 6))


def test_union_of_no_spans_is_empty() -> None:
    assert union([]) == ()


# Overlap.


def test_iou_is_intersection_over_union() -> None:
    # 0    1    2    3    4
    # |==============|
    #      |==============|    2 of 4 seconds are shared
    assert iou([Span(0, 3)], [Span(1, 4)]) == 0.5


def test_iou_of_a_recurring_event_is_between_unions() -> None:
    # 0    1    2    3    4    5    6    7
    # |====|    |====|         |====|
    # |==============|              |====|    shared: 2; covered: 0 to 3 and 5 to 7
    assert iou([Span(0, 1), Span(2, 3), Span(5, 6)], [Span(0, 3), Span(6, 7)]) == pytest.approx(2 / 5)


def test_frame_iou_counts_frames() -> None:
    # time   0  .1  .2  .3  .4  .5  .6  .7
    # a      #   #   #   #
    # b              #   #   #   #            2 frames shared, 6 covered
    assert frame_iou([Span(0, 0.4)], [Span(0.2, 0.6)], TEN_A_SECOND) == pytest.approx(2 / 6)


def test_exact_and_frame_iou_differ_where_an_end_is_between_frames() -> None:
    # [0, 0.45) holds the frames at 0, .1, .2, .3 and .4; [0, 0.5) holds the same five.
    assert frame_iou([Span(0, 0.45)], [Span(0, 0.5)], TEN_A_SECOND) == 1
    assert iou([Span(0, 0.45)], [Span(0, 0.5)]) == pytest.approx(0.9)


def test_iou_of_two_empty_unions_is_undefined() -> None:
    assert math.isnan(iou([], []))
    assert math.isnan(frame_iou([], [], TEN_A_SECOND))
    assert math.isnan(frame_iou([Span(0.01, 0.02)], [Span(0.03, 0.04)], TEN_A_SECOND))  # between frames: none in either


def test_iou_with_an_empty_union_is_0() -> None:
    assert iou([Span(0, 1)], []) == 0
    assert frame_iou([Span(0, 1)], [], TEN_A_SECOND) == 0


# Frames.


def test_frames_in_a_span_are_those_whose_time_is_inside() -> None:
    assert frames_in([Span(0.2, 0.5)], TEN_A_SECOND) == {2, 3, 4}


def test_frames_need_not_be_evenly_spaced() -> None:
    assert frames_in([Span(0.5, 2.0)], (0.0, 0.4, 0.5, 1.9, 2.0, 7.0)) == {2, 3}


@pytest.mark.parametrize("fps", [5, 10, 12.5, 15, 16, 24, 25, 30000 / 1001, 30, 50, 60])
def test_one_frame_event_contains_its_frame_only(fps: float) -> None:
    frame_times = times(fps, 2000)
    for number, time in enumerate(frame_times[:-1]):
        assert frames_in([Span(time, time + 1 / fps)], frame_times) == {number}  # as read from a video
        assert frames_in([Span(number / fps, (number + 1) / fps)], frame_times) == {number}  # as computed from a number


@pytest.mark.parametrize(
    ("numbers", "expected"),
    [
        ([3, 4, 5, 9], ((3, 6), (9, 10))),
        ([5, 3, 4, 3], ((3, 6),)),
        ([0], ((0, 1),)),
        ([], ()),
    ],
)
def test_runs_of_frame_numbers(numbers: list[int], expected: tuple[tuple[int, int], ...]) -> None:
    assert runs(numbers) == expected


# Properties.


tenths = st.integers(0, 600).map(lambda number: number / 10)
moments = st.floats(0, 60, allow_nan=False) | tenths
spans = st.tuples(moments, moments).filter(lambda pair: pair[0] != pair[1]).map(lambda pair: Span(min(pair), max(pair)))
some_spans = st.lists(spans, min_size=1, max_size=5)
clocks = st.sampled_from([times(fps, 700) for fps in (10, 16, 30000 / 1001, 30)])


@given(some_spans, some_spans)
def test_iou_agrees_with_exact_arithmetic(a: list[Span], b: list[Span]) -> None:
    edges = sorted({Fraction(edge) for span in (*a, *b) for edge in (span.start, span.end)})
    shared = covered = Fraction(0)
    for start, end in pairwise(edges):
        inside = [any(Fraction(s.start) <= start and end <= Fraction(s.end) for s in side) for side in (a, b)]
        shared += (end - start) * all(inside)
        covered += (end - start) * any(inside)
    assert iou(a, b) == pytest.approx(float(shared / covered))


@given(some_spans, some_spans, clocks)
def test_frame_iou_is_symmetric_and_between_0_and_1_or_undefined(
    a: list[Span], b: list[Span], clock: tuple[float, ...]
) -> None:
    there, back = frame_iou(a, b, clock), frame_iou(b, a, clock)
    assert there == back or (math.isnan(there) and math.isnan(back))
    assert 0 <= there <= 1 or not (frames_in(a, clock) or frames_in(b, clock))


@given(some_spans, some_spans, st.floats(0.1, 0.9), clocks)
def test_splitting_a_span_at_a_point_changes_nothing(
    a: list[Span], b: list[Span], share: float, clock: tuple[float, ...]
) -> None:
    first, *others = a
    point = first.start + share * first.length
    if not first.start < point < first.end:
        return
    split = [Span(first.start, point), Span(point, first.end), *others]
    assert union(split) == union(a)
    assert iou(split, b) == iou(a, b)
    assert frames_in(split, clock) == frames_in(a, clock)


@given(some_spans)
def test_union_is_disjoint_in_order_and_idempotent(a: list[Span]) -> None:
    joined = union(a)
    assert all(left.end < right.start for left, right in pairwise(joined))
    assert union(joined) == joined
