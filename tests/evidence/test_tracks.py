import math
from collections.abc import Callable
from functools import cache

import cv2
import numpy as np
import pytest

from robogaze.evidence import ViewSignals
from robogaze.evidence.regions import Regions
from robogaze.media.decode import Image

from .measuring import measured_by
from .procedural import Take, encoded, film

_DIAGONAL = math.hypot(320, 200)
_RED, _BLUE = (210, 40, 35), (40, 60, 210)
_BY_ITSELF = {
    "thing_born": 0.0,
    "thing_died": 0.0,
    "thing_leap": 0.0,
    "thing_split": 0.01,
    "thing_colour": 8.0,
    "thing_size": 0.25,
    "thing_shape": 0.25,
    "thing_shift": 0.01,
    "thing_rise": 0.01,
    "thing_return": 0.01,
}
"""What each signal stays at, or below, where no thing does that."""

Draw = Callable[[Image, int], None]


@cache
def _clip(draw: Draw, frames: int = 24) -> ViewSignals:
    """A grained ground at rest, on which something is painted by frame."""
    rng = np.random.default_rng(5)
    ground = cv2.GaussianBlur(rng.normal(120, 20, (200, 320, 1)), (0, 0), 3)[..., None] * (1.1, 1.0, 0.9)
    images = []
    for frame in range(frames):
        image = np.clip(ground, 0, 255).astype(np.uint8)
        draw(image, frame)
        images.append(image)
    return measured_by(Regions, encoded(images))


def _thing(
    image: Image, x: float, y: float, colour: tuple[float, ...] = _RED, side: float = 24, slant: float = 0
) -> None:
    """A square that may lean to a side, drawn to a sixteenth of a pixel."""
    half = side / 2
    corners = [(-half + slant, -half), (half + slant, -half), (half - slant, half), (-half - slant, half)]
    points = np.round((np.array(corners) + np.array([x, y])) * 16).astype(np.int32)
    cv2.fillConvexPoly(image, points, colour, cv2.LINE_AA, 4)


def _arm(image: Image, x: float, y: float) -> None:
    """A banded bar from the top, its lower end at a place."""
    for number, top in enumerate(range(int(y), -20, -12)):
        colour = ((190, 190, 195), (60, 60, 66), (120, 130, 160))[number % 3]
        cv2.rectangle(image, (int(x) - 18, max(top - 12, 0)), (int(x) + 18, max(top, 0)), colour, -1)


def _reached(found: ViewSignals) -> set[str]:
    """What things do by themselves in a clip."""
    return {name for name, most in _BY_ITSELF.items() if np.nanmax(found.series[name]) > most}


def _since(frame: int, by: float, most: float) -> float:
    """From 0 by so much a frame."""
    return min(max(frame, 0) * by, most)


def _drifts_in_colour(image: Image, frame: int) -> None:
    part = _since(frame - 8, 0.1, 1)
    _thing(image, 160, 100, tuple(one * (1 - part) + other * part for one, other in zip(_RED, _BLUE, strict=True)))


def _grows(image: Image, frame: int) -> None:
    _thing(image, 160, 100, side=24 + _since(frame - 8, 1, 12))


def _shrinks(image: Image, frame: int) -> None:
    _thing(image, 160, 100, side=24 - _since(frame - 8, 0.7, 8))


def _leans(image: Image, frame: int) -> None:
    _thing(image, 160, 100, slant=_since(frame - 8, 1, 12))


def _slides(image: Image, frame: int) -> None:
    _thing(image, 120 + _since(frame - 8, 4, 48), 100)


def _rises(image: Image, frame: int) -> None:
    _thing(image, 160, 120 - _since(frame - 8, 3, 40))


def _hops(image: Image, frame: int) -> None:
    _thing(image, 160, 120 - 2 * max(0, 8 - abs(frame - 14)))


def _splits(image: Image, frame: int) -> None:
    apart = _since(frame - 8, 2, 30)
    for side in (-1, 1):
        cv2.rectangle(
            image, (int(160 + side * (apart + 12)) - 12, 90), (int(160 + side * (apart + 12)) + 11, 110), _RED, -1
        )


def _vanishes(image: Image, frame: int) -> None:
    if frame < 12:
        _thing(image, 160, 100)


def _is_born(image: Image, frame: int) -> None:
    if frame >= 12:
        _thing(image, 160, 100)


def _leaps(image: Image, frame: int) -> None:
    _thing(image, 100 if frame < 12 else 200, 100)


@pytest.mark.parametrize(
    ("draw", "told"),
    [
        (_drifts_in_colour, {"thing_colour"}),
        (_grows, {"thing_size"}),
        (_shrinks, {"thing_size"}),
        (_leans, {"thing_shape"}),
        (_slides, {"thing_shift"}),
        (_rises, {"thing_shift", "thing_rise"}),
        (_hops, {"thing_shift", "thing_rise", "thing_return"}),
        (_vanishes, {"thing_died"}),
        (_is_born, {"thing_born"}),
        (_leaps, {"thing_leap"}),
    ],
)
def test_what_a_thing_does_by_itself_is_told_by_its_signal_alone(draw: Draw, told: set[str]) -> None:
    assert _reached(_clip(draw)) == told


def test_a_thing_that_is_of_another_colour_at_once_was_exchanged_and_did_not_drift() -> None:
    assert "thing_colour" not in _reached(
        _clip(lambda image, frame: _thing(image, 160, 100, (_RED, _BLUE)[frame >= 12]))
    )


