"""Planters that change one object in the picture, while the object and its surroundings are still.

An object is a compact region that differs from its surroundings: from the median over a window larger than the object.
Most of its outline must be an edge, because a region without edges is a piece of something larger. Nearly all of its
surroundings must have one colour, because otherwise the region is a part of something larger in front of a background.
Three kinds of regions are not objects: regions that are darker than their background and have the same hue (shadows or
openings), regions that reach the edge of the picture, and regions that are long and thin. A cap on a joint that does
not move may be mistaken for an object.

An object is still while neither the object nor a ring around it changes. The glitch ends before the object is moved, or
at the latest at the end of the clip.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.forge.plant.planting_scene import (
    Change,
    DrawRefused,
    Flags,
    GlitchEdit,
    PlantingScene,
    box_around,
    differing,
)
from robogaze.media.decode import Image

STANDS_OUT_LEVELS = 24
"""How much an object must differ from the median around it, in any channel."""

_WINDOWS = (1 / 8, 1 / 4, 2 / 5)  # of the reduced picture's longer side
_LEAST_AREA, _MOST_AREA = 0.0025, 0.05  # of the view
_LEAST_FILL, _LONGEST = 0.4, 3.0  # of its box; the longer side of the box over the shorter one
_MARGIN, _RING = 0.02, 0.02  # of the longer side
_STEP_LEVELS, _STEP_PX, _LEAST_OUTLINED = 14, 5, 0.8  # an edge, its width, its least share of the outline
_GROUND_LEVELS, _LEAST_GROUND = 40, 0.92  # distance from the ring's median colour, share of the ring within it
_LEAST_CHROMA = 12  # levels of the a-b plane of 8-bit CIE Lab, between a dark object and its ground
_MOST_CHANGED = 0.03  # the largest share of the pixels of object and ring that may change while the object is still


@dataclass(frozen=True)
class StillObject:
    """An object in the reduced picture of a view. `mask` marks its pixels; `still` are the frames in which it does not
    change.
    """

    view: int
    mask: Flags
    still: range

    @property
    def box(self) -> Box:
        """The bounding box, in fractions of the view's width and height."""
        return box_around(self.mask)

    @property
    def size(self) -> float:
        """A strength in [0, 1] that grows with the area: 0 at 0.25 % of the view, 1 from 3 %."""
        return float(np.clip((float(self.mask.mean()) - _LEAST_AREA) / (0.03 - _LEAST_AREA), 0, 1))


def sample_object(scene: PlantingScene, rng: np.random.Generator) -> StillObject:
    """A random object in one frame of one view; frame and view are drawn uniformly. Raises DrawRefused if there is no
    object.
    """
    view, number = scene.sample_view(rng), int(rng.integers(scene.frame_count))
    found = find_objects(scene.small[view][number])
    if not found:
        raise DrawRefused("no compact object differs from its surroundings")
    mask = found[int(rng.integers(len(found)))]
    return StillObject(view, mask, still(scene, view, ringed(mask), number))


def find_objects(picture: NDArray[np.uint8]) -> list[Flags]:
    """The objects of a reduced picture, from the smallest window to the largest, without overlaps."""
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
            if not _is_object(stats[label], (height, width)) or (mask & taken).any():
                continue
            whole = _filled(mask)
            outlined = (steps[_outline(whole)] > _STEP_LEVELS).mean() >= _LEAST_OUTLINED
            if outlined and _on_ground(picture, whole):
                found.append(whole)
                taken |= ringed(whole)
    return found


def _is_object(stats: NDArray[np.int32], shape: tuple[int, int]) -> bool:
    left, top, wide, high, area = (int(value) for value in stats)
    height, width = shape
    margin = _MARGIN * max(shape)
    inside = left >= margin and top >= margin and left + wide <= width - margin and top + high <= height - margin
    compact = area >= _LEAST_FILL * wide * high and max(wide, high) <= _LONGEST * min(wide, high)
    return inside and compact and _LEAST_AREA <= area / (height * width) <= _MOST_AREA


def _filled(mask: Flags) -> Flags:
    """A region without holes."""
    outer, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    whole = np.zeros(mask.shape, np.uint8)
    cv2.drawContours(whole, outer, -1, 1, cv2.FILLED)
    return whole > 0


def _outline(mask: Flags) -> Flags:
    return mask & ~(np.asarray(cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8))) > 0)


