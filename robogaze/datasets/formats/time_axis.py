"""A clip's axis as far as a source knows it: from seconds and frames to spans.

Seconds stay as they are written. Frames become the times at which they are shown: those of the clip's frames where
they are known, else the number divided by the frame rate. A span of no length stands for the one frame at its place.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from robogaze.core.time import RESOLUTION, Span
from robogaze.datasets.documents import FormatError
from robogaze.datasets.formats.notes import Notes
from robogaze.datasets.places import Place

_RATE_WANTED = "the clip's frame rate is not known; give it with --fps"


@dataclass(frozen=True)
class TimeAxis:
    """One clip's axis; None is what is not known.

    `times_s` are its frames, ascending; with them goes `duration_s`, which is after the last one.
    """

    notes: Notes
    fps: float | None = None
    times_s: Sequence[float] | None = None
    duration_s: float | None = None

    def seconds(self, start: float, end: float, start_at: Place, end_at: Place) -> Span:
        """The span from one time to another.

        Raises Fault for a span that is reversed or begins outside the clip; one that goes on after the clip's end
        is kept as written, and counted.
        """
        if start < 0:
            raise FormatError(f"{start:g} s is before the clip begins", start_at)
        if end < start:
            raise FormatError(f"the span ends at {end:g} s, before it starts at {start:g} s", end_at)
        if self.duration_s is not None and start >= self.duration_s:
            raise FormatError(
                f"{start:g} s is after the clip's end at {self.duration_s:g} s; times are in seconds", start_at
            )
        if start == end:
            return self._one_frame(start, end_at)
        if self.duration_s is not None and end > self.duration_s + RESOLUTION:
            self.notes.count("span", "going on after the end of the clip, kept as written")
        return _span(start, end, end_at)

    def frames(self, first: int, end: int, start_at: Place, end_at: Place) -> Span:
        """The span of the frames from `first` up to, and not with, `end`; the one frame `first` when they are equal.

        Raises Fault for a span that is reversed or leaves the clip, and when neither frames nor rate are known.
        """
        if first < 0:
            raise FormatError(f"there is no frame {first}", start_at)
        if end < first:
            raise FormatError(f"the span ends before frame {end}, but starts with frame {first}", end_at)
        if first == end:
            self.notes.count("span", "with the same first and end frame, read as that one frame")
        return _span(self._time(first, start_at), self._time(max(end, first + 1), end_at), end_at)

    def _one_frame(self, time_s: float, place: Place) -> Span:
        self.notes.count("span", "of no length, read as one frame")
        if self.times_s is not None:
            number = max(bisect_right(self.times_s, time_s + RESOLUTION) - 1, 0)
            return _span(self._time(number, place), self._time(number + 1, place), place)
        if self.fps is None:
            raise FormatError(f"a span of no length stands for one frame, but {_RATE_WANTED}", place)
        return _span(time_s, time_s + 1 / self.fps, place)

    def _time(self, frame: int, place: Place) -> float:
        """When a frame begins, or the clip's end for the number after its last one."""
        if self.times_s is None or self.duration_s is None:
            if self.fps is None:
                raise FormatError(f"frames become seconds, but {_RATE_WANTED}", place)
            return frame / self.fps
        if frame > len(self.times_s):
            raise FormatError(f"frame {frame} is not in the clip, which has {len(self.times_s)} frames", place)
        return self.times_s[frame] if frame < len(self.times_s) else self.duration_s


def _span(start: float, end: float, place: Place) -> Span:
    try:
        return Span(start, end)
    except ValueError as error:
        raise FormatError(f"{error}", place) from error
