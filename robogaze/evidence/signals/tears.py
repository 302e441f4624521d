"""Tears: lines across the whole picture at which the rows jump sideways from one frame to the next.

Each band of rows is compared with the same band of the frame before at every sideways shift. At a tear, the bands above
the line fit one shift, and the bands below it fit a clearly different shift. This must be true in all parts of the
width, because a moving object rarely fills the whole width. An object that does so also moves in the neighbouring
frames. A tear, however, is sudden: at its line, nothing moves in the same way one frame before or after.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Signal, ViewSignals, band_across

_BAND_PX = 4  # rows of the reduced picture in a band
_REACH = 1 / 8  # of the width: the largest shift that is tried
_STEP_PX = 2  # every other column is enough
_PARTS = 6  # of the width
_LEAST_PARTS = 5  # of these must be informative; one may be too plain
_SIDE_BANDS = 3  # bands on each side of the line that must agree
_LEAST_SHIFT_PX = 4  # a smaller jump between neighbouring bands may be parallax
_CLEARLY = 0.5  # a band fits its shift if the difference is at most this share of the difference at the other shift
_LEAST_LEVELS = 2.0  # a part is informative if the other shift leaves at least this difference
_CONTINUES = 0.25  # of the jump: how far the rows may move the same way in the neighbouring frames

Costs = NDArray[np.float32]
"""Mean absolute difference, shape (shifts, bands, parts)."""


Shifts = NDArray[np.intp]
"""The shift of each band, in pixels to the right."""


@dataclass(frozen=True)
class Line:
    """A line across the picture: its place, and the jump of the rows above it relative to the rows below it.

    `height` is the distance from the top, as a share of the picture's height.
    """

    jump_px: int
    band: int
    height: float


class Tears:
    """The largest sideways jump between neighbouring rows."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="tear",
            unit="of the width",
            description=(
                "Largest sideways jump since the frame before: the rows above a line move relative to the rows "
                "below. The line crosses the whole picture; 0 if there is no such line."
            ),
            gap="the picture is too small to compare its rows",
        ),
    )

    def __init__(self) -> None:
        self._before: NDArray[np.float32] | None = None
        self._width = 1
        self._shifts: list[Shifts | None] = []
        self._lines: list[Line | None] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        before, self._before = self._before, _bands(frame.small_gray)
        self._width = frame.small_gray.shape[1]
        if before is None or len(before) < 2 * _SIDE_BANDS or self._width * _REACH < 2 * _LEAST_SHIFT_PX:
            self._shifts.append(None)
            self._lines.append(None)
            return
        if not _may_tear(before, self._before):
            self._shifts.append(np.zeros(len(before), dtype=np.intp))
            self._lines.append(None)
            return
        costs = _costs(before, self._before)
        self._shifts.append(_shifts(costs))
        self._lines.append(_largest(costs))

    def finish(self) -> ViewSignals:
        """The series over all frames; NaN in the first one and in pictures that are too small."""
        tears = np.array([np.nan if shifts is None else 0.0 for shifts in self._shifts])
        boxes: dict[int, Box] = {}
        for frame, line in enumerate(self._lines):
            if line is not None and not self._continues(frame, line):
                tears[frame] = abs(line.jump_px) / self._width
                boxes[frame] = band_across(line.height)
        return ViewSignals({"tear": tears}, {"tear": boxes})

    def _continues(self, frame: int, line: Line) -> bool:
        """Whether the rows move against each other the same way in the frame before or after."""
        neighbours = (self._shifts[other] for other in (frame - 1, frame + 1) if 0 <= other < len(self._shifts))
        jumps = [_jump(shifts, line.band) for shifts in neighbours if shifts is not None]
        return any(jump / line.jump_px > _CONTINUES for jump in jumps)


def _bands(gray: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The mean row of each band, shape (bands, width)."""
    height = gray.shape[0] - gray.shape[0] % _BAND_PX
    sums = gray[:height].reshape(-1, _BAND_PX, gray.shape[1]).sum(axis=1, dtype=np.uint16)
    return np.asarray(sums / np.float32(_BAND_PX), dtype=np.float32)


def _may_tear(before: NDArray[np.float32], now: NDArray[np.float32]) -> bool:
    """Whether some bands changed in nearly all parts of the width; otherwise none of them was shifted."""
    parts = np.array_split(cv2.absdiff(before, now), _PARTS, axis=1)
    sums = [cv2.reduce(part, 1, cv2.REDUCE_SUM).ravel() for part in parts]  # exact: multiples of 1 / _BAND_PX
    changed = np.stack([total >= part.shape[1] * _LEAST_LEVELS / 2 for total, part in zip(sums, parts, strict=True)])
    return int((changed.sum(axis=0) >= _LEAST_PARTS - 1).sum()) >= _SIDE_BANDS


def _costs(before: NDArray[np.float32], now: NDArray[np.float32]) -> Costs:
    """The difference of each band at each shift; shift 0 is in the middle."""
    width = now.shape[1]
    reach = round(width * _REACH)
    inner = now[:, reach : width - reach]
    shifted = np.lib.stride_tricks.sliding_window_view(before, inner.shape[1], axis=1)
    differences = np.abs(shifted.transpose(1, 0, 2)[..., ::_STEP_PX] - inner[:, ::_STEP_PX])
    parts = np.array_split(differences, _PARTS, axis=2)
    return np.asarray(np.stack([part.mean(axis=2) for part in parts], axis=2)[::-1], dtype=np.float32)


def _shifts(costs: Costs) -> Shifts:
    """The best shift of each band, in pixels to the right."""
    return np.asarray(costs.sum(axis=2).argmin(axis=0) - len(costs) // 2, dtype=np.intp)


def _jump(shifts: Shifts, band: int) -> int:
    """The jump of the rows above a band relative to the rows below it."""
    above, below = _sides(band)
    return int(np.median(shifts[above]) - np.median(shifts[below]))


def _sides(band: int) -> tuple[slice, slice]:
    """The bands above and below a band, which may itself lie across the line."""
    return slice(band - _SIDE_BANDS, band), slice(band + 1, band + 1 + _SIDE_BANDS)


def _largest(costs: Costs) -> Line | None:
    """The line with the largest jump, None without a tear."""
    shifts = _shifts(costs)
    found: Line | None = None
    middles = np.median(np.lib.stride_tricks.sliding_window_view(shifts, _SIDE_BANDS), axis=1)
    for band in range(_SIDE_BANDS, len(shifts) - _SIDE_BANDS):
        jump = int(middles[band - _SIDE_BANDS] - middles[band + 1])
        if abs(jump) < (_LEAST_SHIFT_PX if found is None else abs(found.jump_px) + 1):
            continue
        above, below = _sides(band)
        upper, lower = (int(middles[side.start]) + len(costs) // 2 for side in (above, below))
        if _fits(costs, above, upper, lower) and _fits(costs, below, lower, upper):
            found = Line(jump, band, (band + 0.5) / len(shifts))
    return found


def _fits(costs: Costs, bands: slice, own: int, other: int) -> bool:
    """Whether every informative part fits its own shift clearly better, and nearly all parts are informative."""
    own_costs, other_costs = costs[own, bands].mean(axis=0), costs[other, bands].mean(axis=0)
    informative = other_costs >= _LEAST_LEVELS
    return bool(
        informative.sum() >= _LEAST_PARTS and np.all(own_costs[informative] <= _CLEARLY * other_costs[informative])
    )
