"""Frames that repeat the one before, and the jump after such a run.

A repeated frame is no fault: an arm that waits in a simulator gives exactly equal frames. After a wait it goes on
as before or starts slowly. A first step larger than those before the wait, than those that follow, and than the
clip's usual ones, holds the motion of frames that were not shown. Single frames held between others, again and
again, are judder: so clips look that were brought from one frame rate to another.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import SMALL_SIDE_PX, FrameView, Series, Signal, ViewSignals
from robogaze.evidence.series import level

_TILE_PX = 8
"""Side of the tiles, on the reduced picture, in which the largest change is sought."""

_STILL_LEVELS = 2.0
"""A frame whose tiles all changed by less repeats the one before: after compression, repeats change by up to 1.8."""

_HELD, _AROUND_S = 3.0, 0.5
"""A frame that changes by so many times less than both of its neighbours is held; they are counted in this time."""

_RUN_S = 0.12
"""A shorter run of repeats is a matter of frame rates (every other frame twice), not a freeze."""

_BEFORE_S = 1.0
"""How far back before a run of repeats steps are compared: compression may break the run by a small change."""

_AFTER = 3
"""How many steps after the first new one are compared."""

_LAST = 4
"""How many frames at the clip's end tell whether something still moves."""


class Repeats:
    """Change to the frame before, runs of repeats, and the jump that ends one."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="frame_change",
            unit="levels",
            description="Mean absolute difference to the frame before, in 8-bit levels; 0 is an exact repeat.",
        ),
        Signal(
            name="local_change",
            unit="levels",
            description=f"The same where it is largest, in tiles of 1/{SMALL_SIDE_PX // _TILE_PX} of the width.",
        ),
        Signal(
            name="frozen_s",
            unit="s",
            description="How long the picture has repeated itself up to this frame; a scene at rest does this too.",
        ),
        Signal(
            name="resume_jump",
            unit="times the steps beside it",
            description="First change after a run of repeats, against the largest within 1 s before and three after.",
        ),
        Signal(
            name="judder",
            unit="of the frames",
            description="Share of the frames within half a second that are held between two that are not.",
        ),
        Signal(
            name="motion_at_end",
            unit="times the clip's usual change",
            description=f"At the last frame: change over the last {_LAST}, against the median of frames that change.",
        ),
    )

    def __init__(self) -> None:
        self._before: FrameView | None = None
        self._times_s: list[float] = []
        self._changes: list[tuple[float, float]] = []

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        before, self._before = self._before, look
        self._times_s.append(look.time_s)
        self._changes.append((np.nan, np.nan) if before is None else _change(before, look))

    def finish(self) -> ViewSignals:
        """Series of all frames.

        The first frame has no change; a jump is NaN where no run of repeats ends, the motion at the end everywhere
        but there.
        """
        overall, local = np.array(self._changes, dtype=np.float64).T
        still = local < _STILL_LEVELS
        times_s = np.array(self._times_s)
        frozen = _frozen(still, times_s)
        series = {"frame_change": overall, "local_change": local, "frozen_s": frozen, "judder": _judder(local, times_s)}
        ending = np.full(len(overall), np.nan)
        if len(overall) > _LAST:
            ending[-1] = np.median(np.where(still, 0.0, overall)[-_LAST:]) / level(np.where(still, np.nan, overall), 50)
        jump = _resume_jump(overall, still, frozen, times_s)
        return ViewSignals({**series, "resume_jump": jump, "motion_at_end": ending})


def _change(before: FrameView, now: FrameView) -> tuple[float, float]:
    """The mean difference, and that of the tile with the largest."""
    overall = cv2.norm(before.image, now.image, cv2.NORM_L1) / now.image.size
    difference = cv2.absdiff(before.small_gray, now.small_gray)
    height, width = difference.shape
    tiles = (max(1, width // _TILE_PX), max(1, height // _TILE_PX))
    return overall, float(cv2.resize(difference.astype(np.float32), tiles, interpolation=cv2.INTER_AREA).max())


def _frozen(still: NDArray[np.bool_], times_s: Series) -> Series:
    """Seconds since the last new frame."""
    frozen = np.zeros(len(still))
    for frame in np.flatnonzero(still):
        frozen[frame] = frozen[frame - 1] + times_s[frame] - times_s[frame - 1]
    return frozen


def _judder(local: Series, times_s: Series) -> Series:
    """The share of frames, within a time before and after, that change by far less than both of their neighbours.

    At the clip's ends, where the time holds fewer frames, it is a share of as many as elsewhere: two are no habit.
    """
    held = np.zeros(len(local))
    held[2:-1] = _HELD * np.maximum(local[2:-1], _STILL_LEVELS) < np.minimum(local[1:-2], local[3:])
    first, end = (np.searchsorted(times_s, times_s + side) for side in (-_AROUND_S, _AROUND_S))
    sums = np.concatenate([[0.0], np.cumsum(held)])
    return np.asarray((sums[end] - sums[first]) / (end - first).max(), dtype=np.float64)


def _resume_jump(overall: Series, still: NDArray[np.bool_], frozen: Series, times_s: Series) -> Series:
    """The first step after each run of repeats, over the largest step beside the run; NaN near the clip's end."""
    jump = np.full(len(overall), np.nan)
    usual = level(np.where(still, np.nan, overall), 50)
    for frame in np.flatnonzero(~still[1:] & (frozen[:-1] >= _RUN_S)) + 1:
        stopped = frame - 1 - int(np.argmin(still[frame - 1 :: -1]))  # the last new frame before the repeats
        first = max(1, int(np.searchsorted(times_s, times_s[stopped] - _BEFORE_S)))
        beside = (*overall[first : stopped + 1], *overall[frame + 1 : frame + 1 + _AFTER])
        if frame + _AFTER < len(overall):
            jump[frame] = overall[frame] / max(usual, *beside)
    return jump
