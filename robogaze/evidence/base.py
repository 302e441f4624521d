"""The contract of measured evidence: signals, and the meters that measure them.

A signal is one number per frame and view, with a unit. A meter is given every frame in turn, once, and keeps no
pixels beyond what it needs for the next one, so that memory does not grow with the clip. A signal says what was
measured and never what it means: that is for the rules of a pipeline.
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
from robogaze.media.decode import Image

Series = NDArray[np.float64]
"""One value per frame, shape (frames,). NaN where a signal is not defined (a difference at the first frame)."""

SMALL_SIDE_PX = 320
"""The longer side of the reduced picture most meters work on."""


class Signal(Data):
    """What is measured: `unit` is written after a value, `description` is one sentence.

    `gap` says what a missing value means where it means that something could not be measured; it is empty where there
    was nothing to measure. `hides` says what the signal cannot show however well it is measured. `of` names the signal
    whose place it describes more closely; by itself it says nothing.
    """

    name: str
    unit: str
    description: str
    gap: str = ""
    hides: str = ""
    of: str = ""


@dataclass(frozen=True)
class FrameView:
    """One view of one frame, with the reductions that several meters share, made at most once."""

    number: int
    time_s: float
    image: Image

    @cached_property
    def gray(self) -> NDArray[np.uint8]:
        """Luma at full size, shape (height, width)."""
        return np.asarray(cv2.cvtColor(self.image, cv2.COLOR_RGB2GRAY), dtype=np.uint8)

    @cached_property
    def small(self) -> Image:
        """The picture with its longer side at SMALL_SIDE_PX (never made larger)."""
        height, width = self.image.shape[:2]
        scale = min(1.0, SMALL_SIDE_PX / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        return np.asarray(cv2.resize(self.image, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)

    @cached_property
    def small_gray(self) -> NDArray[np.uint8]:
        """Luma of the reduced picture."""
        return np.asarray(cv2.cvtColor(self.small, cv2.COLOR_RGB2GRAY), dtype=np.uint8)

    @cached_property
    def shares_up_to(self) -> NDArray[np.float64]:
        """For each 8-bit level, the share of the reduced picture's luma that is at or below it, shape (256,)."""
        counts = np.bincount(self.small_gray.ravel(), minlength=256)
        return np.asarray(np.cumsum(counts) / counts.sum(), dtype=np.float64)

    @cached_property
    def contrast(self) -> float:
        """Luma that all but the lightest 0.5 % of the picture stay below, minus the same of the darkest, from 0 to 1.

        On a plain table the few things on it are all the contrast there is: larger shares would leave them out.
        """
        dark, bright = np.searchsorted(self.shares_up_to, (0.005, 0.995))
        return float(bright - dark) / 255


@dataclass
class ViewSignals:
    """What a meter found in one view: a series per signal and, where a place belongs to a value, its box."""

    series: dict[str, Series]
    boxes: dict[str, dict[int, Box]] = field(default_factory=dict)


class SignalExtractor(Protocol):
    """Measures one view of a clip, frame by frame."""

    signals: tuple[Signal, ...]

    def update(self, look: FrameView) -> None:
        """Take the next frame."""

    def finish(self) -> ViewSignals:
        """The series of all frames seen; what needs the whole clip (a median, a trend) is done here."""


@dataclass(frozen=True)
class ClipSignals:
    """All that was measured in a clip: by view, the series and boxes of every signal.

    `duration_s` is when the last frame ends; without it a span could not be written for that frame.
    """

    signals: Mapping[str, Signal]
    views: Mapping[str, ViewSignals]
    frame_times_s: tuple[float, ...]
    duration_s: float


class SignalRecorder:
    """Measures a clip as it is decoded: an observer for `robogaze.media.film`."""

    def __init__(self, meters: Mapping[str, Callable[[], SignalExtractor]]) -> None:
        self._meters = meters
        self._by_view: list[list[SignalExtractor]] = []
        self._times_s: list[float] = []

    def __call__(self, number: int, time_s: float, views: tuple[Image, ...]) -> None:
        """Take the next frame."""
        if not self._by_view:
            self._by_view = [[make() for make in self._meters.values()] for _ in views]
        self._times_s.append(time_s)
        for meters, image in zip(self._by_view, views, strict=True):
            look = FrameView(number, time_s, image)
            for meter in meters:
                meter.update(look)

    def evidence(self, view_names: Sequence[str], duration_s: float) -> ClipSignals:
        """What was measured, by view; `duration_s` is the clip's, as `Footage` and `Clip` hold it."""
        signals = {signal.name: signal for meter in self._by_view[0] for signal in meter.signals}
        views = {name: _merge(meters) for name, meters in zip(view_names, self._by_view, strict=True)}
        return ClipSignals(signals, views, tuple(self._times_s), duration_s)


def _merge(meters: Sequence[SignalExtractor]) -> ViewSignals:
    whole = ViewSignals({}, {})
    for meter in meters:
        part = meter.finish()
        whole.series.update(part.series)
        whole.boxes.update(part.boxes)
    return whole
