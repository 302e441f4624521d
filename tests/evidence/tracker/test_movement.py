"""What each flag finds and what it ignores.

Tracks are written out here. `python -m tests.evidence.tracker.flags` prints how often flags are right on drawn clips
(docs/tools.md).
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from robogaze.core.events import Box
from robogaze.evidence.tracker.movement import BURST, JUMP, MOVING, SHAKE, STILL_S, Flag, Movement, movement
from robogaze.evidence.tracker.tracking import ObjectPlace, TrackedObject, follow

from .motions import drawn
from .moving import DIAGONAL_PX, FPS, HEIGHT, WIDTH

Point = tuple[float, float]
SECONDS = 2.0
TIMES_S = np.arange(round(SECONDS * FPS)) / FPS
D = DIAGONAL_PX


def moved(path: Callable[[float], Point | None], camera: Sequence[Point] | None = None) -> Movement:
    """The movement of an object whose centre is known exactly, in pixels."""
    places = [_place(path(float(time_s))) for time_s in TIMES_S]
    shifts = np.zeros((len(TIMES_S) - 1, 2)) if camera is None else np.array(camera) / [WIDTH, HEIGHT]
    return movement(TrackedObject(tuple(places), shifts, WIDTH, HEIGHT), TIMES_S)


def _place(at: Point | None) -> ObjectPlace | None:
    box = Box(left=0.1, top=0.1, right=0.2, bottom=0.2)
    return None if at is None else ObjectPlace(box, (at[0] / WIDTH, at[1] / HEIGHT), 0.0)


def kinds(moves: Movement) -> list[str]:
    return [flag.kind for flag in moves.flags]


@pytest.mark.parametrize(
    "path",
    [
        lambda t: (100 + 150 * t, 100),
        lambda t: (100, 100),
        lambda t: (300 + 100 * np.cos(4 * t), 150 + 100 * np.sin(4 * t)),
        lambda t: (100, min(50 + 450 * t * t, 300)),
        lambda t: (100 + 80 * t, 300 - 150 * abs(np.sin(4 * t))),
    ],
    ids=["line", "rest", "circle", "fall to the floor", "bounces"],
)
def test_usual_motion_raises_no_flag(path: Callable[[float], Point]) -> None:
    assert moved(path).flags == ()


def test_speed_is_in_diagonals_per_second() -> None:
    assert moved(lambda t: (100 + 0.2 * D * t, 100)).speeds == pytest.approx([0.2] * (len(TIMES_S) - 1))


@pytest.mark.parametrize(("share", "flags"), [(1.2, ["jump"]), (0.8, [])])
def test_a_jump_is_a_step_away_from_the_motion_before_and_after(share: float, flags: list[str]) -> None:
    moves = moved(lambda t: (100 + 150 * t, 100 + (share * JUMP * D if t >= 1 else 0)))
    assert kinds(moves) == flags
    if flags:
        assert moves.flags == (Flag("jump", 15, 16, pytest.approx(share * JUMP)),)


def test_fast_motion_is_no_jump() -> None:
    assert moved(lambda t: (20 + 1.5 * JUMP * D * FPS * t, 100)).flags == ()


def test_an_object_that_is_hidden_and_continues_does_not_jump() -> None:
    assert moved(lambda t: (100 + 200 * t, 100) if not 0.8 < t < 1.2 else None).flags == ()


def test_an_object_that_is_elsewhere_after_a_short_absence_jumps() -> None:
    moves = moved(lambda t: (100.0, 100.0) if t < 0.8 else None if t < 1.1 else (300.0, 100.0))
    assert kinds(moves) == ["jump"]
    assert moves.missing == ((moves.flags[0].first + 1, moves.flags[0].last),)


def test_an_object_that_was_missing_for_long_does_not_jump() -> None:
    assert moved(lambda t: (100.0, 100.0) if t < 0.6 else None if t < 1.3 else (300.0, 100.0)).flags == ()


def test_an_object_that_was_missing_for_long_did_not_rest() -> None:
    moves = moved(lambda t: (100.0, 100.0) if not 0.5 < t < 1.3 else None)
    assert [end - first for first, end in moves.rests] == [9, 11]


def held(speed: float, start: float, seconds: float) -> Callable[[float], Point]:
    return lambda t: (100 + speed * D * (t if t < start else max(start, t - seconds)), 100)


@pytest.mark.parametrize(
    ("speed", "seconds", "flags"), [(2 * MOVING, 2 * STILL_S, ["still"]), (0.5 * MOVING, 2 * STILL_S, [])]
)
def test_a_sudden_stop_with_the_same_motion_after_it_is_flagged(speed: float, seconds: float, flags: list[str]) -> None:
    assert kinds(moved(held(speed, 0.8, seconds))) == flags


def test_a_short_stop_is_not_flagged() -> None:
    assert moved(held(0.3, 0.8, STILL_S - 2 / FPS)).flags == ()


def test_a_stop_with_another_motion_after_it_is_a_rest_without_a_flag() -> None:
    moves = moved(lambda t: (100 + 150 * min(t, 0.8), 100 + 150 * max(0.0, t - 1.4)))
    assert moves.flags == ()
    assert len(moves.rests) == 1


@pytest.mark.parametrize(("speed", "flags"), [(1.2 * BURST, ["burst"]), (0.8 * BURST, [])])
def test_a_burst_is_a_gain_of_speed_that_lasts(speed: float, flags: list[str]) -> None:
    moves = moved(lambda t: (100, 340 - speed * D * max(0.0, t - 1)))
    assert kinds(moves) == flags


def test_a_sudden_stop_is_no_burst() -> None:
    assert moved(lambda t: (20 + 1.5 * BURST * D * min(t, 0.5), 100)).flags == ()


@pytest.mark.parametrize(("wide", "flags"), [(2 * SHAKE, ["shake"]), (0.3 * SHAKE, [])])
def test_turning_back_at_every_step_is_shaking(wide: float, flags: list[str]) -> None:
    moves = moved(lambda t: (100, 100 + (wide * D / 2) * (-1) ** round(t * FPS) if 0.5 <= t < 1.5 else 100))
    assert kinds(moves) == flags


def test_motion_is_relative_to_the_background() -> None:
    step = 0.3 * D / FPS
    moves = moved(lambda t: (300, 100), camera=[(-step, 0.0)] * (len(TIMES_S) - 1))
    assert moves.speeds == pytest.approx([0.3] * (len(TIMES_S) - 1))
    assert (moves.compensated, moves.rests) == (1.0, ())


def test_with_an_unknown_camera_motion_is_that_in_the_picture() -> None:
    moves = moved(lambda t: (300, 100), camera=[(math.nan, math.nan)] * (len(TIMES_S) - 1))
    assert (moves.compensated, moves.rests) == (0.0, ((0, len(TIMES_S)),))


def test_an_object_found_once_has_no_motion() -> None:
    moves = moved(lambda t: (300, 100) if t == 0 else None)
    assert (moves.frames, moves.speeds, moves.flags) == ((0,), (), ())
    assert math.isnan(moves.compensated)


@pytest.mark.parametrize("kind", ["", "jump", "still", "burst", "shake"])
def test_a_synthetic_clip_raises_its_flag_and_no_other(kind: str) -> None:
    """From pictures to flags, on one clip of each kind; the table in docs/tools.md has many."""
    scene = next(scene for drawn_kind, name, scene in drawn(1, seed=3) if (drawn_kind, name) == (kind, "line"))
    frames = scene.frames()
    track = follow(lambda place: frames[place], len(frames), 0, scene.box(0, 1.1))
    raised = [flag.kind for flag in movement(track, np.array(scene.times_s)).flags]
    assert raised == ([kind] if kind else [])
