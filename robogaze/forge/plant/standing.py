"""Things that stand still in a clip, found without knowing what they are.

A thing is a compact region that stands out from what surrounds it: from the picture's median over a window larger than
the thing. There is a step in the picture along most of its outline, or it would be a piece of something larger, and
what surrounds it is nearly all of one colour, or it would be a part of something in front of a ground. What is darker
than that ground and of its hue is none, for it may be a shadow or an opening; neither is what reaches the picture's
edge, or is long and thin. Even so nobody knows what it is: a cap on an arm's joint that does
not move may be taken for one.

A thing stays still as long as neither it nor a ring around it changes.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.forge.plant.edit import Refused
from robogaze.forge.plant.scene import PlantingScene, differing

STANDS_OUT_LEVELS = 24
"""By how much, in any channel, a thing must differ from the median around it."""

_WINDOWS = (1 / 8, 1 / 4, 2 / 5)  # of the reduced picture's longer side
_LEAST_AREA, _MOST_AREA = 0.0025, 0.05  # of the view
_LEAST_FILL, _LONGEST = 0.4, 3.0  # of its box; its box's longer side over the shorter one
_MARGIN, _RING = 0.02, 0.02  # of the longer side
_STEP_LEVELS, _STEP_PX, _LEAST_OUTLINED = 14, 5, 0.8  # the step, over so many pixels, and its share of the outline
_GROUND_LEVELS, _LEAST_GROUND = 40, 0.92  # how near to its median colour the ring is, and in what share of it
_LEAST_CHROMA = 12  # levels of the a-b plane of 8-bit CIE Lab, between a thing that is dark and its ground
_STIRRED = 0.03  # of the pixels of thing and ring: the most that may change while it is still

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class StillThing:
    """A thing in the reduced picture of a view: its pixels, and the frames `still` in which it stays as it is."""

    view: int
    mask: Flags
    still: range

    @property
    def box(self) -> Box:
        """The rectangle around it, as shares of the view."""
        height, width = self.mask.shape
        left, top, wide, high = cv2.boundingRect(self.mask.astype(np.uint8))
        return Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height)

    @property
    def area(self) -> float:
        """Its share of the view."""
        return float(self.mask.mean())

    @property
    def size(self) -> float:
        """Its area on the scale of a strength, in [0, 1]: 0 for 0.25 % of the view, 1 from 3 % on."""
        return float(np.clip((self.area - _LEAST_AREA) / (0.03 - _LEAST_AREA), 0, 1))


def some_thing(scene: PlantingScene, rng: np.random.Generator) -> StillThing:
    """A thing of a view and a frame drawn evenly. Raises Refused where there is none."""
    view, number = scene.some_view(rng), int(rng.integers(scene.count))
    found = outlines(scene.small[view][number])
    if not found:
        raise Refused("nothing compact stands out there")
    mask = found[int(rng.integers(len(found)))]
    return StillThing(view, mask, still(scene, view, ringed(mask), number))


def outlines(picture: NDArray[np.uint8]) -> list[Flags]:
    """The things of a reduced picture, from the smallest window to the largest; none overlaps another."""
    height, width = picture.shape[:2]
    taken = np.zeros((height, width), bool)
    found: list[Flags] = []
    steps = cv2.morphologyEx(picture, cv2.MORPH_GRADIENT, np.ones((_STEP_PX, _STEP_PX), np.uint8)).max(axis=2)
    for share in _WINDOWS:
        window = round(share * max(height, width)) // 2 * 2 + 1
        around = cv2.medianBlur(np.ascontiguousarray(picture), window)
        out = (cv2.absdiff(picture, around).max(axis=2) > STANDS_OUT_LEVELS).astype(np.uint8)
        out = np.asarray(cv2.morphologyEx(out, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8)), np.uint8)
        count, labels, stats, _ = cv2.connectedComponentsWithStats(out)
        for label in range(1, count):
            mask = labels == label
            if not _is_thing(stats[label], (height, width)) or (mask & taken).any():
                continue
            whole = _filled(mask)
            outlined = (steps[_outline(whole)] > _STEP_LEVELS).mean() >= _LEAST_OUTLINED
            if outlined and _on_ground(picture, whole):
                found.append(whole)
                taken |= ringed(whole)
    return found


def _is_thing(stats: NDArray[np.int32], shape: tuple[int, int]) -> bool:
    left, top, wide, high, area = (int(one) for one in stats)
    height, width = shape
    margin = _MARGIN * max(shape)
    inside = left >= margin and top >= margin and left + wide <= width - margin and top + high <= height - margin
    compact = area >= _LEAST_FILL * wide * high and max(wide, high) <= _LONGEST * min(wide, high)
    return inside and compact and _LEAST_AREA <= area / (height * width) <= _MOST_AREA


def _filled(mask: Flags) -> Flags:
    """Without holes: what a thing encloses belongs to it."""
    outer, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    whole = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(whole, outer, -1, 1, cv2.FILLED)
    return whole > 0


def _outline(mask: Flags) -> Flags:
    return mask & ~(np.asarray(cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8))) > 0)


def _on_ground(picture: NDArray[np.uint8], mask: Flags) -> bool:
    """Whether a region lies on an even ground, and is no shadow on it."""
    ring = ringed(mask) & ~mask
    around = picture[ring].astype(np.int16)
    near = np.abs(around - np.median(around, axis=0)).max(axis=1) <= _GROUND_LEVELS
    lab = cv2.cvtColor(picture, cv2.COLOR_RGB2LAB).astype(np.float64)
    light, *chroma = np.median(lab[mask], axis=0) - np.median(lab[ring], axis=0)
    return bool(near.mean() >= _LEAST_GROUND and (light > 0 or np.hypot(*chroma) >= _LEAST_CHROMA))


def ringed(mask: Flags) -> Flags:
    """A region with a ring around it."""
    reach = 2 * max(2, round(_RING * max(mask.shape))) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))
    return np.asarray(cv2.dilate(mask.astype(np.uint8), kernel)) > 0


def still(scene: PlantingScene, view: int, region: Flags, number: int) -> range:
    """The frames around one in which a region of the reduced pictures stays as it is."""
    left, top, wide, high = cv2.boundingRect(region.astype(np.uint8))
    window = slice(top, top + high), slice(left, left + wide)
    inside = region[window]
    pictures = scene.small[view][:, window[0], window[1]]

    def rests(other: int) -> bool:
        changed = differing(np.ascontiguousarray(pictures[other]), np.ascontiguousarray(pictures[number]))
        return float(changed[inside].mean()) <= _STIRRED

    first, end = number, number + 1
    while first > 0 and rests(first - 1):
        first -= 1
    while end < scene.count and rests(end):
        end += 1
    return range(first, end)
