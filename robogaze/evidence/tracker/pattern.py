"""Finding the content of a box in another picture by its colours.

A pattern is compared within the ellipse inside its box, so that the background in the corners does not count. The
difference is the root mean square over colours, in 8-bit levels. Both pictures are blurred slightly, because a fine
pattern that is shifted by half a pixel would not match itself.

The differences at all places are computed with Fourier transforms; the transforms of the pattern are kept. This method
takes a third of the time of `cv2.matchTemplate`, which transforms everything six times.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import cv2
import numpy as np
import scipy.fft
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.media.decode import Image

LEAST_PX = 6
"""The smallest side of a pattern."""

_REACH = 0.3  # of the pattern's longer side: how far from a place it is searched
_LEAST_REACH_PX = 6
_MIDDLE_LEVEL = 128  # taken from all pixels, which loses nothing and keeps the sums small
_SIZES_KEPT = 4

Levels = NDArray[np.float32]
Mask = NDArray[np.uint8]


@dataclass(frozen=True)
class PixelRegion:
    """A box by its centre and size, in pixels of a picture."""

    x: float
    y: float
    wide: float
    high: float

    @classmethod
    def of(cls, box: Box, image: Image) -> "PixelRegion":
        """The region of a box."""
        high, wide = image.shape[:2]
        width, height = box.right - box.left, box.bottom - box.top
        return cls((box.left + width / 2) * wide, (box.top + height / 2) * high, width * wide, height * high)

    @property
    def size(self) -> tuple[int, int]:
        """The region's width and height in whole pixels."""
        return max(LEAST_PX, round(self.wide)), max(LEAST_PX, round(self.high))

    def times(self, factor: float) -> "PixelRegion":
        """The same place with another size."""
        return replace(self, wide=self.wide * factor, high=self.high * factor)

    def at(self, x: float, y: float) -> "PixelRegion":
        """The same size at another place."""
        return replace(self, x=float(x), y=float(y))

    def inside(self, image: Image) -> bool:
        """Whether the region's centre is in the picture."""
        return bool(0 < self.x < image.shape[1] and 0 < self.y < image.shape[0])

    def box(self, image: Image) -> Box:
        """The region as a box in shares of the picture's width and height. Parts outside the picture are cut off."""
        high, wide = image.shape[:2]
        return Box(
            left=max(0.0, (self.x - self.wide / 2) / wide),
            top=max(0.0, (self.y - self.high / 2) / high),
            right=min(1.0, (self.x + self.wide / 2) / wide),
            bottom=min(1.0, (self.y + self.high / 2) / high),
        )


def cut(image: Image, region: PixelRegion, beyond_px: int = 0) -> Image:
    """The pixels of a region and a margin around it; outside the picture, the picture's edge is repeated."""
    wide, high = region.size
    size = wide + 2 * beyond_px, high + 2 * beyond_px
    return np.asarray(cv2.getRectSubPix(image, size, (region.x - 0.5, region.y - 0.5)), dtype=np.uint8)


class Spectra(NamedTuple):
    """A picture prepared for a search: its size (height, width), and the Fourier transforms of its three colours and of
    the sum of their squares.

    `transforms` has the shape (4, rows, columns).
    """

    size: tuple[int, int]
    transforms: NDArray[np.complex64]


def spectra(image: Image) -> Spectra:
    """A picture, prepared for a search."""
    height, width = image.shape[:2]
    planes = np.empty((4, height, width), dtype=np.float32)
    planes[:3] = _levels(image)
    np.einsum("cij,cij->ij", planes[:3], planes[:3], out=planes[3])
    return Spectra((height, width), scipy.fft.rfft2(planes, _transform_size(height, width)))


class _Template(NamedTuple):
    """A pattern of one size: the factors for the transforms of a picture, its sum of squares, its number of pixels."""

    transforms: NDArray[np.complex64]
    squares: float
    pixels: int


