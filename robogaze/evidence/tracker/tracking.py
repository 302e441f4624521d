"""Following one object through the frames of a view, forward and backward from a box on one frame.

From frame to frame, optical flow follows the corners inside the box and predicts where the box goes and how it grows.
The content that the box had at the start is then searched for near the predicted place, to a fraction of a pixel. If it
is not found there, the latest content is searched for as well, because objects turn and limbs move. Without a match,
both are searched for in the whole picture, because the object may have jumped. If the object is found nowhere, or in
two similar places, it is lost for that frame and searched for again in the next frame. The camera's part of the motion
comes from points outside the box.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from operator import itemgetter
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.tracker.corners import Vectors, find_corners, follow_corners, growth, median
from robogaze.evidence.tracker.pattern import (
    LEAST_PX,
    Pattern,
    PixelRegion,
    Spectra,
    Surroundings,
    anywhere,
    cut,
    spectra,
)
from robogaze.media.compose import fit
from robogaze.media.decode import Image

SIDE_PX = 640
"""The longer side of the working picture; the search in the whole picture and the background use half of it."""

SAME_LEVELS, LIKE_LEVELS = 20.0, 28.0
"""The largest difference from the first content of the box, and near the predicted place from its latest content."""

_LEAST_CORNERS = 4
_CORE = 0.8  # of the box: only corners in it are followed, because a wide box contains background
_CONTRAST_SHARE = 0.6  # a correlation of 0.82 at equal brightness
_RESTING_LEVELS = 4.0  # video noise and compression at a place where nothing moves
_SEARCHES, _SEARCH_EVERY = (0, 1, 2, 4), 8  # after how many pictures without the object it is searched again
_SIZES = (1.0, 0.85, 1.18)  # in the search in the whole picture
_APART_LEVELS = 6.0  # by how much the second best match must be worse; otherwise there are two similar objects
_BACKGROUND_PX = 16  # the distance of the points that are followed in the background
_LEAST_BACKGROUND, _SHARED, _SHARED_PX = 12, 0.6, 1.0  # number of points, share that moves alike, tolerance

Match = tuple[PixelRegion, float]
"""A place and its difference from the pattern, in levels."""


class TooSmall(ValueError):
    """A box is too small to be followed."""


@dataclass(frozen=True)
class ObjectPlace:
    """The place of the object in one frame.

    `middle` is the centre of the object's box before the box is cut to the view. With a mask, `middle` is the mask's
    centre of mass. Both are shares of the view's width and height. `difference` is the difference from the pattern, in
    8-bit levels, NaN with a mask. `searched` is true if the object was not near the predicted place and was found in
    the whole picture.
    """

    box: Box
    middle: tuple[float, float]
    difference: float
    searched: bool = False


@dataclass(frozen=True)
class TrackedObject:
    """One object in a sequence of frames of `width` x `height` pixels.

    `places` has None for frames in which the object was not found. `camera` is the motion of the background from each
    frame to the next, as shares of the view's width and height. It has the shape (frames - 1, 2) and is NaN where the
    motion is unknown.
    """

    places: tuple[ObjectPlace | None, ...]
    camera: Vectors
    width: int
    height: int


@dataclass(frozen=True)
class TrackingFrame:
    """A frame with its working pictures: `full` is unchanged, `image` has a longer side of at most `side_px`."""

    full: Image
    image: Image
    side_px: int

    @classmethod
    def at(cls, full: Image, side_px: int = SIDE_PX) -> "TrackingFrame":
        """The tracking frame of a full picture."""
        return cls(full, fit(_halved(full, side_px), side_px), side_px)

    @cached_property
    def gray(self) -> NDArray[np.uint8]:
        """`image` in levels of gray."""
        return _gray(self.image)

    @cached_property
    def half(self) -> Image:
        """`image`, reduced to half of `side_px`."""
        return fit(_halved(self.image, self.side_px // 2), self.side_px // 2)

    @cached_property
    def half_gray(self) -> NDArray[np.uint8]:
        """`half` in levels of gray."""
        return _gray(self.half)

    @cached_property
    def half_spectra(self) -> Spectra:
        """`half`, prepared for a search."""
        return spectra(self.half)


class Follower(Protocol):
    """Follows an object in one direction of time.

    `first` is the object's place in the first frame. `region` is the place where the object was found last.
    """

    first: ObjectPlace
    region: PixelRegion

    def next(self, now: TrackingFrame) -> ObjectPlace | None:
        """The object's place in the next frame, None if the object is not found."""


StartFollower = Callable[[TrackingFrame, PixelRegion], Follower]
"""Starts to follow the object at a region of a frame."""


