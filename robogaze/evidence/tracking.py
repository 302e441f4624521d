"""Following one thing through the frames of a view, from a box on one of them, forward and backward.

From frame to frame the corners inside the box are followed by optical flow, which predicts where the box goes and how
it grows. What was in the box at first (and, as things turn and limbs move, what was in it last) is then looked for
close to that place, to a fraction of a pixel. Where nothing like it is there it is looked for in the whole picture: it
may have jumped. Where it is nowhere, or in two places alike, it is lost for that frame, and looked for again in the
next. The camera's share of the motion is told by what is followed outside the box.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.pattern import LEAST_PX, Spot, anywhere, cut, ellipse, near
from robogaze.media.compose import fit
from robogaze.media.decode import Image

SIDE_PX = 640
"""The longer side of the picture that is worked on; the search all over and the background take half of it."""

SAME_LEVELS, LIKE_LEVELS = 20.0, 28.0
"""How unlike what was in the box at first a place may be, and where it is expected, how unlike what was in it last."""

_CORNERS, _LEAST_CORNERS = 60, 4
_CORE = 0.8  # of the box: its corners are followed, for a box drawn wide holds background, too
_CORNERS_FOR_GROWTH = 10
_GROWTH_A_STEP = 1.12
_RETURN_PX = 1.0  # a point followed there and back must come back this near
_SIZES = (1.0, 0.85, 1.18)  # in the search all over
_APART_LEVELS = 6.0  # how much less like it the second best place must be, or there are two of its kind
_BACKGROUND_PX = 16  # in the background points are followed that are so far apart
_LEAST_BACKGROUND, _SHARED, _SHARED_PX = 12, 0.6, 1.0  # so many of them, of which this share moves alike to this

Vectors = NDArray[np.float64]
"""Positions or motions, shape (count, 2): right and down."""

Found = tuple[Spot, float]
"""A place, and how unlike what was looked for it is."""


class TooSmall(ValueError):
    """A box holds too little to be followed."""


@dataclass(frozen=True)
class Place:
    """Where the thing is.

    `middle` is where the middle of its box lies, as shares of the view's width and height; the box itself is cut to the
    view. `unlike` is how far it differs from what it is compared with, in 8-bit levels. `searched` is true where it was
    not near the place that its motion predicted, and found in the whole picture.
    """

    box: Box
    middle: tuple[float, float]
    unlike: float
    searched: bool = False


@dataclass(frozen=True)
class Track:
    """One thing through a sequence of frames of `width` x `height` pixels.

    `places` holds None where it was not found. `camera` is how far the background moved from each frame to the next, as
    shares of the view's width and height, shape (frames - 1, 2); NaN where that could not be told.
    """

    places: tuple[Place | None, ...]
    camera: Vectors
    width: int
    height: int


def follow(picture: Callable[[int], Image], count: int, start: int, box: Box) -> Track:
    """Follow what is in a box of the frame `start` through all `count` frames, whose pictures `picture` gives.

    Each picture is asked for once. A thing whose middle leaves the view is lost. Raises TooSmall for a box of less
    than 6 pixels in a picture of 640.
    """
    first = _Look.at(picture(start))
    spot = Spot.of(box, first.image)
    if min(spot.wide, spot.high) < LEAST_PX:
        raise TooSmall(f"a box of {spot.wide:.0f} x {spot.high:.0f} px in a picture of {SIDE_PX} cannot be followed")
    ahead = _Chase(first, spot).through(picture(number) for number in range(start + 1, count))
    back = _Chase(first, spot).through(picture(number) for number in range(start - 1, -1, -1))
    places = (*(place for place, _ in reversed(back)), _place(spot, first.image, 0.0), *(place for place, _ in ahead))
    camera = [(-right, -down) for _, (right, down) in reversed(back)] + [shift for _, shift in ahead]
    height, width = first.image.shape[:2]
    return Track(places, np.array(camera, dtype=np.float64).reshape(-1, 2), width, height)


@dataclass(frozen=True)
class _Look:
    """A frame as it is worked on."""

    image: Image
    gray: NDArray[np.uint8]
    half: Image
    half_gray: NDArray[np.uint8]

    @classmethod
    def at(cls, image: Image) -> "_Look":
        image, half = fit(image, SIDE_PX), fit(image, SIDE_PX // 2)
        return cls(image, _gray(image), half, _gray(half))


def _gray(image: Image) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


class _Chase:
    """Follows a thing in one direction of time."""

    def __init__(self, look: _Look, spot: Spot) -> None:
        self._look, self._spot = look, spot
        self._first = self._last = cut(look.image, spot)
        self._step = (0.0, 0.0)
        self._lost = False

    def through(self, images: Iterable[Image]) -> list[tuple[Place | None, tuple[float, float]]]:
        """Where it is in each picture, and how far the background moved to it."""
        return [self._next(_Look.at(image)) for image in images]

    def _next(self, now: _Look) -> tuple[Place | None, tuple[float, float]]:
        camera = _background(self._look, now, self._spot)
        expected = None if self._lost else self._where_expected(now)
        found = expected or self._all_over(now)
        self._look, self._lost = now, found is None
        if found is None:
            return None, camera
        spot, unlike = found
        self._step = (0.0, 0.0) if expected is None else (spot.x - self._spot.x, spot.y - self._spot.y)
        self._spot, self._last = spot, cut(now.image, spot)
        return _place(spot, now.image, unlike, searched=expected is None), camera

    def _where_expected(self, now: _Look) -> Found | None:
        """The place near the predicted one that is like what it was first, or else what it was last."""
        spot, grown = self._predicted(now)
        sizes = (spot,) if grown == 1 else (spot, spot.times(grown))
        by_first, by_last = (
            min((near(now.image, size, pattern) for size in sizes), key=_unlike)
            for pattern in (self._first, self._last)
        )
        best = by_first if by_first[1] <= LIKE_LEVELS else by_last
        return best if best[1] <= LIKE_LEVELS and best[0].inside(now.image) else None

    def _predicted(self, now: _Look) -> tuple[Spot, float]:
        """Where the corners inside went, and by what factor they drew apart.

        Where there are too few of them, where its last step leads.
        """
        spot, gray = self._spot, self._look.gray
        corners = cv2.goodFeaturesToTrack(gray, _CORNERS, 0.01, 3, mask=ellipse(gray.shape, spot.times(_CORE)))
        start, end = _flow(gray, now.gray, corners)
        if len(start) < _LEAST_CORNERS:
            return spot.at(spot.x + self._step[0], spot.y + self._step[1]), 1.0
        right, down = np.median(end - start, axis=0)
        return spot.at(spot.x + right, spot.y + down), _growth(start, end)

    def _all_over(self, now: _Look) -> Found | None:
        """The one place in the whole picture that is like it."""
        half = now.half.shape[1] / now.image.shape[1]
        small = Spot(self._spot.x * half, self._spot.y * half, self._spot.wide * half, self._spot.high * half)
        tries = []
        for pattern in (self._first, self._last):
            for size in _SIZES:
                spot, unlike, second = anywhere(now.half, small.times(size), pattern)
                if unlike <= SAME_LEVELS and second >= unlike + _APART_LEVELS:
                    there = self._spot.times(size).at(spot.x / half, spot.y / half)
                    tries.append(near(now.image, there, pattern))
        best = min(tries, key=_unlike, default=None)
        return best if best is not None and best[1] <= SAME_LEVELS and best[0].inside(now.image) else None


def _place(spot: Spot, image: Image, unlike: float, *, searched: bool = False) -> Place:
    high, wide = image.shape[:2]
    return Place(spot.box(image), (spot.x / wide, spot.y / high), unlike, searched)


def _unlike(found: Found) -> float:
    return found[1]


def _flow(
    before: NDArray[np.uint8], now: NDArray[np.uint8], corners: cv2.typing.MatLike | None
) -> tuple[Vectors, Vectors]:
    """Where corners went, for those that come back when followed in reverse."""
    if corners is None:
        return np.empty((0, 2)), np.empty((0, 2))
    start = np.asarray(corners, np.float32).reshape(-1, 1, 2)
    end, there, _ = cv2.calcOpticalFlowPyrLK(before, now, start, np.empty_like(start))
    back, again, _ = cv2.calcOpticalFlowPyrLK(now, before, end, np.empty_like(end))
    off = np.hypot(*(back - start)[:, 0].T)
    kept = (there.ravel() == 1) & (again.ravel() == 1) & (off < _RETURN_PX)
    return start[kept, 0].astype(np.float64), end[kept, 0].astype(np.float64)


def _growth(start: Vectors, end: Vectors) -> float:
    """By what factor points drew apart; 1 where there are too few to tell, or where it is more than a step's."""
    if len(start) < _CORNERS_FOR_GROWTH:
        return 1.0
    before, now = (np.hypot(*(points - np.median(points, axis=0)).T) for points in (start, end))
    apart = before > 2
    grown = float(np.median(now[apart] / before[apart])) if apart.any() else 1.0
    return grown if 1 / _GROWTH_A_STEP < grown < _GROWTH_A_STEP else 1.0


def _background(before: _Look, now: _Look, spot: Spot) -> tuple[float, float]:
    """How far what lies outside the box moved, as shares of the view; NaN where most of it does not move alike."""
    high, wide = before.half_gray.shape
    box = spot.box(before.image)
    outside = np.full((high, wide), 255, np.uint8)
    outside[round(box.top * high) : round(box.bottom * high), round(box.left * wide) : round(box.right * wide)] = 0
    corners = cv2.goodFeaturesToTrack(before.half_gray, 200, 0.01, _BACKGROUND_PX, mask=outside)
    start, end = _flow(before.half_gray, now.half_gray, corners)
    if len(start) < _LEAST_BACKGROUND:
        return math.nan, math.nan
    usual = np.median(end - start, axis=0)
    if np.mean(np.hypot(*(end - start - usual).T) < _SHARED_PX) < _SHARED:
        return math.nan, math.nan
    return float(usual[0]) / wide, float(usual[1]) / high
