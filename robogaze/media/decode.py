"""Reads the frames of a video, or of a part of it. There are several decoders, and all of them follow the same rules.

A decoder yields every frame that the file shows, in presentation order, upright (rotation applied) and in RGB. Each
frame has its true time: a variable frame rate is kept. What an edit list removes is not shown. A decoder never skips or
repeats a frame silently: a video that cannot be read to its end is a VideoError.

A part of a longer video is read without decoding what is before it: the decoder seeks to a key frame, and stops at the
end of the part.

MP4, MOV, Matroska and WebM are read, because they give their length and the time of each picture. Other formats are
refused with the command that converts them: AVI has no times, and a transport stream can be truncated unnoticed.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robogaze.errors import VideoError
from robogaze.media.file_check import check_whole
from robogaze.registry import Registry

Image = NDArray[np.uint8]
"""RGB, shape (height, width, 3)."""

MAX_PIXELS = 1 << 26
"""The most pixels of a picture: 8192 x 8192."""

REENCODE = "re-encode it first (ffmpeg -i IN OUT.mp4)"


@dataclass(frozen=True)
class DecodedFrame:
    """A picture from a decoder. `time_s` is counted from the file's first picture, and `duration_s` is how long the
    picture is shown (0 if unknown).

    `size` is the width and height of the picture. `convert` makes the RGB picture. It takes as long as decoding, so it
    is called only for the pictures that are used.
    """

    time_s: float
    duration_s: float
    size: tuple[int, int]
    convert: Callable[[], Image]

    @cached_property
    def image(self) -> Image:
        """The picture."""
        return self.convert()


Decoder = Callable[[Path, float], Iterator[DecodedFrame]]
"""Takes a file and a time in seconds; yields the pictures from the one shown at that time, or from an earlier one."""

DECODERS: Registry[Decoder] = Registry(
    "decoders", {"pyav": "robogaze.media.decode_pyav:read", "decord": "robogaze.media.decode_decord:read"}
)


@dataclass(frozen=True)
class Frame:
    """A frame of a clip; `duration_s` (above 0) is how long it is shown.

    `time_s` is counted from the first frame of the clip, and `file_s` is counted from the first frame of the file.
    """

    number: int
    time_s: float
    duration_s: float
    decoded: DecodedFrame
    file_s: float

    @property
    def image(self) -> Image:
        """The picture."""
        return self.decoded.image


def read_frames(
    path: Path, decoder: str = "pyav", start_s: float | None = None, end_s: float | None = None
) -> Iterator[Frame]:
    """Yield the frames of a video, or of its part `[start_s, end_s)` in seconds from the file's first frame.

    A frame belongs to the part in which the midpoint of its duration lies. At a border between two parts, each frame
    therefore belongs to exactly one part, even if the border was rounded.

    Raises InputError for an unknown decoder. Raises VideoError if the file is missing, empty, damaged or truncated, if
    it is not a video or has no frames, if its picture size changes, or if it ends before the part does. Some of these
    errors are found only at the end.
    """
    check_whole(path)
    whole = start_s is None and end_s is None
    decoded = DECODERS.load(decoder)(path, start_s or 0.0)
    first = next(decoded, None)
    if first is None:
        raise VideoError(f"{path} has a video stream without a frame{'' if whole else ' in the requested part'}")
    frames = _timed(path, first, decoded)
    yield from frames if whole else _part(path, frames, start_s or 0.0, inf if end_s is None else end_s)


def _timed(path: Path, first: DecodedFrame, rest: Iterator[DecodedFrame]) -> Iterator[Frame]:
    """Frames with numbers and times. A frame is shown until the next one; the last frame is shown for the time that the
    file gives.
    """
    start_s = round(first.time_s, 6)
    number, time_s, previous = 0, 0.0, first
    for decoded in rest:
        if decoded.size != first.size:
            size, new_size = ("{}x{}".format(*picture.size) for picture in (first, decoded))
            where = _where(number + 1, decoded.time_s, start_s)
            raise VideoError(f"{path} changes its picture size from {size} to {new_size} at {where}; {REENCODE}")
        next_s = round(decoded.time_s - first.time_s, 6)
        if next_s <= time_s:
            where, other = _where(number + 1, decoded.time_s, start_s), _where(number, previous.time_s, start_s)
            raise VideoError(f"{path}: the time of {where} is not later than the time of {other}; {REENCODE}")
        yield Frame(number, time_s, round(next_s - time_s, 6), previous, round(start_s + time_s, 6))
        number, time_s, previous = number + 1, next_s, decoded
    mean_s = time_s / number if number else 0.0
    duration_s = round(previous.duration_s, 6) or round(mean_s, 6)
    if not duration_s:
        raise VideoError(f"{path} does not say how long its only frame is shown; {REENCODE}")
    yield Frame(number, time_s, duration_s, previous, round(start_s + time_s, 6))


def _where(number: int, time_s: float, start_s: float) -> str:
    """A frame in messages: by its number, or by its time if reading started later in the file."""
    return f"the frame at {time_s:.3f} s" if start_s else f"frame {number}"


def _part(path: Path, frames: Iterator[Frame], start_s: float, end_s: float) -> Iterator[Frame]:
    """The frames of a part, numbered and timed from the first frame of the part."""
    first: Frame | None = None
    number, shown_until_s = 0, 0.0
    for frame in frames:
        middle_s = frame.file_s + frame.duration_s / 2
        if middle_s >= end_s:
            break
        shown_until_s = frame.file_s + frame.duration_s
        if middle_s >= start_s:
            first = first or frame
            yield replace(frame, number=number, time_s=round(frame.file_s - first.file_s, 6))
            number += 1
    else:
        if isfinite(end_s) and end_s - shown_until_s >= frame.duration_s:
            raise VideoError(
                f"{path} ends at {shown_until_s:.3f} s, but the part to read is from {start_s} to {end_s} s"
            )
    if first is None:
        until = f"{end_s} s" if isfinite(end_s) else "the end"
        raise VideoError(f"{path} shows no frame in the part from {start_s} to {until}")
