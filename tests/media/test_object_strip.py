"""Object strips: the object in each frame, at one size."""

from collections.abc import Mapping, Sequence
from contextlib import closing

import numpy as np
import pytest

from robogaze.core.clip import Layout
from robogaze.core.context import ObjectTrack
from robogaze.media import DecodedClip
from robogaze.media.compose import decode_image
from robogaze.media.decode import Image
from robogaze.media.object_strip import object_strips

from .test_claim_sheet import cells, make_clip, square


def test_strip_shows_the_object_in_each_frame() -> None:
    track = ObjectTrack(name="the cup", view="main", boxes={number: square(number) for number in range(40)})
    with closing(make_clip()) as clip:
        (strip,) = object_strips(clip, [[track]], [30, 10, 20, 25])
        jpeg = strip.jpeg
    assert strip.picture.frames == (10, 20, 25, 30)
    assert strip.label.startswith("the cup in view main, in 4 frames from 10 to 30")
    for number, cell in zip(strip.picture.frames, cells(decode_image(jpeg, ""), 2, 2), strict=True):
        assert cell[cell.shape[0] // 2, cell.shape[1] // 2] == pytest.approx(200 + number, abs=6)


def test_strip_shows_all_views_of_the_object_side_by_side() -> None:
    boxes = {number: square(number) for number in range(40)}
    tracks = [ObjectTrack(name="cup", view=view, boxes=boxes) for view in ("front", "wrist")]
    with closing(make_clip(Layout.parse("2x2:front,side,wrist,-"))) as clip:
        (strip,) = object_strips(clip, [tracks], [10, 30])
        image = decode_image(strip.jpeg, "")
    assert strip.picture.views == ("front", "wrist")
    assert strip.label.startswith("cup in views front, wrist, in 2 frames from 10 to 30")
    backgrounds = {
        round(int(level) / 10) * 10 for level in np.unique(image) if (image == level).sum() > image.size / 20
    }
    assert {90, 170} <= backgrounds, "front is 90 and wrist 170; side, of 130, is not shown"
    assert 130 not in backgrounds


def test_frame_without_a_box_shows_the_last_place_and_says_so() -> None:
    followed = ObjectTrack(name="cup", view="main", boxes={10: square(10), 12: square(12)})
    with closing(make_clip()) as clip:
        strips = object_strips(clip, [[followed], [followed.with_(boxes={10: square(10)})]], [12])
        bands = [decode_image(strip.jpeg, "")[:24] for strip in strips]
    assert (bands[1] < 128).sum() > 1.5 * (bands[0] < 128).sum(), "more is written"


def test_originals_are_read_once_for_all_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Sequence[int]] = []
    originals = DecodedClip.originals

    def recorded(clip: DecodedClip, numbers: Sequence[int]) -> Mapping[int, tuple[Image, ...]]:
        read.append(numbers)
        return originals(clip, numbers)

    monkeypatch.setattr(DecodedClip, "originals", recorded)
    tracks = [[ObjectTrack(name=name, view="main", boxes={0: square(0)})] for name in ("cup", "pot")]
    with closing(make_clip()) as clip:
        assert len(object_strips(clip, tracks, [3, 1])) == 2
        assert object_strips(clip, [], [3, 1]) == ()
    assert read == [[1, 3]]


def test_track_without_a_box_is_refused() -> None:
    with closing(make_clip()) as clip, pytest.raises(ValueError, match="no box"):
        object_strips(clip, [[ObjectTrack(name="cup", view="main", boxes={})]], [12])