def _on_ground(picture: NDArray[np.uint8], mask: Flags) -> bool:
    """Whether a region is on an even ground, and is not a shadow."""
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
    """The longest run of frames around `number` in which a region of the reduced pictures does not change."""
    left, top, wide, high = cv2.boundingRect(region.astype(np.uint8))
    window = slice(top, top + high), slice(left, left + wide)
    inside = region[window]
    pictures = scene.small[view][:, window[0], window[1]]

    def rests(other: int) -> bool:
        changed = differing(np.ascontiguousarray(pictures[other]), np.ascontiguousarray(pictures[number]))
        return float(changed[inside].mean()) <= _MOST_CHANGED

    first, end = number, number + 1
    while first > 0 and rests(first - 1):
        first -= 1
    while end < scene.frame_count and rests(end):
        end += 1
    return range(first, end)


LEAST_LEVELS = 18
"""The least mean difference between an object and what replaces it, over its pixels and channels."""

_BEFORE_S, _SHORTEST_S = 0.4, 0.6  # still before the change, and the least duration of the change
_SOFT = 0.004  # of the view's longer side: the width of the soft edge
_INPAINT_PX = 5
_DRIFT_LEVELS = (25.0, 70.0)  # in the a-b plane of 8-bit CIE Lab
_TRIES = 30

Pixels = NDArray[np.float32]


