import math

import cv2
import numpy as np
import pytest

from robogaze.evidence import ViewSignals
from robogaze.evidence.signals.unexplained_change import Regions
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..procedural import Take, encoded, film

_SMALL = (320, 200)
_STRONG = 11.5


def _measured(seed: int, **how: object) -> ViewSignals:
    return measured_by(Regions, encoded(film(seed, Take(frames=24, size=_SMALL, **how))))  # type: ignore[arg-type]


def _strong(found: ViewSignals) -> list[int]:
    return np.flatnonzero(found.series["turnover"] > _STRONG).tolist()


def _painted(draw: object, frames: int = 14) -> list[Image]:
    """A grained ground at rest, on which something is painted by frame."""
    rng = np.random.default_rng(5)
    ground = cv2.GaussianBlur(rng.normal(120, 60, (200, 320, 3)), (0, 0), 3)
    images = []
    for frame in range(frames):
        image = np.clip(ground, 0, 255).astype(np.uint8)
        draw(image, frame)  # type: ignore[operator]
        images.append(image)
    return encoded(images)


def _square(image: Image, x: int, y: int, colour: tuple[int, int, int], side: int = 24) -> None:
    image[y : y + side, x : x + side] = colour


def test_a_thing_that_vanishes_beside_a_moving_arm_went() -> None:
    """Where rest is asked for (`vanished`), this cannot be told."""
    found = _measured(4, speed=2.0, arm=1.5, shown=lambda frame: frame < 5)
    assert np.isnan(found.series["vanished"][5])
    assert found.series["turnover_went"][5] > _STRONG
    assert found.series["turnover_went"][5] > 3 * found.series["turnover_came"][5]
    assert 5 in found.boxes["turnover_went"]


def test_a_thing_that_appears_came() -> None:
    found = _measured(11, shown=lambda frame: frame >= 14)
    assert _strong(found) == [14]
    assert found.series["turnover_came"][14] > 3 * found.series["turnover_went"][14]
    assert found.series["turnover_moving"][14] < 2.6


def _plain(draw: object, frames: int = 14) -> list[Image]:
    """A nearly even grey ground at rest, on which something is painted by frame."""
    rng = np.random.default_rng(5)
    images = []
    for frame in range(frames):
        image = np.clip(rng.normal(95, 1, (200, 320, 3)), 0, 255).astype(np.uint8)
        draw(image, frame)  # type: ignore[operator]
        images.append(image)
    return encoded(images)


@pytest.mark.parametrize("vanishes", [True, False])
def test_what_vanishes_or_appears_on_plain_ground_is_found(vanishes: bool) -> None:
    def draw(image: Image, frame: int) -> None:
        if (frame < 7) == vanishes:
            _square(image, 150, 90, (30, 30, 32), side=18)

    found = measured_by(Regions, _plain(draw))
    assert _strong(found) == [7]
    assert np.flatnonzero(found.series["vanished" if vanishes else "appeared"] > 0).tolist() == [7]


def test_what_is_hidden_by_what_moves_over_plain_ground_is_not() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 150, 90, (30, 30, 32), side=12)
        image[:130, 100 + 12 * frame : 160 + 12 * frame] = (180, 178, 170)

    assert _strong(measured_by(Regions, _plain(draw))) == []


def test_what_comes_and_moves_on_came_as_well() -> None:
    def draw(image: Image, frame: int) -> None:
        if frame >= 6:
            _square(image, 60 + 6 * frame, 60, (200, 40, 30))
            _square(image, 66 + 6 * frame, 66, (30, 60, 220), side=10)

    found = measured_by(Regions, _painted(draw))
    assert _strong(found) == [6]
    assert found.series["turnover_moving"][6] > 2.6
    assert found.series["turnover_left"][6] > 0.88


def test_a_thing_that_jumps_has_a_pair_and_one_that_vanishes_has_none() -> None:
    jumped = _measured(11, moved=lambda frame: (0.0, 0.0) if frame < 14 else (0.2, 0.1))
    assert jumped.series["turnover_pair"][14] > 0.46
    assert jumped.series["turnover_apart"][14] == pytest.approx(math.hypot(0.2, 0.1) / math.hypot(1.6, 1), abs=0.03)
    vanished = _measured(11, shown=lambda frame: frame < 14)
    assert vanished.series["turnover_pair"][14] < 0.3


def test_the_picture_has_lost_what_vanished_and_gained_what_appeared_and_neither_of_what_jumped() -> None:
    def lost_and_gained(**how: object) -> tuple[float, float]:
        series = _measured(11, **how).series
        return series["turnover_lost"][14], series["turnover_gained"][14]

    vanished, appeared = (
        lost_and_gained(shown=shown) for shown in (lambda frame: frame < 14, lambda frame: frame > 13)
    )
    jumped = lost_and_gained(moved=lambda frame: (0.0, 0.0) if frame < 14 else (0.2, 0.1))
    assert vanished[0] > 0.6
    assert appeared[1] > 0.6
    assert max(jumped) < 0.4


