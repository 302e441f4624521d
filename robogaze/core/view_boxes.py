"""The positions of views: in a frame of the video, and in the picture of a frame as models and readers see it.

At the top of a picture is a band with the frame's number and time. Below this band are the views, all of the same size
and with a gap between them. If there are several views, each has a band with its name above it. The number of columns
is chosen so that the picture's longer side is as short as possible.
"""

from collections.abc import Mapping

from robogaze.core.clip import Layout
from robogaze.core.events import Box

BAND_PX, GAP_PX = 24, 4
"""Height of a band with text above a picture, and width of the gap between two views."""

Size = tuple[int, int]
"""Width and height in pixels."""


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


def fitted_size(size: Size, max_side_px: int) -> Size:
    """The size scaled down so that its longer side is at most `max_side_px`; never scaled up."""
    scale = max_side_px / max(size)
    return size if scale >= 1 else (max(1, round(size[0] * scale)), max(1, round(size[1] * scale)))


def columns_of(count: int, view_size: Size) -> int:
    """The number of columns for which the longer side of a picture with `count` views is as short as possible.

    If several numbers of columns give the same longer side, the smallest number is used.
    """

    def longer_side(columns: int) -> int:
        width, height = arranged_size(count, view_size, columns)
        return max(width, BAND_PX + height)

    return min(range(1, count + 1), key=longer_side)


def arranged_size(count: int, view_size: Size, columns: int) -> Size:
    """The size of all views together, arranged in `columns` columns. If there are several, each has a band for its
    name.
    """
    if count == 1:
        return view_size
    rows = -(-count // columns)
    width, height = view_size
    return columns * (width + GAP_PX) - GAP_PX, rows * (BAND_PX + height + GAP_PX) - GAP_PX


def view_corners(count: int, view_size: Size, columns: int) -> tuple[tuple[int, int], ...]:
    """The left and top edges of each view, in pixels, when the views are arranged in `columns` columns."""
    if count == 1:
        return ((0, 0),)
    width, height = view_size
    return tuple(
        (number % columns * (width + GAP_PX), number // columns * (BAND_PX + height + GAP_PX) + BAND_PX)
        for number in range(count)
    )


def picture_size(layout: Layout, view_size: Size) -> Size:
    """The size of a frame's picture in which every view has the size `view_size`."""
    count = len(layout.active)
    width, height = arranged_size(count, view_size, columns_of(count, view_size))
    return width, BAND_PX + height


def view_boxes(layout: Layout, view_size: Size) -> Mapping[str, Box]:
    """The box of each view in a frame's picture in which every view has the size `view_size`."""
    count = len(layout.active)
    corners = view_corners(count, view_size, columns_of(count, view_size))
    width, height = picture_size(layout, view_size)
    return {
        name: Box(
            left=left / width,
            top=(BAND_PX + top) / height,
            right=(left + view_size[0]) / width,
            bottom=(BAND_PX + top + view_size[1]) / height,
        )
        for name, (left, top) in zip(layout.active, corners, strict=True)
    }
