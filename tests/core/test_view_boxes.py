"""The boxes of views, compared with images and frames as they are made."""

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.events import Box
from robogaze.core.view_boxes import BAND_PX, columns_of, panel_boxes, picture_size, view_boxes
from robogaze.media.compose import FrameCanvas, split
from robogaze.media.decode import Image

COLOURS = {"left": (250, 10, 10), "right": (10, 250, 10), "wrist": (10, 10, 250)}
GRID = Layout.parse("2x2:left,right,-,wrist")


def inside(image: Image, box: Box) -> Image:
    """The pixels inside a box."""
    height, width = image.shape[:2]
    rows = slice(round(box.top * height), round(box.bottom * height))
    return image[rows, round(box.left * width) : round(box.right * width)]


def grid() -> Image:
    """A frame of four panels of 60x40, each of its own colour."""
    image = np.zeros((80, 120, 3), dtype=np.uint8)
    for name, (row, column) in {"left": (0, 0), "right": (0, 1), "wrist": (1, 1)}.items():
        image[row * 40 : row * 40 + 40, column * 60 : column * 60 + 60] = COLOURS[name]
    return image


@pytest.mark.parametrize("name", COLOURS)
def test_box_of_a_view_in_the_video(name: str) -> None:
    panel = inside(grid(), panel_boxes(GRID)[name])
    assert panel.shape == (40, 60, 3)
    assert (panel == COLOURS[name]).all()


@pytest.mark.parametrize("name", COLOURS)
def test_box_of_a_view_in_the_picture_of_a_frame(name: str) -> None:
    picture = FrameCanvas(GRID.active, (60, 40)).draw(split(grid(), GRID), "frame 0, 0.00 s")
    size = picture.shape[1], picture.shape[0]
    assert picture_size(GRID, (60, 40)) == size
    view = inside(picture, view_boxes(GRID, (60, 40))[name])
    assert view.shape == (40, 60, 3)
    assert (view == COLOURS[name]).all()


def test_box_of_a_single_view_is_below_the_stamp() -> None:
    (box,) = view_boxes(Layout(), (320, 200)).values()
    assert box == Box(left=0, top=BAND_PX / 224, right=1, bottom=1)


@pytest.mark.parametrize(
    ("count", "view_size", "columns"),
    [
        (1, (384, 216), 1),
        (2, (384, 216), 1),
        (3, (384, 216), 1),
        (4, (384, 216), 2),
        (3, (216, 384), 3),
        (3, (256, 256), 2),
        (9, (200, 200), 3),
    ],
)
def test_views_are_arranged_so_that_the_longer_side_is_shortest(
    count: int, view_size: tuple[int, int], columns: int
) -> None:
    assert columns_of(count, view_size) == columns
