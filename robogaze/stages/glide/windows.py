"""Windows that share their boundary frames, and how a clip is divided into them.

A window is shown as one picture: its frames in rows, each under its number and time. The last frame of a window is the
first of the next, so that every two neighbouring samples are compared in some window.
"""

from collections.abc import Sequence
from itertools import pairwise

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import Regime
from robogaze.core.time import Span
from robogaze.media import DecodedClip
from robogaze.media.crop_sheet import SIDE_PX

COLUMNS = 3
"""Frames per row: nine frames then make a picture with the proportions of one."""

_SHORTEST_TAIL = 3
"""A last window with fewer new frames is part of the window before it."""


def cut(clip: Clip, fps: float, frames: int) -> tuple[Window, ...]:
    """Windows that cover the clip. Each has `frames` frames, sampled at `fps`, and the first frame of the next window.

    The spans do not overlap. The last window ends with the last frame of the clip and may contain fewer frames, or up
    to two more.
    """
    sampled = Regime(rate_fps=fps).frames(clip.frame_times_s, clip.duration_s)
    shown = tuple(dict.fromkeys((*sampled, clip.frame_count - 1)))
    starts = list(range(0, len(shown), frames))
    if len(starts) > 1 and len(shown) - starts[-1] < _SHORTEST_TAIL:
        starts.pop()
    groups = [shown[start : end + 1] for start, end in pairwise([*starts, len(shown)])]
    edges = [0.0, *(clip.frame_times_s[group[0]] for group in groups[1:]), clip.duration_s]
    return tuple(
        Window(id=number, span=Span(start, end), frames=group)
        for number, (group, (start, end)) in enumerate(zip(groups, pairwise(edges), strict=True))
    )


def samples_of(windows: Sequence[Window]) -> tuple[int, ...]:
    """The frames of some windows, in ascending order and without duplicates."""
    return tuple(sorted({frame for window in windows for frame in window.frames}))


def picture(window: Window, decoded_clip: DecodedClip) -> FrameImage:
    return decoded_clip.sheet(window.frames, COLUMNS, SIDE_PX)
