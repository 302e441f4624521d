"""Pictures made from pictures: views cut out of a grid, views side by side, contact sheets.

Names, frame numbers and times are written in bands outside the picture, so that they cover no evidence.
"""

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.clip import Layout
from robogaze.core.view_boxes import BAND_PX, GAP_PX
from robogaze.errors import VideoError
from robogaze.media.decode import Image

_MARGIN_PX = 4
_PAPER, _INK = 255, (0, 0, 0)
_FONT, _FONT_SCALE = cv2.FONT_HERSHEY_SIMPLEX, 0.5


def panels(image: Image, layout: Layout) -> tuple[Image, ...]:
    """All panels of a picture, in reading order. Raises ValueError if it cannot be divided evenly."""
    height, width = image.shape[:2]
    if height % layout.rows or width % layout.columns:
        raise ValueError(f"a picture of {width}x{height} cannot be divided into {layout.rows}x{layout.columns} views")
    high, wide = height // layout.rows, width // layout.columns
    places = ((row * high, column * wide) for row in range(layout.rows) for column in range(layout.columns))
    return tuple(image[top : top + high, left : left + wide] for top, left in places)


def split(image: Image, layout: Layout) -> tuple[Image, ...]:
    """The views of a picture, in reading order, without filler panels. Raises ValueError as `panels` does."""
    named = zip(panels(image, layout), layout.views, strict=True)
    return tuple(panel for panel, name in named if name is not None)


def fit(image: Image, max_side_px: int) -> Image:
    """The picture, scaled down if its longer side exceeds `max_side_px`; never scaled up."""
    height, width = image.shape[:2]
    scale = max_side_px / max(height, width)
    if scale >= 1:
        return image
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    # Down to a half, bilinear interpolation still reads every pixel, in a fifth of the time of area averaging.
    method = cv2.INTER_LINEAR if scale > 0.5 else cv2.INTER_AREA
    return np.asarray(cv2.resize(image, size, interpolation=method), dtype=np.uint8)


def strip(views: Sequence[Image], names: Sequence[str]) -> Image:
    """Views of one size side by side, each under its name; a single view is returned as it is."""
    if len(views) == 1:
        return views[0]
    return sheet(views, names, columns=len(views))


def unstrip(picture: Image, count: int) -> tuple[Image, ...]:
    """The views of a strip of `count` of them, in order."""
    if count == 1:
        return (picture,)
    step = (picture.shape[1] + GAP_PX) // count
    return tuple(picture[BAND_PX:, index * step : (index + 1) * step - GAP_PX] for index in range(count))


def sheet(images: Sequence[Image], labels: Sequence[str], columns: int) -> Image:
    """Pictures of one size in rows of `columns`, each under its label. Raises ValueError without a picture."""
    if not images:
        raise ValueError("a sheet needs at least one picture")
    high, wide = images[0].shape[:2]
    columns = min(columns, len(images))
    rows = -(-len(images) // columns)
    size = (rows * (BAND_PX + high + GAP_PX) - GAP_PX, columns * (wide + GAP_PX) - GAP_PX, 3)
    paper = np.full(size, _PAPER, dtype=np.uint8)
    for index, (image, label) in enumerate(zip(images, labels, strict=True)):
        top = index // columns * (BAND_PX + high + GAP_PX)
        left = index % columns * (wide + GAP_PX)
        paper[top : top + BAND_PX, left : left + wide] = _band(label, wide)
        paper[top + BAND_PX : top + BAND_PX + high, left : left + wide] = image
    return paper


def _band(label: str, width: int) -> NDArray[np.uint8]:
    """A label on white, in smaller letters if it would not fit."""
    band = np.full((BAND_PX, width, 3), _PAPER, dtype=np.uint8)
    wide = cv2.getTextSize(label, _FONT, _FONT_SCALE, 1)[0][0]
    scale = _FONT_SCALE * min(1.0, max(1, width - 2 * _MARGIN_PX) / max(1, wide))
    cv2.putText(band, label, (_MARGIN_PX, BAND_PX - 7), _FONT, scale, _INK, 1, cv2.LINE_AA)
    return band


def encode_jpeg(image: Image, quality: int) -> bytes:
    """The picture as JPEG; quality 1 to 100."""
    done, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done, "OpenCV encodes any RGB picture"
    return data.tobytes()


def decode_image(data: bytes, what: str) -> Image:
    """A picture from an image file's bytes. Raises VideoError, naming `what`, if they are not an image."""
    pixels = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), cv2.IMREAD_COLOR) if data else None
    if pixels is None:
        raise VideoError(f"{what} is not a picture that can be read")
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), dtype=np.uint8)