def follow(
    picture: Callable[[int], Image], count: int, start: int, box: Box, begin: StartFollower | None = None
) -> TrackedObject:
    """Follow the object in a box of the frame `start` through all `count` frames; `picture` returns a frame's picture.

    Each picture is requested once. `begin` starts to follow the object; by default its corners and colours are
    followed, and an object whose centre leaves the view is lost. Raises TooSmall for a box under 6 px in a picture of
    640 px.
    """
    first = TrackingFrame.at(picture(start))
    region = _region(box, first.image, SIDE_PX)
    begin = begin or _ByColour
    follower = begin(first, region)
    ahead = _through(follower, first, (picture(number) for number in range(start + 1, count)))
    back = _through(begin(first, region), first, (picture(number) for number in range(start - 1, -1, -1)))
    places = (*(place for place, _ in reversed(back)), follower.first, *(place for place, _ in ahead))
    camera = [(-right, -down) for _, (right, down) in reversed(back)] + [shift for _, shift in ahead]
    height, width = first.image.shape[:2]
    return TrackedObject(places, np.array(camera, dtype=np.float64).reshape(-1, 2), width, height)


class FollowedObjects:
    """Objects that are followed together through a view, starting from their boxes in the view's first picture.

    Each picture is prepared once for all objects and is not kept. `begin` has the same meaning as in `follow`. By
    default, an object may change more than in `follow` before it counts as lost, so that it is still followed when it
    turns or is partly covered. The box may then move along with the thing that covers the object. The longer an object
    is lost, the less often it is searched for; finally, it is searched for in every _SEARCH_EVERY-th picture.
    """

    def __init__(self, boxes: Sequence[Box], begin: StartFollower | None = None, side_px: int = SIDE_PX) -> None:
        self._boxes = boxes
        self._is_learned = begin is not None
        self._begin = begin or partial(_ByColour, contrast_share=_CONTRAST_SHARE, resting_levels=_RESTING_LEVELS)
        self._side_px = side_px
        self._followers: list[Follower] = []
        self._lost = [0] * len(boxes)

    def next(self, full: Image) -> tuple[ObjectPlace | None, ...]:
        """The places of the objects in the next picture. Raises TooSmall for a box that `can_follow` refuses."""
        now = TrackingFrame.at(full, self._side_px)
        if not self._followers:
            self._followers = [self._begin(now, _region(box, now.image, self._side_px)) for box in self._boxes]
            return tuple(follower.first for follower in self._followers)
        places = tuple(
            follower.next(now) if self._is_learned or _is_due(lost) else None
            for follower, lost in zip(self._followers, self._lost, strict=True)
        )
        self._lost = [lost + 1 if place is None else 0 for place, lost in zip(places, self._lost, strict=True)]
        return places


def _is_due(lost: int) -> bool:
    """Whether to search for an object that was not found in the last `lost` pictures."""
    return lost in _SEARCHES or lost % _SEARCH_EVERY == 0


def can_follow(box: Box, image: Image, side_px: int = SIDE_PX) -> bool:
    """Whether a box is large enough to be followed."""
    region = PixelRegion.of(box, fit(_halved(image, side_px), side_px))
    return min(region.wide, region.high) >= LEAST_PX


def _region(box: Box, image: Image, side_px: int) -> PixelRegion:
    """The region of a box that is large enough. Raises TooSmall for a smaller box."""
    region = PixelRegion.of(box, image)
    if min(region.wide, region.high) < LEAST_PX:
        size = f"{region.wide:.0f} x {region.high:.0f} px"
        raise TooSmall(f"a box of {size} in a picture of {side_px} cannot be followed")
    return region


def _through(
    follower: Follower, frame: TrackingFrame, images: Iterable[Image]
) -> list[tuple[ObjectPlace | None, tuple[float, float]]]:
    """The object's place in each picture, and the motion of the background from the previous picture."""
    found = []
    for image in images:
        now = TrackingFrame.at(image)
        camera = _background(frame, now, follower.region)
        found.append((follower.next(now), camera))
        frame = now
    return found


def _halved(image: Image, side_px: int) -> Image:
    """The picture, halved repeatedly until another step would make its longer side shorter than `side_px`; this is the
    fastest way to reduce a picture by a large factor.
    """
    while max(image.shape[:2]) >= 2 * side_px:
        size = image.shape[1] // 2, image.shape[0] // 2
        image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return image


def _gray(image: Image) -> NDArray[np.uint8]:
    return np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


