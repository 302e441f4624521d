"""Frames that repeat the previous frame, and the jump after a run of these frames.

A repeated frame is not a fault: an arm that waits in a simulator produces exactly equal frames, and afterwards it
continues as before or starts slowly. The first step after a wait may contain the motion of frames that were not shown.
The step contains this motion if it is larger than the steps before the wait, the steps that follow, and the clip's
usual steps. Judder means that single frames are held between moving frames, repeatedly; clips whose frame rate was
converted look like this.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import FrameView, Series, Signal, ViewSignals
from robogaze.evidence.series import level
from robogaze.media.decode import Image

_TILE_PX = 8  # side of the tiles, on the reduced picture, in which the largest change is sought
_STILL_LEVELS = 2.0  # a frame whose tiles all change by less is a repeat; compression changes repeats by up to 1.8
_HELD_TIMES, _JUDDER_S = 3.0, 0.5  # a held frame changes this many times less than both neighbours; counted around it
_RUN_S = 0.12  # a shorter run comes from the frame rate (every other frame twice) and is not a freeze
_BEFORE_S = 1.0  # steps before the run that are compared; compression may break a run by a small change
_AFTER = 3  # steps after the first new one that are compared


class RepeatedFrames:
    """Change since the frame before, runs of repeats, and the jump that ends a run."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="frame_difference",
            unit="levels",
            description="Mean absolute difference to the frame before, in 8-bit levels; 0 is an exact repeat.",
        ),
        Signal(
            name="frozen_s",
            unit="s",
            description="How long the picture has repeated itself up to this frame; a scene at rest counts too.",
        ),
        Signal(
            name="resume_jump",
            unit="times the steps around it",
            description="First change after a run of repeats, relative to the largest change within 1 s before "
            "the run and in the 3 steps after this first change.",
        ),
        Signal(
            name="judder",
            unit="of the frames",
            description="Share of held frames among the frames within half a second; a held frame changes much "
            "less than both of its neighbours.",
        ),
    )

    def __init__(self) -> None:
        self._image: Image | None = None
        self._small_gray: NDArray[np.uint8] | None = None
        self._times_s: list[float] = []
        self._changes: list[tuple[float, float]] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(frame.time_s)
        if self._image is None or self._small_gray is None:
            self._changes.append((np.nan, np.nan))
        else:
            overall = cv2.norm(self._image, frame.image, cv2.NORM_L1) / frame.image.size
            self._changes.append((overall, _largest_tile(self._small_gray, frame.small_gray)))
        self._image, self._small_gray = frame.image, frame.small_gray

    def finish(self) -> ViewSignals:
        """Series over all frames. The difference is NaN in the first frame. The jump is defined only in frames in which
        a run of repeats ends, and is NaN in all others.
        """
        overall, local = np.array(self._changes, dtype=np.float64).T
        still = local < _STILL_LEVELS
        times_s = np.array(self._times_s)
        frozen = _frozen(still, times_s)
        return ViewSignals(
            {
                "frame_difference": overall,
                "frozen_s": frozen,
                "judder": _judder(local, times_s),
                "resume_jump": _resume_jump(overall, still, frozen, times_s),
            }
        )


def _largest_tile(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> float:
    """The mean difference in the tile where it is largest."""
    difference = cv2.absdiff(before, now)
    height, width = difference.shape
    tiles = (max(1, width // _TILE_PX), max(1, height // _TILE_PX))
    return float(cv2.resize(difference.astype(np.float32), tiles, interpolation=cv2.INTER_AREA).max())


def _frozen(still: NDArray[np.bool_], times_s: Series) -> Series:
    """Seconds since the last new frame."""
    frozen = np.zeros(len(still))
    for frame in np.flatnonzero(still):
        frozen[frame] = frozen[frame - 1] + times_s[frame] - times_s[frame - 1]
    return frozen


def _judder(local: Series, times_s: Series) -> Series:
    """The share of frames around each frame that change far less than both of their neighbours.

    At the clip's ends, where fewer frames are available, the count is divided by the same number of frames as
    elsewhere.
    """
    held = np.zeros(len(local))
    held[2:-1] = _HELD_TIMES * np.maximum(local[2:-1], _STILL_LEVELS) < np.minimum(local[1:-2], local[3:])
    first, end = (np.searchsorted(times_s, times_s + side) for side in (-_JUDDER_S, _JUDDER_S))
    sums = np.concatenate([[0.0], np.cumsum(held)])
    return np.asarray((sums[end] - sums[first]) / (end - first).max(), dtype=np.float64)


def _resume_jump(overall: Series, still: NDArray[np.bool_], frozen: Series, times_s: Series) -> Series:
    """The first step after each run of repeats, divided by the largest step around the run; NaN near the clip's end."""
    jump = np.full(len(overall), np.nan)
    usual = level(np.where(still, np.nan, overall), 50)
    for frame in np.flatnonzero(~still[1:] & (frozen[:-1] >= _RUN_S)) + 1:
        stopped = frame - 1 - int(np.argmin(still[frame - 1 :: -1]))  # the last new frame before the repeats
        first = max(1, int(np.searchsorted(times_s, times_s[stopped] - _BEFORE_S)))
        around = (*overall[first : stopped + 1], *overall[frame + 1 : frame + 1 + _AFTER])
        if frame + _AFTER < len(overall):
            jump[frame] = overall[frame] / max(usual, *around)
    return jump