def erase(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """An object disappears: its place is filled in from its surroundings (Telea's inpainting)."""
    obj, first, end = _moment(scene, rng)
    before = scene.frames.view(first, obj.view)
    window, alpha = _matte(obj.mask, before.shape[:2], grow=True)
    hole = (alpha > 0.02).astype(np.uint8)
    patch = np.ascontiguousarray(before[window])
    filled = np.asarray(cv2.inpaint(patch, hole, _INPAINT_PX, cv2.INPAINT_TELEA), np.uint8)
    levels = _difference(filled, patch, alpha)

    def change(_: int, image: Image) -> Image:
        # The light may change: the patch follows the pixels around it.
        light = np.float32(image[window][hole == 0].mean(axis=0)) - np.float32(patch[hole == 0].mean(axis=0))
        return _over(image, window, filled + light, alpha)

    return _edit(scene, obj, (first, end), obj.size, f"{levels:.0f} levels from the original", change)


def paste(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A copy of an object appears at an empty place."""
    obj, first, end = _moment(scene, rng)
    source = scene.frames.view(first, obj.view)
    window, alpha = _matte(obj.mask, source.shape[:2], grow=False)
    copy, size = np.ascontiguousarray(source[window]), source.shape[:2]
    there = _empty_place(scene, obj, range(first, end), rng)
    down, across = (round(step * side / small) for step, side, small in zip(there, size, obj.mask.shape, strict=True))
    place = _shifted(window, down, across, size)
    levels = _difference(copy, source[place], alpha)

    def change(_: int, image: Image) -> Image:
        return _over(image, place, copy, alpha)

    moved = StillObject(obj.view, np.roll(obj.mask, there, axis=(0, 1)), obj.still)
    return _edit(scene, moved, (first, end), obj.size, f"{levels:.0f} levels from the original", change)


def tint(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """An object gradually changes its colour by 25 to 70 levels of the a-b plane; its lightness stays."""
    obj, first, end = _moment(scene, rng)
    strength = float(rng.random())
    window, alpha = _matte(obj.mask, scene.frames.view(first, obj.view).shape[:2], grow=False)
    angle, far = rng.uniform(0, 2 * np.pi), _DRIFT_LEVELS[0] + strength * (_DRIFT_LEVELS[1] - _DRIFT_LEVELS[0])
    shift = np.array([0, far * np.cos(angle), far * np.sin(angle)], np.float32)
    lasting = end == scene.frame_count

    def change(number: int, image: Image) -> Image:
        # The change develops over half of the time. If the glitch ends before the clip does, the change fades over the
        # last quarter. The first step is a quarter of the whole, because less is invisible.
        done = (number - first) / (end - first)
        share = min(1.0, 0.25 + 1.5 * done) if lasting else min(1.0, 0.25 + 1.5 * done, 0.25 + 3 * (1 - done))
        return _over(image, window, _coloured(image[window], shift * np.float32(share)), alpha)

    full = scene.frames.view(first, obj.view)[window]
    _difference(_coloured(full, shift), full, alpha)
    return _edit(scene, obj, (first, end), strength, f"{far:.0f} levels of colour", change)


def _moment(scene: PlantingScene, rng: np.random.Generator) -> tuple[StillObject, int, int]:
    """A still object, and the first and end frame of the change. Raises DrawRefused."""
    obj = sample_object(scene, rng)
    before, lasts = scene.to_frames(_BEFORE_S), scene.to_frames(_SHORTEST_S)
    if len(obj.still) < before + lasts:
        raise DrawRefused("the object does not stay still")
    first = int(rng.integers(obj.still.start + before, obj.still.stop - lasts + 1))
    to_the_end = obj.still.stop == scene.frame_count and rng.random() < 0.5
    end = scene.frame_count if to_the_end else int(rng.integers(first + lasts, obj.still.stop + 1))
    return obj, first, end


def _empty_place(scene: PlantingScene, obj: StillObject, frames: range, rng: np.random.Generator) -> tuple[int, int]:
    """The offset of an object in the reduced picture, down and across, to a place that is empty and still."""
    height, width = obj.mask.shape
    left, top, wide, high = cv2.boundingRect(obj.mask.astype(np.uint8))
    small = scene.small[obj.view][frames.start]
    taken = np.any([obj.mask, *find_objects(small)], axis=0)
    for _ in range(_TRIES):
        down = int(rng.integers(2, max(3, height - high - 2))) - top
        across = int(rng.integers(2, max(3, width - wide - 2))) - left
        there = np.roll(obj.mask, (down, across), axis=(0, 1))
        rest = still(scene, obj.view, ringed(there), frames.start)
        if not (ringed(there) & taken).any() and rest.start < frames.start and rest.stop >= frames.stop:
            return down, across
    raise DrawRefused("no empty and still place was found for a copy")


Window = tuple[slice, slice]


def _matte(mask: Flags, size: tuple[int, int], *, grow: bool) -> tuple[Window, Pixels]:
    """An object at full size: a window around the object with a margin, and the object's share of each pixel."""
    soft = max(0.7, _SOFT * max(size))
    whole = cv2.resize(mask.astype(np.float32), (size[1], size[0]), interpolation=cv2.INTER_LINEAR)
    if grow:  # an edge left behind would show where the object was
        reach = 2 * round(3 * soft) + 1
        whole = np.asarray(cv2.dilate(whole, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (reach, reach))))
    alpha = np.asarray(cv2.GaussianBlur(whole, (0, 0), soft), dtype=np.float32)
    room = round(8 * soft)
    left, top, wide, high = cv2.boundingRect((alpha > 0.02).astype(np.uint8))
    window = (
        slice(max(0, top - room), min(size[0], top + high + room)),
        slice(max(0, left - room), min(size[1], left + wide + room)),
    )
    return window, alpha[window]


def _shifted(window: Window, down: int, across: int, size: tuple[int, int]) -> Window:
    """A window moved down and across. Raises DrawRefused if the window leaves the picture."""
    rows, columns = window
    place = slice(rows.start + down, rows.stop + down), slice(columns.start + across, columns.stop + across)
    if place[0].start < 0 or place[1].start < 0 or place[0].stop > size[0] or place[1].stop > size[1]:
        raise DrawRefused("the copy would leave the picture")
    return place


def _over(image: Image, window: Window, patch: NDArray[np.generic], alpha: Pixels) -> Image:
    """A picture with a patch over a window."""
    changed = image.copy()
    mixed = image[window] * (1 - alpha[..., None]) + np.asarray(patch, np.float32) * alpha[..., None]
    changed[window] = np.clip(np.round(mixed), 0, 255).astype(np.uint8)
    return changed


def _coloured(patch: Image, shift: Pixels) -> Image:
    lab = cv2.cvtColor(np.ascontiguousarray(patch), cv2.COLOR_RGB2LAB).astype(np.float32) + shift
    return np.asarray(cv2.cvtColor(np.clip(np.round(lab), 0, 255).astype(np.uint8), cv2.COLOR_LAB2RGB), np.uint8)


def _difference(patch: Image, before: Image, alpha: Pixels) -> float:
    """The mean difference, in levels, of two patches at the place of an object. Raises DrawRefused if the difference is
    below LEAST_LEVELS.
    """
    inside = alpha > 0.5
    levels = float(np.abs(patch[inside].astype(np.float32) - before[inside]).mean())
    if levels < LEAST_LEVELS:
        raise DrawRefused(f"the difference is less than {LEAST_LEVELS} levels")
    return levels


def _edit(
    scene: PlantingScene, obj: StillObject, frames: tuple[int, int], strength: float, amount: str, change: Change
) -> GlitchEdit:
    where = scene.describe_place(obj.view, obj.box)
    return GlitchEdit(scene.all_frames(), *frames, strength, amount, where, change, obj.view, obj.box)
