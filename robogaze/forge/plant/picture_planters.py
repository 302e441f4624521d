"""Planters that change whole pictures for a while, or cover the motion.

Each planter draws its strength, a run of frames and one view. Values that vary from frame to frame (the shift of a
shaking camera, the damaged blocks) depend only on the draw and the frame number.
"""

from collections.abc import Callable
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.forge.plant.planting_scene import DrawRefused, Flags, GlitchEdit, PlantingScene, box_around, differing
from robogaze.media.decode import Image

SHORTEST_S, LONGEST_S = 0.35, 1.6
"""The duration of a change."""

_BLOCK_SHARE = 1 / 45  # of the height: 16 pixels of 720
_LONGEST_RUN = 12  # blocks
_WHOLE = Box(left=0, top=0, right=1, bottom=1)


def smear(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """Out of focus: a Gaussian of 0.3 to 1.5 % of the view's height."""
    strength = float(rng.random())
    share = 0.003 + 0.012 * strength

    def change(image: Image, _: np.random.Generator) -> Image:
        return np.asarray(cv2.GaussianBlur(image, (0, 0), share * image.shape[0]), dtype=np.uint8)

    return _edit(scene, rng, strength, f"a Gaussian of {share:.1%} of the height", change)


def darken(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """Too dark: 30 to 4 % of the light is left."""
    strength = float(rng.random())
    left = 0.3 - 0.26 * strength

    def change(image: Image, _: np.random.Generator) -> Image:
        return np.round(image * np.float32(left)).astype(np.uint8)

    return _edit(scene, rng, strength, f"{left:.0%} of the light is left", change)


def shake(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """Camera shake: every frame is shifted by at most 0.6 to 4 % of the height, and by at least half of this
    maximum.
    """
    strength = float(rng.random())
    reach = 0.006 + 0.034 * strength

    def change(image: Image, draw: np.random.Generator) -> Image:
        height, width = image.shape[:2]
        angle, far, turn = draw.uniform(0, 2 * np.pi), reach * height * draw.uniform(0.5, 1), draw.normal(0, 20 * reach)
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), turn, 1.0)
        matrix[:, 2] += far * np.cos(angle), far * np.sin(angle)
        moved = cv2.warpAffine(image, matrix, (width, height), borderMode=cv2.BORDER_REFLECT_101)
        return np.asarray(moved, dtype=np.uint8)

    return _edit(scene, rng, strength, f"by up to {reach:.1%} of the height", change)


def blocks(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """Damaged blocks: runs of blocks, 3 to 30 % of the picture in total, are filled with one colour or with a nearby
    part of the picture.
    """
    strength = float(rng.random())
    share = 0.03 + 0.27 * strength

    def change(image: Image, draw: np.random.Generator) -> Image:
        side = max(8, round(image.shape[0] * _BLOCK_SHARE / 8) * 8)
        rows, columns = image.shape[0] // side, image.shape[1] // side
        broken, left = image.copy(), max(1, round(share * rows * columns))
        while left > 0:
            length = int(min(draw.integers(2, _LONGEST_RUN + 1), columns, left))
            top, start = side * int(draw.integers(rows)), side * int(draw.integers(columns - length + 1))
            place = slice(top, top + side), slice(start, start + side * length)
            aside = (side * int(draw.integers(1, 4)), side * int(draw.integers(-4, 5)))
            broken[place] = np.roll(image, aside, (0, 1))[place] if draw.random() < 0.6 else image[top, start]
            left -= length
        return broken

    return _edit(scene, rng, strength, f"{share:.0%} of the blocks", change)


def tear(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """Torn rows: one to three bands of rows are shifted sideways, by up to 2 to 15 % of the width."""
    strength = float(rng.random())
    reach = 0.02 + 0.13 * strength

    def change(image: Image, draw: np.random.Generator) -> Image:
        height, width = image.shape[:2]
        torn = image.copy()
        for _ in range(draw.integers(1, 4)):
            top = int(draw.uniform(0.1, 0.8) * height)
            low = int(draw.uniform(top + 0.1 * height, height))
            by = draw.choice((-1, 1)) * max(1, round(draw.uniform(0.6, 1) * reach * width))
            torn[top:low] = np.roll(torn[top:low], by, axis=1)
        return torn

    return _edit(scene, rng, strength, f"by up to {reach:.0%} of the width", change)


def _edit(
    scene: PlantingScene,
    rng: np.random.Generator,
    strength: float,
    amount: str,
    change: Callable[[Image, np.random.Generator], Image],
) -> GlitchEdit:
    first, end = scene.sample_interval(rng, SHORTEST_S, LONGEST_S)
    view, seed = scene.sample_view(rng), int(rng.integers(2**63))
    return GlitchEdit(
        sources=scene.all_frames(),
        first=first,
        end=end,
        strength=strength,
        amount=amount,
        where=scene.view_name(view),
        change=lambda number, image: change(image, np.random.default_rng((seed, number))),
        view=view,
        box=_WHOLE,
    )


LEAST_HIDDEN = 0.7
"""The least share of the changing pixels that the bar must hide."""

_SHORTEST_S, _LONGEST_S, _SLIDE_S = 0.6, 1.8, 0.2
_LEAST_MOVING = 0.002  # of the view: less is nothing to hide
_SOFT = 0.012  # of the height: close to a camera nothing is in focus

Vector = NDArray[np.float64]


def cover(scene: PlantingScene, rng: np.random.Generator) -> GlitchEdit:
    """A dark bar slides in from an edge, covers the motion, and leaves again. Its width is 20 to 65 % of the view's
    height.

    Raises DrawRefused if too little moves, or if the bar hides less than LEAST_HIDDEN of the moving pixels.
    """
    strength = float(rng.random())
    first, end = scene.sample_interval(rng, _SHORTEST_S, _LONGEST_S)
    view = scene.sample_view(rng)
    moving = _moving(scene.small[view][first - 1 : end])
    rows, columns = np.nonzero(moving)
    share = 0.2 + 0.45 * strength
    angle = np.pi / 2 * rng.integers(4) + rng.uniform(-0.4, 0.4)
    inward = np.array([np.cos(angle), np.sin(angle)])
    # In heights of the view, as deep as 98 % of the motion.
    places = np.stack([columns, rows], axis=1) / len(moving)
    middle = np.median(places, axis=0)
    tip = middle + inward * np.quantile((places - middle) @ inward, 0.98)
    hidden = _bar(moving.shape, tip, inward, share, 1.0) > 0.5
    if (hidden & moving).sum() < LEAST_HIDDEN * moving.sum():
        raise DrawRefused("the bar hides too little of the motion")
    colour = rng.uniform(15, 80, 3).astype(np.float32)
    slide = scene.to_frames(_SLIDE_S)

    def change(number: int, image: Image) -> Image:
        near = min((number - first + 1) / slide, (end - number) / slide, 1.0)
        alpha = _bar(image.shape[:2], tip, inward, share, near)[..., None]
        return np.round(image * (1 - alpha) + colour * alpha).astype(np.uint8)

    box, amount = box_around(hidden), f"{share:.0%} of the height wide"
    where = scene.describe_place(view, box)
    return GlitchEdit(scene.all_frames(), first, end, strength, amount, where, change, view, box)


def _moving(small: NDArray[np.uint8]) -> Flags:
    """The pixels that change between consecutive frames. Raises DrawRefused if too few pixels change."""
    moving = np.zeros(small.shape[1:3], dtype=bool)
    for before, after in pairwise(small):
        moving |= differing(before, after)
    if moving.mean() < _LEAST_MOVING:
        raise DrawRefused("too little moves, so there is nothing to hide")
    return moving


def _bar(shape: tuple[int, ...], tip: Vector, inward: Vector, share: float, near: float) -> NDArray[np.float32]:
    """The bar's share of every pixel. `near` is the bar's progress, from 0 to 1. The bar's tip `tip` and its width
    `share` are in heights of the picture.
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
