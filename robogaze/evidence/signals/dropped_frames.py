"""How far what moves gets from a frame to the next, beside the steps around it.

Where frames were left out, all that moves gets as far in one step as in many: it is gone from the places where it
moved a frame ago, and moves in others a frame later. A thing that comes, goes or jumps changes the picture as much,
but what moves beside it goes on where it was; and what moves fast does so before and after, too.
"""

import math
from collections.abc import Sequence

import numpy as np

from robogaze.evidence.base import Series, Signal, ViewSignals
from robogaze.evidence.optical_flow import UNLIKE_LEVELS, Change
from robogaze.evidence.region_change import Mask, grown

_BESIDE = 3  # steps before, and as many after, with which one is compared
_USUALLY = range(2, 6)  # steps away: nearer ones look across the same step
_LEAST_LEVELS = 0.1  # of the whole picture: steps in which less changes are taken for so much
_LEAST_AREA = 0.002  # of the view: where less changes nothing moves
_AROUND_PX = 3  # what goes on changes places so near


class Surges:
    """Compares each step of a clip with those beside it; keeps no pictures."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="surge",
            unit="times more than the steps beside it",
            description=(
                "By how many times the change in this step, beyond what camera and light explain, exceeds the largest "
                f"of the {_BESIDE} steps before and after, weighed by how much of what moves has left its places: 0 "
                "where as much goes on there as in other steps."
            ),
            gap="the picture is too small for motion to be told apart, or the step has none beside it on one side",
        ),
    )

    def __init__(self) -> None:
        self._levels: dict[int, float] = {}
        self._stays: dict[int, float] = {}

    def examine(self, changes: Sequence[Change], place: int) -> None:
        """Take one of several changes in a row; each of a clip is to be given once."""
        change = changes[place]
        self._levels[change.number] = float(np.where(_moving(change), change.stirred, 0).mean())
        if 0 < place < len(changes) - 1:
            before, after = _moving(changes[place - 1]), _moving(changes[place + 1])
            self._stays[change.number] = max(_within(before, after), _within(after, before))

    def finish(self, times_s: Series) -> ViewSignals:
        """The series of all frames; NaN in the first two and the last, which have no steps on both sides."""
        rates, stays = np.full(len(times_s), math.nan), np.full(len(times_s), math.nan)
        for frame, levels in self._levels.items():
            rates[frame] = levels / (times_s[frame] - times_s[frame - 1])
        for frame, share in self._stays.items():
            stays[frame] = share
        return ViewSignals({"surge": np.maximum(0.0, _beside(rates, times_s) - 1) * _left(stays)})


def _moving(change: Change) -> Mask:
    """Where something moves."""
    return np.asarray(change.stirred > UNLIKE_LEVELS, dtype=np.bool_)


def _within(places: Mask, other: Mask) -> float:
    """The share of places that lie in others or close to them; 0 where there are too few of either."""
    if min(places.mean(), other.mean()) < _LEAST_AREA:
        return 0.0
    return float(grown(other, _AROUND_PX)[places].mean())


def _beside(rates: Series, times_s: Series) -> Series:
    """Each step's rate over the largest of those beside it."""
    times = np.full(len(rates), math.nan)
    least = np.maximum(rates, _LEAST_LEVELS / np.diff(times_s, prepend=math.nan))
    for frame in range(2, len(rates) - 1):
        beside = (*least[max(1, frame - _BESIDE) : frame], *least[frame + 1 : frame + 1 + _BESIDE])
        times[frame] = rates[frame] / max(beside)
    return times


def _left(stays: Series) -> Series:
    """How much of what moves left its places, from 0 (as much stays as around) to 1 (none does)."""
    left = np.full(len(stays), math.nan)
    for frame in np.flatnonzero(np.isfinite(stays)):
        places = [frame + side * away for away in _USUALLY for side in (-1, 1)]
        around = [stays[place] for place in places if 0 <= place < len(stays) and stays[place] > 0]
        left[frame] = np.clip(1 - stays[frame] / (np.median(around) if around else 1.0), 0, 1)
    return left
