"""Looking closer: the right pixels, larger, with their place outside the picture."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.events import Box
from robogaze.core.pictures import PictureSettings
from robogaze.media import DecodedClip
from robogaze.media.compose import decode_image
from robogaze.media.crop import LEAST_PX, MOST_TIMES, alone, magnified, view_in

BAND = 24
CORNER = Box(left=0.5, top=0.5, right=1, bottom=1)


def footage_of(layout: Layout, side_px: int = 1024) -> DecodedClip:
    """Two frames of 200 x 100, dark but for the bottom right quarter; each further view is lighter by 40."""
    footage = DecodedClip(layout, PictureSettings(max_side_px=side_px, quality=95))
    for number in range(2):
        views = []
        for index, _ in enumerate(layout.active):
            view = np.full((100, 200, 3), 20 + 40 * index + number, dtype=np.uint8)
            view[50:, 100:] = 200
            views.append(view)
        footage.keep(number / 10, views)
    footage.duration_s = 0.2
    return footage


@pytest.fixture
def single() -> Iterator[DecodedClip]:
    with closing(footage_of(Layout())) as made:
        yield made


@pytest.fixture
def triple() -> Iterator[DecodedClip]:
    with closing(footage_of(Layout.parse("2x2:front,side,wrist,-"))) as made:
        yield made


@pytest.mark.parametrize(("view", "level"), [("front", 20), ("side", 60), ("wrist", 100)])
def test_a_view_of_a_strip_is_cut_out_as_it_was(triple: DecodedClip, view: str, level: int) -> None:
    image = view_in(triple.shot(0), view)
    assert image.shape == (100, 200, 3)
    assert image[:40, :90].mean() == pytest.approx(level, abs=2)
    assert image[60:, 110:].mean() == pytest.approx(200, abs=2)


def test_a_view_alone_has_nothing_around_it(triple: DecodedClip) -> None:
    shot = alone(triple, 1, "side")
    assert (shot.picture.views, shot.picture.frames) == (("side",), (1,))
    assert decode_image(shot.jpeg, "").shape == (100, 200, 3)


def test_the_only_view_alone_is_the_frames_own_picture(single: DecodedClip) -> None:
    assert alone(single, 0, "main") == single.shot(0)


def test_a_part_fills_the_picture_below_its_label(single: DecodedClip) -> None:
    shot = magnified(single, [0], "main", CORNER)
    image = decode_image(shot.jpeg, "")
    assert image[BAND + 4 :].min() > 190
    assert image[:BAND].mean() > 200, "a band of paper"
    assert image[:BAND].min() < 100, "with letters"
    assert (shot.picture.width, shot.picture.height) == (image.shape[1], image.shape[0])


def test_the_label_says_which_frame_which_part_and_how_much_larger(single: DecodedClip) -> None:
    shot = magnified(single, [1], "main", CORNER)
    assert shot.label == (
        "frame 1 at 0.10 s: the part x 500 to 1000, y 500 to 1000 (of 1000) of view main, 8.0 times as large"
    )


def test_several_frames_stand_on_one_picture_no_larger_than_a_frame_may_be() -> None:
    with closing(footage_of(Layout(), side_px=300)) as footage:
        shot = magnified(footage, [0, 1], "main", CORNER)
    assert shot.picture.frames == (0, 1)
    assert max(shot.picture.width, shot.picture.height) <= 300


def test_no_part_is_made_more_than_eight_times_as_large(single: DecodedClip) -> None:
    shot = magnified(single, [0], "main", Box(left=0, top=0, right=0.3, bottom=0.6))
    assert shot.picture.width == 60 * MOST_TIMES


@pytest.mark.parametrize("left", [0.0, 0.4, 0.999])
def test_a_part_too_small_to_tell_anything_is_widened(single: DecodedClip, left: float) -> None:
    shot = magnified(single, [0], "main", Box(left=left, top=0.2, right=left + 0.001, bottom=0.201))
    assert (shot.picture.width, shot.picture.height) == (LEAST_PX * MOST_TIMES, LEAST_PX * MOST_TIMES + BAND)


def test_different_parts_are_different_pictures(single: DecodedClip, triple: DecodedClip) -> None:
    box = Box(left=0, top=0, right=0.5, bottom=0.5)
    shots = [magnified(single, [0], "main", CORNER), magnified(single, [0], "main", box)]
    shots += [magnified(triple, [0], view, box) for view in ("front", "side")]
    assert len({shot.picture.id for shot in shots[:2]}) == len({shot.picture.id for shot in shots[2:]}) == 2
