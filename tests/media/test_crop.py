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
from robogaze.media.crop import MAX_ZOOM, MIN_SIDE_PX, magnified, view_image, view_in

BAND = 24
CORNER = Box(left=0.5, top=0.5, right=1, bottom=1)


def make_clip(layout: Layout, side_px: int = 1024) -> DecodedClip:
    """Two frames of 200 x 100, dark but for the bottom right quarter; each further view is lighter by 40."""
    clip = DecodedClip(layout, PictureSettings(max_side_px=side_px, quality=95))
    for number in range(2):
        views = []
        for index, _ in enumerate(layout.active):
            view = np.full((100, 200, 3), 20 + 40 * index + number, dtype=np.uint8)
            view[50:, 100:] = 200
            views.append(view)
        clip.add_frame(number / 10, views)
    clip.duration_s = 0.2
    return clip


@pytest.fixture
def single() -> Iterator[DecodedClip]:
    with closing(make_clip(Layout())) as made:
        yield made


@pytest.fixture
def triple() -> Iterator[DecodedClip]:
    with closing(make_clip(Layout.parse("2x2:front,side,wrist,-"))) as made:
        yield made


@pytest.mark.parametrize(("view", "level"), [("front", 20), ("side", 60), ("wrist", 100)])
def test_view_is_cut_out_unchanged(triple: DecodedClip, view: str, level: int) -> None:
    image = view_in(triple, 0, view)
    assert image.shape == (100, 200, 3)
    assert image[:40, :90].mean() == pytest.approx(level, abs=2)
    assert image[60:, 110:].mean() == pytest.approx(200, abs=2)


def test_view_image_contains_only_the_view_under_its_stamp(triple: DecodedClip) -> None:
    shown = view_image(triple, 1, "side")
    assert (shown.picture.views, shown.picture.frames) == (("side",), (1,))
    image = decode_image(shown.jpeg, "")
    assert image.shape == (BAND + 100, 200, 3)
    assert image[BAND + 2 : BAND + 40, :90].mean() == pytest.approx(61, abs=2)
    assert image[:BAND].min() < 100


def test_view_image_of_a_single_view_is_the_frame_image(single: DecodedClip) -> None:
    assert view_image(single, 0, "main") == single.frame_image(0)


def test_magnified_part_fills_the_picture_below_its_label(single: DecodedClip) -> None:
    shown = magnified(single, [0], "main", CORNER)
    image = decode_image(shown.jpeg, "")
    assert image[BAND + 4 :].min() > 190
    assert image[:BAND].mean() > 200, "a band of paper"
    assert image[:BAND].min() < 100, "with letters"
    assert (shown.picture.width, shown.picture.height) == (image.shape[1], image.shape[0])


def test_label_gives_frame_part_and_zoom(single: DecodedClip) -> None:
    shown = magnified(single, [1], "main", CORNER)
    assert shown.label == (
        "frame 1 at 0.10 s: the part x 500 to 1000, y 500 to 1000 (of 1000) of view main, 8.0 times as large"
    )


def test_several_frames_fit_on_one_picture_of_the_largest_size() -> None:
    with closing(make_clip(Layout(), side_px=300)) as clip:
        shown = magnified(clip, [0, 1], "main", CORNER)
    assert shown.picture.frames == (0, 1)
    assert max(shown.picture.width, shown.picture.height) <= 300


def test_zoom_is_at_most_eight(single: DecodedClip) -> None:
    shown = magnified(single, [0], "main", Box(left=0, top=0, right=0.3, bottom=0.6))
    assert shown.picture.width == 60 * MAX_ZOOM


@pytest.mark.parametrize("left", [0.0, 0.4, 0.999])
def test_small_part_is_extended(single: DecodedClip, left: float) -> None:
    shown = magnified(single, [0], "main", Box(left=left, top=0.2, right=left + 0.001, bottom=0.201))
    assert (shown.picture.width, shown.picture.height) == (MIN_SIDE_PX * MAX_ZOOM, MIN_SIDE_PX * MAX_ZOOM + BAND)


def test_different_parts_have_different_ids(single: DecodedClip, triple: DecodedClip) -> None:
    box = Box(left=0, top=0, right=0.5, bottom=0.5)
    shots = [magnified(single, [0], "main", CORNER), magnified(single, [0], "main", box)]
    shots += [magnified(triple, [0], view, box) for view in ("front", "side")]
    assert len({shown.picture.id for shown in shots[:2]}) == len({shown.picture.id for shown in shots[2:]}) == 2
