"""Segments of one small picture: compact regions of one colour, told apart by what a change of light leaves alone.

A shadow multiplies red, green and blue alike. So a pixel is described by differences of the logarithms of its three
colours, which a shadow leaves as they are, and by a share of its luma, which tells black and white things from grey
ground. Where these change from pixel to pixel there is an edge, and what edges enclose is a segment. What is only
darker than its surroundings, in their colour, is a shadow and no segment; so is a black thing on grey ground.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.region_change import Mask
from robogaze.media.decode import Image

_LEAST_AREA, _LARGEST_AREA = 0.0005, 0.05  # of the view, without the rim
_LEAST_PX = 12
_LEAST_FILL = 0.35  # of its box
_MOST = 64  # segments of a picture, the largest: what is kept of a picture must not grow with what is in it
_DARKEST = 16  # levels: noise in darker pixels is no colour
_STEPS = 64.0  # levels of tone for a factor of e between two colours
_LUMA = 0.45  # of these steps for a factor of e in luma: a shadow's edge is weaker than a thing's
_EDGE = 14  # levels of tone between neighbours
_EDGE_PX = 2  # things that near to the picture's side may go on beyond it
_RING_PX = 2
_SHADE_FROM, _SHADE_TO = np.array([-10, -10, -10, 3]), np.array([10, 10, 10, 46])
"""Levels of tone by which what a shadow falls on differs from it: lighter, by a factor of 5 at most, and alike."""

_SHADED = 0.4  # of the ring: the least that it is the shadow of

_CROSS = cv2.getStructuringElement(cv2.MORPH_CROSS, (3, 3))
_RING = np.ones((2 * _RING_PX + 1,) * 2, np.uint8)
_LOGARITHMS = np.round((np.log(np.arange(256) + _DARKEST) - math.log(_DARKEST)) * _STEPS).astype(np.uint8)

Tones = NDArray[np.uint8]
"""Red against green, blue against green, blue against red, and luma, as levels of a logarithm: (height, width, 4)."""

Point = NDArray[np.float64]
"""Right and down, in pixels."""

Part = tuple[int, int, int, int]
"""A part of the picture in pixels: left, top, and the first column and row beyond it."""


@dataclass(frozen=True, eq=False)
class Segment:
    """One segment.

    `part` holds it with a ring around it, `mask` is what it fills of that. `area` counts pixels, `spread` is the
    covariance of their places (square pixels, 2 x 2). `tone` and `colour` are means without the rim, in levels.
    `at_side` says whether it may go on beyond the picture.
    """

    part: Part
    mask: Mask
    area: float
    centre: Point
    spread: NDArray[np.float64]
    tone: NDArray[np.float64]
    colour: NDArray[np.float64]
    at_side: bool

    @property
    def size(self) -> float:
        """The side of a square as large, in pixels."""
        return math.sqrt(self.area)


def tones(image: Image) -> Tones:
    """What a change of light leaves alone of a picture, and a share of its luma."""
    red, green, blue = cv2.split(cv2.LUT(cv2.medianBlur(image, 3), _LOGARITHMS))
    pairs = (cv2.addWeighted(one, 1, other, -1, 128) for one, other in ((red, green), (blue, green), (blue, red)))
    luma = cv2.addWeighted(cv2.addWeighted(red, 0.5, blue, 0.5, 0), _LUMA * 2 / 3, green, _LUMA / 3, 0)
    return np.asarray(cv2.merge([*pairs, luma]), dtype=np.uint8)


def segments(image: Image, tone: Tones) -> tuple[Segment, ...]:
    """The segments of a picture, given its tones."""
    steps = cv2.split(cv2.morphologyEx(tone, cv2.MORPH_GRADIENT, _CROSS))
    edges = cv2.max(cv2.max(steps[0], steps[1]), cv2.max(steps[2], steps[3]))
    _, labels, stats, _ = cv2.connectedComponentsWithStats((edges < _EDGE).astype(np.uint8), connectivity=4)
    labels, stats = (np.asarray(one, dtype=np.int32) for one in (labels, stats))
    chosen = _compact(stats, edges.size)
    found = (_segment(image, tone, labels, stats[label], int(label)) for label in chosen)
    return tuple(one for one in found if one is not None)


def _segment(
    image: Image, tone: Tones, labels: NDArray[np.int32], stats: NDArray[np.int32], label: int
) -> Segment | None:
    """The region of a label; None for a shadow."""
    left, top, right, bottom = part = _part(stats, 1 + _RING_PX, labels.shape)
    core = (labels[top:bottom, left:right] == label).astype(np.uint8)
    # A rim of edges lies around it, half of it within the thing.
    whole = cv2.dilate(core, _CROSS)
    ring = np.asarray(cv2.subtract(cv2.dilate(whole, _RING), whole), dtype=np.uint8)
    tones_here = tone[top:bottom, left:right]
    own = np.array(cv2.mean(tones_here, core))
    if _is_shadow(own, tones_here, ring):
        return None
    sums = cv2.moments(whole, binaryImage=True)
    area = sums["m00"]
    spread = np.array([[sums["mu20"], sums["mu11"]], [sums["mu11"], sums["mu02"]]]) / area
    return Segment(
        part=part,
        mask=whole > 0,
        area=area,
        centre=np.array([left + sums["m10"] / area, top + sums["m01"] / area]),
        spread=spread,
        tone=own,
        colour=np.array(cv2.mean(image[top:bottom, left:right], core)[:3]),
        at_side=_at_side(_part(stats, 1, labels.shape), labels.shape),
    )


def box_of(part: Part, shape: tuple[int, ...]) -> Box:
    """A part of a picture of that shape, in shares of its width and height."""
    height, width = shape[:2]
    return Box(left=part[0] / width, top=part[1] / height, right=part[2] / width, bottom=part[3] / height)


def _compact(stats: NDArray[np.int32], pixels: int) -> NDArray[np.intp]:
    """The labels of regions of a thing's size and fill; of too many the largest."""
    areas = stats[:, cv2.CC_STAT_AREA]
    boxes = stats[:, cv2.CC_STAT_WIDTH] * stats[:, cv2.CC_STAT_HEIGHT]
    fits = (
        (areas >= max(_LEAST_PX, _LEAST_AREA * pixels))
        & (areas <= _LARGEST_AREA * pixels)
        & (areas >= _LEAST_FILL * boxes)
    )
    fits[0] = False
    found = np.flatnonzero(fits)
    return np.sort(found[np.argsort(-areas[found], kind="stable")[:_MOST]])


def _part(stats: NDArray[np.int32], rim_px: int, shape: tuple[int, ...]) -> Part:
    """A region's part of the picture, with a rim."""
    left, top, wide, high = (int(value) for value in stats[:4])
    right, bottom = left + wide + rim_px, top + high + rim_px
    return max(0, left - rim_px), max(0, top - rim_px), min(shape[1], right), min(shape[0], bottom)


def _at_side(part: Part, shape: tuple[int, ...]) -> bool:
    return min(part[0], part[1], shape[1] - part[2], shape[0] - part[3]) <= _EDGE_PX


def _is_shadow(own: NDArray[np.float64], tone: Tones, ring: NDArray[np.uint8]) -> bool:
    """Whether a region is only darker than a good part of its surroundings."""
    low, high = own + _SHADE_FROM, own + _SHADE_TO
    same = cv2.inRange(tone, low, high)
    return cv2.countNonZero(cv2.bitwise_and(same, ring)) > _SHADED * cv2.countNonZero(ring)
