"""Reading a video: one contract, several readers.

A reader yields every frame that the file shows, in order of presentation, upright (rotation applied), RGB, with its
true time: a variable frame rate stays one, and what an edit list cuts off is not shown. It never skips or repeats a
frame silently: what cannot be read to its end is a VideoError.

A part of a longer video is read without what lies before it: the reader jumps to a key frame, and stops at the end.

MP4, MOV, Matroska and WebM are read: these say how long they are and when each picture is shown. Others are refused
with the command that converts them: AVI keeps no times, a transport stream can be cut anywhere without a trace.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from math import inf, isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robogaze.errors import InputError, VideoError
from robogaze.media.whole import check_whole

Image = NDArray[np.uint8]
"""RGB, shape (height, width, 3)."""


@dataclass(frozen=True)
class Frame:
    """One decoded frame; `duration_s` (above 0) is how long it is shown.

    `time_s` counts from the first frame that was asked for, `file_s` from the file's first.
    """

    number: int
    time_s: float
    duration_s: float
    image: Image
    file_s: float


@dataclass(frozen=True)
class DecodedFrame:
    """What a reader yields: a picture with its time, and how long it is shown (0: the file does not say).

    The time counts from the file's first picture.
    """

    time_s: float
    duration_s: float
    image: Image


MOST_PIXELS = 1 << 26
"""The most pixels of a picture: 8192 x 8192."""

REENCODE = "re-encode it first (ffmpeg -i IN OUT.mp4)"

Reader = Callable[[Path, float], Iterator[DecodedFrame]]
"""Takes a file and a time; yields its pictures from one on that is shown at that time or before."""

DECODERS = {"pyav": "robogaze.media.decode_pyav", "decord": "robogaze.media.decode_decord"}
"""Readers by name; each module holds `read(path, start_s)`."""


def read_frames(
    path: Path, decoder: str = "pyav", start_s: float | None = None, end_s: float | None = None
) -> Iterator[Frame]:
    """Yield the frames of a video, or of the part `[start_s, end_s)` of it, counted from the file's first frame.

    A frame belongs to the part in which the middle of its showing lies. So each belongs to one of two parts that
    adjoin, and where their border was rounded none goes astray.

    Raises InputError for an unknown decoder, VideoError when the file is missing, empty, not a video, without
    frames, damaged or cut short, changes its picture size, or ends before the part does; some of that is known only
    at the end.
    """
    if decoder not in DECODERS:
        raise InputError(f"there is no decoder {decoder!r}; there is: {', '.join(DECODERS)}")
    check_whole(path)
    read: Reader = import_module(DECODERS[decoder]).read
    whole = start_s is None and end_s is None
    shown = read(path, start_s or 0.0)
    first = next(shown, None)
    if first is None:
        raise VideoError(f"{path} has a video stream without a single frame{'' if whole else ' in the part asked for'}")
    frames = _timed(path, first, shown)
    yield from frames if whole else _inside(path, frames, start_s or 0.0, inf if end_s is None else end_s)


def _timed(path: Path, first: DecodedFrame, rest: Iterator[DecodedFrame]) -> Iterator[Frame]:
    """Frames with their numbers and times; each is shown until the next one, the last as long as the file says."""
    start_s = round(first.time_s, 6)
    number, time_s, held = 0, 0.0, first
    for shown in rest:
        if shown.image.shape != first.image.shape:
            size, then = (f"{image.shape[1]}x{image.shape[0]}" for image in (first.image, shown.image))
            where = _where(number + 1, shown.time_s, start_s)
            raise VideoError(f"{path} changes its picture size from {size} to {then} at {where}; {REENCODE}")
        next_s = round(shown.time_s - first.time_s, 6)
        if next_s <= time_s:
            where, before = _where(number + 1, shown.time_s, start_s), _where(number, held.time_s, start_s)
            raise VideoError(f"{path} shows {where} no later than {before}; {REENCODE}")
        yield Frame(number, time_s, round(next_s - time_s, 6), held.image, round(start_s + time_s, 6))
        number, time_s, held = number + 1, next_s, shown
    mean_s = time_s / number if number else 0.0
    duration_s = round(held.duration_s, 6) or round(mean_s, 6)
    if not duration_s:
        raise VideoError(f"{path} does not say how long its only frame is shown; {REENCODE}")
    yield Frame(number, time_s, duration_s, held.image, round(start_s + time_s, 6))


def _where(number: int, time_s: float, start_s: float) -> str:
    """A frame as it is told to people: by its number, which is not known where reading began later in the file."""
    return f"the frame of {time_s:.3f} s" if start_s else f"frame {number}"


def _inside(path: Path, frames: Iterator[Frame], start_s: float, end_s: float) -> Iterator[Frame]:
    """The frames of a part, with numbers and times of their own."""
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
            raise VideoError(f"{path} ends at {shown_until_s:.3f} s, before the part from {start_s} to {end_s} s does")
    if first is None:
        until = f"{end_s} s" if isfinite(end_s) else "the end"
        raise VideoError(f"{path} shows no frame in the part from {start_s} to {until}")
