"""Looking closer: one view of a frame, and a part of it magnified, from the pictures that footage keeps.

What is magnified shows no more than the picture of the frame did, larger. Which part it is and how much larger is
written outside the picture, in thousandths of the view's width and height.
"""

import math
from collections.abc import Sequence
from hashlib import sha256

import cv2
import numpy as np

from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage, Picture
from robogaze.domains.special_tokens import broken_up
from robogaze.media.compose import decode_image, encode_jpeg, sheet, unstrip
from robogaze.media.decode import Image
from robogaze.media.decoded_clip import DecodedClip

LEAST_PX = 32
"""A smaller part is widened to this about its middle: of fewer pixels nothing could be told."""

MOST_TIMES = 8
"""How much larger a part is made at most."""

_BAND_PX, _GAP_PX = 24, 4  # what a sheet adds to each picture


def view_in(shot: FrameImage, view: str) -> Image:
    """One view of a frame's picture, as it is kept."""
    names = shot.picture.views
    return unstrip(decode_image(shot.jpeg, shot.label), len(names))[names.index(view)]


def alone(footage: DecodedClip, number: int, view: str) -> FrameImage:
    """The picture of one view of a frame, with nothing around it."""
    shot = footage.shot(number)
    if len(footage.layout.active) == 1:
        return shot
    return _shot(footage, f"V{number}", [number], view, view_in(shot, view), f"{shot.label}, view {view}")


def magnified(footage: DecodedClip, numbers: Sequence[int], view: str, box: Box) -> FrameImage:
    """A part of a view, in one frame or several, on one picture no larger than a frame's may be."""
    images = [view_in(footage.shot(number), view) for number in numbers]
    left, top, right, bottom = _pixels(box, images[0])
    columns = math.ceil(math.sqrt(len(numbers)))
    cell = (footage.settings.max_side_px + _GAP_PX) // columns - _GAP_PX
    times = min(cell / (right - left), (cell - _BAND_PX) / (bottom - top), MOST_TIMES)
    place = _thousandths((left, top, right, bottom), images[0])
    labels = [f"{footage.label(number)}, [{', '.join(map(str, place))}]" for number in numbers]
    whole = sheet([_larger(image[top:bottom, left:right], times) for image in images], labels, columns)
    where = f"x {place[0]} to {place[2]}, y {place[1]} to {place[3]} (of 1000)"
    shown = ", ".join(footage.label(number) for number in numbers)
    label = f"{shown}: the part {where} of view {view}, {times:.1f} times as large"
    name = f"Z{'-'.join(map(str, numbers))}_{'-'.join(map(str, place))}"
    return _shot(footage, name, numbers, view, whole, label)


def _shot(footage: DecodedClip, name: str, numbers: Sequence[int], view: str, image: Image, label: str) -> FrameImage:
    jpeg = encode_jpeg(image, footage.settings.quality)
    picture = Picture(
        id=f"{name}_{footage.layout.active.index(view)}",
        frames=tuple(numbers),
        times_s=tuple(footage.times_s[number] for number in numbers),
        views=(view,),
        width=image.shape[1],
        height=image.shape[0],
        sha256=sha256(jpeg).hexdigest(),
    )
    return FrameImage(picture, broken_up(label), jpeg)  # a view may have any name


def _pixels(box: Box, image: Image) -> tuple[int, int, int, int]:
    """The part's sides in pixels: left, top, right, bottom."""
    height, width = image.shape[:2]
    left, right = _stretch(box.left * width, box.right * width, width)
    top, bottom = _stretch(box.top * height, box.bottom * height, height)
    return left, top, right, bottom


def _stretch(start: float, end: float, size: int) -> tuple[int, int]:
    """Whole pixels from start to end, at least LEAST_PX of them where the picture has so many."""
    least = min(LEAST_PX, size)
    first, last = math.floor(start), math.ceil(end)
    if last - first >= least:
        return first, min(last, size)
    first = min(max(0, first - (least - last + first) // 2), size - least)
    return first, first + least


def _thousandths(sides: tuple[int, int, int, int], image: Image) -> tuple[int, ...]:
    height, width = image.shape[:2]
    return tuple(round(1000 * side / size) for side, size in zip(sides, (width, height, width, height), strict=True))


def _larger(image: Image, times: float) -> Image:
    size = (max(1, round(image.shape[1] * times)), max(1, round(image.shape[0] * times)))
    method = cv2.INTER_CUBIC if times > 1 else cv2.INTER_AREA
    return np.asarray(cv2.resize(image, size, interpolation=method), dtype=np.uint8)
