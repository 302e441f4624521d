"""Finding the content of a box in another picture by its colours.

A pattern is compared within the ellipse inside its box, so that the background in the corners does not count. The
difference is the root mean square over colours, in 8-bit levels. Both pictures are blurred slightly, because a fine
pattern that is shifted by half a pixel would not match itself.
"""

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.media.decode import Image

LEAST_PX = 6
"""The smallest side of a pattern."""

_REACH = 0.3  # of the pattern's longer side: how far from a place it is searched
_LEAST_REACH_PX = 6

Levels = NDArray[np.float64]


@dataclass(frozen=True)
class Spot:
    """A box by its centre and size, in pixels of a picture."""

    x: float
    y: float
    wide: float
    high: float

    @classmethod
    def of(cls, box: Box, image: Image) -> "Spot":
        """The spot of a box."""
        high, wide = image.shape[:2]
        width, height = box.right - box.left, box.bottom - box.top
        return cls((box.left + width / 2) * wide, (box.top + height / 2) * high, width * wide, height * high)

    @property
    def size(self) -> tuple[int, int]:
        """Its width and height in whole pixels."""
        return max(LEAST_PX, round(self.wide)), max(LEAST_PX, round(self.high))

    def times(self, factor: float) -> "Spot":
        """The same place with another size."""
        return replace(self, wide=self.wide * factor, high=self.high * factor)

    def at(self, x: float, y: float) -> "Spot":
        """The same size at another place."""
        return replace(self, x=float(x), y=float(y))

    def inside(self, image: Image) -> bool:
        """Whether its centre is in the picture."""
        return bool(0 < self.x < image.shape[1] and 0 < self.y < image.shape[0])

    def box(self, image: Image) -> Box:
        """As shares of the picture, cut to it."""
        high, wide = image.shape[:2]
        return Box(
            left=max(0.0, (self.x - self.wide / 2) / wide),
            top=max(0.0, (self.y - self.high / 2) / high),
            right=min(1.0, (self.x + self.wide / 2) / wide),
            bottom=min(1.0, (self.y + self.high / 2) / high),
        )


def cut(image: Image, spot: Spot, beyond_px: int = 0) -> Image:
    """The pixels of a spot and a margin around it; beyond the picture its edge is repeated."""
    wide, high = spot.size
    size = wide + 2 * beyond_px, high + 2 * beyond_px
    return np.asarray(cv2.getRectSubPix(image, size, (spot.x - 0.5, spot.y - 0.5)), dtype=np.uint8)


def near(image: Image, spot: Spot, pattern: Image) -> tuple[Spot, float]:
    """The best match of a pattern near a spot, to a fraction of a pixel, and its difference."""
    reach = max(_LEAST_REACH_PX, round(_REACH * max(spot.size)))
    unlike = _differences(cut(image, spot, reach), _resized(pattern, spot.size))
    row, column = _least(unlike)
    x = spot.x + column - reach + _fraction(unlike[row], column)
    y = spot.y + row - reach + _fraction(unlike[:, column], row)
    return spot.at(x, y), float(unlike[row, column])


def anywhere(image: Image, spot: Spot, pattern: Image) -> tuple[Spot, float, float]:
    """The best match of a pattern in a picture, its difference, and that of the second best match.

    The second best is at least half of the pattern's size away, and infinite without room for it. Both are infinite for
    a pattern that is larger than the picture.
    """
    wide, high = spot.size
    if wide > image.shape[1] or high > image.shape[0]:
        return spot, np.inf, np.inf
    unlike = _differences(image, _resized(pattern, spot.size))
    row, column = _least(unlike)
    least = float(unlike[row, column])
    top, left = max(0, row - high // 2), max(0, column - wide // 2)
    unlike[top : row + high // 2 + 1, left : column + wide // 2 + 1] = np.inf
    return spot.at(column + wide / 2, row + high / 2), least, float(unlike.min())


def ellipse(shape: tuple[int, ...], spot: Spot) -> NDArray[np.uint8]:
    """The ellipse inside a spot, as a mask of a picture's shape."""
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    across, down = (columns + 0.5 - spot.x) / (spot.wide / 2), (rows + 0.5 - spot.y) / (spot.high / 2)
    return (across**2 + down**2 <= 1).astype(np.uint8)


def _differences(image: Image, pattern: Image) -> Levels:
    """The difference from a pattern at each place of a picture that has room for it."""
    high, wide = pattern.shape[:2]
    mask = ellipse((high, wide), Spot(wide / 2, high / 2, wide, high))
    squares = cv2.matchTemplate(_soft(image), _soft(pattern), cv2.TM_SQDIFF, mask=mask)
    return np.asarray(np.sqrt(np.maximum(squares, 0) / (3 * np.count_nonzero(mask))), dtype=np.float64)


def _soft(image: Image) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (3, 3), 0), dtype=np.uint8)


def _resized(pattern: Image, size: tuple[int, int]) -> Image:
    if size == (pattern.shape[1], pattern.shape[0]):
        return pattern
    shrinks = size[0] < pattern.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pattern, size, interpolation=method), dtype=np.uint8)


def _least(unlike: Levels) -> tuple[int, int]:
    row, column = np.unravel_index(int(unlike.argmin()), unlike.shape)
    return int(row), int(column)


def _fraction(values: Levels, best: int) -> float:
    """The offset of the minimum from the least value, by a parabola through it and its neighbours."""
    if not 0 < best < len(values) - 1:
        return 0.0
    before, least, after = np.square(values[best - 1 : best + 2])
    bend = before - 2 * least + after
    return float((before - after) / (2 * bend)) if bend > 0 else 0.0
