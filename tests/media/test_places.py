"""Where views are: in pictures as they are really made, and in frames of the video."""

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.events import Box
from robogaze.core.places import panel_places, strip_places, strip_size
from robogaze.media.compose import split, strip
from robogaze.media.decode import Image

COLOURS = {"left": (250, 10, 10), "right": (10, 250, 10), "wrist": (10, 10, 250)}
GRID = Layout.parse("2x2:left,right,-,wrist")


def inside(image: Image, box: Box) -> Image:
    """The pixels of a part of a picture."""
    high, wide = image.shape[:2]
    rows = slice(round(box.top * high), round(box.bottom * high))
    return image[rows, round(box.left * wide) : round(box.right * wide)]


def grid() -> Image:
    """A frame of four panels of 60x40, each of its own colour."""
    image = np.zeros((80, 120, 3), dtype=np.uint8)
    for name, (row, column) in {"left": (0, 0), "right": (0, 1), "wrist": (1, 1)}.items():
        image[row * 40 : row * 40 + 40, column * 60 : column * 60 + 60] = COLOURS[name]
    return image


@pytest.mark.parametrize("name", COLOURS)
def test_a_view_is_where_it_is_said_to_be_in_the_video(name: str) -> None:
    panel = inside(grid(), panel_places(GRID)[name])
    assert panel.shape == (40, 60, 3)
    assert (panel == COLOURS[name]).all()


@pytest.mark.parametrize("name", COLOURS)
def test_a_view_is_where_it_is_said_to_be_in_a_picture(name: str) -> None:
    picture = strip(split(grid(), GRID), GRID.active)
    assert strip_size(GRID, (60, 40)) == (picture.shape[1], picture.shape[0])
    view = inside(picture, strip_places(GRID, (60, 40))[name])
    assert view.shape == (40, 60, 3)
    assert (view == COLOURS[name]).all()


def test_a_single_view_is_the_whole_picture() -> None:
    whole = Box(left=0, top=0, right=1, bottom=1)
    assert strip_places(Layout(), (320, 200)) == {"main": whole} == panel_places(Layout())
    assert strip_size(Layout(), (320, 200)) == (320, 200)
