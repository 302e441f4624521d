"""The boxes of views, compared with images and frames as they are made."""

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.events import Box
from robogaze.core.view_boxes import panel_boxes, strip_boxes, strip_size
from robogaze.media.compose import split, strip
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
def test_box_of_a_view_in_the_image_of_a_frame(name: str) -> None:
    picture = strip(split(grid(), GRID), GRID.active)
    assert strip_size(GRID, (60, 40)) == (picture.shape[1], picture.shape[0])
    view = inside(picture, strip_boxes(GRID, (60, 40))[name])
    assert view.shape == (40, 60, 3)
    assert (view == COLOURS[name]).all()


def test_box_of_a_single_view_is_the_whole_image() -> None:
    whole = Box(left=0, top=0, right=1, bottom=1)
    assert strip_boxes(Layout(), (320, 200)) == {"main": whole} == panel_boxes(Layout())
    assert strip_size(Layout(), (320, 200)) == (320, 200)
