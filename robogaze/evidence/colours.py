"""The colours of a region before and now, what became of them around it, and which colours move."""

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.optical_flow import UNLIKE_LEVELS, Change
from robogaze.evidence.region_change import Mask
from robogaze.media.decode import Image

_CELLS = 8  # per colour
_STEP_PX = 2  # of what moves and what rests only every other row and column is counted
_RARE = 1e-4  # of all pixels: colours that are rarer say little
_MOST_SHADE = 3.0  # times: a shadow makes things no darker

Colours = NDArray[np.float32]
"""Pixels, or shares of them, by cell of RGB, each spread over its neighbours."""

_SPREAD = np.eye(_CELLS, dtype=np.float32) / 2
for _cell in range(_CELLS):  # what would lie beyond the last cell stays in it
    for _beside in (max(0, _cell - 1), min(_CELLS - 1, _cell + 1)):
        _SPREAD[_beside, _cell] += 0.25


@dataclass(frozen=True)
class Sides:
    """The colours of a region before and now, and what became of them.

    Shares of the region's pixels: `gained` and `lost` around it, and in the whole picture, where a thing that is only
    elsewhere is neither (`gained_all`, `lost_all`); `left_near` of the old ones that is still around, `known_near` of
    the new ones that was; `known` as in `Turnover`.
    """

    before: Colours
    now: Colours
    gained: float
    lost: float
    gained_all: float
    lost_all: float
    left_near: float
    known_near: float
    known: float

    @classmethod
    def of(cls, change: Change, whole: tuple[Colours, Colours], core: Mask, near: Mask) -> Self:
        """Count the colours of a region and of what is near it; those of the whole picture are given."""
        before, now = colours(change.before, core), colours(change.now, core)
        near_before, near_now = colours(change.before, near), colours(change.now, near)
        all_before, all_now = whole
        pixels = np.count_nonzero(core)
        return cls(
            before=before,
            now=now,
            gained=float(np.minimum(now, np.maximum(near_now - near_before, 0)).sum() / pixels),
            lost=float(np.minimum(before, np.maximum(near_before - near_now, 0)).sum() / pixels),
            gained_all=float(np.minimum(now, np.maximum(all_now - all_before, 0)).sum() / pixels),
            lost_all=float(np.minimum(before, np.maximum(all_before - all_now, 0)).sum() / pixels),
            left_near=float(np.minimum(before, near_now).sum() / pixels),
            known_near=float(np.minimum(now, near_before).sum() / pixels),
            known=float(min(np.minimum(before, all_now).sum(), np.minimum(now, all_before).sum()) / pixels),
        )


class Moving:
    """The colours of what moves in a clip, and of what rests; keeps counts, and no pictures."""

    def __init__(self) -> None:
        self._moved, self._rested = np.zeros(_CELLS**3), np.zeros(_CELLS**3)

    def take(self, change: Change) -> None:
        """Count the next change: what the flow explains moved, and what the camera explains rested."""
        image, stirred, replaced = (
            np.ascontiguousarray(one[::_STEP_PX, ::_STEP_PX]) for one in (change.now, change.stirred, change.replaced)
        )
        stirs = stirred > UNLIKE_LEVELS
        self._moved += colours(image, stirs & (replaced <= UNLIKE_LEVELS))
        self._rested += colours(image, ~stirs)

    def share(self, some: Colours) -> float:
        """How far colours are of what moves rather than of what rests, from 0 to 1; those of neither count 0.5."""
        moved, rested = (counts / max(1.0, counts.sum()) + _RARE for counts in (self._moved, self._rested))
        return float((some * moved / (moved + rested)).sum() / some.sum())


def colours(image: Image, where: Mask | None = None) -> Colours:
    """Pixels of a place, or of the whole picture, by cell of RGB.

    Each is spread over its neighbours, so that a change of shade moves little.
    """
    places = None if where is None else where.astype(np.uint8)
    if places is not None:  # most places are small, and counting takes as long as the picture is large
        left, top, wide, high = cv2.boundingRect(places)
        part = np.s_[top : top + high, left : left + wide]
        image, places = image[part], places[part]
    if not image.size:
        return np.zeros(_CELLS**3, np.float32)
    counts = cv2.calcHist([image], [0, 1, 2], places, [_CELLS] * 3, [0, 256] * 3)
    by_green = _SPREAD @ (_SPREAD @ counts.reshape(_CELLS, -1)).reshape(counts.shape)
    return np.asarray((by_green @ _SPREAD).ravel(), dtype=np.float32)


def likeness(one: Colours, other: Colours) -> float:
    """The share of colours that two regions have in common, from 0 to 1."""
    return float(np.minimum(one, other).sum())


def tint(before: Image, now: Image) -> float:
    """How far pixels differ, in levels, beyond what a shadow or a lamp would make of them: a factor per pixel."""
    old, new = (pixels.reshape(-1, 3).astype(np.float64) + 1 for pixels in (before, now))
    factor = np.clip((old * new).sum(axis=1) / (old**2).sum(axis=1), 1 / _MOST_SHADE, _MOST_SHADE)
    # Measured in the darker of the two pictures a change of colour would look small.
    return float((np.abs(new - factor[:, None] * old).max(axis=1) / np.minimum(factor, 1)).mean())
