"""Puts crops of one place in several frames on a sheet. All crops have the same size and are enlarged, and each has its
label above it.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage
from robogaze.domains.special_tokens import broken_up
from robogaze.media.compose import arranged, encode_jpeg, largest_form, sheet
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip

SIDE_PX = 1600
"""The longest side of a sheet."""

MAX_ZOOM = 6
"""The largest factor of enlargement."""

MARGIN, MAX_MARGIN = 0.75, 0.1
"""What a crop shows on each side of a box: as a share of the box, and at most of the longer side of the view."""

MIN_CROP_PX, MIN_CROP = 64, 0.15
"""The least width and height of a crop: in pixels of the video, and as a share of the longer side of the view."""

_LEAST_RATIO = 2 / 3


def box_at(boxes: Mapping[int, Box], number: int) -> Box:
    """The box in a frame. Between the boxes of two frames it is interpolated linearly; before the first box and after
    the last box it is constant.

    Raises ValueError if there is no box.
    """
    if not boxes:
        raise ValueError("there is no box to crop to")
    before = max((frame for frame in boxes if frame <= number), default=min(boxes))
    after = min((frame for frame in boxes if frame >= number), default=max(boxes))
    if boxes[before] == boxes[after]:
        return boxes[before]
    share = (number - before) / (after - before)
    first, last = boxes[before].model_dump(), boxes[after].model_dump()
    return Box(**{side: first[side] + share * (last[side] - first[side]) for side in first})


def crops(images: Sequence[Image], boxes: Sequence[Box], size: tuple[int, int] | None = None) -> list[Image]:
    """A crop around each picture's box; all crops have one size, by default the result of `crop_size`.

    At the edge of a picture the crop is moved inside it, not cut.
    """
    if size is None:
        height, width = images[0].shape[:2]
        size = crop_size(boxes, (width, height))
    return [_around(image, box, size) for image, box in zip(images, boxes, strict=True)]


def crop_size(boxes: Iterable[Box], view_size: tuple[int, int]) -> tuple[int, int]:
    """Width and height in pixels of crops that contain the largest box with its margin; at most the size of the view.

    Neither side is less than two thirds of the other side.
    """
    width, height = view_size
    sides = [((box.right - box.left) * width, (box.bottom - box.top) * height) for box in boxes]
    least, margin = max(MIN_CROP_PX, MIN_CROP * max(view_size)), MAX_MARGIN * max(view_size)
    wide, high = (
        max(least, largest + 2 * min(margin, MARGIN * largest)) for largest in map(max, zip(*sides, strict=True))
    )
    return min(width, math.ceil(max(wide, high * _LEAST_RATIO))), min(height, math.ceil(max(high, wide * _LEAST_RATIO)))


def _around(image: Image, box: Box, size: tuple[int, int]) -> Image:
    height, width = image.shape[:2]
    left = _start((box.left + box.right) / 2 * width, size[0], width)
    top = _start((box.top + box.bottom) / 2 * height, size[1], height)
    return image[top : top + size[1], left : left + size[0]]


def _start(middle: float, length: int, whole: int) -> int:
    return min(max(0, round(middle - length / 2)), whole - length)


class CropSheet:
    """A sheet of `count` cells. All pictures have the same size (width, height) and are enlarged as far as SIDE_PX and
    MAX_ZOOM allow.

    If each cell has several pictures, the pictures are views, and `names` are the names of the views.
    """

    def __init__(self, count: int, size: tuple[int, int], names: Sequence[str] = ("",)) -> None:
        self._names = names
        grids = [(columns, -(-count // columns)) for columns in range(1, count + 1)]
        self._form = largest_form(grids, len(names), size, SIDE_PX, MAX_ZOOM)
        self._size = max(1, int(size[0] * self._form.zoom)), max(1, int(size[1] * self._form.zoom))
        self._cells: list[Image] = []

    def add(self, views: Sequence[Image]) -> None:
        """Add the next cell; its pictures are not kept."""
        method = cv2.INTER_CUBIC if self._form.zoom > 1 else cv2.INTER_AREA
        scaled = [np.asarray(cv2.resize(view, self._size, interpolation=method), np.uint8) for view in views]
        self._cells.append(arranged(scaled, self._names, self._form.across))

    def image(self, labels: Sequence[str]) -> Image:
        """The sheet, with each cell under its label."""
        return sheet(self._cells, labels, self._form.columns)


def crop_sheet(cells: Sequence[Sequence[Image]], labels: Sequence[str], names: Sequence[str] = ("",)) -> Image:
    """A CropSheet of these cells."""
    height, width = cells[0][0].shape[:2]
    made = CropSheet(len(cells), (width, height), names)
    for cell in cells:
        made.add(cell)
    return made.image(labels)


def as_picture(
    clip: DecodedClip, name: str, numbers: Sequence[int], views: tuple[str, ...], image: Image, label: str
) -> FrameImage:
    """A sheet as a picture for a request; its id starts with `name` and depends on its content."""
    jpeg = encode_jpeg(image, clip.settings.quality)
    size = image.shape[1], image.shape[0]
    picture = clip.describe(f"{name}_{sha256(jpeg).hexdigest()[:8]}", numbers, size, jpeg, views)
    return FrameImage(picture, broken_up(label), clip.store.add(jpeg))  # objects and views may have any name
