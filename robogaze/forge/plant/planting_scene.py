"""A clip for planting: frames in random access, the measurements that planters need, and the edit that they return.

Frames are uncompressed in a memory-mapped temporary file: 139 frames of 1280 x 800 take 430 MB of disk and little
memory. Motion and rest are measured on frames reduced to 320 pixels, which stay in memory (190 KB per frame and view).
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.clip import Layout
from robogaze.core.events import Box
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import VideoError
from robogaze.evidence.base import FrameView
from robogaze.media.compose import panels
from robogaze.media.decode import Frame, Image, read_frames
from robogaze.media.grid import detect_layout


@dataclass(frozen=True)
class FrameArray:
    """The frames of a clip, shape (frames, height, width, 3); height and width are even, as the encoder requires."""

    images: NDArray[np.uint8]
    times_s: tuple[float, ...]
    duration_s: float
    layout: Layout

    def view(self, number: int, view: int) -> Image:
        """One view of a frame, not to be modified."""
        return np.asarray(self.images[number][self.window(view)])

    def window(self, view: int) -> tuple[slice, slice]:
        """The rows and columns of a view in a frame."""
        shown = [place for place, name in enumerate(self.layout.views) if name is not None]
        row, column = divmod(shown[view], self.layout.columns)
        high, wide = self.images.shape[1] // self.layout.rows, self.images.shape[2] // self.layout.columns
        return slice(row * high, (row + 1) * high), slice(column * wide, (column + 1) * wide)


@contextmanager
def open_frames(entry: ManifestEntry) -> Iterator[FrameArray]:
    """Decode a clip once. Raises VideoError if the clip cannot be decoded, is too small, or does not fit its layout."""
    with tempfile.TemporaryFile() as file:
        frames = read_frames(entry.path, start_s=entry.start_s, end_s=entry.end_s)
        first = next(frames)
        layout = entry.layout or detect_layout(first.image) or Layout()
        _check(entry, first, layout)
        times_s, duration_s, even = [], 0.0, _even(first.image)
        for frame in chain([first], frames):
            file.write(np.ascontiguousarray(_even(frame.image)).tobytes())
            times_s.append(frame.time_s)
            duration_s = round(frame.time_s + frame.duration_s, 6)
        file.flush()
        images: Any = np.memmap(file, dtype=np.uint8, mode="r", shape=(len(times_s), *even.shape))
        yield FrameArray(images, tuple(times_s), duration_s, layout)


def _even(image: Image) -> Image:
    return image[: image.shape[0] // 2 * 2, : image.shape[1] // 2 * 2]


def _check(entry: ManifestEntry, first: Frame, layout: Layout) -> None:
    height, width = first.image.shape[:2]
    if min(height, width) < 2 * max(layout.rows, layout.columns):
        raise VideoError(f"{entry.address} is {width}x{height} pixels; too small for planting")
    try:
        panels(_even(first.image), layout)
    except ValueError as error:
        raise VideoError(f"{entry.address}: {error}; try another --layout") from error


Change = Callable[[int, Image], Image]
"""A function of the number of a frame and one of its views that returns the edited view."""


class DrawRefused(Exception):
    """A random draw is not possible in this clip. The message is a clause that can follow "because"."""


@dataclass(frozen=True)
class GlitchEdit:
    """An edit that makes a glitch.

    `sources` are the frames of the clip to show, in order; `first` and `end` (exclusive) are positions in `sources`.
    `change` is applied to the view `view` of the frames from `first` to `end`; None leaves the frames unchanged. `seen`
    says whether the glitch is a visible difference from the untouched clip; missing frames and changed instructions are
    not visible. `strength` is in [0, 1]; `amount` describes the strength with its unit.
    """

    sources: tuple[int, ...]
    first: int
    end: int
    strength: float
    amount: str
    where: str
    change: Change | None = None
    view: int | None = None
    box: Box | None = None
    seen: bool = True
    instruction: tuple[str, str, str] | None = None
    """The new instruction, and the words replaced and their replacement."""


VISIBLE_LEVELS = 20
"""The difference in any channel, of 256 levels, from which a pixel differs visibly."""

VISIBLE_SHARE = 0.0004
"""The least share of a view's pixels that must differ visibly; encoding alone reaches 0.00015 in rendered clips."""

Flags = NDArray[np.bool_]


def differing(image: Image, other: Image) -> Flags:
    """The visibly different pixels, shape (height, width)."""
    red, green, blue = cv2.split(cv2.absdiff(image, other))
    return np.asarray(cv2.max(cv2.max(red, green), blue) > VISIBLE_LEVELS)


def box_around(region: Flags) -> Box:
    """The bounding box of a region of a view, in fractions of the view's width and height."""
    height, width = region.shape
    left, top, wide, high = cv2.boundingRect(region.astype(np.uint8))
    return Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height)


def differ(image: Image, other: Image) -> bool:
    """Whether two pictures differ visibly."""
    return bool(differing(image, other).mean() >= VISIBLE_SHARE)


@dataclass(frozen=True)
class PlantingScene:
    """A clip for planters, and the quantities that planters measure in it."""

    frames: FrameArray
    instruction: str | None = None

    @property
    def frame_count(self) -> int:
        return len(self.frames.times_s)

    @property
    def views(self) -> tuple[str, ...]:
        return self.frames.layout.active

    def to_frames(self, seconds: float) -> int:
        """The number of frames in a duration, at the clip's mean rate; at least 1."""
        return max(1, round(seconds * self.frame_count / self.frames.duration_s))

    def sample_interval(self, rng: np.random.Generator, least_s: float, most_s: float) -> tuple[int, int]:
        """A uniformly random run of frames (first, end) that excludes frame 0 and is no longer than half of the clip.

        Raises DrawRefused if half of the clip is shorter than `least_s`.
        """
        least, most = self.to_frames(least_s), min(self.to_frames(most_s), self.frame_count // 2)
        if most < least:
            raise DrawRefused(f"the clip is too short (half of it must last {least_s:g} s)")
        length = int(rng.integers(least, most + 1))
        first = int(rng.integers(1, self.frame_count - length + 1))
        return first, first + length

    def sample_view(self, rng: np.random.Generator) -> int:
        return int(rng.integers(len(self.views)))

    def all_frames(self) -> tuple[int, ...]:
        return tuple(range(self.frame_count))

    @cached_property
    def small(self) -> tuple[NDArray[np.uint8], ...]:
        """The reduced frames by view, shape (frames, height, width, 3) each."""
        numbers = range(self.frame_count)
        return tuple(
            np.stack([FrameView(number, 0.0, self.frames.view(number, view)).small for number in numbers])
            for view in range(len(self.views))
        )

    def moved(self, before: int, after: int) -> float:
        """The share of pixels that differ between two frames; with several views, the largest of their shares."""
        return max(float(differing(view[before], view[after]).mean()) for view in self.small)

    def view_name(self, view: int) -> str:
        return "the picture" if len(self.views) == 1 else f"the view {self.views[view]}"

    def describe_place(self, view: int, box: Box) -> str:
        """The place of a box in a view, in words."""
        thirds = (("upper", "middle", "lower"), ("left", "centre", "right"))
        middles = (box.top + box.bottom) / 2, (box.left + box.right) / 2
        down, across = (names[min(2, int(3 * middle))] for names, middle in zip(thirds, middles, strict=True))
        words = "in the middle" if (down, across) == ("middle", "centre") else f"at the {down} {across}"
        return f"{words} of {self.view_name(view)}"
