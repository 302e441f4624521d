"""Signals and the extractors that measure them.

A signal is one number per frame and view, with a unit. An extractor receives every frame once, in order. An extractor
keeps only the pixels that it needs for the next frames, so memory does not grow with the clip's length. A signal is a
measurement; the rules of a pipeline decide what it indicates.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.data import Data
from robogaze.core.events import Box
from robogaze.errors import InputError
from robogaze.evidence.optical_flow import Change, change_between
from robogaze.media.decode import Image

Series = NDArray[np.float64]
"""One value per frame, shape (frames,). NaN where the signal is undefined, such as a difference at the first frame."""

SMALL_SIDE_PX = 320
"""The longer side of the reduced picture that most extractors use."""

SMALLEST_FLOW_PX = 64
"""Optical flow is not computed if the shorter side of the reduced picture is smaller, because objects are then too
small.
"""


def reduced(picture: NDArray[np.uint8], longer_side_px: int) -> NDArray[np.uint8]:
    """The picture, reduced so that its longer side has this length; a smaller picture is returned unchanged."""
    height, width = picture.shape[:2]
    scale = min(1.0, longer_side_px / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def band_across(height: float) -> Box:
    """A box around a horizontal line across the whole picture, with a margin above and below it. `height` is the line's
    distance from the top, from 0 to 1.
    """
    return Box(left=0.0, top=max(0.0, height - 0.05), right=1.0, bottom=min(1.0, height + 0.05))


class Signal(Data):
    """What is measured.

    `unit` is written after the value in texts; `description` is one sentence. `gap` is the reason for a missing value,
    empty if a missing value means that there was nothing to measure. `limitation` is what the signal cannot show even
    if it is measured. If this signal is a detail of another signal, `part_of` names the other signal; details are left
    out of summaries.
    """

    name: str
    unit: str
    description: str
    gap: str = ""
    limitation: str = ""
    part_of: str = ""


@dataclass(frozen=True)
class FrameView:
    """One view of one frame, with the reductions that several extractors share, each computed at most once.

    `previous_small` is the reduced picture of the frame before, None for the first frame.
    """

    number: int
    time_s: float
    image: Image
    previous_small: Image | None = None

    @cached_property
    def gray(self) -> NDArray[np.uint8]:
        """Luma at full size, shape (height, width)."""
        return np.asarray(cv2.cvtColor(self.image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)

    @cached_property
    def small(self) -> Image:
        """The picture reduced to SMALL_SIDE_PX on its longer side; a smaller picture is unchanged."""
        return reduced(self.image, SMALL_SIDE_PX)

    @cached_property
    def small_gray(self) -> NDArray[np.uint8]:
        """Luma of the reduced picture."""
        return np.asarray(cv2.cvtColor(self.small, cv2.COLOR_RGB2GRAY), dtype=np.uint8)

    @cached_property
    def contrast(self) -> float:
        """Luma of the lightest 0.5 % of the reduced picture minus luma of the darkest 0.5 %, from 0 to 1.

        So few of the pixels are used because in a picture of a plain table, only a few objects are lighter or darker
        than the rest.
        """
        counts = np.bincount(self.small_gray.ravel(), minlength=256)
        dark, bright = np.searchsorted(np.cumsum(counts) / counts.sum(), (0.005, 0.995))
        return float(bright - dark) / 255

    @cached_property
    def change(self) -> Change | None:
        """The change from the previous frame; None for the first frame and for a picture under 64 px."""
        if self.previous_small is None or min(self.small_gray.shape) < SMALLEST_FLOW_PX:
            return None
        return change_between(self.number, self.previous_small, self.small)


@dataclass
class ViewSignals:
    """The signals of one view. `series` has the values of each signal. If the values belong to regions of the picture,
    `boxes` has the box of the region in each frame.
    """

    series: dict[str, Series]
    boxes: dict[str, dict[int, Box]] = field(default_factory=dict)


class SignalExtractor(Protocol):
    """Measures one view of a clip, frame by frame."""

    signals: tuple[Signal, ...]

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""

    def finish(self) -> ViewSignals:
        """The series over all frames, including series that need the whole clip, such as a median."""


@dataclass(frozen=True)
class ClipSignals:
    """All signals of a clip, by view. `duration_s` is the end of the last frame."""

    signals: Mapping[str, Signal]
    views: Mapping[str, ViewSignals]
    frame_times_s: tuple[float, ...]
    duration_s: float

    @property
    def frame_edges_s(self) -> tuple[float, ...]:
        """The start of each frame and the end of the last frame."""
        return (*self.frame_times_s, self.duration_s)


class SignalRecorder:
    """Measures a clip while it is decoded: an observer for `robogaze.media.decode_clip`."""

    def __init__(self, extractors: Mapping[str, Callable[[], SignalExtractor]]) -> None:
        self._extractors = extractors
        self._by_view: list[list[SignalExtractor]] = []
        self._previous: list[Image | None] = []
        self._times_s: list[float] = []

    def __call__(self, number: int, time_s: float, views: tuple[Image, ...]) -> None:
        """Take the next frame."""
        if not self._by_view:
            self._by_view = [[make() for make in self._extractors.values()] for _ in views]
            self._previous = [None for _ in views]
        self._times_s.append(time_s)
        for place, image in enumerate(views):
            frame = FrameView(number, time_s, image, self._previous[place])
            for extractor in self._by_view[place]:
                extractor.update(frame)
            self._previous[place] = frame.small

    def evidence(self, view_names: Sequence[str], duration_s: float) -> ClipSignals:
        """All signals by view; `duration_s` is the clip's duration."""
        signals = {signal.name: signal for extractor in self._by_view[0] for signal in extractor.signals}
        views = {
            name: _merged(extractors, len(self._times_s))
            for name, extractors in zip(view_names, self._by_view, strict=True)
        }
        return ClipSignals(signals, views, tuple(self._times_s), duration_s)


def _merged(extractors: Sequence[SignalExtractor], frame_count: int) -> ViewSignals:
    merged = ViewSignals({}, {})
    for extractor in extractors:
        part = extractor.finish()
        _check_output(extractor, part, frame_count)
        merged.series.update(part.series)
        merged.boxes.update(part.boxes)
    return merged


def _check_output(extractor: SignalExtractor, part: ViewSignals, frame_count: int) -> None:
    """Raise InputError if an extractor, which may be of another package, does not return what it declares."""
    declared, name = {signal.name for signal in extractor.signals}, type(extractor).__name__
    if part.series.keys() != declared:
        returned = ", ".join(sorted(part.series)) or "no signal"
        raise InputError(f"the extractor {name} returned {returned}, but its signals are {', '.join(sorted(declared))}")
    for signal, values in part.series.items():
        if len(values) != frame_count:
            raise InputError(f"the extractor {name} returned {len(values)} values of {signal} for {frame_count} frames")
