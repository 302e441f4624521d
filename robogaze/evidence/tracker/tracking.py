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
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.tracker.pattern import LEAST_PX, Spot, anywhere, cut, ellipse, near
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

    `middle` is where its middle lies, as shares of the view's width and height: that of its box before it is cut to the
    view, or the centre of mass of what is known to belong to it. `unlike` is how far it differs from what it is
    compared with, in 8-bit levels, NaN where it is found in another way. `searched` is true where it was not near the
    place that its motion predicted, and found in the whole picture.
    """

    box: Box
    middle: tuple[float, float]
    unlike: float
    searched: bool = False


@dataclass(frozen=True)
class TrackedObject:
    """One thing through a sequence of frames of `width` x `height` pixels.

    `places` holds None where it was not found. `camera` is how far the background moved from each frame to the next, as
    shares of the view's width and height, shape (frames - 1, 2); NaN where that could not be told.
    """

    places: tuple[Place | None, ...]
    camera: Vectors
    width: int
    height: int


@dataclass(frozen=True)
class TrackingFrame:
    """A frame as it is worked on: `image` is the picture as it came, reduced to SIDE_PX, `half` half of that."""

    full: Image
    image: Image
    gray: NDArray[np.uint8]
    half: Image
    half_gray: NDArray[np.uint8]

    @classmethod
    def at(cls, full: Image) -> "TrackingFrame":
        """The look at a picture."""
        image, half = fit(full, SIDE_PX), fit(full, SIDE_PX // 2)
        return cls(full, image, _gray(image), half, _gray(half))


class Chase(Protocol):
    """Follows a thing in one direction of time.

    `first` is where it is in the frame it is followed from, `spot` where it was found last.
    """

    first: Place
    spot: Spot

    def next(self, now: TrackingFrame) -> Place | None:
        """Where it is in the next frame; None where it is not found there."""


BeginChase = Callable[[TrackingFrame, Spot], Chase]
"""Begins to follow what is at a spot of a look."""


def follow(
    picture: Callable[[int], Image], count: int, start: int, box: Box, chase: BeginChase | None = None
) -> TrackedObject:
    """Follow what is in a box of the frame `start` through all `count` frames, whose pictures `picture` gives.

    Each picture is asked for once. The thing is followed in the way that `chase` begins. Where that is None it is its
    corners and colours that are followed, and a thing whose middle leaves the view is lost. Raises TooSmall for a box
    of less than 6 pixels in a picture of 640.
    """
    first = TrackingFrame.at(picture(start))
    spot = Spot.of(box, first.image)
    if min(spot.wide, spot.high) < LEAST_PX:
        raise TooSmall(f"a box of {spot.wide:.0f} x {spot.high:.0f} px in a picture of {SIDE_PX} cannot be followed")
    begin = chase or _ByColour
    chased = begin(first, spot)
    ahead = _through(chased, first, (picture(number) for number in range(start + 1, count)))
    back = _through(begin(first, spot), first, (picture(number) for number in range(start - 1, -1, -1)))
    places = (*(place for place, _ in reversed(back)), chased.first, *(place for place, _ in ahead))
    camera = [(-right, -down) for _, (right, down) in reversed(back)] + [shift for _, shift in ahead]
    height, width = first.image.shape[:2]
    return TrackedObject(places, np.array(camera, dtype=np.float64).reshape(-1, 2), width, height)


def _through(
    chase: Chase, look: TrackingFrame, images: Iterable[Image]
) -> list[tuple[Place | None, tuple[float, float]]]:
    """Where the thing is in each picture, and how far the background moved to it."""
    found = []
    for image in images:
        now = TrackingFrame.at(image)
        camera = _background(look, now, chase.spot)
        found.append((chase.next(now), camera))
        look = now
    return found


def _gray(image: Image) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


class _ByColour:
    """Follows a thing by its corners, and by what the box held."""

    def __init__(self, look: TrackingFrame, spot: Spot) -> None:
        self.first = placed(spot, look.image, 0.0)
        self.spot = spot
        self._look = look
        self._pattern = self._last = cut(look.image, spot)
        self._step = (0.0, 0.0)
        self._lost = False

    def next(self, now: TrackingFrame) -> Place | None:
        """See Chase."""
        expected = None if self._lost else self._where_expected(now)
        found = expected or self._all_over(now)
        self._look, self._lost = now, found is None
        if found is None:
            return None
        spot, unlike = found
        self._step = (0.0, 0.0) if expected is None else (spot.x - self.spot.x, spot.y - self.spot.y)
        self.spot, self._last = spot, cut(now.image, spot)
        return placed(spot, now.image, unlike, searched=expected is None)

    def _where_expected(self, now: TrackingFrame) -> Found | None:
        """The place near the predicted one that is like what it was first, or else what it was last."""
        spot, grown = self._predicted(now)
        sizes = (spot,) if grown == 1 else (spot, spot.times(grown))
        by_first, by_last = (
            min((near(now.image, size, pattern) for size in sizes), key=_unlike)
            for pattern in (self._pattern, self._last)
        )
        best = by_first if by_first[1] <= LIKE_LEVELS else by_last
        return best if best[1] <= LIKE_LEVELS and best[0].inside(now.image) else None

    def _predicted(self, now: TrackingFrame) -> tuple[Spot, float]:
        """Where the corners inside went, and by what factor they drew apart.

        Where there are too few of them, where its last step leads.
        """
        spot, gray = self.spot, self._look.gray
        corners = cv2.goodFeaturesToTrack(gray, _CORNERS, 0.01, 3, mask=ellipse(gray.shape, spot.times(_CORE)))
        start, end = _flow(gray, now.gray, corners)
        if len(start) < _LEAST_CORNERS:
            return spot.at(spot.x + self._step[0], spot.y + self._step[1]), 1.0
        right, down = np.median(end - start, axis=0)
        return spot.at(spot.x + right, spot.y + down), _growth(start, end)

    def _all_over(self, now: TrackingFrame) -> Found | None:
        """The one place in the whole picture that is like it."""
        half = now.half.shape[1] / now.image.shape[1]
        small = Spot(self.spot.x * half, self.spot.y * half, self.spot.wide * half, self.spot.high * half)
        tries = []
        for pattern in (self._pattern, self._last):
            for size in _SIZES:
                spot, unlike, second = anywhere(now.half, small.times(size), pattern)
                if unlike <= SAME_LEVELS and second >= unlike + _APART_LEVELS:
                    there = self.spot.times(size).at(spot.x / half, spot.y / half)
                    tries.append(near(now.image, there, pattern))
        best = min(tries, key=_unlike, default=None)
        return best if best is not None and best[1] <= SAME_LEVELS and best[0].inside(now.image) else None


def placed(spot: Spot, image: Image, unlike: float, *, searched: bool = False) -> Place:
    """A spot of a picture as a place."""
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


def _background(before: TrackingFrame, now: TrackingFrame, spot: Spot) -> tuple[float, float]:
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
