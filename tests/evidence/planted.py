"""Faults to add to a clean clip, one per function, in known frames."""

from collections.abc import Callable, Sequence

import cv2
import numpy as np

from robogaze.media.decode import Image

from .procedural import Pose


def blurred(images: Sequence[Image], start: int, end: int, sigma_px: float) -> list[Image]:
    """Out of focus in the frames [start, end)."""
    return _changed(images, start, end, lambda image, frame: cv2.GaussianBlur(image, (0, 0), sigma_px))


def dimmed(images: Sequence[Image], start: int, end: int, gain: float) -> list[Image]:
    """Dark in the frames [start, end)."""
    return _changed(images, start, end, lambda image, frame: np.round(image * gain).astype(np.uint8))


def fogged(images: Sequence[Image], start: int, end: int, left: float) -> list[Image]:
    """In grey fog in the frames [start, end), with this share of the contrast left."""
    return _changed(images, start, end, lambda image, frame: np.round(130 + left * (image - 130.0)).astype(np.uint8))


def overexposed(images: Sequence[Image], start: int, end: int, by: float) -> list[Image]:
    """Too light by a number of levels in the frames [start, end)."""
    return _changed(images, start, end, lambda image, frame: np.clip(image + np.float32(by), 0, 255).astype(np.uint8))


def noisy(images: Sequence[Image], start: int, end: int, strength: float) -> list[Image]:
    """Covered with new noise in each of the frames [start, end)."""
    rng = np.random.default_rng(0)
    return _changed(
        images,
        start,
        end,
        lambda image, frame: np.clip(image + rng.normal(0, strength, image.shape), 0, 255).astype(np.uint8),
    )


def flooded(images: Sequence[Image], start: int, end: int, share: float) -> list[Image]:
    """In the frames [start, end), the left part of the picture is plain green."""

    def flood(image: Image, frame: int) -> Image:
        image = image.copy()
        image[:, : round(share * image.shape[1])] = (0, 200, 0)
        return image

    return _changed(images, start, end, flood)


def garbled(images: Sequence[Image], start: int, end: int, share: float, seed: int = 0) -> list[Image]:
    """In the frames [start, end), this share of the 16-px blocks is flat or from elsewhere in the picture."""
    rng = np.random.default_rng(seed)

    def garble(image: Image, frame: int) -> Image:
        image, whole = image.copy(), image
        rows, columns = image.shape[0] // 16, image.shape[1] // 16
        for block in rng.choice(rows * columns, max(1, round(share * rows * columns)), replace=False):
            y, x = 16 * (block // columns), 16 * (block % columns)
            other = rng.integers(0, rows) * 16, rng.integers(0, columns) * 16
            source = whole[other[0] : other[0] + 16, other[1] : other[1] + 16]
            image[y : y + 16, x : x + 16] = source if block % 2 else whole[y, x]
        return image

    return _changed(images, start, end, garble)


def torn(images: Sequence[Image], start: int, end: int, row: float, shift: float) -> list[Image]:
    """In every other of the frames [start, end), the picture below a row is shifted sideways (in widths)."""

    def tear(image: Image, frame: int) -> Image:
        if (frame - start) % 2:
            return image
        image, top = image.copy(), round(row * image.shape[0])
        image[top:] = np.roll(image[top:], round(shift * image.shape[1]), axis=1)
        return image

    return _changed(images, start, end, tear)


def stalled(images: Sequence[Image], start: int, end: int) -> list[Image]:
    """Frozen in the frames [start, end); afterwards the clip continues where it would have been, with a jump."""
    return _changed(images, start, end, lambda image, frame: images[start])


def _changed(images: Sequence[Image], start: int, end: int, change: Callable[[Image, int], Image]) -> list[Image]:
    return [change(image, n) if start <= n < end else image for n, image in enumerate(images)]


def shaking(seed: int, start: int, end: int, strength: float) -> Callable[[float], Pose]:
    """A camera that jitters in the frames [start, end), by `strength` heights."""
    jitter = np.random.default_rng(seed).normal(0, strength, (1000, 3))

    def pose(frame: float) -> Pose:
        if not start <= frame < end:
            return (0.0, 0.0, 0.0, 1.0)
        right, down, turn = jitter[int(frame)]
        return (right, down, 20 * turn, 1.0)

    return pose
