"""A clip with its frames at hand, in any order.

The frames lie uncompressed in a temporary file that is mapped into memory: a clip of 139 frames of 1280 x 800 takes
430 MB of disk, and hardly any memory.
"""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robogaze.core.clip import Layout
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import VideoError
from robogaze.media.compose import panels
from robogaze.media.decode import Frame, Image, read_frames
from robogaze.media.grid import detect_layout


@dataclass(frozen=True)
class FrameArray:
    """The frames of a clip, shape (frames, height, width, 3); height and width are even, as they will be written."""

    images: NDArray[np.uint8]
    times_s: tuple[float, ...]
    duration_s: float
    layout: Layout

    def view(self, number: int, view: int) -> Image:
        """One of the views that show something, of one frame; not to be changed."""
        return np.asarray(self.images[number][self.window(view)])

    def window(self, view: int) -> tuple[slice, slice]:
        """Where a view lies in a picture."""
        shown = [place for place, name in enumerate(self.layout.views) if name is not None]
        row, column = divmod(shown[view], self.layout.columns)
        high, wide = self.images.shape[1] // self.layout.rows, self.images.shape[2] // self.layout.columns
        return slice(row * high, (row + 1) * high), slice(column * wide, (column + 1) * wide)


@contextmanager
def open_reel(entry: ManifestEntry) -> Iterator[FrameArray]:
    """Decode a clip once, to its end. Raises VideoError, also for a layout that does not fit."""
    with tempfile.TemporaryFile() as file:
        frames = read_frames(entry.path, start_s=entry.start_s, end_s=entry.end_s)
        first = next(frames)
        layout = entry.layout or detect_layout(first.image) or Layout()
        _check(entry, first, layout)
        times_s, duration_s, even = [], 0.0, _even(first.image)
        for frame in _all(first, frames):
            file.write(np.ascontiguousarray(_even(frame.image)).tobytes())
            times_s.append(frame.time_s)
            duration_s = round(frame.time_s + frame.duration_s, 6)
        file.flush()
        images: Any = np.memmap(file, dtype=np.uint8, mode="r", shape=(len(times_s), *even.shape))
        yield FrameArray(images, tuple(times_s), duration_s, layout)


def _all(first: Frame, rest: Iterator[Frame]) -> Iterator[Frame]:
    yield first
    yield from rest


def _even(image: Image) -> Image:
    return image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]


def _check(entry: ManifestEntry, first: Frame, layout: Layout) -> None:
    height, width = first.image.shape[:2]
    if min(height, width) < 2 * max(layout.rows, layout.columns):
        raise VideoError(f"{entry.address} is {width}x{height} pixels; that is too small to plant anything in")
    try:
        panels(_even(first.image), layout)
    except ValueError as error:
        raise VideoError(f"{entry.address}: {error}; name another layout (--layout)") from error
