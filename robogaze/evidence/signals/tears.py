"""Tears: a line across the whole picture at which its rows have jumped sideways since the frame before.

Each band of rows is compared with the same band of the frame before, shifted sideways by so and so much. A tear is
a line where the bands above fit one shift and the bands below clearly another, in all parts of the width alike: a
thing that moves seldom fills them all. When it does, it moves in the frames beside too, while a tear comes at once:
at its line nothing moves the same way a frame before or after.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Signal, ViewSignals

_BAND_PX = 4  # rows of the reduced picture in a band
_REACH = 1 / 8  # of the width: the largest shift that is sought
_STEP_PX = 2  # every other column tells as much
_PARTS = 6  # of the width
_LEAST_PARTS = 5  # of these: that must tell; one may be too plain
_SIDE_BANDS = 3  # bands on each side of the line that must agree
_LEAST_SHIFT_PX = 4  # a smaller jump between neighbouring bands may be parallax
_CLEARLY = 0.5  # a band fits its own shift if that leaves at most this part of the difference the other one leaves
_LEAST_LEVELS = 2.0  # a part tells only if the other shift leaves at least this difference
_GOES_ON = 0.25  # of the jump: what the rows may move the same way in the frames beside

Costs = NDArray[np.float32]
"""Mean absolute difference, shape (shifts, bands, parts)."""


Shifts = NDArray[np.intp]
"""How far each band moved, in pixels to the right."""


@dataclass(frozen=True)
class Line:
    """A line across the picture: how far the rows above it jumped against those below, and where it lies.

    `height` counts from the top, as a share of the picture's height.
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
                "Largest sideways jump, since the frame before, between rows above and below a line across the "
                "whole picture; 0 without such a line."
            ),
            gap="the picture is too small for its rows to be compared",
        ),
    )

    def __init__(self) -> None:
        self._before: NDArray[np.float32] | None = None
        self._width = 1
        self._shifts: list[Shifts | None] = []
        self._lines: list[Line | None] = []

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        before, self._before = self._before, _bands(look.small_gray)
        self._width = look.small_gray.shape[1]
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
        """The series of all frames; NaN at the first one and in pictures too small to tell."""
        tears = np.array([np.nan if shifts is None else 0.0 for shifts in self._shifts])
        boxes: dict[int, Box] = {}
        for frame, line in enumerate(self._lines):
            if line is not None and not self._goes_on(frame, line):
                tears[frame] = abs(line.jump_px) / self._width
                boxes[frame] = Box(
                    left=0.0, top=max(0.0, line.height - 0.05), right=1.0, bottom=min(1.0, line.height + 0.05)
                )
        return ViewSignals({"tear": tears}, {"tear": boxes})

    def _goes_on(self, frame: int, line: Line) -> bool:
        """The rows move against each other the same way in the frame before or after."""
        beside = (self._shifts[other] for other in (frame - 1, frame + 1) if 0 <= other < len(self._shifts))
        jumps = [_jump(shifts, line.band) for shifts in beside if shifts is not None]
        return any(jump / line.jump_px > _GOES_ON for jump in jumps)


def _bands(gray: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The mean row of each band, shape (bands, width)."""
    height = gray.shape[0] - gray.shape[0] % _BAND_PX
    return np.asarray(gray[:height].reshape(-1, _BAND_PX, gray.shape[1]).mean(axis=1), dtype=np.float32)


def _may_tear(before: NDArray[np.float32], now: NDArray[np.float32]) -> bool:
    """Some bands changed in nearly all parts of the width: else none of them can have been shifted."""
    parts = np.array_split(np.abs(before - now), _PARTS, axis=1)
    changed = np.stack([part.mean(axis=1) for part in parts], axis=1) >= _LEAST_LEVELS / 2
    return int((changed.sum(axis=1) >= _LEAST_PARTS - 1).sum()) >= _SIDE_BANDS


def _costs(before: NDArray[np.float32], now: NDArray[np.float32]) -> Costs:
    """What each shift leaves of each band; shift 0 is in the middle."""
    width = now.shape[1]
    reach = round(width * _REACH)
    inner = now[:, reach : width - reach]
    shifted = np.lib.stride_tricks.sliding_window_view(before, inner.shape[1], axis=1)
    left_out = np.abs(shifted.transpose(1, 0, 2)[..., ::_STEP_PX] - inner[:, ::_STEP_PX])
    parts = np.array_split(left_out, _PARTS, axis=2)
    return np.asarray(np.stack([part.mean(axis=2) for part in parts], axis=2)[::-1], dtype=np.float32)


def _shifts(costs: Costs) -> Shifts:
    """How far each band moved, in pixels to the right."""
    return np.asarray(costs.sum(axis=2).argmin(axis=0) - len(costs) // 2, dtype=np.intp)


def _jump(shifts: Shifts, band: int) -> int:
    """How far the rows above a band moved against those below it."""
    above, below = _sides(band)
    return int(np.median(shifts[above]) - np.median(shifts[below]))


def _sides(band: int) -> tuple[slice, slice]:
    """The bands above and below one, which may itself lie across the line."""
    return slice(band - _SIDE_BANDS, band), slice(band + 1, band + 1 + _SIDE_BANDS)


def _largest(costs: Costs) -> Line | None:
    """The line with the largest jump; None without one."""
    shifts = _shifts(costs)
    found: Line | None = None
    for band in range(_SIDE_BANDS, len(shifts) - _SIDE_BANDS):
        jump = _jump(shifts, band)
        if abs(jump) < (_LEAST_SHIFT_PX if found is None else abs(found.jump_px) + 1):
            continue
        above, below = _sides(band)
        upper, lower = (int(np.median(shifts[side])) + len(costs) // 2 for side in (above, below))
        if _fits(costs, above, upper, lower) and _fits(costs, below, lower, upper):
            found = Line(jump, band, (band + 0.5) / len(shifts))
    return found


def _fits(costs: Costs, bands: slice, own: int, other: int) -> bool:
    """Every part of the bands that tells is clearly better explained by their own shift, and nearly all tell."""
    left, rival = costs[own, bands].mean(axis=0), costs[other, bands].mean(axis=0)
    tells = rival >= _LEAST_LEVELS
    return bool(tells.sum() >= _LEAST_PARTS and np.all(left[tells] <= _CLEARLY * rival[tells]))
