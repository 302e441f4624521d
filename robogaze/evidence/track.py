"""One thing followed through a clip, and how far it came from its own beginning while nothing moves beside it.

The beginning is the first three frames in which nothing touches it; as soon as something does, it begins anew. Every
state is the median of three frames, for edges flicker. Outlines do so by leaps, where a shadow's edge cuts a thing or
two things of one colour meet, and what grows or bends does not: after a leap its outline begins anew. So does its
colour: what is another at once was exchanged, and not recoloured.
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.segments import Point, Segment

_MEDIAN_OF = 3  # frames
_REST_PX = 1.0  # over these three
_UPRIGHT = 2.0  # times as far up as to a side: it rises
_FALLS = 1.0  # times as far down as to a side: it falls, and needs nobody for that
_SAME_AREA = 1.6  # times: beyond it the place of its middle says little
_LEAP = 0.2  # of an outline between two frames, as a logarithm
_TINT_LEAP = 24.0  # levels of colour between two frames
_LEAST_OUTLINE_PX = 60  # pixels: of a smaller one a pixel of rim is too much
_FULL_LEVEL = 240.0  # a mean: some of the pixels are at 255
_MOST_SHADE = 3.0  # times: a shadow makes things no darker


@dataclass(frozen=True, eq=False)
class State:
    """How a thing is in a frame: area (pixels), centre (pixels, the camera's motion taken out), spread and colour."""

    values: NDArray[np.float64]

    @classmethod
    def of(cls, segment: Segment, camera: Point) -> Self:
        """A segment's; the camera moved so far since the clip's start."""
        (across, slant), (_, along) = segment.spread
        return cls(np.array([segment.area, *(segment.centre - camera), across, slant, along, *segment.colour]))

    @classmethod
    def usual(cls, states: Sequence["State"]) -> Self:
        """The median of an odd number of them."""
        return cls(np.sort([one.values for one in states], axis=0)[len(states) // 2])

    @property
    def area(self) -> float:
        return float(self.values[0])

    @property
    def colour(self) -> NDArray[np.float64]:
        return self.values[6:]

    def apart(self, other: "State") -> Point:
        """How far right and down it lies of another."""
        return self.values[1:3] - other.values[1:3]

    def stretched(self, before: "State") -> float:
        """By how much it was stretched in one direction more than in the other, as a factor minus 1."""
        (a, b, c), (d, e, f) = before.values[3:6].tolist(), self.values[3:6].tolist()
        # With determinants of 1, the eigenvalues of the one over the other are a number and its reciprocal.
        half = (c * d - 2 * b * e + a * f) / 2 / math.sqrt(max((a * c - b * b) * (d * f - e * e), 1e-6))
        return math.sqrt(max(half, 1.0) + math.sqrt(max(half**2 - 1, 0.0))) - 1

    def leapt(self, before: "State") -> bool:
        """Whether its outline is another at once."""
        return abs(math.log(self.area / before.area)) > _LEAP or self.stretched(before) > _LEAP


class Track:
    """A segment with its past. `missed` counts the frames since it was seen, `seen` those in which it was."""

    def __init__(self, segment: Segment, beside: "Track | None" = None) -> None:
        self.segment = segment
        self.missed = 0
        self.seen = 1
        self.alone = False
        self._other = beside
        self._apart = math.nan
        self._begin()

    def _begin(self) -> None:
        self._recent: deque[State] = deque(maxlen=_MEDIAN_OF)
        self._start: State | None = None
        self._before: State | None = None
        self._top = 0.0

    def miss(self, touched: bool) -> None:
        """It was not seen in this frame."""
        self.missed += 1
        self.alone = False
        if touched:
            self._begin()

    def follow(self, segment: Segment, camera: Point, alone: bool) -> Mapping[str, float]:
        """It is this segment now, and this is how far it came, by signal; the camera moved so far since the start."""
        self.segment, self.alone = segment, alone
        self.missed, self.seen = 0, self.seen + 1
        if not alone:
            self._begin()
            return {}
        self._recent.append(State.of(segment, camera))
        if len(self._recent) < _MEDIAN_OF:
            return {}
        now = State.usual(self._recent)
        if self._start is None:
            self._start = now
            # What never rested since it was let go can only be told to rise.
            self._rested = math.hypot(*self._recent[-1].apart(self._recent[0])) < _REST_PX
            self._outline = now if self._rested else self._recent[0]
        elif self._before is not None:
            if now.leapt(self._before):
                self._outline, self._top = now, 0.0
            if tinted(self._before.colour, now.colour) > _TINT_LEAP:
                self._start = now
        self._before = now
        return {**self._coloured(self._start, now), **self._changed(self._outline, now), **self._parted()}

    def _coloured(self, start: State, now: State) -> Mapping[str, float]:
        """Colour against the beginning."""
        return {"thing_colour": tinted(start.colour, now.colour)} if self._rested else {}

    def _changed(self, first: State, now: State) -> Mapping[str, float]:
        """Area, shape and place (in pixels) against the beginning of its outline."""
        told: dict[str, float] = {}
        right, down = now.apart(first)
        factor = now.area / first.area
        if 1 / _SAME_AREA < factor < _SAME_AREA:
            if -down > _UPRIGHT * abs(right):
                told["thing_rise"] = float(-down)
                self._top = max(self._top, float(-down))
            told["thing_return"] = max(0.0, self._top + min(float(down), 0.0))
            if self._rested and down <= _FALLS * abs(right):
                told["thing_shift"] = math.hypot(right, down)
        near = math.hypot(right, down) <= math.sqrt(first.area)
        if self._rested and near and min(first.area, now.area) >= _LEAST_OUTLINE_PX:
            told |= {"thing_size": max(factor, 1 / factor) - 1, "thing_shape": now.stretched(first)}
        return told

    def _parted(self) -> Mapping[str, float]:
        """How much further it is from the part it was one with (in pixels)."""
        if self._other is not None and self._other.missed:
            self._other = None  # else what was once seen would be kept as long as any part of its parts
        if self._other is None or not self._other.alone:
            return {}
        apart = math.dist(self.segment.centre, self._other.segment.centre)
        if math.isnan(self._apart):
            self._apart = apart
        return {"thing_split": max(0.0, apart - self._apart)}


def tinted(before: NDArray[np.float64], now: NDArray[np.float64]) -> float:
    """How far two mean colours differ, in levels of the lighter, beyond what a factor makes of them.

    A channel that is full in one of them grows with the light no more, and is left out.
    """
    told = (before < _FULL_LEVEL) & (now < _FULL_LEVEL)
    if np.count_nonzero(told) < 2:
        return 0.0
    old, new = before[told] + 1, now[told] + 1
    factor = float(np.clip(old @ new / (old @ old), 1 / _MOST_SHADE, _MOST_SHADE))
    return float(np.abs(new - factor * old).max() / min(factor, 1.0))
