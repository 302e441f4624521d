"""Dropped frames: a step in which everything that moves covers a much larger distance than in the steps around it.

If frames are missing, moving objects skip a part of their path: the places in which they move after the gap are away
from the places in which they moved before the gap. An object that appears, disappears or jumps also changes the picture
strongly, but moving objects around it continue in place. A fast object changes the picture in the steps before
and after just as much.
"""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from robogaze.evidence.base import FrameView, Series, Signal, ViewSignals
from robogaze.evidence.optical_flow import DIFFERENT_LEVELS, Change, Mask, RecentChanges, dilated

_NEIGHBOURS = 3  # steps before, and as many after, with which a step is compared
_USUAL_AT = range(2, 6)  # distance in steps: the nearest steps are affected by the same gap
_LEAST_LEVELS = 0.1  # mean over the picture: a smaller change counts as this much
_LEAST_AREA = 0.002  # of the view: where less changes, nothing moves
_NEAR_PX = 3  # how far what moves may get and still be in the same place


class DroppedFrames:
    """Compares each step of a clip with its neighbours; keeps only the recent pictures."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="dropped_frames",
            unit="of the largest step around it",
            description=(
                "By how much the change in this step, beyond camera motion and light, exceeds the largest change "
                "in the "
                f"{_NEIGHBOURS} steps before and after. The excess is multiplied by the share of moving places "
                f"that the motion leaves; 0 where "
                "motion continues in the same places."
            ),
            gap="the picture is too small to detect motion, or the step has no neighbours on one side",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._recent = RecentChanges()
        self._levels: dict[int, float] = {}
        self._remaining: dict[int, float] = {}

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(frame.time_s)
        if frame.change is not None:
            for changes, place in self._recent.add(frame.change):
                self._examine(changes, place)

    def _examine(self, changes: Sequence[Change], place: int) -> None:
        change = changes[place]
        moving = cv2.threshold(change.moving, DIFFERENT_LEVELS, 0, cv2.THRESH_TOZERO)[1]
        self._levels[change.number] = cv2.sumElems(moving)[0] / moving.size
        if 0 < place < len(changes) - 1:
            before, after = _moving(changes[place - 1]), _moving(changes[place + 1])
            self._remaining[change.number] = max(_share_near(before, after), _share_near(after, before))

    def finish(self) -> ViewSignals:
        """The series over all frames; NaN in the first two and the last, which lack neighbours on one side."""
        for changes, place in self._recent.remaining():
            self._examine(changes, place)
        times_s = np.array(self._times_s)
        rates, remaining = np.full(len(times_s), math.nan), np.full(len(times_s), math.nan)
        for frame, levels in self._levels.items():
            rates[frame] = levels / (times_s[frame] - times_s[frame - 1])
        for frame, share in self._remaining.items():
            remaining[frame] = share
        excess = np.maximum(0.0, _relative_rates(rates, times_s) - 1)
        return ViewSignals({"dropped_frames": excess * _shares_left(remaining)})


def _moving(change: Change) -> Mask:
    return np.asarray(change.moving > DIFFERENT_LEVELS, dtype=np.bool_)


def _share_near(places: Mask, others: Mask) -> float:
    """The share of `places` that are near one of `others`; 0 if `places` or `others` cover too little."""
    count = np.count_nonzero(places)
    if min(count, np.count_nonzero(others)) / places.size < _LEAST_AREA:
        return 0.0
    return np.count_nonzero(dilated(others, _NEAR_PX) & places) / count


def _relative_rates(rates: Series, times_s: Series) -> Series:
    """The rate of each step over the largest rate of its neighbours."""
    relative = np.full(len(rates), math.nan)
    least = np.maximum(rates, _LEAST_LEVELS / np.diff(times_s, prepend=math.nan))
    for frame in range(2, len(rates) - 1):
        neighbours = (*least[max(1, frame - _NEIGHBOURS) : frame], *least[frame + 1 : frame + 1 + _NEIGHBOURS])
        relative[frame] = rates[frame] / max(neighbours)
    return relative


def _shares_left(remaining: Series) -> Series:
    """How much of the motion left its places, from 0 (as much remains as in other steps) to 1 (nothing remains)."""
    left = np.full(len(remaining), math.nan)
    for frame in np.flatnonzero(np.isfinite(remaining)):
        frames = [frame + side * distance for distance in _USUAL_AT for side in (-1, 1)]
        around = [remaining[other] for other in frames if 0 <= other < len(remaining) and remaining[other] > 0]
        left[frame] = np.clip(1 - remaining[frame] / (np.median(around) if around else 1.0), 0, 1)
    return left
