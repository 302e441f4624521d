"""Windows without a frame in common: how a clip is cut into them, shown one by one, and found again by time.

A window is shown as one picture: its frames in rows, each with its number and time above it.
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
"""Frames in a row: eight wide frames then make a picture that is about square, and each is half as wide as it."""


def cut(clip: Clip, fps: float, frames: int) -> tuple[Window, ...]:
    """Windows of so many frames, taken at a rate; together they cover the clip. The last may hold fewer frames."""
    shown = Regime(rate_fps=fps).frames(clip.frame_times_s, clip.duration_s)
    groups = [shown[start : start + frames] for start in range(0, len(shown), frames)]
    edges = [0.0, *(clip.frame_times_s[group[0]] for group in groups[1:]), clip.duration_s]
    return tuple(
        Window(id=number, span=Span(start, end), frames=group)
        for number, (group, (start, end)) in enumerate(zip(groups, pairwise(edges), strict=True))
    )


def within(spans: Sequence[Span], windows: Sequence[Window]) -> tuple[Window, ...]:
    """The windows that share time with some spans, in order; at least one where the windows cover the clip."""
    return tuple(window for window in windows if any(window.span.overlap(span) > 0 for span in spans))


def joined(windows: Sequence[Window]) -> Window:
    """Windows as one, from the first's start to the last's end, with no more frames than the fullest of them holds."""
    first, last = windows[0], windows[-1]
    frames = [frame for window in windows for frame in window.frames]
    fullest = max(len(window.frames) for window in windows)
    return Window(id=first.id, span=Span(first.span.start, last.span.end), frames=evenly(frames, fullest))


def picture(window: Window, footage: DecodedClip) -> FrameImage:
    """A window as one picture."""
    return footage.sheet(window.frames, _COLUMNS)
