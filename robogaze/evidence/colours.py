"""Colour histograms of a replaced region, before and after, compared with its surroundings and with moving content."""

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.optical_flow import DIFFERENT_LEVELS, Change, Mask
from robogaze.media.decode import Image

_BINS = 8  # per colour channel
_STEP_PX = 2  # of what moves and what rests, every other row and column is counted
_RARE = 1e-4  # of all pixels: rarer colours count as this share
_MOST_SHADE = 3.0  # times: a shadow darkens by at most this factor

Histogram = NDArray[np.float32]
"""Pixels, or shares of pixels, per RGB bin, each spread over neighbouring bins, shape (512,)."""

_SPREAD = np.eye(_BINS, dtype=np.float32) / 2
for _bin in range(_BINS):  # what would be beyond the last bin stays in it
    for _neighbour in (max(0, _bin - 1), min(_BINS - 1, _bin + 1)):
        _SPREAD[_neighbour, _bin] += 0.25


@dataclass(frozen=True)
class RegionColours:
    """The colours of a region before and now, and the other places where these colours occur.

    Shares of the region's pixels: `gained_near` are new colours that have become more frequent in the surroundings;
    `lost_near` are old colours that have become less frequent there. `gained` and `lost` are like `gained_near` and
    `lost_near`, but for the whole picture. An object that only moved adds to neither. `old_near` is the share of the
    old colours that are still nearby. `new_near` is the share of the new colours that were already nearby before.
    `known` has the same meaning as in `ReplacedRegion`.
    """

    before: Histogram
    now: Histogram
    gained_near: float
    lost_near: float
    gained: float
    lost: float
    old_near: float
    new_near: float
    known: float

    @classmethod
    def of(cls, change: Change, whole: tuple[Histogram, Histogram], core: Mask, near: Mask) -> Self:
        """Compare a region with its surroundings and with the histograms of the whole picture."""
        before, now = histogram(change.before, core), histogram(change.now, core)
        near_before, near_now = histogram(change.before, near), histogram(change.now, near)
        all_before, all_now = whole
        pixels = np.count_nonzero(core)
        return cls(
            before=before,
            now=now,
            gained_near=float(np.minimum(now, np.maximum(near_now - near_before, 0)).sum() / pixels),
            lost_near=float(np.minimum(before, np.maximum(near_before - near_now, 0)).sum() / pixels),
            gained=float(np.minimum(now, np.maximum(all_now - all_before, 0)).sum() / pixels),
            lost=float(np.minimum(before, np.maximum(all_before - all_now, 0)).sum() / pixels),
            old_near=float(np.minimum(before, near_now).sum() / pixels),
            new_near=float(np.minimum(now, near_before).sum() / pixels),
            known=float(min(np.minimum(before, all_now).sum(), np.minimum(now, all_before).sum()) / pixels),
        )


class MovingColours:
    """Counts which colours are in motion in a clip, and which colours are at rest."""

    def __init__(self) -> None:
        self._moving, self._resting = np.zeros(_BINS**3), np.zeros(_BINS**3)

    def add(self, change: Change) -> None:
        """Count the pixels of the next change. A pixel is at rest if the camera's motion explains its change;
        otherwise, it is in motion if the optical flow explains its change.
        """
        image, moving, replaced = (
            np.ascontiguousarray(array[::_STEP_PX, ::_STEP_PX])
            for array in (change.now, change.moving, change.replaced)
        )
        moves = moving > DIFFERENT_LEVELS
        self._moving += histogram(image, moves & (replaced <= DIFFERENT_LEVELS))
        self._resting += histogram(image, ~moves)

    def share(self, colours: Histogram) -> float:
        """The degree to which colours are moving colours (1) or resting colours (0); unknown colours count 0.5."""
        moving, resting = (counts / max(1.0, counts.sum()) + _RARE for counts in (self._moving, self._resting))
        return float((colours * moving / (moving + resting)).sum() / colours.sum())


def histogram(image: Image, where: Mask | None = None) -> Histogram:
    """The pixels of a region, or of the whole picture, per RGB bin.

    Each pixel is spread over the neighbouring bins, so that a change of shade changes little.
    """
    mask = None if where is None else where.astype(np.uint8)
    if mask is not None:  # most regions are small, and counting takes time in proportion to the picture
        left, top, width, height = cv2.boundingRect(mask)
        part = np.s_[top : top + height, left : left + width]
        image, mask = image[part], mask[part]
    if not image.size:
        return np.zeros(_BINS**3, np.float32)
    counts = cv2.calcHist([image], [0, 1, 2], mask, [_BINS] * 3, [0, 256] * 3)
    by_green = _SPREAD @ (_SPREAD @ counts.reshape(_BINS, -1)).reshape(counts.shape)
    return np.asarray((by_green @ _SPREAD).ravel(), dtype=np.float32)


def overlap(first: Histogram, second: Histogram) -> float:
    """The share of colours that two regions have in common, from 0 to 1."""
    return float(np.minimum(first, second).sum())


def colour_change(before: Image, now: Image) -> float:
    """The mean difference of pixels, in levels, that remains after a change of light is removed. A shadow or a lamp
    changes all colours of a pixel by one factor.
    """
    old, new = (pixels.reshape(-1, 3).astype(np.float64) + 1 for pixels in (before, now))
    factor = np.clip((old * new).sum(axis=1) / (old**2).sum(axis=1), 1 / _MOST_SHADE, _MOST_SHADE)
    # In the darker of the two pictures a change of colour looks small.
    return float((np.abs(new - factor[:, None] * old).max(axis=1) / np.minimum(factor, 1)).mean())
