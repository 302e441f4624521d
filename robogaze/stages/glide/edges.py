"""The start and end of something that is visible in some of the shown frames, and where to look to find them exactly.

The start lies between the last shown frame that does not show the thing and the first shown frame that shows it. If
these two are neighbours in the clip, the edge is exact; otherwise the edge is set midway between them, until the frames
between them are shown.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from robogaze.core.clip import Clip
from robogaze.core.sampling import evenly
from robogaze.core.time import Span, union

MOST_FRAMES = 9
"""The frames of one edge that are shown at most: a sheet of three rows."""


def span_of(first: int, last: int, shown: Sequence[int], clip: Clip) -> Span:
    """The span of something that is visible from the frame `first` to the frame `last`. `shown` are the frames that
    were shown, in ascending order.
    """
    times_s = clip.frame_times_s
    before, after = shown[: bisect_left(shown, first)], shown[bisect_left(shown, last + 1) :]
    start = (clip.frame_span(before[-1]).end + times_s[first]) / 2 if before else times_s[first]
    end = clip.frame_span(last).end
    return Span(start, (end + times_s[after[0]]) / 2 if after else end)


def spans_of(pairs: Iterable[Sequence[int]], shown: Sequence[int], clip: Clip) -> tuple[Span, ...]:
    """The disjoint spans of something that is visible several times. Each of `pairs` is the first and the last frame of
    one of these times.
    """
    return union(span_of(first, last, shown, clip) for first, last in pairs)


def edge_frames(time_s: float, samples: Sequence[int], clip: Clip) -> tuple[int, ...]:
    """The frames from the last sample before a time to the first sample after it; empty if one of the two samples is
    missing.

    If there are more than `MOST_FRAMES` frames, only `MOST_FRAMES` of them are returned, evenly spread.
    """
    before = [frame for frame in samples if clip.frame_times_s[frame] < time_s]
    after = samples[len(before) :]
    return evenly(range(before[-1], after[0] + 1), MOST_FRAMES) if before and after else ()
