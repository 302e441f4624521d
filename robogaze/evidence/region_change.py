"""One region that was replaced from a frame to the next: how it looks, and which other one looks the same."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.media.decode import Image

_RING_PX = 4  # the width of a region's surroundings
_STANDS_OUT = 2.0
"""Times. A thing stands out more in the frame it is in; where both frames do alike, a thing became another."""

_CELLS = 8  # per colour: shades nearer than 32 levels look the same

Mask = NDArray[np.bool_]
"""True inside a region, shape (height, width)."""


@dataclass(frozen=True)
class Pop:
    """A region that appeared, or vanished.

    `sure` says whether its place and its surroundings rest before and after, so that nothing else explains it.
    `centre` counts in frame diagonals from the top left corner, `area` is its share of the view, `contrast` how far
    its mean colour is from its surroundings' (in levels) in the frame that shows it, `colours` the shares of its
    colours there.
    """

    sure: bool

    box: Box
    centre: tuple[float, float]
    area: float
    appeared: bool
    contrast: float
    colours: NDArray[np.float64]


@dataclass(frozen=True)
class RegionPair:
    """Two regions of one frame: one vanished, one appeared; how alike (0 to 1) and how far apart (diagonals).

    One of them at least is sure; that the other looks the same is reason enough to take it for the same thing.
    """

    before: Pop
    now: Pop
    similarity: float
    distance: float


def described(region: Mask, before: Image, now: Image, box: Box, sure: bool) -> Pop | None:
    """The region as a pop; None when it stands out alike in both frames, so that neither happened.

    None, too, when it fills the picture: then it has no surroundings to stand out from.
    """
    ring = grown(region, 1 + _RING_PX) & ~grown(region, 1)
    if not ring.any():
        return None
    earlier, later = (
        float(np.linalg.norm(image[region].mean(axis=0) - image[ring].mean(axis=0))) for image in (before, now)
    )
    if max(earlier, later) <= _STANDS_OUT * min(earlier, later):
        return None
    appeared = later > earlier
    core = cv2.erode(region.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    colours = _colours((now if appeared else before)[core])
    down, right = np.argwhere(region).mean(axis=0) / math.hypot(*region.shape)
    return Pop(sure, box, (float(right), float(down)), float(region.mean()), appeared, max(earlier, later), colours)


def best_pair(pops: Sequence[Pop]) -> RegionPair | None:
    """The vanished and the appeared region that are most alike; None without one of each, one of them sure."""
    old_ones, new_ones = ([pop for pop in pops if pop.appeared == appeared] for appeared in (False, True))
    pairs = [_pair(old, new) for old in old_ones for new in new_ones if old.sure or new.sure]
    return max(pairs, key=lambda pair: pair.similarity, default=None)


def grown(region: Mask, by_px: int) -> Mask:
    """The region with all that is nearer than so many pixels."""
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * by_px + 1, 2 * by_px + 1))
    return cv2.dilate(region.astype(np.uint8), kernel) > 0


def _colours(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Shares of the pixels in each cell of RGB."""
    cells = (pixels // (256 // _CELLS)).astype(np.intp) @ (_CELLS**2, _CELLS, 1)
    return np.bincount(cells, minlength=_CELLS**3) / len(pixels)


def _pair(old: Pop, new: Pop) -> RegionPair:
    common = float(np.minimum(old.colours, new.colours).sum())
    similarity = common * min(old.area, new.area) / max(old.area, new.area)
    return RegionPair(old, new, similarity, math.dist(old.centre, new.centre))
