"""Detect that a picture is a grid of views.

DROID-style generators produce a 2x2 grid of three views and a black filler panel. Splitting a single view would be
worse than missing a grid, which the user can name. Therefore three conditions must hold in the first frame, and the
filler must stay black to the end.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.clip import Layout
from robogaze.media.compose import panels
from robogaze.media.decode import Image

_CORNERS = ("top left", "top right", "bottom left", "bottom right")
_QUARTERS = Layout(rows=2, columns=2, views=_CORNERS)
_MIN_SIDE_PX = 32
_BLACK, _CONTENT = 16, 24
_NOISE_SHARE = 0.01
# A seam is a jump in brightness of at least _SEAM, and of _SEAM_RATIO times the change next to it. Within one view, the
# change at the middle line is the same as elsewhere.
_SEAM, _SEAM_RATIO = 8, 2.0


def detect_layout(image: Image) -> Layout | None:
    """Detect a 2x2 grid with one black panel. Returns None for any other picture.

    One quarter of the picture is black, the other quarters are not, and there is a seam between two of the other
    quarters.
    """
    height, width = image.shape[:2]
    if height % 2 or width % 2 or min(height, width) < _MIN_SIDE_PX:
        return None
    quarters = panels(image, _QUARTERS)
    black = [_is_black(quarter) for quarter in quarters]
    if sum(black) != 1 or sum(quarter.mean() >= _CONTENT for quarter in quarters) != 3:
        return None
    row, column = divmod(black.index(True), 2)
    luma = np.asarray(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), dtype=np.int16)
    side_by_side = luma[: height // 2] if row else luma[height // 2 :]
    one_above_other = luma[:, : width // 2] if column else luma[:, width // 2 :]
    if not (_has_seam(side_by_side) and _has_seam(one_above_other.T)):
        return None
    views = tuple(None if dark else name for name, dark in zip(_CORNERS, black, strict=True))
    return Layout(rows=2, columns=2, views=views)


def fillers_are_black(image: Image, layout: Layout) -> bool:
    """Whether the panels that a layout drops are black. Raises ValueError as `panels` does."""
    named = zip(panels(image, layout), layout.views, strict=True)
    return all(_is_black(panel) for panel, name in named if name is None)


def _is_black(panel: Image) -> bool:
    """Whether almost no pixel of a sample is bright in any channel, without the border, where encoders smear."""
    high, wide = panel.shape[0] // 16, panel.shape[1] // 16
    sample = panel[high : panel.shape[0] - high : 4, wide : panel.shape[1] - wide : 4]
    return bool(np.mean(sample.max(axis=2) >= _BLACK) < _NOISE_SHARE)


def _has_seam(luma: NDArray[np.int16]) -> bool:
    """Whether brightness jumps at the middle column, over three pixels, because encoding smears a seam."""
    middle = luma.shape[1] // 2

    def change(start: int) -> float:
        return float(np.abs(luma[:, start + 3] - luma[:, start]).mean())

    nearby = (change(middle - 5) + change(middle + 1)) / 2
    return change(middle - 2) >= max(_SEAM, _SEAM_RATIO * nearby)
