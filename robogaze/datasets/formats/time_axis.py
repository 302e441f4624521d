"""A clip's time axis, which converts seconds and frame numbers to spans.

Seconds are kept as written. A frame number is converted to the time at which the frame is shown. This time is one of
the clip's frame times if they are known; otherwise, it is the number divided by the frame rate. A span of zero length
is read as the one frame that is shown at that time.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from robogaze.core.time import RESOLUTION, Span
from robogaze.datasets.documents import FormatError, Place

_RATE_MISSING = "the clip's frame rate is not known; give it with --fps"


@dataclass(frozen=True)
class TimeAxis:
    """The time axis of one clip; None means not known.

    `times_s` are the times of the clip's frames, in ascending order; they are given together with `duration_s`. `count`
    is called for everything that the user should be warned about (`ReadLog.count`).
    """

    count: Callable[[str, str], None]
    fps: float | None = None
    times_s: Sequence[float] | None = None
    duration_s: float | None = None

    def seconds(self, start: float, end: float, start_place: Place, end_place: Place) -> Span:
        """The span between two times.

        Raises FormatError for a span that is reversed or starts outside the clip. A span that continues after the end
        of the clip is kept as written, and counted.
        """
        if start < 0:
            raise FormatError(f"{start:g} s is before the start of the clip", start_place)
        if end < start:
            raise FormatError(f"the span ends at {end:g} s, which is before its start at {start:g} s", end_place)
        if self.duration_s is not None and start >= self.duration_s:
            raise FormatError(
                f"{start:g} s is after the end of the clip at {self.duration_s:g} s; times must be in seconds",
                start_place,
            )
        if start == end:
            return self._one_frame(start, end_place)
        if self.duration_s is not None and end > self.duration_s + RESOLUTION:
            self.count("span", "with an end after the end of the clip (kept as written)")
        return _span(start, end, end_place)

    def frames(self, first: int, end: int, start_place: Place, end_place: Place) -> Span:
        """The span from the frame `first` up to the frame `end`, which is not included. If both are equal, the span of
        this one frame.

        Raises FormatError if the span is reversed or extends outside the clip, or if neither the frame times nor the
        frame rate are known.
        """
        if first < 0:
            raise FormatError(f"there is no frame {first}", start_place)
        if end < first:
            raise FormatError(f"the span starts with frame {first}, but ends before frame {end}", end_place)
        if first == end:
            self.count("span", "with the same first and end frame (read as this one frame)")
        return _span(self._time(first, start_place), self._time(max(end, first + 1), end_place), end_place)

    def _one_frame(self, time_s: float, place: Place) -> Span:
        self.count("span", "of zero length (read as one frame)")
        if self.times_s is not None:
            number = max(bisect_right(self.times_s, time_s + RESOLUTION) - 1, 0)
            return _span(self._time(number, place), self._time(number + 1, place), place)
        if self.fps is None:
            raise FormatError(f"a span of zero length means one frame, but {_RATE_MISSING}", place)
        return _span(time_s, time_s + 1 / self.fps, place)

    def _time(self, frame: int, place: Place) -> float:
        """The time at which a frame starts; for the number after the last frame, the end of the clip."""
        if self.times_s is None or self.duration_s is None:
            if self.fps is None:
                raise FormatError(f"frame numbers must be converted to seconds, but {_RATE_MISSING}", place)
            return frame / self.fps
        if frame > len(self.times_s):
            raise FormatError(f"frame {frame} is not in the clip, which has {len(self.times_s)} frames", place)
        return self.times_s[frame] if frame < len(self.times_s) else self.duration_s


def _span(start: float, end: float, place: Place) -> Span:
    try:
        return Span(start, end)
    except ValueError as error:
        raise FormatError(f"{error}", place) from error