def test_what_comes_apart_is_split_and_its_parts_shift() -> None:
    found = _clip(_splits)
    assert _reached(found) - {"thing_shift"} == {"thing_split"}
    assert np.nanmax(found.series["thing_split"]) == pytest.approx(60 / _DIAGONAL, abs=0.06)


def test_values_are_in_the_units_they_claim() -> None:
    assert np.nanmax(_clip(_slides).series["thing_shift"]) == pytest.approx(48 / _DIAGONAL, abs=0.005)
    assert np.nanmax(_clip(_rises).series["thing_rise"]) == pytest.approx(40 / _DIAGONAL, abs=0.005)
    assert np.nanmax(_clip(_grows).series["thing_size"]) == pytest.approx((36 / 24) ** 2 - 1, rel=0.2)
    assert np.nanmax(_clip(_vanishes).series["thing_died"]) == pytest.approx(24 * 24 / (320 * 200), rel=0.2)
    assert np.nanmax(_clip(_leaps).series["thing_leap"]) == pytest.approx(100 / _DIAGONAL, abs=0.01)


def test_a_value_has_its_frame_and_its_place() -> None:
    found = _clip(_vanishes)
    assert np.flatnonzero(found.series["thing_died"] > 0).tolist() == [12]
    box = found.boxes["thing_died"][12]
    assert box.left < 0.5 < box.right
    assert box.top < 0.5 < box.bottom
    assert box.right - box.left < 0.15


def test_a_thing_at_rest_does_nothing_from_the_second_frame_on() -> None:
    found = _clip(lambda image, frame: _thing(image, 160, 100), frames=12)
    assert _reached(found) == set()
    for name in _BY_ITSELF:
        assert np.isnan(found.series[name][0])
        assert np.isfinite(found.series[name][1:]).all()


def test_what_falls_needs_nobody() -> None:
    found = _clip(lambda image, frame: _thing(image, 160, 40 + min(max(frame - 6, 0) ** 2, 100)))
    assert np.nanmax(found.series["thing_shift"]) < 0.01


def test_what_comes_in_at_the_side_and_goes_out_there_is_explained_by_it() -> None:
    found = _clip(lambda image, frame: _thing(image, -30 + 16 * frame, 100))
    assert np.nanmax(found.series["thing_born_at_edge"]) > 0
    assert np.nanmax(found.series["thing_died_at_edge"]) > 0
    assert _reached(found) & {"thing_born", "thing_died"} == set()


def test_what_an_arm_covers_and_uncovers_is_explained_by_what_moves() -> None:
    def draw(image: Image, frame: int) -> None:
        _thing(image, 160, 100, side=20)
        _arm(image, 160, min(10 + 14 * frame, 150) - max(frame - 14, 0) * 14)

    found = _clip(draw, 28)
    assert np.nanmax(found.series["thing_died_beside"]) > 0
    assert np.nanmax(found.series["thing_born_beside"]) > 0
    assert _reached(found) == set()


def test_what_an_arm_carries_does_not_move_by_itself() -> None:
    def draw(image: Image, frame: int) -> None:
        along = _since(frame - 6, 4, 80)
        _thing(image, 100 + along, 120)
        _arm(image, 100 + along, 112)

    assert _reached(_clip(draw)) == set()


def test_what_an_arm_put_down_is_followed_as_soon_as_it_has_gone() -> None:
    def draw(image: Image, frame: int) -> None:
        down, up = _since(frame, 8, 80), _since(frame - 14, 8, 90)
        _thing(image, 160, 70 + down - _since(frame - 24, 3, 40))
        _arm(image, 160, 60 + down - up)

    assert "thing_rise" in _reached(_clip(draw, 40))


def test_a_shadow_that_passes_changes_nothing() -> None:
    def draw(image: Image, frame: int) -> None:
        _thing(image, 160, 100, side=30)
        left = 60 + 8 * frame
        image[:, left : left + 40] = (image[:, left : left + 40] * 0.55).astype(np.uint8)

    assert _reached(_clip(draw)) == set()


@pytest.mark.parametrize(
    "how",
    [
        {"speed": 2.0},
        {"arm": 2.2, "speed": 1.6},
        {"speed": 3.5, "shutter": 3},
        {"noise": 3.0},
        {"light": lambda frame: 0.7 if frame > 9 else 1.0},
        {"light": lambda frame: 0.8 + 0.2 * math.sin(frame / 6)},
        {"camera": lambda frame: (0.003 * frame, 0.0, 0.0, 1.0)},
    ],
    ids=["fast arm", "thick arm", "very fast arm", "noise", "lamp", "light drifts", "slow pan"],
)
def test_in_a_clean_clip_no_thing_does_anything_by_itself(how: dict[str, object]) -> None:
    images = encoded(film(3, Take(frames=18, size=(320, 200), **how)))  # type: ignore[arg-type]
    assert _reached(measured_by(Regions, images)) - {"thing_born", "thing_died"} == set()


def test_while_the_camera_moves_fast_nothing_can_be_told() -> None:
    found = measured_by(
        Regions, film(3, Take(frames=12, size=(320, 200), camera=lambda frame: (0.02 * frame, 0, 0, 1)))
    )
    assert all(np.isnan(found.series[name]).all() for name in _BY_ITSELF)
