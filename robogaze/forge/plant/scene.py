"""What can be asked of a clip before something is planted: what moves, what stays still, where things are.

Questions about motion and rest are answered from pictures reduced to 320 pixels, all of which are kept (190 KB a frame
and view).
"""

from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView
from robogaze.forge.plant.edit import Refused
from robogaze.forge.plant.frame_array import FrameArray
from robogaze.media.decode import Image

VISIBLE_LEVELS = 20
"""By how many of 256 levels, in any channel, a pixel must differ for a viewer to tell."""

VISIBLE_SHARE = 0.0004
"""The share of a view's pixels that must differ so; encoding alone reached 0.00015 in rendered clips."""

Flags = NDArray[np.bool_]


def differing(image: Image, other: Image) -> Flags:
    """Which pixels a viewer can tell apart, shape (height, width)."""
    red, green, blue = cv2.split(cv2.absdiff(image, other))
    return np.asarray(cv2.max(cv2.max(red, green), blue) > VISIBLE_LEVELS)


def differ(image: Image, other: Image) -> bool:
    """Whether a viewer can tell two pictures apart."""
    return bool(differing(image, other).mean() >= VISIBLE_SHARE)


@dataclass(frozen=True)
class PlantingScene:
    """A clip to plant something in."""

    reel: FrameArray
    instruction: str | None = None

    @property
    def count(self) -> int:
        """How many frames there are."""
        return len(self.reel.times_s)

    @property
    def views(self) -> tuple[str, ...]:
        """The names of the views that show something."""
        return self.reel.layout.active

    def frames(self, seconds: float) -> int:
        """How many frames last so long, at the clip's mean rate; at least 1."""
        return max(1, round(seconds * self.count / self.reel.duration_s))

    def stretch(self, rng: np.random.Generator, least_s: float, most_s: float) -> tuple[int, int]:
        """A stretch of frames, its length and its place drawn evenly; never the first frame.

        No longer than half of the clip. Raises Refused for a clip of which half is shorter than `least_s`.
        """
        least, most = self.frames(least_s), min(self.frames(most_s), self.count // 2)
        if most < least:
            raise Refused(f"the clip is too short (half of it must last {least_s:g} s)")
        length = int(rng.integers(least, most + 1))
        first = int(rng.integers(1, self.count - length + 1))
        return first, first + length

    def some_view(self, rng: np.random.Generator) -> int:
        """One of the views, drawn evenly."""
        return int(rng.integers(len(self.views)))

    def as_shown(self) -> tuple[int, ...]:
        """All frames in their order."""
        return tuple(range(self.count))

    @cached_property
    def small(self) -> tuple[NDArray[np.uint8], ...]:
        """The reduced pictures by view, shape (frames, height, width, 3) each."""
        return tuple(
            np.stack([FrameView(number, 0.0, self.reel.view(number, view)).small for number in range(self.count)])
            for view in range(len(self.views))
        )

    def moved(self, before: int, after: int) -> float:
        """The share of the pixels that differ between two frames, in the view with the most of them."""
        return max(float(differing(view[before], view[after]).mean()) for view in self.small)

    def named(self, view: int) -> str:
        """A view in words."""
        return "the picture" if len(self.views) == 1 else f"the view {self.views[view]}"

    def place(self, view: int, box: Box) -> str:
        """Where in a view the middle of a box lies, in words."""
        thirds = (("upper", "middle", "lower"), ("left", "centre", "right"))
        middles = (box.top + box.bottom) / 2, (box.left + box.right) / 2
        down, across = (names[min(2, int(3 * middle))] for names, middle in zip(thirds, middles, strict=True))
        words = "in the middle" if (down, across) == ("middle", "centre") else f"at the {down} {across}"
        return f"{words} of {self.named(view)}"
