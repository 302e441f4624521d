"""Dense flow between two frames, and what it leaves unexplained."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import Look
from robogaze.media.decode import Image

_MEAN_PX = 5
"""Residuals are averaged over this side: a slip of the flow by a pixel along an edge is narrower."""

_STEP_PX = 8
"""What the whole picture shares (its motion, its change of light) is taken from points this far apart."""

Field = NDArray[np.float32]
"""Where each pixel went, shape (height, width, 2)."""

Levels = NDArray[np.uint8]
"""A difference per pixel, in 8-bit levels."""


@dataclass(frozen=True)
class Change:
    """What happened between a frame and the next, on the reduced picture.

    `replaced` is high where neither frame explains the other by any motion: what was there before is nowhere near
    now, and what is there now was nowhere near before. `stirred` is high where the camera's motion alone does not
    explain the change: where something moved, or was replaced.
    """

    number: int
    before: Image
    now: Image
    replaced: Levels
    stirred: Levels


class Flow:
    """Dense inverse search, both ways."""

    def __init__(self) -> None:
        self._search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)

    def between(self, before: Look, now: Look) -> Change:
        """The change from one frame to the next; both at least 16 px in size."""
        there = self._toward(before, now)
        back = self._toward(now, before)
        came = _unexplained(now.small, before.small, back)
        went = _unexplained(before.small, now.small, there)
        stirred = _unexplained(now.small, before.small, _camera(back))
        return Change(now.number, before.small, now.small, np.minimum(came, went), stirred)

    def _toward(self, one: Look, other: Look) -> Field:
        start = np.zeros((*one.small_gray.shape, 2), np.float32)
        return np.asarray(self._search.calc(one.small_gray, other.small_gray, start), dtype=np.float32)


def _camera(flow: Field) -> Field:
    """The part of a flow that the whole picture shares: shift, turn and zoom."""
    rows, columns = np.indices(flow.shape[:2], dtype=np.float32)
    places = np.stack([columns, rows], axis=2)
    chosen = places[::_STEP_PX, ::_STEP_PX].reshape(-1, 2)
    matrix, _ = cv2.estimateAffinePartial2D(
        chosen, chosen + flow[::_STEP_PX, ::_STEP_PX].reshape(-1, 2), ransacReprojThreshold=0.5
    )
    if matrix is None:
        return np.zeros_like(flow)
    return np.asarray(cv2.transform(places, matrix) - places, dtype=np.float32)


def _unexplained(image: Image, other: Image, flow: Field) -> Levels:
    """How far each place of a picture differs from where the flow finds it in the other.

    The usual ratio of the two is taken out, so that a change of light is no change of things.
    """
    rows, columns = np.indices(flow.shape[:2], dtype=np.float32)
    found = cv2.remap(
        other, columns + flow[..., 0], rows + flow[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    some = (slice(None, None, _STEP_PX), slice(None, None, _STEP_PX))
    gain = np.median((image[some] + 1.0) / (found[some] + 1.0), axis=(0, 1))
    red, green, blue = cv2.split(cv2.absdiff(image, cv2.transform(found, np.diag(gain))))
    largest = cv2.max(cv2.max(red, green), blue)
    return np.asarray(cv2.boxFilter(largest, -1, (_MEAN_PX, _MEAN_PX)), dtype=np.uint8)
