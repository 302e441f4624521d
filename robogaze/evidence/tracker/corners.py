"""Follows corners from one frame to the next. Their motion says how far an object moved and how much it grew."""

import math

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.tracker.pattern import PixelRegion, ellipse

_CORNERS = 60
_CORNERS_FOR_GROWTH = 10
_GROWTH_A_STEP = 1.12
_CORNER_REACH_PX = 4  # how far from a corner pixels decide whether it is one
_RETURN_PX = 1.0  # a point followed forward and backward must return this near

Vectors = NDArray[np.float64]
"""Positions or motions, shape (count, 2): right and down."""


def find_corners(gray: NDArray[np.uint8], region: PixelRegion) -> Vectors | None:
    """The corners in the ellipse of a region; None if there are no corners. Only the surroundings of the region are
    searched.
    """
    height, width = gray.shape
    left, top = (
        max(0, math.floor(start) - _CORNER_REACH_PX)
        for start in (region.x - region.wide / 2, region.y - region.high / 2)
    )
    right, bottom = (
        math.ceil(end) + _CORNER_REACH_PX for end in (region.x + region.wide / 2, region.y + region.high / 2)
    )
    part = gray[top : min(height, bottom), left : min(width, right)]
    if min(part.shape) < 2 * _CORNER_REACH_PX:
        return None
    mask = ellipse(part.shape, region.at(region.x - left, region.y - top))
    found = cv2.goodFeaturesToTrack(part, _CORNERS, 0.01, 3, mask=mask)
    if found is None:
        return None
    corners: Vectors = np.asarray(found, dtype=np.float64).reshape(-1, 2) + np.array([left, top])
    return corners


def follow_corners(
    before: NDArray[np.uint8], now: NDArray[np.uint8], corners: cv2.typing.MatLike | Vectors | None
) -> tuple[Vectors, Vectors]:
    """The corners that return to their start when followed backward, as positions before and after."""
    if corners is None:
        return np.empty((0, 2)), np.empty((0, 2))
    start = np.asarray(corners, np.float32).reshape(-1, 1, 2)
    end, forward_found, _ = cv2.calcOpticalFlowPyrLK(before, now, start, np.empty_like(start))
    back, backward_found, _ = cv2.calcOpticalFlowPyrLK(now, before, end, np.empty_like(end))
    off = np.hypot(*(back - start)[:, 0].T)
    kept = (forward_found.ravel() == 1) & (backward_found.ravel() == 1) & (off < _RETURN_PX)
    return start[kept, 0].astype(np.float64), end[kept, 0].astype(np.float64)


def median(values: Vectors) -> Vectors:
    """The median along the first axis, which must not be empty. For a small number of values, `np.median` takes five
    times as long.
    """
    ordered, middle = np.sort(values, axis=0), len(values) // 2
    return np.asarray((ordered[middle] + ordered[(len(values) - 1) // 2]) / 2)


def growth(start: Vectors, end: Vectors) -> float:
    """The factor by which the points moved apart. It is 1 if there are too few points, or if the points moved apart or
    together more than an object can grow or shrink in one step.
    """
    if len(start) < _CORNERS_FOR_GROWTH:
        return 1.0
    before, now = (np.hypot(*(points - median(points)).T) for points in (start, end))
    apart = before > 2
    grown = float(median(now[apart] / before[apart])) if apart.any() else 1.0
    return grown if 1 / _GROWTH_A_STEP < grown < _GROWTH_A_STEP else 1.0
