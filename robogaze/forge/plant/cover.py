"""The planter that holds something in front of the camera, where something moves."""

from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.forge.plant.edit import GlitchEdit, Refused
from robogaze.forge.plant.scene import Flags, PlantingScene, differing
from robogaze.media.decode import Image

LEAST_HIDDEN = 0.7
"""The share of the pixels that change meanwhile which the bar must hide."""

_SHORTEST_S, _LONGEST_S, _SLIDE_S = 0.6, 1.8, 0.2
_LEAST_MOVING = 0.002  # of the view: less is nothing to hide
_SOFT = 0.012  # of the height: so near to a camera nothing is sharp

Vector = NDArray[np.float64]


def cover(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A dark bar, 20 to 65 % of the height wide, slides in from an edge, covers what moves, and leaves again.

    Refused where too little moves, and where the bar hides less than LEAST_HIDDEN of it.
    """
    strength = float(rng.random())
    first, end = scene.stretch(rng, _SHORTEST_S, _LONGEST_S)
    view = scene.some_view(rng)
    moving = _moving(scene.small[view][first - 1 : end])
    rows, columns = np.nonzero(moving)
    share = 0.2 + 0.45 * strength
    angle = np.pi / 2 * rng.integers(4) + rng.uniform(-0.4, 0.4)
    inward = np.array([np.cos(angle), np.sin(angle)])
    # In heights of the view, from the bar's middle line, and as deep as nearly all that moves lies.
    places = np.stack([columns, rows], axis=1) / len(moving)
    middle = np.median(places, axis=0)
    tip = middle + inward * np.quantile((places - middle) @ inward, 0.98)
    hidden = _bar(moving.shape, tip, inward, share, 1.0) > 0.5
    if (hidden & moving).sum() < LEAST_HIDDEN * moving.sum():
        raise Refused("it would hide too little of what moves")
    colour = rng.uniform(15, 80, 3).astype(np.float32)
    slide = scene.frames(_SLIDE_S)

    def change(number: int, image: Image) -> Image:
        near = min((number - first + 1) / slide, (end - number) / slide, 1.0)
        alpha = _bar(image.shape[:2], tip, inward, share, near)[..., None]
        return np.round(image * (1 - alpha) + colour * alpha).astype(np.uint8)

    box = _around(hidden)
    amount = f"{share:.0%} of the height wide"
    return GlitchEdit(scene.as_shown(), first, end, strength, amount, scene.place(view, box), change, view, box)


def _moving(small: NDArray[np.uint8]) -> Flags:
    """Which pixels change in some pictures from one to the next. Raises Refused for too few."""
    moving = np.zeros(small.shape[1:3], dtype=bool)
    for before, after in pairwise(small):
        moving |= differing(before, after)
    if moving.mean() < _LEAST_MOVING:
        raise Refused("too little moves there to be hidden")
    return moving


def _bar(shape: tuple[int, ...], tip: Vector, inward: Vector, share: float, near: float) -> NDArray[np.float32]:
    """How much of every pixel the bar covers; `near` is how far it is on its way, from 0 to 1.

    `tip` and `share`, its width, are in heights of the picture.
    """
    height, width = shape
    edge = np.array([width / height, 1.0])
    # Back to where the line through the tip leaves the picture.
    way = min(
        (limit - at) / -step if step < 0 else at / step for at, step, limit in zip(tip, inward, edge, strict=True)
    )
    front = tip - inward * (1 - near) * max(0.0, way)
    aside, beyond = np.array([-inward[1], inward[0]]) * share / 2, inward * 2 * edge.sum()
    corners = np.array([front + aside, front - aside, front - aside - beyond, front + aside - beyond]) * height
    mask = np.zeros((height, width), np.float32)
    cv2.fillPoly(mask, [np.round(corners).astype(np.int32)], 1.0, lineType=cv2.LINE_AA)
    return np.asarray(cv2.GaussianBlur(mask, (0, 0), max(0.8, _SOFT * height)), dtype=np.float32)


def _around(region: Flags) -> Box:
    height, width = region.shape
    left, top, wide, high = cv2.boundingRect(region.astype(np.uint8))
    return Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height)
