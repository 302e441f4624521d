"""Frame sampling: regimes and windows.

Frames are selected here, so that they are the same for every backend. A server that samples frames itself decides
silently what the model sees.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, Literal

import numpy as np
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from robogaze.core.context import Window
from robogaze.core.time import RESOLUTION, Span, frames_in, runs, union

ClaimPart = Literal["early", "before onset", "onset", "middle", "end", "after the end", "last frame"]
"""The part of a clip that a frame shows, in relation to the span of a claim."""

_FORMS = "'uniform N', 'F fps', 'F fps, at most N' or 'every frame'"


@dataclass(frozen=True)
class Regime:
    """The frames of a clip that a model is shown.

    uniform N           N evenly spread frames, the first and the last included (the middle one for N = 1)
    F fps, at most N    the frames nearest to F per second; N evenly spread frames if these are more than N
    every frame

    A clip with fewer than N frames is shown whole.
    """

    rate_fps: float | None = None
    at_most: int | None = None

    @classmethod
    def parse(cls, text: str) -> "Regime":
        """Parse the text of a regime. Raises ValueError for any other text."""
        if text == "every frame":
            return cls()
        rate: float | None = None
        count: int | None
        if found := re.fullmatch(r"uniform (\d+)", text):
            count = int(found[1])
        elif found := re.fullmatch(r"(\d+(?:\.\d+)?) fps(?:, at most (\d+))?", text):
            rate, count = float(found[1]), int(found[2]) if found[2] else None
        else:
            raise ValueError(f"a frame regime must be {_FORMS}; found: {text!r}")
        if rate == 0 or count == 0:
            raise ValueError(f"a frame regime shows at least one frame; {text!r} shows none")
        return cls(rate, count)

    def __str__(self) -> str:
        if self.rate_fps is None:
            return "every frame" if self.at_most is None else f"uniform {self.at_most}"
        rate = f"{np.format_float_positional(self.rate_fps, trim='-')} fps"
        return rate if self.at_most is None else f"{rate}, at most {self.at_most}"

    def frames(self, times_s: Sequence[float], duration_s: float) -> tuple[int, ...]:
        """The numbers of the frames to show, in ascending order and without repetition. There is at least one."""
        chosen = self._at_rate(times_s, duration_s)
        if self.at_most is None or len(chosen) <= self.at_most:
            return chosen
        return evenly(range(len(times_s)), self.at_most)

    def within(self, span: Span, times_s: Sequence[float], duration_s: float) -> tuple[int, ...]:
        """The frames at the regime's rate inside a span; if there are none, the frame at the middle of the span.

        `at_most` applies only to the whole clip: in a part of the clip, all frames at the rate are kept.
        """
        base = self._at_rate(times_s, duration_s) if self.rate_fps else self.frames(times_s, duration_s)
        inside = tuple(number for number in base if times_s[number] in span)
        return inside or (max(bisect_right(times_s, (span.start + span.end) / 2) - 1, 0),)

    def at_least(self, rate_fps: float, duration_s: float) -> "Regime":
        """A regime that shows a clip of this length at `rate_fps` or more, with no limit on the number of frames."""
        if self.rate_fps is None and self.at_most is None:
            return self
        own_fps = self.rate_fps if self.rate_fps is not None else (self.at_most or 0) / duration_s
        return Regime(max(own_fps, rate_fps))

    def _at_rate(self, times_s: Sequence[float], duration_s: float) -> tuple[int, ...]:
        if self.rate_fps is None:
            return tuple(range(len(times_s)))
        wanted = np.arange(math.ceil(duration_s * self.rate_fps - 1e-6)) / self.rate_fps
        between = (np.asarray(times_s[1:]) + np.asarray(times_s[:-1])) / 2
        return tuple(int(number) for number in np.unique(np.searchsorted(between, wanted)))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        from_text = core_schema.no_info_after_validator_function(cls.parse, core_schema.str_schema())
        return core_schema.union_schema(
            [core_schema.is_instance_schema(cls), from_text],
            serialization=core_schema.to_string_ser_schema(),
        )


def evenly(numbers: Sequence[int], count: int) -> tuple[int, ...]:
    """At most `count` of the numbers, evenly spread, including the first and the last (for a count of 1, the middle
    one).
    """
    if len(numbers) <= count:
        return tuple(numbers)
    if count == 1:
        return (numbers[len(numbers) // 2],)
    return tuple(numbers[round(i * (len(numbers) - 1) / (count - 1))] for i in range(count))


def unseen_spans(
    spans: Iterable[Span], shown: Iterable[int], times_s: Sequence[float], duration_s: float, longest_s: float = 1.0
) -> tuple[Span, ...]:
    """The parts of the spans in which more than `longest_s` passes without a shown frame; empty if there are none.

    Each part begins with a frame that is not shown. It lasts until the next frame that is shown, or until the last
    frame of its span ends.
    """
    ends = (*times_s[1:], duration_s)
    hidden = runs(frames_in(union(spans), times_s) - set(shown))
    found = [Span(times_s[first], ends[end - 1]) for first, end in hidden]
    return tuple(span for span in found if span.length > longest_s + RESOLUTION)


def equal_parts(duration_s: float, longest_s: float) -> tuple[Span, ...]:
    """Divide a clip into as few parts of equal length as possible, each at most `longest_s` long. The times at which
    parts meet are rounded to two decimals.
    """
    count = max(1, math.ceil(duration_s / longest_s - RESOLUTION))
    edges = [0.0, *(round(duration_s * number / count, 2) for number in range(1, count)), duration_s]
    return tuple(Span(start, end) for start, end in pairwise(edges))


def windows(
    times_s: Sequence[float],
    duration_s: float,
    length_s: float,
    stride_s: float,
    regime: Regime,
    shortest_s: float = 0.0,
) -> tuple[Window, ...]:
    """Fixed-length windows, one every `stride_s`; the last window reaches the end (RoboGaze, eq. 2 and A.3.4).

    The last window is shorter when the clip's length is not a multiple of the stride. If the last window would be
    shorter than `shortest_s`, it is joined to the previous window. A clip shorter than a window is one window. Each
    window holds at least one frame. Raises ValueError for a stride that would leave gaps.
    """
    if not 0 < stride_s <= length_s:
        raise ValueError(
            f"a stride of {stride_s} s does not fit windows of {length_s} s; it must be above 0 s and no longer than a "
            "window"
        )
    count = 1 + max(0, math.ceil((duration_s - length_s) / stride_s - 1e-6))
    if count > 1 and duration_s - (count - 1) * stride_s < shortest_s:
        count -= 1
    starts = [index * stride_s for index in range(count)]
    ends = [start + length_s for start in starts[:-1]] + [duration_s]
    spans = [Span(start, end) for start, end in zip(starts, ends, strict=True)]
    return tuple(
        Window(id=index, span=span, frames=regime.within(span, times_s, duration_s)) for index, span in enumerate(spans)
    )


def close_up(spans: Sequence[Span], times_s: Sequence[float], count: int, besides: Sequence[int]) -> tuple[int, ...]:
    """At most `count` evenly spread frames inside the spans, none of them in `besides`. Empty if `count` is 0."""
    inside = sorted(frames_in(spans, times_s) - set(besides))
    return evenly(inside, count) if count > 0 else ()


def claim_parts(span: Span, times_s: Sequence[float], count: int = 16) -> Mapping[int, ClaimPart]:
    """The frames that show a claim, in ascending order, each with the part of the clip that it shows. There are `count`
    frames; if the clip has fewer, all of its frames.

    The frames are the first frame of the clip, successive frames around the onset, frames spread over the middle of the
    span, successive frames around its offset, and the last frame of the clip. If the span lasts to the end of the clip,
    there are no frames around its offset.
    """
    parts: dict[int, ClaimPart] = {}
    for number, part in _ranked_parts(span, times_s):
        if len(parts) == count:
            break
        parts.setdefault(number, part)
    return dict(sorted(parts.items()))


def _ranked_parts(span: Span, times_s: Sequence[float]) -> Iterator[tuple[int, ClaimPart]]:
    """The frames of a clip with their parts, the most informative first; a frame may be repeated."""
    inside = sorted(frames_in([span], times_s)) or [max(bisect_right(times_s, span.start) - 1, 0)]
    first, last, final = inside[0], inside[-1], len(times_s) - 1
    lasts = last == final
    yield first, "onset"
    if first > 0:
        yield first - 1, "before onset"
        yield 0, "early"
    yield final, "last frame"
    if not lasts:
        yield last, "end"
        yield last + 1, "after the end"
    yield (first + last) // 2, "middle"
    between = _halves(first, last)
    for step in range(1, final + 1):
        if first + step <= last:
            yield first + step, "onset"
        if not lasts and last - step >= first:
            yield last - step, "end"
        yield from ((halfway, "middle") for halfway in islice(between, 2))
        if first - 1 - step >= 0:
            yield first - 1 - step, "before onset"
        if not lasts and last + 1 + step <= final:
            yield last + 1 + step, "after the end"


def _halves(first: int, last: int) -> Iterator[int]:
    """The frames that halve the gaps left by earlier frames: at the quarters, then at the eighths, and so on."""
    parts = 4
    while parts <= last - first:
        yield from (first + round(number * (last - first) / parts) for number in range(1, parts, 2))
        parts *= 2
