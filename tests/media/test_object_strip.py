"""Object strips: the object in each frame, at one size."""

from contextlib import closing

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.context import ObjectTrack
from robogaze.media.compose import decode_image
from robogaze.media.object_strip import object_strip

from .test_claim_sheet import cells, make_clip, square


def test_strip_shows_the_object_in_each_frame() -> None:
    track = ObjectTrack(name="the cup", view="main", boxes={number: square(number) for number in range(40)})
    with closing(make_clip()) as clip:
        strip = object_strip(clip, [track], [30, 10, 20, 25])
        jpeg = strip.jpeg
    assert strip.picture.frames == (10, 20, 25, 30)
    assert strip.label.startswith("the cup in view main, in 4 frames from 10 to 30")
    for number, cell in zip(strip.picture.frames, cells(decode_image(jpeg, ""), 2, 2), strict=True):
        assert cell[cell.shape[0] // 2, cell.shape[1] // 2] == pytest.approx(200 + number, abs=6)


def test_strip_shows_all_views_of_the_object_side_by_side() -> None:
    boxes = {number: square(number) for number in range(40)}
    tracks = [ObjectTrack(name="cup", view=view, boxes=boxes) for view in ("front", "wrist")]
    with closing(make_clip(Layout.parse("2x2:front,side,wrist,-"))) as clip:
        strip = object_strip(clip, tracks, [10, 30])
        image = decode_image(strip.jpeg, "")
    assert strip.picture.views == ("front", "wrist")
    assert strip.label.startswith("cup in views front, wrist, in 2 frames from 10 to 30")
    backgrounds = {
        round(int(level) / 10) * 10 for level in np.unique(image) if (image == level).sum() > image.size / 20
    }
    assert {90, 170} <= backgrounds, "front is 90 and wrist 170; side, of 130, is not shown"
    assert 130 not in backgrounds


def test_frame_without_a_box_shows_the_last_place_and_says_so() -> None:
    with closing(make_clip()) as clip:
        found = object_strip(clip, [ObjectTrack(name="cup", view="main", boxes={10: square(10), 12: square(12)})], [12])
        lost = object_strip(clip, [ObjectTrack(name="cup", view="main", boxes={10: square(10)})], [12])
        bands = [decode_image(strip.jpeg, "")[:24] for strip in (found, lost)]
    assert (bands[1] < 128).sum() > 1.5 * (bands[0] < 128).sum(), "more is written"


def test_track_without_a_box_is_refused() -> None:
    with closing(make_clip()) as clip, pytest.raises(ValueError, match="no box"):
        object_strip(clip, [ObjectTrack(name="cup", view="main", boxes={})], [12])