class Pattern:
    """The content of a box. It can be searched for in several sizes; what was computed for the latest sizes is kept."""

    def __init__(self, content: Image) -> None:
        self.content = content
        self._templates: dict[tuple[int, ...], _Template] = {}

    def differences(self, size: tuple[int, int], image: Spectra) -> Levels:
        """The difference between the pattern and the picture at each place of the picture, if the pattern is scaled to
        `size` (width, height). The picture must not be smaller than the pattern.
        """
        (height, width), (wide, high) = image.size, size
        key = (*size, *image.size)
        if key not in self._templates:
            if len(self._templates) == _SIZES_KEPT:
                del self._templates[next(iter(self._templates))]
            self._templates[key] = self._template(size, image.size)
        template = self._templates[key]
        product = (image.transforms * template.transforms).sum(axis=0)
        sums = scipy.fft.irfft2(product, _transform_size(height, width))[: height - high + 1, : width - wide + 1]
        return np.asarray(np.sqrt(np.maximum(sums + template.squares, 0) / (3 * template.pixels)), dtype=np.float32)

    def _template(self, size: tuple[int, int], image_size: tuple[int, int]) -> _Template:
        wide, high = size
        mask = _inner_ellipse(wide, high)
        planes = np.empty((4, high, wide), dtype=np.float32)
        np.multiply(_levels(_resized(self.content, size)), mask, out=planes[:3])
        squares = float(np.vdot(planes[:3], planes[:3]))
        planes[:3] *= -2
        planes[3] = mask
        transforms = scipy.fft.rfft2(planes, _transform_size(*image_size)).conj()
        return _Template(transforms, squares, int(np.count_nonzero(mask)))


class Surroundings:
    """A region of a picture and its surroundings, prepared for a search. The patterns that are searched for have the
    region's size.
    """

    def __init__(self, image: Image, region: PixelRegion) -> None:
        self._region = region
        self._reach = max(_LEAST_REACH_PX, round(_REACH * max(region.size)))
        self._spectra = spectra(cut(image, region, self._reach))

    def best(self, pattern: Pattern) -> tuple[PixelRegion, float]:
        """The best match of a pattern near the region, and its difference. The place of the match is accurate to a
        fraction of a pixel.
        """
        region, differences = self._region, pattern.differences(self._region.size, self._spectra)
        row, column = _least(differences)
        x = region.x + column - self._reach + _fraction(differences[row], column)
        y = region.y + row - self._reach + _fraction(differences[:, column], row)
        return region.at(x, y), float(differences[row, column])


def anywhere(image: Spectra, region: PixelRegion, pattern: Pattern) -> tuple[PixelRegion, float, float]:
    """The best match of a pattern in a picture, its difference, and the difference of the second best match.

    The second best match is at least half of the pattern's size away; its difference is infinite if there is no room
    for it. Both differences are infinite for a pattern that is larger than the picture.
    """
    wide, high = region.size
    if high > image.size[0] or wide > image.size[1]:
        return region, np.inf, np.inf
    differences = pattern.differences(region.size, image)
    row, column = _least(differences)
    least = float(differences[row, column])
    top, left = max(0, row - high // 2), max(0, column - wide // 2)
    differences[top : row + high // 2 + 1, left : column + wide // 2 + 1] = np.inf
    return region.at(column + wide / 2, row + high / 2), least, float(differences.min())


@lru_cache(maxsize=256)
def _inner_ellipse(wide: int, high: int) -> Mask:
    """The largest ellipse in a picture."""
    return ellipse((high, wide), PixelRegion(wide / 2, high / 2, wide, high))


def ellipse(shape: tuple[int, ...], region: PixelRegion) -> Mask:
    """The ellipse inside a region, as a mask of a picture's shape."""
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    across, down = (columns + 0.5 - region.x) / (region.wide / 2), (rows + 0.5 - region.y) / (region.high / 2)
    return (across**2 + down**2 <= 1).astype(np.uint8)


def _levels(image: Image) -> Levels:
    """A blurred picture by colour, shape (3, height, width), with 0 for the middle level."""
    return _soft(image).transpose(2, 0, 1).astype(np.float32) - np.float32(_MIDDLE_LEVEL)


def _transform_size(height: int, width: int) -> tuple[int, int]:
    return scipy.fft.next_fast_len(height, real=True), scipy.fft.next_fast_len(width, real=True)


def _soft(image: Image) -> Image:
    return np.asarray(cv2.GaussianBlur(image, (3, 3), 0), dtype=np.uint8)


def _resized(pattern: Image, size: tuple[int, int]) -> Image:
    if size == (pattern.shape[1], pattern.shape[0]):
        return pattern
    shrinks = size[0] < pattern.shape[1]
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pattern, size, interpolation=method), dtype=np.uint8)


def _least(differences: Levels) -> tuple[int, int]:
    row, column = np.unravel_index(int(differences.argmin()), differences.shape)
    return int(row), int(column)


def _fraction(values: Levels, best: int) -> float:
    """The offset of the minimum from the position of the least value, from a parabola through this value and its
    neighbours.
    """
    if not 0 < best < len(values) - 1:
        return 0.0
    before, least, after = np.square(values[best - 1 : best + 2])
    bend = before - 2 * least + after
    return float((before - after) / (2 * bend)) if bend > 0 else 0.0
