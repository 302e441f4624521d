"""One view of a frame, and a magnified part of it.

A magnified part shows the pixels of the video, even where the picture of the frame is smaller. The part (in thousandths
of the view's width and height) and the factor are written outside the picture.
"""

import math
from collections.abc import Sequence

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage
from robogaze.core.view_boxes import BAND_PX, GAP_PX
from robogaze.domains.special_tokens import broken_up
from robogaze.media.compose import FrameCanvas, encode_jpeg, sheet
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip

MIN_SIDE_PX = 32
"""A smaller part is extended to this size around its middle."""

MAX_ZOOM = 8
"""The largest factor of magnification."""


def view_in(clip: DecodedClip, number: int, view: str) -> Image:
    """One view of a frame, as its picture shows it."""
    return clip.views(number)[clip.layout.active.index(view)]


def view_image(clip: DecodedClip, number: int, view: str) -> FrameImage:
    """The picture of one view of a frame, without the other views."""
    frame = clip.frame_image(number)
    if len(clip.layout.active) == 1:
        return frame
    shown = view_in(clip, number, view)
    canvas = FrameCanvas((view,), (shown.shape[1], shown.shape[0]))
    image = canvas.draw((shown,), clip.stamp(number))
    return _image(clip, f"V{number}", [number], view, image, f"{frame.label}, view {view}")


def magnified(clip: DecodedClip, numbers: Sequence[int], view: str, box: Box) -> FrameImage:
    """Magnify a part of a view, as it looks in one or several frames, on one picture. The sides of the picture are at
    most `PictureSettings.max_side_px` long.
    """
    index = clip.layout.active.index(view)
    originals = clip.originals(numbers)
    images = [originals[number][index] for number in numbers]
    left, top, right, bottom = _pixels(box, images[0])
    columns = math.ceil(math.sqrt(len(numbers)))
    cell = (clip.settings.max_side_px + GAP_PX) // columns - GAP_PX
    zoom = min(cell / (right - left), (cell - BAND_PX) / (bottom - top), MAX_ZOOM)
    part = _thousandths((left, top, right, bottom), images[0])
    labels = [f"{clip.stamp(number)}, [{', '.join(map(str, part))}]" for number in numbers]
    whole = sheet([_larger(image[top:bottom, left:right], zoom) for image in images], labels, columns)
    where = f"x {part[0]} to {part[2]}, y {part[1]} to {part[3]} (of 1000)"
    shown = ", ".join(clip.label(number) for number in numbers)
    label = f"{shown}: the part {where} of view {view}, {zoom:.1f} times as large"
    name = f"Z{'-'.join(map(str, numbers))}_{'-'.join(map(str, part))}"
    return _image(clip, name, numbers, view, whole, label)


def _image(clip: DecodedClip, name: str, numbers: Sequence[int], view: str, image: Image, label: str) -> FrameImage:
    jpeg = encode_jpeg(image, clip.settings.quality)
    size = image.shape[1], image.shape[0]
    picture = clip.describe(f"{name}_{clip.layout.active.index(view)}", numbers, size, jpeg, (view,))
    return FrameImage(picture, broken_up(label), clip.store.add(jpeg))  # a view may have any name


def _pixels(box: Box, image: Image) -> tuple[int, int, int, int]:
    """The part's sides in pixels: left, top, right, bottom."""
    height, width = image.shape[:2]
    left, right = _stretch(box.left * width, box.right * width, width)
    top, bottom = _stretch(box.top * height, box.bottom * height, height)
    return left, top, right, bottom


def _stretch(start: float, end: float, size: int) -> tuple[int, int]:
    """Whole pixels from start to end, at least MIN_SIDE_PX of them if the picture has that many."""
    minimum = min(MIN_SIDE_PX, size)
    first, last = math.floor(start), math.ceil(end)
    if last - first >= minimum:
        return first, min(last, size)
    first = min(max(0, first - (minimum - last + first) // 2), size - minimum)
    return first, first + minimum


def _thousandths(sides: tuple[int, int, int, int], image: Image) -> tuple[int, ...]:
    height, width = image.shape[:2]
    return tuple(round(1000 * side / size) for side, size in zip(sides, (width, height, width, height), strict=True))


def _larger(image: Image, zoom: float) -> Image:
    size = (max(1, round(image.shape[1] * zoom)), max(1, round(image.shape[0] * zoom)))
    method = cv2.INTER_CUBIC if zoom > 1 else cv2.INTER_AREA
    return np.asarray(cv2.resize(image, size, interpolation=method), dtype=np.uint8)
