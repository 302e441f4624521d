"""Reading a video: one contract, several readers.

A reader yields every frame that the file shows, in order of presentation, upright (rotation applied), RGB, with its
true time: a variable frame rate stays one, and what an edit list cuts off is not shown. It never skips or repeats a
frame silently: what cannot be read to its end is a VideoError.

MP4, MOV, Matroska and WebM are read: these say how long they are and when each picture is shown. Others are refused
with the command that converts them: AVI keeps no times, a transport stream can be cut anywhere without a trace.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robogaze.errors import InputError, VideoError
from robogaze.media.whole import check_whole

Image = NDArray[np.uint8]
"""RGB, shape (height, width, 3)."""


@dataclass(frozen=True)
class Frame:
    """One decoded frame; `time_s` counts from the first frame, `duration_s` (above 0) is how long it is shown."""

    number: int
    time_s: float
    duration_s: float
    image: Image


@dataclass(frozen=True)
class Shown:
    """What a reader yields: a picture with the file's time for it, and how long it is shown (0: it does not say)."""

    time_s: float
    duration_s: float
    image: Image


REENCODE = "re-encode it first (ffmpeg -i IN OUT.mp4)"

Reader = Callable[[Path], Iterator[Shown]]

DECODERS = {"pyav": "robogaze.media.decode_pyav", "decord": "robogaze.media.decode_decord"}
"""Readers by name; each module holds `read(path)`."""


def read_frames(path: Path, decoder: str = "pyav") -> Iterator[Frame]:
    """Yield the frames of a video.

    Raises InputError for an unknown decoder, VideoError when the file is missing, empty, not a video, without
    frames, damaged or cut short, or changes its picture size; some of that is known only at the end.
    """
    if decoder not in DECODERS:
        raise InputError(f"there is no decoder {decoder!r}; there is: {', '.join(DECODERS)}")
    check_whole(path)
    read: Reader = import_module(DECODERS[decoder]).read
    shown = read(path)
    first = next(shown, None)
    if first is None:
        raise VideoError(f"{path} has a video stream without a single frame")
    yield from _timed(path, first, shown)


def _timed(path: Path, first: Shown, rest: Iterator[Shown]) -> Iterator[Frame]:
    """Frames with their numbers and times; each is shown until the next one, the last as long as the file says."""
    number, time_s, held = 0, 0.0, first
    for shown in rest:
        if shown.image.shape != first.image.shape:
            size, then = (f"{image.shape[1]}x{image.shape[0]}" for image in (first.image, shown.image))
            raise VideoError(f"{path} changes its picture size from {size} to {then} at frame {number + 1}; {REENCODE}")
        next_s = round(shown.time_s - first.time_s, 6)
        if next_s <= time_s:
            raise VideoError(f"{path} shows frame {number + 1} no later than frame {number}; {REENCODE}")
        yield Frame(number, time_s, round(next_s - time_s, 6), held.image)
        number, time_s, held = number + 1, next_s, shown
    mean_s = time_s / number if number else 0.0
    duration_s = round(held.duration_s, 6) or round(mean_s, 6)
    if not duration_s:
        raise VideoError(f"{path} does not say how long its only frame is shown; {REENCODE}")
    yield Frame(number, time_s, duration_s, held.image)
