"""The boxes of the views: in a frame of the video, and in the image of a frame, where views are side by side."""

from collections.abc import Mapping

from robogaze.core.clip import Layout
from robogaze.core.events import Box

BAND_PX, GAP_PX = 24, 4
"""Height of the band with the names above the views, and width of the gap between two views."""


def panel_boxes(layout: Layout) -> Mapping[str, Box]:
    """The box of each view in a frame of the video."""
    return {
        name: Box(
            left=number % layout.columns / layout.columns,
            top=number // layout.columns / layout.rows,
            right=(number % layout.columns + 1) / layout.columns,
            bottom=(number // layout.columns + 1) / layout.rows,
        )
        for number, name in enumerate(layout.views)
        if name is not None
    }


def strip_size(layout: Layout, view_size: tuple[int, int]) -> tuple[int, int]:
    """Width and height in pixels of the image of a frame with views of `view_size`; a single view has no band."""
    width, height = view_size
    count = len(layout.active)
    if count == 1:
        return view_size
    return count * (width + GAP_PX) - GAP_PX, BAND_PX + height


def strip_boxes(layout: Layout, view_size: tuple[int, int]) -> Mapping[str, Box]:
    """The box of each view in the image of a frame."""
    if len(layout.active) == 1:
        return {layout.active[0]: Box(left=0.0, top=0.0, right=1.0, bottom=1.0)}
    whole_width, whole_height = strip_size(layout, view_size)
    width = view_size[0]
    step = width + GAP_PX
    return {
        name: Box(
            left=number * step / whole_width,
            top=BAND_PX / whole_height,
            right=(number * step + width) / whole_width,
            bottom=1.0,
        )
        for number, name in enumerate(layout.active)
    }
