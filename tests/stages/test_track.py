"""The stage track: boxes in the first frame become boxes over the clip; what cannot be followed is said."""

from collections.abc import Sequence
from contextlib import closing

import numpy as np
import pytest
from evidence.tracker.moving import FPS, HEIGHT, WIDTH, Scene
from making import make_clip

from robogaze.core.clip import Layout
from robogaze.core.context import ObjectTrack
from robogaze.core.events import Box
from robogaze.core.pictures import PictureSettings
from robogaze.domains import Domain
from robogaze.media import DecodedClip
from robogaze.stages.client import ModelClient
from robogaze.stages.context import Context
from robogaze.stages.track import Track, working_side_px

MOVING = Scene(lambda t: (120 + 150 * t, 180))
GOES = Scene(lambda t: (120 + 100 * t, 180) if t < 1 else None)
BALL_PX = 44


def ball(scene: Scene, number: int = 0) -> Box:
    """The box of the ball."""
    at = scene.truth(number)
    assert at is not None
    (x, y), half = at, BALL_PX / 2
    return Box(left=(x - half) / WIDTH, top=(y - half) / HEIGHT, right=(x + half) / WIDTH, bottom=(y + half) / HEIGHT)


def located(name: str, box: Box, view: str = "main") -> ObjectTrack:
    return ObjectTrack(name=name, view=view, boxes={0: box})


async def tracked(
    robot: Domain,
    scenes: Sequence[Scene],
    tracks: Sequence[ObjectTrack],
    views: tuple[str, ...] = ("main",),
) -> Context:
    """The context after the stage; each view shows a scene."""
    layout = Layout(rows=1, columns=len(views), views=views)
    count = len(scenes[0].times_s)
    clip = make_clip(count / FPS, width=WIDTH * len(views), height=HEIGHT, layout=layout)
    with closing(DecodedClip(layout, PictureSettings())) as decoded:
        for time_s, *shown in zip(clip.frame_times_s, *(scene.frames() for scene in scenes), strict=True):
            decoded.add_frame(time_s, shown)
        decoded.duration_s = clip.duration_s
        client = ModelClient(robot, clip, decoded, None)
        before = Context(clip=clip, dimensions=(), tracks=tuple(tracks), notes=("before",))
        after = await Track().run(before, client)
    assert client.calls == []
    assert after.notes[0] == "before"
    return after


def off(track: ObjectTrack, scene: Scene) -> float:
    """The largest distance of a box from the ball, as a share of the ball's size."""
    away = [
        np.hypot((box.left + box.right) / 2 * WIDTH - at[0], (box.top + box.bottom) / 2 * HEIGHT - at[1])
        for number, box in track.boxes.items()
        if (at := scene.truth(number)) is not None
    ]
    return float(max(away)) / BALL_PX


async def test_object_has_a_box_in_every_frame(robot: Domain) -> None:
    after = await tracked(robot, [MOVING], [located("the ball", ball(MOVING))])
    assert after.tracks is not None
    (track,) = after.tracks
    assert list(track.boxes) == list(range(len(MOVING.times_s)))
    assert off(track, MOVING) < 0.2
    assert after.notes == ("before",)


async def test_objects_of_several_views_are_followed_in_their_views(robot: Domain) -> None:
    other = Scene(lambda t: (500 - 150 * t, 120), seed=1)
    tracks = [
        located("a", ball(MOVING), "left"),
        located("b", ball(other), "right"),
        located("c", ball(MOVING), "left"),
    ]
    after = await tracked(robot, [MOVING, other], tracks, ("left", "right"))
    assert after.tracks is not None
    assert [track.name for track in after.tracks] == ["a", "b", "c"]
    for track, scene in zip(after.tracks, (MOVING, other, MOVING), strict=True):
        assert len(track.boxes) == len(scene.times_s)
        assert off(track, scene) < 0.2


async def test_lost_object_keeps_the_frames_found_and_a_note_says_so(robot: Domain) -> None:
    after = await tracked(robot, [GOES], [located("the ball", ball(GOES))])
    assert after.tracks is not None
    (track,) = after.tracks
    assert list(track.boxes) == list(range(16))
    (note,) = after.notes[1:]
    assert note == "Not followed through the whole clip: the ball in main (found in 16 of 32 frames, last at 0.94 s)."


async def test_objects_that_cannot_be_followed_keep_their_box_and_a_note_says_why(
    robot: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robogaze.stages.track.MOST_OBJECTS", 1)
    tiny = Box(left=0.5, top=0.5, right=0.505, bottom=0.505)
    later = ObjectTrack(name="later", view="main", boxes={3: tiny})
    tracks = [located("tiny", tiny), later, located("ball", ball(MOVING)), located("again", ball(MOVING))]
    after = await tracked(robot, [MOVING], tracks)
    assert after.tracks is not None
    assert [len(track.boxes) for track in after.tracks] == [1, 1, len(MOVING.times_s), 1]
    assert after.notes[1:] == (
        "Not followed through the whole clip: tiny in main (too small); "
        "later in main (no box in the first frame); again in main (at most 1 objects are followed).",
    )


@pytest.mark.parametrize(
    ("width", "height", "side_px"),
    [
        (0.3, 0.3, 320),  # 96 px of 320 are not large
        (0.4, 0.4, 160),
        (1.0, 0.7, 80),
        (1.0, 0.05, 320),  # a long thin arm would be too thin to follow
    ],
)
def test_large_objects_are_followed_in_smaller_pictures(width: float, height: float, side_px: int) -> None:
    box = Box(left=0, top=0, right=width, bottom=height)
    assert working_side_px(box, np.zeros((480, 640, 3), dtype=np.uint8)) == side_px


async def test_an_object_counts_once_however_many_views_it_is_in(
    robot: Domain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robogaze.stages.track.MOST_OBJECTS", 1)
    tracks = [located(name, ball(MOVING), view) for name in ("ball", "other") for view in ("left", "right")]
    after = await tracked(robot, [MOVING, MOVING], tracks, ("left", "right"))
    assert after.tracks is not None
    assert [len(track.boxes) for track in after.tracks] == [32, 32, 1, 1]


async def test_without_a_located_object_nothing_is_read(robot: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    monkeypatch.setattr(DecodedClip, "views", lambda clip, number: read.append(number))
    after = await tracked(robot, [MOVING], [])
    assert (after.tracks, after.notes, read) == ((), ("before",), [])