def test_what_has_the_colours_of_what_moves_is_told_from_what_has_those_of_what_rests() -> None:
    def mobile(colour: tuple[int, int, int]) -> tuple[float, float]:
        def draw(image: Image, frame: int) -> None:
            _square(image, 20 + 4 * frame, 20, (200, 40, 30), side=40)
            image[20:60:6, 20 + 4 * frame : 60 + 4 * frame] = (120, 20, 20)
            if frame >= 9:
                _square(image, 220, 140, colour)

        series = measured_by(Regions, _painted(draw)).series
        assert series["turnover"][9] > _STRONG
        return series["turnover_mobile_before"][9], series["turnover_mobile_now"][9]

    before, now = mobile((200, 40, 30))
    assert before < 0.4
    assert now > 0.7
    assert mobile((20, 40, 230))[1] < 0.3, "what came and stays put is no part of what moves"


def test_a_move_that_has_only_begun_is_known_by_what_moves_later() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 20 + 60 * (frame > 2) + 4 * max(0, frame - 3), 20, (200, 40, 30), side=40)

    found = measured_by(Regions, _painted(draw)).series
    assert found["turnover"][3] > _STRONG
    assert max(found["turnover_mobile_before"][3], found["turnover_mobile_now"][3]) > 0.7


def test_a_thing_is_set_off_from_its_surroundings_and_its_empty_place_is_not() -> None:
    def rims(**how: object) -> tuple[float, float, float]:
        series = _measured(11, **how).series
        return tuple(series[f"turnover_{name}"][14] for name in ("rim_before", "rim_now", "found"))  # type: ignore[return-value]

    before, now, found = rims(shown=lambda frame: frame < 14)
    assert before > 2 * now
    assert found > 0.8, "an empty place looks like what is around it"
    before, now, found = rims(shown=lambda frame: frame > 13)
    assert now > 2 * before
    assert found < 0.3


def test_how_abruptly_a_place_is_replaced_does_not_depend_on_what_replaces_it() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 100, 80, (220, 30, 30) if frame < 6 else (20, 200, 60))

    assert measured_by(Regions, _painted(draw)).series["turnover_abrupt"][6] > 5


def test_a_thing_that_becomes_another_was_exchanged() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 100, 80, (220, 30, 30) if frame < 6 else (20, 200, 60))

    found = measured_by(Regions, _painted(draw)).series
    assert min(found["turnover_came"][6], found["turnover_went"][6]) > _STRONG
    assert min(found["turnover_rim_before"][6], found["turnover_rim_now"][6]) > 60


def test_what_vanished_and_comes_back_undoes_it() -> None:
    def draw(image: Image, frame: int) -> None:
        if not 5 <= frame < 11:
            _square(image, 100, 80, (220, 30, 30))

    found = measured_by(Regions, _painted(draw, 18))
    assert _strong(found) == [5, 11]
    assert found.series["turnover_back"][5] == 0
    assert found.series["turnover_back"][11] > 0.55


def test_a_sudden_shadow_has_no_tint_of_its_own() -> None:
    def shaded(image: Image, frame: int) -> None:
        _square(image, 100, 80, (220, 130, 60), side=30)
        if frame >= 6:
            image[80:110, 100:130] = (image[80:110, 100:130] * 0.45).astype(np.uint8)

    found = measured_by(Regions, _painted(shaded)).series
    assert found["turnover"][6] > _STRONG
    assert found["turnover_tint"][6] < 9


def test_a_thin_thing_that_grows_within_three_frames_is_a_growth_from_its_first_frame_on() -> None:
    def draw(image: Image, frame: int) -> None:
        wide = {6: 2, 7: 6}.get(frame, 8 if frame > 7 else 0)
        if wide:
            cv2.polylines(image, [np.array([[100, 150], [120, 90], [170, 60]])], False, (235, 235, 235), wide)

    found = measured_by(Regions, _painted(draw))
    frames = np.flatnonzero(found.series["growth"] > 12).tolist()
    assert frames
    assert set(frames) <= {5, 6, 7}
    assert found.series["growth_fill"][frames[0]] < 0.4


@pytest.mark.parametrize(
    "how",
    [
        {"speed": 2.0},
        {"speed": 3.5, "shutter": 3},
        {"arm": 2.2, "speed": 1.6},
        {"moved": lambda frame: (0.05 * max(0, frame - 8), 0.0)},
        {"light": lambda frame: 0.7 if frame > 14 else 1.0},
        {"camera": lambda f: (0.015 * f, 0.0, 0.2 * f, 1.0)},
    ],
    ids=["fast arm", "very fast arm", "thick arm", "thing slides out of the picture", "lamp", "pan"],
)
def test_nothing_turns_over_in_a_clean_clip(how: dict[str, object]) -> None:
    found = _measured(3, **how)
    assert _strong(found) == []


def test_a_picture_in_which_nothing_happens_measures_nothing_but_zeros() -> None:
    found = _measured(11, speed=0.0).series
    assert (found["turnover"][1:] == 0).all()
    assert (found["growth"][2:-3] == 0).all()
    assert found["stirred_usual"][3] == 0
    assert np.isnan(found["turnover_tint"]).all()


def test_what_is_replaced_in_the_first_or_last_frame_is_neither_found_nor_denied() -> None:
    def draw(image: Image, frame: int) -> None:
        if frame < 13:
            _square(image, 100, 80, (220, 30, 30))

    assert np.isnan(measured_by(Regions, _painted(draw)).series["turnover"][13])
