"""Seams: new straight lines across the picture at which neighbouring rows do not fit together.

Where rows are shifted or blocks of the picture are misplaced, brightness jumps from one row to the next along a
straight line. At this line, brightness jumps more than above and below it. The edge of a table looks the same, but the
previous frame already had this edge in the same row or at most two rows away. Edges that the clip usually has in a
place are not new either, because the previous frame may only have been too blurred or dark to show them. The line must
extend over most of the picture's width, because a moving object is rarely that wide.
"""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Signal, ViewSignals, band_across

_STEP_LEVELS = 8
"""Two rows differ sharply where they differ by this much more than the pairs of rows above and below."""

_PARTS, _LEAST_PARTS = 6, 4
"""The width is divided into _PARTS parts, of which _LEAST_PARTS must show the line."""

_BEFORE_PX = (5, 3)  # rows and columns: a step that was this near in the frame before is not new
_UPDATE_RATE, _USUAL = 0.03, 0.3  # of the running mean of steps; from this mean on, a step is usual
_LEAST_PX = 32  # a picture with a shorter side has too few rows and columns

Steps = NDArray[np.uint8]
"""1 where a row differs sharply from the next, shape (rows - 3, columns)."""


class Seams:
    """The longest new line."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="seam",
            unit="of the width",
            description=(
                "Share of the width along which two neighbouring rows differ sharply, but did not differ in the "
                "frame before. "
                f"The share must be reached in {_LEAST_PARTS} of {_PARTS} parts of the width, and the line with "
                "the largest share counts; 0 if there is no such line."
            ),
            gap="the picture is too small to compare its rows",
        ),
    )

    def __init__(self) -> None:
        self._before: Steps | None = None
        self._usual: NDArray[np.float32] = np.empty((0, 0), np.float32)
        self._seams: list[float] = []
        self._boxes: dict[int, Box] = {}

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        if min(frame.gray.shape) < _LEAST_PX:
            self._seams.append(math.nan)
            return
        before, self._before = self._before, _steps(frame.gray)
        if before is None:
            self._seams.append(math.nan)
            self._usual = self._before.astype(np.float32)
            return
        known = cv2.max(before, (self._usual > _USUAL).view(np.uint8))
        new = np.asarray(cv2.subtract(self._before, cv2.dilate(known, np.ones(_BEFORE_PX, np.uint8))), dtype=np.uint8)
        cv2.accumulateWeighted(self._before, self._usual, _UPDATE_RATE)
        shares = np.sort([_by_row(part) for part in np.array_split(new, _PARTS, axis=1)], axis=0)
        along = shares[_PARTS - _LEAST_PARTS]
        line = int(along.argmax())
        self._seams.append(float(along[line]))
        if along[line] > 0:
            self._boxes[frame.number] = band_across((line + 2) / frame.gray.shape[0])

    def finish(self) -> ViewSignals:
        """The series over all frames; NaN in the first one and in pictures under 32 px."""
        return ViewSignals({"seam": np.array(self._seams, dtype=np.float64)}, {"seam": self._boxes})


def _steps(gray: NDArray[np.uint8]) -> Steps:
    """Where a row differs sharply from the next."""
    differ = cv2.absdiff(gray[1:], gray[:-1])
    more = cv2.subtract(differ[1:-1], cv2.max(differ[:-2], differ[2:]))
    return np.asarray(cv2.threshold(more, _STEP_LEVELS, 1, cv2.THRESH_BINARY)[1], dtype=np.uint8)


def _by_row(part: Steps) -> NDArray[np.float64]:
    """The share of ones in each row; in OpenCV, counting in integers is several times faster than averaging."""
    counts = cv2.reduce(part, 1, cv2.REDUCE_SUM, dtype=cv2.CV_32S).ravel()
    return np.asarray(counts * (1 / part.shape[1]), dtype=np.float64)  # as OpenCV divides
