"""Spans of time and their overlap.

A span is half-open, `[start, end)`, in seconds (steps for interactive play). An event may recur, so it has one or more
disjoint spans. Overlap is measured between unions of spans in two ways:

`iou`         on lengths, exact
`frame_iou`   on frames, as in the paper (RoboGaze, A.2.4): a span contains the frames whose time is inside it; an event
              of one frame at time t is written `[t, t + 1/fps)`

Frame times are rounded to microseconds. A frame time and the end of a span that are less than a microsecond apart count
as equal. Without this tolerance, two thirds of all one-frame events at 30 fps would contain two frames or none.
"""

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

RESOLUTION = 1e-6
"""The resolution of frame times, in seconds."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The half-open interval `[start, end)`, a list `[start, end]` in JSON.

    Raises ValueError unless both numbers are finite and start < end.
    """

    start: float
    end: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.start) and math.isfinite(self.end)):
            raise ValueError(f"a span needs two finite numbers, not [{self.start}, {self.end}]")
        if self.start >= self.end:
            raise ValueError(f"a span must end after it starts; found: [{self.start}, {self.end}]")

    @property
    def length(self) -> float:
        """The span's length, greater than 0."""
        return self.end - self.start

    def __contains__(self, time: float) -> bool:
        return self.start <= time < self.end

    def overlap(self, other: "Span") -> float:
        """The length that two spans share; 0 when they only touch or do not meet."""
        return max(0.0, min(self.end, other.end) - max(self.start, other.start))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        pair = core_schema.tuple_schema([core_schema.float_schema(), core_schema.float_schema()])
        from_pair = core_schema.no_info_after_validator_function(lambda pair: cls(*pair), pair)
        return core_schema.json_or_python_schema(
            json_schema=from_pair,
            python_schema=core_schema.union_schema([core_schema.is_instance_schema(cls), from_pair]),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda span: [float(span.start), float(span.end)], return_schema=core_schema.list_schema()
            ),
        )


def union(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Join spans that overlap or touch. The resulting spans are disjoint and in order; there are none if no span is
    given.
    """
    joined: list[Span] = []
    for span in sorted(spans):
        if joined and span.start <= joined[-1].end:
            joined[-1] = Span(joined[-1].start, max(joined[-1].end, span.end))
        else:
            joined.append(span)
    return tuple(joined)


def iou(a: Iterable[Span], b: Iterable[Span]) -> float:
    """Intersection over union of two unions of spans, exact, in [0, 1]; NaN when both are empty."""
    left, right = union(a), union(b)
    shared = sum(x.overlap(y) for x in left for y in right)
    total = sum(span.length for span in left) + sum(span.length for span in right) - shared
    return shared / total if total else math.nan


def frames_in(spans: Iterable[Span], frame_times_s: Sequence[float]) -> frozenset[int]:
    """The numbers of the frames whose time is inside a span, with the tolerance RESOLUTION. The frame times must be in
    ascending order.
    """
    numbers: set[int] = set()
    for span in spans:
        first, end = (bisect_left(frame_times_s, edge - RESOLUTION) for edge in (span.start, span.end))
        numbers.update(range(first, end))
    return frozenset(numbers)


def frame_iou(a: Iterable[Span], b: Iterable[Span], frame_times_s: Sequence[float]) -> float:
    """Intersection over union of the frames in two unions of spans, in [0, 1]; NaN when neither union contains a
    frame.
    """
    left, right = frames_in(a, frame_times_s), frames_in(b, frame_times_s)
    total = len(left | right)
    return len(left & right) / total if total else math.nan


def runs(numbers: Iterable[int]) -> tuple[tuple[int, int], ...]:
    """Frame numbers as half-open runs `(first, end)`, in order: 3, 4, 5, 9 gives (3, 6), (9, 10)."""
    joined: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if joined and number == joined[-1][1]:
            joined[-1] = (joined[-1][0], number + 1)
        else:
            joined.append((number, number + 1))
    return tuple(joined)