class _ByColour:
    """Follows an object by its corners and by the content of its box."""

    def __init__(
        self, frame: TrackingFrame, region: PixelRegion, contrast_share: float = 0.0, resting_levels: float = 0.0
    ) -> None:
        """Near the predicted place, the allowed difference is the larger of LIKE_LEVELS and `contrast_share` of the
        content's contrast.

        An object rests if its latest content differs by less than `resting_levels` from the current content of the same
        place; the corners of a resting object are not followed.
        """
        self.first = placed(region, frame.image, 0.0)
        self.region = region
        self._frame = frame
        self._pattern = self._last = Pattern(cut(frame.image, region))
        self._like_levels = max(LIKE_LEVELS, contrast_share * float(self._pattern.content.std(axis=(0, 1)).mean()))
        self._resting_levels = resting_levels
        self._step = (0.0, 0.0)
        self._lost = False

    def next(self, now: TrackingFrame) -> ObjectPlace | None:
        """See Follower."""
        expected = None if self._lost else self._near_prediction(now)
        found = expected or self._in_whole_picture(now)
        self._frame, self._lost = now, found is None
        if found is None:
            return None
        region, difference = found
        self._step = (0.0, 0.0) if expected is None else (region.x - self.region.x, region.y - self.region.y)
        if region is not self.region:  # at rest its content is not renewed: slow motion adds up until it is seen
            self.region, self._last = region, Pattern(cut(now.image, region))
        return placed(region, now.image, difference, searched=expected is None)

    def _near_prediction(self, now: TrackingFrame) -> Match | None:
        """The place near the predicted place that matches the first content of the box; if no place matches it, a place
        that matches the latest content.
        """
        difference = self._difference_at_rest(now)
        if difference < self._resting_levels:
            return self.region, difference
        region, grown = self._predicted(now)
        sizes = (region,) if region.times(grown).size == region.size else (region, region.times(grown))
        places = [Surroundings(now.image, size) for size in sizes]
        best = min((place.best(self._pattern) for place in places), key=itemgetter(1))
        if best[1] > LIKE_LEVELS:
            best = min((place.best(self._last) for place in places), key=itemgetter(1))
        return best if best[1] <= self._like_levels and best[0].inside(now.image) else None

    def _difference_at_rest(self, now: TrackingFrame) -> float:
        """The difference between the object's latest content and the current content of the place where the object was
        found last.
        """
        if self._resting_levels == 0:
            return math.inf
        return float(
            np.sqrt(np.square(cv2.absdiff(cut(now.image, self.region), self._last.content), dtype=np.float32).mean())
        )

    def _predicted(self, now: TrackingFrame) -> tuple[PixelRegion, float]:
        """Where the corners inside the box moved, and their growth; with too few corners, the object's last step is
        repeated.
        """
        region, gray = self.region, self._frame.gray
        corners = find_corners(gray, region.times(_CORE))
        start, end = follow_corners(gray, now.gray, corners)
        if len(start) < _LEAST_CORNERS:
            return region.at(region.x + self._step[0], region.y + self._step[1]), 1.0
        right, down = median(end - start)
        return region.at(region.x + right, region.y + down), growth(start, end)

    def _in_whole_picture(self, now: TrackingFrame) -> Match | None:
        """The only similar place in the whole picture; None if there is no similar place, or if there are several."""
        half = now.half.shape[1] / now.image.shape[1]
        small = PixelRegion(
            self.region.x * half, self.region.y * half, self.region.wide * half, self.region.high * half
        )
        tries = []
        for pattern in (self._pattern, self._last):
            for size in _SIZES:
                region, difference, second = anywhere(now.half_spectra, small.times(size), pattern)
                if difference <= SAME_LEVELS and second >= difference + _APART_LEVELS:
                    there = self.region.times(size).at(region.x / half, region.y / half)
                    tries.append(Surroundings(now.image, there).best(pattern))
        best = min(tries, key=itemgetter(1), default=None)
        return best if best is not None and best[1] <= SAME_LEVELS and best[0].inside(now.image) else None


def placed(region: PixelRegion, image: Image, difference: float, *, searched: bool = False) -> ObjectPlace:
    """The ObjectPlace of a region of a picture."""
    high, wide = image.shape[:2]
    return ObjectPlace(region.box(image), (region.x / wide, region.y / high), difference, searched)


def _background(before: TrackingFrame, now: TrackingFrame, region: PixelRegion) -> tuple[float, float]:
    """The motion of the points outside the box, as shares of the view; NaN where most points do not move in the same
    way.
    """
    high, wide = before.half_gray.shape
    box = region.box(before.image)
    outside = np.full((high, wide), 255, np.uint8)
    outside[round(box.top * high) : round(box.bottom * high), round(box.left * wide) : round(box.right * wide)] = 0
    corners = cv2.goodFeaturesToTrack(before.half_gray, 200, 0.01, _BACKGROUND_PX, mask=outside)
    start, end = follow_corners(before.half_gray, now.half_gray, corners)
    if len(start) < _LEAST_BACKGROUND:
        return math.nan, math.nan
    usual = median(end - start)
    if np.mean(np.hypot(*(end - start - usual).T) < _SHARED_PX) < _SHARED:
        return math.nan, math.nan
    return float(usual[0]) / wide, float(usual[1]) / high
