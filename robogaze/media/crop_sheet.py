"""Crops of one place in several frames, on one sheet: all of one size, enlarged, each under its label."""

import math
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage, Picture
from robogaze.core.view_boxes import BAND_PX, GAP_PX
from robogaze.domains.special_tokens import broken_up
from robogaze.media.compose import encode_jpeg, sheet
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip

SIDE_PX = 1600
"""The longest side of a sheet."""

MAX_ZOOM = 6
"""The largest factor of enlargement."""

MARGIN = 0.5
"""What a crop shows on each side of a box, as a share of the box."""

MIN_CROP_PX = 64
"""The least width and height of a crop, in pixels of the video."""


def nearest_box(boxes: Mapping[int, Box], number: int) -> Box:
    """The box of the nearest frame, the earlier one of two that are equally near. Raises ValueError without a box."""
    if not boxes:
        raise ValueError("there is no box to crop to")
    return boxes[min(boxes, key=lambda frame: (abs(frame - number), frame))]


def crops(images: Sequence[Image], boxes: Sequence[Box]) -> tuple[Image, ...]:
    """A crop around each picture's box; all have one size, which contains the largest box with its margin.

    At the edge of a picture the crop is moved inside it, not cut.
    """
    height, width = images[0].shape[:2]
    size = crop_size(boxes, (width, height))
    return tuple(_around(image, box, size) for image, box in zip(images, boxes, strict=True))


def crop_size(boxes: Iterable[Box], view_size: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the crops in pixels, no larger than the view; neither is under half of the other."""
    width, height = view_size
    sides = [((box.right - box.left) * width, (box.bottom - box.top) * height) for box in boxes]
    wide, high = (max(MIN_CROP_PX, max(values) * (1 + 2 * MARGIN)) for values in zip(*sides, strict=True))
    return min(width, math.ceil(max(wide, high / 2))), min(height, math.ceil(max(high, wide / 2)))


def _around(image: Image, box: Box, size: tuple[int, int]) -> Image:
    height, width = image.shape[:2]
    left = _start((box.left + box.right) / 2 * width, size[0], width)
    top = _start((box.top + box.bottom) / 2 * height, size[1], height)
    return image[top : top + size[1], left : left + size[0]]


def _start(middle: float, length: int, whole: int) -> int:
    return min(max(0, round(middle - length / 2)), whole - length)


def crop_sheet(images: Sequence[Image], labels: Sequence[str]) -> Image:
    """Pictures of one size, each under its label, as large as SIDE_PX and MAX_ZOOM allow."""
    height, width = images[0].shape[:2]
    columns, zoom = _largest(len(images), width, height)
    size = max(1, int(width * zoom)), max(1, int(height * zoom))
    method = cv2.INTER_CUBIC if zoom > 1 else cv2.INTER_AREA
    scaled = [np.asarray(cv2.resize(image, size, interpolation=method), dtype=np.uint8) for image in images]
    return sheet(scaled, labels, columns)


def _largest(count: int, width: int, height: int) -> tuple[int, float]:
    """The number of columns that shows pictures the largest, the fewest of equal ones, and the factor."""
    zooms = {}
    for columns in range(1, count + 1):
        rows = -(-count // columns)
        wide, high = (SIDE_PX + GAP_PX) // columns - GAP_PX, (SIDE_PX + GAP_PX) // rows - GAP_PX - BAND_PX
        zooms[columns] = min(wide / width, high / height, MAX_ZOOM)
    columns = max(zooms, key=lambda columns: (zooms[columns], -columns))
    return columns, zooms[columns]


def as_picture(
    clip: DecodedClip, name: str, numbers: Sequence[int], views: tuple[str, ...], image: Image, label: str
) -> FrameImage:
    """A sheet as a picture for a request; its id starts with `name` and depends on its content."""
    jpeg = encode_jpeg(image, clip.settings.quality)
    content = sha256(jpeg).hexdigest()
    picture = Picture(
        id=f"{name}_{content[:8]}",
        frames=tuple(numbers),
        times_s=tuple(clip.times_s[number] for number in numbers),
        views=views,
        width=image.shape[1],
        height=image.shape[0],
        sha256=content,
    )
    return FrameImage(picture, broken_up(label), jpeg)  # objects and views may have any name
