"""Dense flow between two frames, and what it leaves unexplained."""

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import FrameView
from robogaze.media.decode import Image

_MEAN_PX = 5
"""Residuals are averaged over this side: a slip of the flow by a pixel along an edge is narrower."""

UNLIKE_LEVELS = 20
"""Differences beyond this are told from nothing: compression at CRF 30 and noise of 3 levels leave at most 8."""

_STEP_PX = 8
"""What the whole picture shares (its motion, its change of light) is taken from points this far apart."""

FLOW_STEP = 4
"""Of the flow that a change carries only the pixels so far apart are kept, across and down."""

Field = NDArray[np.float32]
"""Where each pixel went, shape (height, width, 2)."""

Levels = NDArray[np.uint8]
"""A difference per pixel, in 8-bit levels."""


@dataclass(frozen=True)
class Change:
    """What happened between a frame and the next, on the reduced picture.

    `replaced` is high where neither frame explains the other by any motion: what was there before is nowhere near
    now, and what is there now was nowhere near before. `stirred` is high where the camera's motion alone does not
    explain the change: where something moved, or was replaced. `flow` is where pixels of the frame before went, one of
    every `FLOW_STEP` across and down.
    """

    number: int
    before: Image
    now: Image
    replaced: Levels
    stirred: Levels
    flow: Field


class Flow:
    """Dense inverse search, both ways."""

    def __init__(self) -> None:
        self._search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)

    def between(self, before: FrameView, now: FrameView) -> Change:
        """The change from one frame to the next; both at least 16 px in size."""
        there = self._toward(before, now)
        back = self._toward(now, before)
        came = _unexplained(now.small, before.small, back)
        went = _unexplained(before.small, now.small, there)
        stirred = _unexplained(now.small, before.small, _camera(back))
        sampled = there[::FLOW_STEP, ::FLOW_STEP].copy()
        return Change(now.number, before.small, now.small, np.minimum(came, went), stirred, sampled)

    def _toward(self, one: FrameView, other: FrameView) -> Field:
        start = np.zeros((*one.small_gray.shape, 2), np.float32)
        return np.asarray(self._search.calc(one.small_gray, other.small_gray, start), dtype=np.float32)


@lru_cache(maxsize=4)
def _places(height: int, width: int) -> Field:
    """Where each pixel of a picture of that size is; the views of a clip share a few sizes."""
    rows, columns = np.indices((height, width), dtype=np.float32)
    places = np.stack([columns, rows], axis=2)
    places.setflags(write=False)
    return places


def _camera(flow: Field) -> Field:
    """The part of a flow that the whole picture shares: shift, turn and zoom."""
    places = _places(*flow.shape[:2])
    chosen = places[::_STEP_PX, ::_STEP_PX].reshape(-1, 2)
    matrix, _ = cv2.estimateAffinePartial2D(
        chosen, chosen + flow[::_STEP_PX, ::_STEP_PX].reshape(-1, 2), ransacReprojThreshold=0.5
    )
    if matrix is None:
        return np.zeros_like(flow)
    return np.asarray(cv2.transform(places, matrix) - places, dtype=np.float32)


def _unexplained(image: Image, other: Image, flow: Field) -> Levels:
    """How far each place of a picture differs from where the flow finds it in the other.

    A change of light is no change of things: no change, one by a factor (a lamp), and one of level and contrast (fog)
    are tried, and the one that explains most of the picture is taken out. The usual factor alone would not do: where
    half of the picture was replaced it is nobody's.
    """
    columns, rows = cv2.split(_places(*flow.shape[:2]) + flow)
    found = cv2.remap(other, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    some, some_found = (picture[::_STEP_PX, ::_STEP_PX].astype(np.float32) for picture in (image, found))
    lit = (found, *(cv2.transform(found, change) for change in _changes_of_light(some, some_found)))
    left = min((_largest_channel(image, other) for other in lit), key=lambda one: np.count_nonzero(one > UNLIKE_LEVELS))
    return np.asarray(cv2.boxFilter(left, -1, (_MEAN_PX, _MEAN_PX)), dtype=np.uint8)


def _changes_of_light(image: NDArray[np.float32], found: NDArray[np.float32]) -> tuple[NDArray[np.float64], ...]:
    """The usual change of each colour between two pictures, as matrices: by a factor; in level and contrast."""
    factor = np.median((image + 1) / (found + 1), axis=(0, 1))
    (low, middle, high), (low_before, middle_before, high_before) = (
        np.percentile(picture, (25, 50, 75), axis=(0, 1)) for picture in (image, found)
    )
    contrast = (high - low + 1.0) / (high_before - low_before + 1.0)
    return np.diag(factor), np.column_stack([np.diag(contrast), middle - contrast * middle_before])


def _largest_channel(image: cv2.typing.MatLike, other: cv2.typing.MatLike) -> cv2.typing.MatLike:
    """The difference per pixel in the colour in which it is largest."""
    red, green, blue = cv2.split(cv2.absdiff(image, other))
    return cv2.max(cv2.max(red, green), blue)
