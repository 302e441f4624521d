"""Makes pictures from pictures: cuts views out of a grid, draws the picture of a frame, makes contact sheets.

Names, frame numbers and times are written in bands outside the picture, so that they cover no evidence.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.clip import Layout
from robogaze.core.view_boxes import BAND_PX, GAP_PX, Size, arranged_size, columns_of, fitted_size, view_corners
from robogaze.errors import VideoError
from robogaze.media.decode import Image

_MARGIN_PX = 4
_PAPER, _INK = 255, (0, 0, 0)
_FONT, _FONT_SCALE = cv2.FONT_HERSHEY_SIMPLEX, 0.5

_threads_lock = Lock()
_threads_before: list[int] = []
"""OpenCV's number of threads at the start of each open `one_thread_each`; only the first may be above 1."""


def panels(image: Image, layout: Layout) -> tuple[Image, ...]:
    """All panels of a picture, in reading order. Raises ValueError if the picture cannot be divided evenly."""
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
    size = fitted_size(_size(image), max_side_px)
    if size == _size(image):
        return image
    # Down to a half, bilinear interpolation still reads every pixel, in a fifth of the time of area averaging.
    method = cv2.INTER_LINEAR if max_side_px > 0.5 * max(image.shape[:2]) else cv2.INTER_AREA
    return np.asarray(cv2.resize(image, size, interpolation=method), dtype=np.uint8)


def arranged(views: Sequence[Image], names: Sequence[str], columns: int | None = None) -> Image:
    """Put views of one size side by side, each under its name. A single view is returned unchanged. By default,
    `columns_of` chooses the number of columns.
    """
    if len(views) == 1:
        return views[0]
    return sheet(views, names, columns or columns_of(len(views), _size(views[0])))


class FrameCanvas:
    """Draws the picture of a frame: a stamp above the frame's views. If there are several views, each has its name
    above it.

    To save time, the parts that are the same in all frames of a clip are drawn only once.
    """

    def __init__(self, names: Sequence[str], view_size: Size) -> None:
        count, columns = len(names), columns_of(len(names), view_size)
        width, height = arranged_size(count, view_size, columns)
        self.view_size, self.size = view_size, (width, BAND_PX + height)
        self._corners = view_corners(count, view_size, columns)
        self._paper = np.full((BAND_PX + height, width, 3), _PAPER, dtype=np.uint8)
        if count > 1:
            blank = np.full((view_size[1], view_size[0], 3), _PAPER, dtype=np.uint8)
            self._paper[BAND_PX:] = sheet([blank] * count, names, columns)

    def draw(self, views: Sequence[Image], stamp: str) -> Image:
        """Draw a frame. The returned picture is overwritten by the next call."""
        self._paper[:BAND_PX] = _band(stamp, self._paper.shape[1])
        for target, view in zip(self._places(self._paper), views, strict=True):
            target[:] = view
        return self._paper

    def views(self, picture: Image, divisor: int = 1) -> tuple[Image, ...]:
        """The views in a picture, in reading order. `divisor` is the number by which all sides of the picture were
        divided.
        """
        return tuple(self._places(picture, divisor))

    def divisor(self, least_side_px: int) -> int:
        """The largest of 4, 2 and 1 by which the sides of a picture can be divided. After the division, each view must
        still consist of whole pixels, and its longer side must have at least `least_side_px` pixels.
        """
        fitting = (by for by in (4, 2) if max(self.view_size) >= by * least_side_px)
        return next((by for by in fitting if not any(side % by for side in (*self.view_size, BAND_PX, GAP_PX))), 1)

    def _places(self, picture: Image, divisor: int = 1) -> Iterator[Image]:
        width, height = (side // divisor for side in self.view_size)
        for left, top in ((left // divisor, (BAND_PX + top) // divisor) for left, top in self._corners):
            yield picture[top : top + height, left : left + width]


def sheet(images: Sequence[Image], labels: Sequence[str], columns: int) -> Image:
    """Pictures of one size in rows of `columns`, each under its label. Raises ValueError if there is no picture."""
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


@dataclass(frozen=True)
class SheetForm:
    """The form of a sheet whose cells consist of views: the columns of cells on the sheet, the columns of views in each
    cell, and the scale of the views.
    """

    columns: int
    across: int
    zoom: float


def largest_form(
    grids: Iterable[tuple[int, int]], views: int, view_size: Size, side_px: int, max_zoom: float
) -> SheetForm:
    """The form in which the views are largest, for a sheet whose longer side is at most `side_px`.

    `grids` are the possible numbers of columns and rows of cells, and `views` is the number of views in each cell. If
    several forms have equally large views, the form whose longer side is shortest is chosen.
    """
    width, height = view_size
    above = BAND_PX if views > 1 else 0
    found = []
    for columns, rows in grids:
        wide, high = (side_px + GAP_PX) / columns - GAP_PX, (side_px + GAP_PX) / rows - GAP_PX - BAND_PX
        for across in range(1, views + 1):
            down = -(-views // across)
            view_wide, view_high = (wide + GAP_PX) / across - GAP_PX, (high + GAP_PX) / down - GAP_PX - above
            zoom = max(min(view_wide / width, view_high / height, max_zoom), 1 / max(view_size))
            longer = max(columns * across * width * zoom, rows * down * height * zoom)
            found.append((-zoom, longer, SheetForm(columns, across, zoom)))
    return min(found, key=lambda form: form[:2])[2]


def _size(image: Image) -> Size:
    return image.shape[1], image.shape[0]


def _band(label: str, width: int) -> NDArray[np.uint8]:
    """A label on white; the letters are smaller if the label does not fit otherwise."""
    band = np.full((BAND_PX, width, 3), _PAPER, dtype=np.uint8)
    wide = cv2.getTextSize(label, _FONT, _FONT_SCALE, 1)[0][0]
    scale = _FONT_SCALE * min(1.0, max(1, width - 2 * _MARGIN_PX) / max(1, wide))
    cv2.putText(band, label, (_MARGIN_PX, BAND_PX - 7), _FONT, scale, _INK, 1, cv2.LINE_AA)
    return band


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Use one OpenCV thread for each picture: if every core works on a picture, more threads only wait for each
    other. If contexts overlap, the last one that ends restores the number of threads.
    """
    with _threads_lock:
        _threads_before.append(cv2.getNumThreads())
        cv2.setNumThreads(1)
    try:
        yield
    finally:
        with _threads_lock:
            before = _threads_before.pop()
            if not _threads_before:
                cv2.setNumThreads(before)


def encode_jpeg(image: Image, quality: int) -> bytes:
    """The picture as JPEG; quality 1 to 100."""
    done, data = cv2.imencode(".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality])
    assert done, "OpenCV encodes any RGB picture"
    return data.tobytes()


_READ = {1: cv2.IMREAD_COLOR, 2: cv2.IMREAD_REDUCED_COLOR_2, 4: cv2.IMREAD_REDUCED_COLOR_4}


def decode_image(data: bytes, what: str, divisor: int = 1) -> Image:
    """Decode the bytes of an image file. The sides of the picture are divided by `divisor` (1, 2 or 4) and rounded up.

    A JPEG is decoded faster if its sides are divided. Raises VideoError, naming `what`, if the bytes are not an image.
    """
    pixels = cv2.imdecode(np.frombuffer(data, dtype=np.uint8), _READ[divisor]) if data else None
    if pixels is None:
        raise VideoError(f"{what} is not a picture that can be read")
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB), dtype=np.uint8)
