"""Disjoint windows: how a clip is divided into them, how a window is shown, and which windows a span overlaps.

A window is shown as one picture: its frames in rows, each under its number and time.
"""

from collections.abc import Sequence
from itertools import pairwise

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import Regime, evenly
from robogaze.core.time import Span
from robogaze.media import DecodedClip

_COLUMNS = 2
"""Frames per row: eight wide frames then make a picture that is about square."""


def cut(clip: Clip, fps: float, frames: int) -> tuple[Window, ...]:
    """Windows of `frames` frames each, sampled at `fps`, that cover the clip. The last may contain fewer frames."""
    shown = Regime(rate_fps=fps).frames(clip.frame_times_s, clip.duration_s)
    groups = [shown[start : start + frames] for start in range(0, len(shown), frames)]
    edges = [0.0, *(clip.frame_times_s[group[0]] for group in groups[1:]), clip.duration_s]
    return tuple(
        Window(id=number, span=Span(start, end), frames=group)
        for number, (group, (start, end)) in enumerate(zip(groups, pairwise(edges), strict=True))
    )


def within(spans: Sequence[Span], windows: Sequence[Window]) -> tuple[Window, ...]:
    """The windows that overlap some span, in order; at least one if the windows cover the clip."""
    return tuple(window for window in windows if any(window.span.overlap(span) > 0 for span in spans))


def joined(windows: Sequence[Window]) -> Window:
    """One window from the start of the first to the end of the last, with as many frames as the largest has."""
    first, last = windows[0], windows[-1]
    frames = [frame for window in windows for frame in window.frames]
    largest = max(len(window.frames) for window in windows)
    return Window(id=first.id, span=Span(first.span.start, last.span.end), frames=evenly(frames, largest))


def picture(window: Window, decoded_clip: DecodedClip) -> FrameImage:
    return decoded_clip.sheet(window.frames, _COLUMNS)
