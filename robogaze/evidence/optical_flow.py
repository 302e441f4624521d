"""Dense optical flow between two frames, and the changes that it does not explain."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.media.decode import Image

Mask = NDArray[np.bool_]
"""True inside a region, shape (height, width)."""

DIFFERENT_LEVELS = 20
"""A larger difference is a change. Compression at CRF 30 and noise of 3 levels leave at most 8."""

CONTEXT_FRAMES = 2
"""The number of changes that are kept before and after the examined one."""

_MEAN_PX = 5  # differences are averaged over this side: where the flow is off by a pixel along an edge, it is narrower
_STEP_PX = 8  # camera motion and the change of light are estimated from points this far apart

_Flow = NDArray[np.float32]
"""The displacement of each pixel, shape (height, width, 2)."""

Levels = NDArray[np.uint8]
"""A difference per pixel, in 8-bit levels."""


@dataclass(frozen=True)
class Change:
    """The change from one frame to the next, on the reduced picture.

    `replaced` is high where motion does not explain the change: the old content is not nearby now, and the new content
    was not nearby before. `moving` is high where the camera's motion does not explain the change: where something moved
    or was replaced.
    """

    number: int
    before: Image
    now: Image
    replaced: Levels
    moving: Levels


class RecentChanges:
    """The latest changes of a view. Each change is examined once, with up to CONTEXT_FRAMES changes on both sides."""

    def __init__(self) -> None:
        self._changes: deque[Change] = deque(maxlen=2 * CONTEXT_FRAMES + 1)

    def add(self, change: Change) -> Iterator[tuple[Sequence[Change], int]]:
        """Add the next change. If the context of an earlier change is now complete, yield the kept changes and the
        position of this earlier change.
        """
        self._changes.append(change)
        if len(self._changes) > CONTEXT_FRAMES:
            yield self._changes, len(self._changes) - 1 - CONTEXT_FRAMES

    def remaining(self) -> Iterator[tuple[Sequence[Change], int]]:
        """Like `add`, for the last changes of the clip, which have fewer changes after them."""
        for place in range(max(0, len(self._changes) - CONTEXT_FRAMES), len(self._changes)):
            yield self._changes, place


def change_between(number: int, before: Image, now: Image) -> Change:
    """The change between two reduced pictures of at least 16 px; `number` is the number of the later frame."""
    before_gray, now_gray = (np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY)) for image in (before, now))
    search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
    forward, backward = (
        np.asarray(search.calc(source, target, np.zeros((*source.shape, 2), np.float32)), dtype=np.float32)
        for source, target in ((before_gray, now_gray), (now_gray, before_gray))
    )
    appeared = _unexplained(now, before, backward)
    disappeared = _unexplained(before, now, forward)
    moving = _unexplained(now, before, _camera_flow(backward))
    return Change(number, before, now, np.minimum(appeared, disappeared), moving)


def dilated(region: Mask, by_px: int) -> Mask:
    """The region and everything within this distance of it."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * by_px + 1, 2 * by_px + 1))
    return cv2.dilate(region.astype(np.uint8), kernel) > 0


@lru_cache(maxsize=4)
def _coordinates(height: int, width: int) -> _Flow:
    """The position of each pixel. The views of a clip share a few sizes."""
    rows, columns = np.indices((height, width), dtype=np.float32)
    coordinates = np.stack([columns, rows], axis=2)
    coordinates.setflags(write=False)
    return coordinates


def _camera_flow(flow: _Flow) -> _Flow:
    """The part of a flow that is common to the whole picture: shift, rotation and zoom."""
    coordinates = _coordinates(*flow.shape[:2])
    points = coordinates[::_STEP_PX, ::_STEP_PX].reshape(-1, 2)
    matrix, _ = cv2.estimateAffinePartial2D(
        points, points + flow[::_STEP_PX, ::_STEP_PX].reshape(-1, 2), ransacReprojThreshold=0.5
    )
    if matrix is None:
        return np.zeros_like(flow)
    return np.asarray(cv2.transform(coordinates, matrix) - coordinates, dtype=np.float32)


def _unexplained(image: Image, other: Image, flow: _Flow) -> Levels:
    """How far each pixel differs from the pixel of the other picture to which the flow leads.

    A change of light is not a change of objects. Three explanations are tried: none; a factor per colour (a lamp, for
    example); level and contrast (fog, for example). The explanation that accounts for most of the picture is used, and
    the change that it explains is removed. The median factor alone is not enough: where half of the picture was
    replaced, this factor fits neither half.
    """
    places = _coordinates(*flow.shape[:2]) + flow
    # The stubs do not know that one map may have both coordinates.
    warped = cv2.remap(other, places, None, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)  # type: ignore[call-overload]
    sample, warped_sample = (picture[::_STEP_PX, ::_STEP_PX].astype(np.float32) for picture in (image, warped))
    relit = (warped, *(cv2.transform(warped, change) for change in _light_changes(sample, warped_sample)))
    channels = cv2.split(image)
    differences = (_largest_channel(channels, candidate) for candidate in relit)
    least = min(differences, key=lambda difference: np.count_nonzero(difference > DIFFERENT_LEVELS))
    return np.asarray(cv2.boxFilter(least, -1, (_MEAN_PX, _MEAN_PX)), dtype=np.uint8)


def _light_changes(image: NDArray[np.float32], warped: NDArray[np.float32]) -> tuple[NDArray[np.float64], ...]:
    """The median change of each colour between two pictures, as two matrices: the first for a change by a factor, the
    second for a change in level and contrast.
    """
    both = np.concatenate([image, warped, (image + 1) / (warped + 1)], axis=2).reshape(-1, 9)
    low, middle, high = _quartiles(both)
    contrast = (high[:3] - low[:3] + 1.0) / (high[3:6] - low[3:6] + 1.0)
    return np.diag(middle[6:]), np.column_stack([np.diag(contrast), middle[:3] - contrast * middle[3:6]])


def _quartiles(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """The quartiles of each column, shape (3, columns); `np.percentile` takes several times as long on few values."""
    ordered = np.sort(np.ascontiguousarray(values.T), axis=1)
    places = np.array((0.25, 0.5, 0.75)) * (len(values) - 1)
    below = places.astype(np.intp)
    lower, upper = (ordered[:, np.minimum(place, len(values) - 1)].T.astype(np.float64) for place in (below, below + 1))
    return lower + (upper - lower) * (places - below)[:, None]


def _largest_channel(channels: Sequence[cv2.typing.MatLike], other: cv2.typing.MatLike) -> cv2.typing.MatLike:
    """The largest difference of the three colours at each pixel; `channels` are the colours of the first picture."""
    red, green, blue = map(cv2.absdiff, channels, cv2.split(other))
    return cv2.max(cv2.max(red, green), blue)
