import cv2
import numpy as np
import pytest

from robogaze.evidence.segments import Segment, segments, tones
from robogaze.media.decode import Image

_GROUND = (140, 130, 120)
_RED = (200, 40, 30)


def _table() -> Image:
    return np.full((200, 320, 3), _GROUND, np.uint8)


def _found(image: Image) -> tuple[Segment, ...]:
    return segments(image, tones(image))


def _square(image: Image, x: int, y: int, colour: tuple[int, int, int], side: int = 20) -> None:
    image[y : y + side, x : x + side] = colour


def test_a_thing_of_one_colour_is_one_segment_with_its_place_size_and_colour() -> None:
    image = _table()
    _square(image, 100, 60, _RED)
    (one,) = _found(image)
    assert one.centre == pytest.approx((109.5, 69.5), abs=0.5)
    assert one.area == pytest.approx(400, rel=0.1)
    assert one.colour == pytest.approx(_RED, abs=2)
    assert not one.at_side


def test_a_thing_within_another_is_a_segment_of_its_own() -> None:
    image = _table()
    _square(image, 80, 60, (30, 60, 200), side=44)
    _square(image, 92, 72, _RED)
    assert sorted(round(one.colour[0]) for one in _found(image)) == pytest.approx([30, 200], abs=3)


@pytest.mark.parametrize("colour", [(15, 15, 15), (250, 250, 250)], ids=["black", "white"])
def test_a_thing_without_a_hue_is_a_segment_on_a_coloured_ground(colour: tuple[int, int, int]) -> None:
    image = np.full((200, 320, 3), (150, 120, 80), np.uint8)
    _square(image, 100, 60, colour)
    assert len(_found(image)) == 1


def test_a_white_thing_is_told_from_grey_ground_and_a_black_one_may_be_a_shadow() -> None:
    image = _table()
    _square(image, 100, 60, (250, 250, 250))
    _square(image, 200, 60, (15, 15, 15))
    assert [round(one.centre[0]) for one in _found(image)] == [110]


def test_a_shadow_is_no_segment_and_parts_none() -> None:
    image = _table()
    _square(image, 100, 60, _RED)
    _square(image, 200, 60, _GROUND, side=24)
    shade = np.ones((200, 320, 1))
    shade[66:90, 90:112] = shade[60:84, 200:224] = 0.6
    (one,) = _found((image * shade).astype(np.uint8))
    assert one.area == pytest.approx(400, rel=0.1)


def test_faces_in_different_light_are_one_segment() -> None:
    image = _table()
    _square(image, 100, 60, _RED)
    image[60:80, 110:120] = np.array(_RED) * 0.7
    (one,) = _found(image)
    assert one.centre[0] == pytest.approx(109.5, abs=0.5)


def test_what_is_tiny_thin_or_as_large_as_a_wall_is_none() -> None:
    image = _table()
    _square(image, 40, 40, _RED, side=4)
    cv2.line(image, (100, 20), (180, 180), _RED, 2)
    image[:, 220:] = (60, 90, 160)
    assert _found(image) == ()


def test_a_thing_at_the_pictures_side_may_go_on_beyond_it() -> None:
    image = _table()
    _square(image, 0, 60, _RED)
    (one,) = _found(image)
    assert one.at_side


def test_spread_tells_how_a_thing_lies() -> None:
    image = _table()
    cv2.ellipse(image, (120, 90), (24, 8), 0, 0, 360, _RED, -1)
    (one,) = _found(image)
    (across, slant), (_, along) = one.spread
    assert across / along == pytest.approx(9, rel=0.15)
    assert abs(slant) < 0.05 * across


def test_of_a_picture_full_of_things_the_largest_are_kept() -> None:
    image = np.full((400, 640, 3), _GROUND, np.uint8)
    for row in range(8):
        for column in range(14):
            _square(image, 20 + 44 * column, 20 + 46 * row, _RED, side=16 + row)
    found = _found(image)
    assert len(found) == 64
    assert min(one.area for one in found) > 350


def test_an_empty_picture_has_none() -> None:
    assert _found(np.zeros((64, 64, 3), np.uint8)) == ()
