"""Planters that change one thing in the picture, while it and what surrounds it stand still.

The glitch ends with the clip, or comes to an end before: what stands still may be moved later, and then it is shown as
it was.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.plant.edit import Change, GlitchEdit, Refused
from robogaze.forge.plant.scene import PlantingScene
from robogaze.forge.plant.standing import Flags, StillThing, outlines, ringed, some_thing, still
from robogaze.media.decode import Image

LEAST_LEVELS = 18
"""How far, in the mean over a thing's pixels and channels, what takes a place must differ from what was there."""

_BEFORE_S, _SHORTEST_S = 0.4, 0.6  # a thing is to be seen before it changes, and the change to last
_SOFT = 0.004  # of the view's longer side: the width of an outline's edge
_INPAINT_PX = 5
_DRIFT_LEVELS = (25.0, 70.0)  # in the a-b plane of 8-bit CIE Lab
_TRIES = 30

Pixels = NDArray[np.float32]


def erase(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A thing vanishes: what surrounds it is continued over it (Telea's inpainting)."""
    thing, first, end = _moment(scene, rng)
    before = scene.reel.view(first, thing.view)
    window, alpha = _matte(thing.mask, before.shape[:2], grow=True)
    hole = (alpha > 0.02).astype(np.uint8)
    patch = np.ascontiguousarray(before[window])
    filled = np.asarray(cv2.inpaint(patch, hole, _INPAINT_PX, cv2.INPAINT_TELEA), np.uint8)
    levels = _difference(filled, patch, alpha)

    def change(_: int, image: Image) -> Image:
        # The light may change: what is painted over follows the pixels beside it.
        light = _mean(image[window], hole == 0) - _mean(patch, hole == 0)
        return _over(image, window, filled + light, alpha)

    return _edit(scene, thing, (first, end), thing.size, f"{levels:.0f} levels from what was there", change)


def paste(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A copy of a thing appears at an empty place."""
    thing, first, end = _moment(scene, rng)
    source = scene.reel.view(first, thing.view)
    window, alpha = _matte(thing.mask, source.shape[:2], grow=False)
    copy, size = np.ascontiguousarray(source[window]), source.shape[:2]
    there = _empty_place(scene, thing, range(first, end), rng)
    down, across = (round(step * side / small) for step, side, small in zip(there, size, thing.mask.shape, strict=True))
    place = _shifted(window, down, across, size)
    levels = _difference(copy, source[place], alpha)

    def change(_: int, image: Image) -> Image:
        return _over(image, place, copy, alpha)

    moved = StillThing(thing.view, np.roll(thing.mask, there, axis=(0, 1)), thing.still)
    return _edit(scene, moved, (first, end), thing.size, f"{levels:.0f} levels from what was there", change)


def tint(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A thing changes its colour little by little, by 25 to 70 levels of the a-b plane, and keeps its light."""
    thing, first, end = _moment(scene, rng)
    strength = float(rng.random())
    window, alpha = _matte(thing.mask, scene.reel.view(first, thing.view).shape[:2], grow=False)
    angle, far = rng.uniform(0, 2 * np.pi), _DRIFT_LEVELS[0] + strength * (_DRIFT_LEVELS[1] - _DRIFT_LEVELS[0])
    shift = np.array([0, far * np.cos(angle), far * np.sin(angle)], np.float32)
    lasting = end == scene.count

    def change(number: int, image: Image) -> Image:
        # It comes over half of the time; where it ends before the clip does, it goes in the last quarter. The first
        # step is a fourth of the whole, for less is not to be seen.
        done = (number - first) / (end - first)
        share = min(1.0, 0.25 + 1.5 * done) if lasting else min(1.0, 0.25 + 1.5 * done, 0.25 + 3 * (1 - done))
        return _over(image, window, _coloured(image[window], shift * np.float32(share)), alpha)

    full = scene.reel.view(first, thing.view)[window]
    _difference(_coloured(full, shift), full, alpha)
    return _edit(scene, thing, (first, end), strength, f"{far:.0f} levels of colour", change)


def _moment(scene: PlantingScene, rng: np.random.Generator) -> tuple[StillThing, int, int]:
    """A thing, and the frames to change it in: it is still before and meanwhile. Raises Refused."""
    thing = some_thing(scene, rng)
    before, lasts = scene.frames(_BEFORE_S), scene.frames(_SHORTEST_S)
    if len(thing.still) < before + lasts:
        raise Refused("what stands out there does not stay still")
    first = int(rng.integers(thing.still.start + before, thing.still.stop - lasts + 1))
    to_the_end = thing.still.stop == scene.count and rng.random() < 0.5
    end = scene.count if to_the_end else int(rng.integers(first + lasts, thing.still.stop + 1))
    return thing, first, end


def _empty_place(scene: PlantingScene, thing: StillThing, frames: range, rng: np.random.Generator) -> tuple[int, int]:
    """How far to move a thing, down and across in the reduced picture, so that it lies where nothing is or moves."""
    height, width = thing.mask.shape
    left, top, wide, high = cv2.boundingRect(thing.mask.astype(np.uint8))
    small = scene.small[thing.view][frames.start]
    taken = np.any([thing.mask, *outlines(small)], axis=0)
    for _ in range(_TRIES):
        down = int(rng.integers(2, max(3, height - high - 2))) - top
        across = int(rng.integers(2, max(3, width - wide - 2))) - left
        there = np.roll(thing.mask, (down, across), axis=(0, 1))
        rest = still(scene, thing.view, ringed(there), frames.start)
        if not (ringed(there) & taken).any() and rest.start < frames.start and rest.stop >= frames.stop:
            return down, across
    raise Refused("no place for a copy is empty and stays still")


Window = tuple[slice, slice]


def _matte(mask: Flags, size: tuple[int, int], *, grow: bool) -> tuple[Window, Pixels]:
    """A thing at full size: a window around it with room to spare, and how much of each pixel is the thing's."""
    soft = max(0.7, _SOFT * max(size))
    whole = cv2.resize(mask.astype(np.float32), (size[1], size[0]), interpolation=cv2.INTER_LINEAR)
    if grow:  # an edge left behind would show where the thing was
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
    """A window elsewhere. Raises Refused when it would not lie in the picture."""
    rows, columns = window
    place = slice(rows.start + down, rows.stop + down), slice(columns.start + across, columns.stop + across)
    if place[0].start < 0 or place[1].start < 0 or place[0].stop > size[0] or place[1].stop > size[1]:
        raise Refused("a copy there would reach beyond the picture")
    return place


def _over(image: Image, window: Window, patch: NDArray[np.generic], alpha: Pixels) -> Image:
    """A picture with a patch laid over a window of it."""
    changed = image.copy()
    mixed = image[window] * (1 - alpha[..., None]) + np.asarray(patch, np.float32) * alpha[..., None]
    changed[window] = np.clip(np.round(mixed), 0, 255).astype(np.uint8)
    return changed


def _coloured(patch: Image, shift: Pixels) -> Image:
    lab = cv2.cvtColor(np.ascontiguousarray(patch), cv2.COLOR_RGB2LAB).astype(np.float32) + shift
    return np.asarray(cv2.cvtColor(np.clip(np.round(lab), 0, 255).astype(np.uint8), cv2.COLOR_LAB2RGB), np.uint8)


def _mean(patch: Image, where: Flags) -> Pixels:
    return np.asarray(patch[where].mean(axis=0), np.float32)


def _difference(patch: Image, before: Image, alpha: Pixels) -> float:
    """How far two patches differ where a thing is, in levels. Raises Refused below LEAST_LEVELS."""
    inside = alpha > 0.5
    levels = float(np.abs(patch[inside].astype(np.float32) - before[inside]).mean())
    if levels < LEAST_LEVELS:
        raise Refused(f"it would differ from what was there by less than {LEAST_LEVELS} levels")
    return levels


def _edit(
    scene: PlantingScene, thing: StillThing, frames: tuple[int, int], strength: float, amount: str, change: Change
) -> GlitchEdit:
    where = scene.place(thing.view, thing.box)
    return GlitchEdit(scene.as_shown(), *frames, strength, amount, where, change, thing.view, thing.box)
