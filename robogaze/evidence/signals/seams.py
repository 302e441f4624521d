"""Seams: lines across the picture at which its rows no longer belong together, and which were not there before.

Where rows are shifted, or blocks of the picture put elsewhere, brightness jumps from one row to the next along a
straight line, more than it does above and below that line. The edge of a table does so, too; but it was there in the
frame before, or a row or two away, or it usually is and was only blurred or dark. And it is the whole width that
counts: a thing that moves seldom fills it.
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Signal, ViewSignals

_STEP_LEVELS = 8
"""Rows differ sharply where they differ by this much more than the pairs of rows above and below."""

_PARTS, _LEAST_PARTS = 6, 4
"""The width is cut into so many parts, of which so many must show the line."""

_BEFORE_PX = (5, 3)  # rows and columns around a place: a step anywhere in it the frame before was there already
_FORGOTTEN, _USUAL = 0.03, 0.3  # of what is usual, at each frame; the share of frames from which on a step is
_LEAST_PX = 32  # a picture with a shorter side has too few rows and columns for lines to be told
_BOX = 0.05  # of the height, on each side of the line

Steps = NDArray[np.uint8]
"""1 where a row differs sharply from the next, shape (rows - 3, columns)."""


class Seams:
    """The line that is most clearly new."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="seam",
            unit="of the width",
            description=(
                "Share of the width along which two neighbouring rows differ sharply and did not the frame before, at "
                f"the line where it is largest in {_LEAST_PARTS} of {_PARTS} parts of the width; 0 without such a line."
            ),
            gap="the picture is too small for its rows to be compared",
        ),
    )

    def __init__(self) -> None:
        self._before: Steps | None = None
        self._usual: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._seams: list[float] = []
        self._boxes: dict[int, Box] = {}

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        if min(look.gray.shape) < _LEAST_PX:
            self._seams.append(math.nan)
            return
        before, self._before = self._before, _steps(look.gray)
        if before is None:
            self._seams.append(math.nan)
            self._usual = self._before.astype(np.float32)
            return
        known = before | (self._usual > _USUAL)
        fresh = self._before > cv2.dilate(known.astype(np.uint8), np.ones(_BEFORE_PX, np.uint8))
        cv2.accumulateWeighted(self._before, self._usual, _FORGOTTEN)
        shares = np.sort([_by_row(part) for part in np.array_split(fresh, _PARTS, axis=1)], axis=0)
        along = shares[_PARTS - _LEAST_PARTS]
        line = int(along.argmax())
        self._seams.append(float(along[line]))
        if along[line] > 0:
            height = (line + 2) / look.gray.shape[0]
            self._boxes[look.number] = Box(
                left=0.0, top=max(0.0, height - _BOX), right=1.0, bottom=min(1.0, height + _BOX)
            )

    def finish(self) -> ViewSignals:
        """A value for every frame; NaN at the first one and in pictures under 32 px."""
        return ViewSignals({"seam": np.array(self._seams, dtype=np.float64)}, {"seam": self._boxes})


def _steps(gray: NDArray[np.uint8]) -> Steps:
    """Where a row differs sharply from the next."""
    differ = cv2.absdiff(gray[1:], gray[:-1]).astype(np.int16)
    return np.asarray(differ[1:-1] - np.maximum(differ[:-2], differ[2:]) > _STEP_LEVELS, dtype=np.uint8)


def _by_row(part: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The share of each row in which it holds."""
    return np.asarray(cv2.reduce(part.astype(np.uint8), 1, cv2.REDUCE_AVG, dtype=cv2.CV_64F).ravel(), dtype=np.float64)
