"""Planters that change whole pictures for a while.

Each draws its strength, a stretch of frames and one view. What varies from frame to frame (where a shaken camera
points, which blocks are hit) is drawn anew for each, and depends on the draw and the frame's number alone.
"""

from collections.abc import Callable

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.forge.plant.edit import GlitchEdit
from robogaze.forge.plant.scene import PlantingScene
from robogaze.media.decode import Image

SHORTEST_S, LONGEST_S = 0.35, 1.6
"""How long a picture stays changed."""

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
    """A camera that jitters: every frame is off its place, by at most 0.6 to 4 % of the height, at least half of it."""
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
    """Damaged blocks: runs of them, 3 to 30 % of the picture, show one flat colour or a place beside them."""
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
    """Torn rows: below one to three rows the picture is shifted sideways, by up to 2 to 15 % of the width."""
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
    first, end = scene.stretch(rng, SHORTEST_S, LONGEST_S)
    view, seed = scene.some_view(rng), int(rng.integers(2**63))
    return GlitchEdit(
        sources=scene.as_shown(),
        first=first,
        end=end,
        strength=strength,
        amount=amount,
        where=scene.named(view),
        change=lambda number, image: change(image, np.random.default_rng((seed, number))),
        view=view,
        box=_WHOLE,
    )
