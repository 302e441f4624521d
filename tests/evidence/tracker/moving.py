"""Synthetic clips of one object with a known motion, for trackers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.media.decode import Image

WIDTH, HEIGHT, FPS = 640, 360, 16
DIAGONAL_PX = float(np.hypot(WIDTH, HEIGHT))

Point = tuple[float, float]
Path = Callable[[float], Point | None]
"""The object's centre at a time, in pixels; None where it is absent."""


@dataclass(frozen=True)
class Scene:
    """An object in front of a background. `pan` moves the whole picture with the object, in pixels per second."""

    path: Path
    seconds: float = 2.0
    kind: str = "ball"
    size_px: int = 44
    pan: Point = (0.0, 0.0)
    noise: float = 2.0
    seed: int = 0

    @property
    def times_s(self) -> tuple[float, ...]:
        return tuple(number / FPS for number in range(round(self.seconds * FPS)))

    def truth(self, number: int) -> Point | None:
        """The position of its centre in a frame, in pixels."""
        time_s = self.times_s[number]
        at = self.path(time_s)
        return None if at is None else (at[0] + self.pan[0] * time_s, at[1] + self.pan[1] * time_s)

    def frames(self) -> Sequence[Image]:
        """The clip as a model and a tracker receive it, with noise and JPEG compression."""
        rng = np.random.default_rng(self.seed)
        ground, thing = background(rng), _thing(self.kind, self.size_px, rng)
        return [self._frame(number, ground, thing, rng) for number in range(len(self.times_s))]

    def _frame(self, number: int, ground: Image, thing: Image, rng: np.random.Generator) -> Image:
        time_s = self.times_s[number]
        frame = _shifted(ground, self.pan[0] * time_s, self.pan[1] * time_s)[100 : 100 + HEIGHT, 100 : 100 + WIDTH]
        at = self.truth(number)
        if at is not None:
            frame = _pasted(frame, thing, at)
        noisy = np.clip(frame + self.noise * rng.standard_normal(frame.shape, dtype=np.float32), 0, 255).astype(
            np.uint8
        )
        done, jpeg = cv2.imencode(".jpg", noisy, [cv2.IMWRITE_JPEG_QUALITY, 90])
        assert done
        return np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_COLOR), np.uint8)

    def box(self, number: int = 0, grown: float = 1.0) -> Box:
        """The object's box in a frame."""
        at = self.truth(number)
        assert at is not None
        half = self.size_px / 2 * grown
        return Box(
            left=(at[0] - half) / WIDTH,
            top=(at[1] - half) / HEIGHT,
            right=(at[0] + half) / WIDTH,
            bottom=(at[1] + half) / HEIGHT,
        )


def background(rng: np.random.Generator) -> Image:
    """Patches of several sizes and colours, larger than a frame by 100 pixels on each side."""
    shape = (HEIGHT + 200, WIDTH + 200, 3)
    ground = np.full(shape, 120.0)
    for size, strength in ((80, 30), (24, 18), (8, 8)):
        coarse = rng.normal(0, strength, (shape[0] // size + 2, shape[1] // size + 2, 3))
        ground += cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC)
    return np.clip(ground, 0, 255).astype(np.uint8)


def _thing(kind: str, size: int, rng: np.random.Generator) -> Image:
    """An object with its coverage of each pixel, as four channels."""
    rows, columns = np.mgrid[:size, :size] + 0.5 - size / 2
    cover = np.clip(size / 2 - np.hypot(rows, columns), 0, 1) * 255
    if kind == "ball":
        light = 200 - 2.0 * np.hypot(rows + size / 8, columns + size / 8)
        colours = [light * 0.2 + 20, light * 0.35, light]
    elif kind == "plain":
        colours = [np.full((size, size), level) for level in (40.0, 60.0, 200.0)]
    else:
        cover = np.full((size, size), 255.0)
        pattern = cv2.resize(rng.uniform(20, 235, (6, 6, 3)), (size, size), interpolation=cv2.INTER_NEAREST)
        colours = list(np.moveaxis(pattern, 2, 0))
    return np.clip(np.dstack([*colours, cover]), 0, 255).astype(np.uint8)


def _shifted(image: Image, right: float, down: float) -> Image:
    move = np.float64([[1, 0, right], [0, 1, down]])
    return np.asarray(cv2.warpAffine(image, move, image.shape[1::-1], borderMode=cv2.BORDER_REFLECT), np.uint8)


def _pasted(frame: Image, thing: Image, at: Point) -> Image:
    size = thing.shape[0]
    move = np.float64([[1, 0, at[0] - size / 2], [0, 1, at[1] - size / 2]])
    placed = cv2.warpAffine(thing, move, (WIDTH, HEIGHT))
    cover = placed[..., 3:].astype(np.float64) / 255
    return (frame * (1 - cover) + placed[..., :3] * cover).astype(np.uint8)
