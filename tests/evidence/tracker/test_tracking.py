"""Following an object: the error of its box, and that it is lost rather than confused with another object."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from robogaze.core.events import Box
from robogaze.evidence.tracker.tracking import FollowedObjects, TooSmall, TrackedObject, can_follow, follow
from robogaze.media.decode import Image

from .moving import FPS, HEIGHT, WIDTH, Scene, background

LINE = Scene(lambda t: (100 + 150 * t, 180))
SWING = Scene(lambda t: (120 + 200 * t, 180 + 70 * np.sin(5 * t)), kind="box")
PANNED = Scene(lambda t: (140 + 100 * t, 200), kind="plain", pan=(30, 10))
LEFT_OUT = Scene(lambda t: (100 + 100 * t, 180) if not 0.6 <= t < 1.0 else None, seconds=1.5)
ELSEWHERE = Scene(lambda t: (120, 180) if t < 0.8 else (480, 90), seconds=1.5)


@cache
def tracked(scene: Scene, start: int = 0, grown: float = 1.1) -> TrackedObject:
    frames = scene.frames()
    return follow(lambda place: frames[place], len(frames), start, scene.box(start, grown))


def errors_px(scene: Scene, track: TrackedObject) -> list[float]:
    """The distance between the centres of box and object, for every frame that has both."""
    pairs = [(place, scene.truth(number)) for number, place in enumerate(track.places)]
    return [
        float(np.hypot(place.middle[0] * WIDTH - truth[0], place.middle[1] * HEIGHT - truth[1]))
        for place, truth in pairs
        if place is not None and truth is not None
    ]


@pytest.mark.parametrize("scene", [LINE, SWING, PANNED], ids=["line", "swing", "panned"])
def test_the_box_stays_within_four_pixels_and_usually_within_one(scene: Scene) -> None:
    found = errors_px(scene, tracked(scene))
    assert len(found) == len(scene.times_s)
    assert np.median(found) < 1
    assert max(found) < 4


def test_a_box_that_is_too_large_is_followed() -> None:
    assert np.median(errors_px(LINE, tracked(LINE, grown=1.25))) < 2


def test_an_object_is_followed_backward_and_forward() -> None:
    found = errors_px(LINE, tracked(LINE, start=16))
    assert len(found) == len(LINE.times_s)
    assert max(found) < 4


def test_an_absent_object_is_lost_and_found_again() -> None:
    track = tracked(LEFT_OUT)
    there = [LEFT_OUT.truth(number) is not None for number in range(len(LEFT_OUT.times_s))]
    assert [place is not None for place in track.places] == there
    assert max(errors_px(LEFT_OUT, track)) < 4


def test_an_object_that_jumps_is_found_in_the_whole_picture() -> None:
    track = tracked(ELSEWHERE)
    onset = next(number for number, time_s in enumerate(ELSEWHERE.times_s) if time_s >= 0.8)
    assert [number for number, place in enumerate(track.places) if place is not None and place.searched] == [onset]
    assert max(errors_px(ELSEWHERE, track)) < 4


def test_of_two_similar_objects_none_replaces_the_one_that_vanished() -> None:
    def doubled(time_s: float) -> Sequence[tuple[float, float]]:
        return [(120.0, 100.0)] if time_s < 0.5 else [(300.0, 100.0), (480.0, 260.0)]

    frames = _with_copies(doubled)
    track = follow(lambda place: frames[place], len(frames), 0, LINE_BOX)
    assert [place is not None for place in track.places] == [time_s < 0.5 for time_s in TIMES_S]


TIMES_S = tuple(number / FPS for number in range(12))
LINE_BOX = Scene(lambda t: (120.0, 100.0)).box(0)


def _with_copies(places: object) -> list[Image]:
    frames = []
    for time_s in TIMES_S:
        canvas: Image = background(np.random.default_rng(0))[100 : 100 + HEIGHT, 100 : 100 + WIDTH].copy()
        for x, y in places(time_s):  # type: ignore[operator]
            rows, columns = np.ogrid[:HEIGHT, :WIDTH]
            canvas[(columns - x) ** 2 + (rows - y) ** 2 < 22**2] = (30, 60, 220)
        frames.append(canvas)
    return frames


def test_camera_motion_is_separated_from_object_motion() -> None:
    camera_px = tracked(PANNED).camera * [WIDTH, HEIGHT]
    assert camera_px == pytest.approx(np.tile([30 / FPS, 10 / FPS], (len(camera_px), 1)), abs=0.15)


def test_camera_motion_is_unknown_with_a_plain_background() -> None:
    rows, columns = np.ogrid[:HEIGHT, :WIDTH]
    frames = []
    for number in range(4):
        frame = np.full((HEIGHT, WIDTH, 3), 120, dtype=np.uint8)
        frame[(columns - 100 - 5 * number) ** 2 + (rows - 100) ** 2 < 400] = (200, 40, 40)
        frames.append(frame)
    box = Box(left=78 / WIDTH, top=78 / HEIGHT, right=122 / WIDTH, bottom=122 / HEIGHT)
    track = follow(lambda place: frames[place], 4, 0, box)
    assert np.isnan(track.camera).all()
    assert all(place is not None for place in track.places)


# Several objects together, on smaller pictures.

SLOW = Scene(lambda t: (300 + 10 * t, 180), seconds=3)
RESTS = Scene(lambda t: (300, 180) if t < 1 else (300 + 150 * (t - 1), 180))


def followed(scene: Scene) -> list[float | None]:
    """The distance of the box from the object in each frame, in pixels of the view; None where it is not found."""
    objects = FollowedObjects([scene.box(0, 1.1)], side_px=320)
    errors: list[float | None] = []
    for number, frame in enumerate(scene.frames()):
        (place,), truth = objects.next(frame), scene.truth(number)
        at = None if place is None or truth is None else (place.middle[0] * WIDTH, place.middle[1] * HEIGHT)
        errors.append(None if at is None or truth is None else float(np.hypot(at[0] - truth[0], at[1] - truth[1])))
    return errors


@pytest.mark.parametrize("scene", [LINE, SWING, PANNED, SLOW, RESTS], ids=["line", "swing", "panned", "slow", "rests"])
def test_an_object_followed_with_others_has_its_box_in_every_frame(scene: Scene) -> None:
    errors = [error for error in followed(scene) if error is not None]
    assert len(errors) == len(scene.times_s)
    assert max(errors) < 8


def test_an_object_that_is_lost_is_found_again_within_half_a_second() -> None:
    found = [error is not None for error in followed(LEFT_OUT)]
    there = [LEFT_OUT.truth(number) is not None for number in range(len(LEFT_OUT.times_s))]
    again = max(number for number, is_there in enumerate(there) if not is_there) + 1
    assert found[: again - 7] == there[: again - 7]
    assert all(found[again + 8 :])


def test_whether_a_box_can_be_followed_depends_on_the_working_picture() -> None:
    image = np.zeros((360, 640, 3), dtype=np.uint8)
    box = Box(left=0.5, top=0.5, right=0.515, bottom=0.6)
    assert can_follow(box, image)
    assert not can_follow(box, image, side_px=320)
    with pytest.raises(TooSmall, match="cannot be followed"):
        FollowedObjects([box], side_px=320).next(image)
