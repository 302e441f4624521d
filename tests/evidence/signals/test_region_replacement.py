import cv2
import numpy as np
import pytest

from robogaze.evidence import ViewSignals
from robogaze.evidence.signals.region_replacement import RegionReplacement
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..procedural import Take, encoded, film

_SMALL = (320, 200)
_STRONG = 11.5


def _measured(seed: int, **how: object) -> ViewSignals:
    return measured_by(RegionReplacement, encoded(film(seed, Take(frames=24, size=_SMALL, **how))))  # type: ignore[arg-type]


def _strong(found: ViewSignals) -> list[int]:
    return np.flatnonzero(found.series["region_replacement"] > _STRONG).tolist()


def _painted(draw: object, frames: int = 14) -> list[Image]:
    """Grained ground at rest, on which `draw` paints per frame."""
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


def test_an_object_that_vanishes_next_to_a_moving_arm_disappears() -> None:
    found = _measured(4, speed=2.0, arm=1.5, shown=lambda frame: frame < 5)
    assert found.series["region_replacement_disappeared"][5] > _STRONG
    assert found.series["region_replacement_disappeared"][5] > 3 * found.series["region_replacement_appeared"][5]
    assert 5 in found.boxes["region_replacement_disappeared"]


def test_an_object_that_appears_is_found_in_its_frame() -> None:
    found = _measured(11, shown=lambda frame: frame >= 14)
    assert _strong(found) == [14]
    assert found.series["region_replacement_appeared"][14] > 3 * found.series["region_replacement_disappeared"][14]
    assert found.series["region_replacement_motion_after"][14] < 2.6


def _plain(draw: object, frames: int = 14) -> list[Image]:
    """Almost uniform grey ground at rest, on which `draw` paints per frame."""
    rng = np.random.default_rng(5)
    images = []
    for frame in range(frames):
        image = np.clip(rng.normal(95, 1, (200, 320, 3)), 0, 255).astype(np.uint8)
        draw(image, frame)  # type: ignore[operator]
        images.append(image)
    return encoded(images)


@pytest.mark.parametrize("vanishes", [True, False])
def test_an_object_that_vanishes_or_appears_on_plain_ground_is_found(vanishes: bool) -> None:
    def draw(image: Image, frame: int) -> None:
        if (frame < 7) == vanishes:
            _square(image, 150, 90, (30, 30, 32), side=18)

    found = measured_by(RegionReplacement, _plain(draw))
    assert _strong(found) == [7]


def test_an_object_that_is_covered_on_plain_ground_is_not_found() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 150, 90, (30, 30, 32), side=12)
        image[:130, 100 + 12 * frame : 160 + 12 * frame] = (180, 178, 170)

    assert _strong(measured_by(RegionReplacement, _plain(draw))) == []


def test_an_object_that_appears_and_moves_on_is_found() -> None:
    def draw(image: Image, frame: int) -> None:
        if frame >= 6:
            _square(image, 60 + 6 * frame, 60, (200, 40, 30))
            _square(image, 66 + 6 * frame, 66, (30, 60, 220), side=10)

    found = measured_by(RegionReplacement, _painted(draw))
    assert _strong(found) == [6]
    assert found.series["region_replacement_motion_after"][6] > 2.6
    assert found.series["region_replacement_old_near"][6] > 0.88


def test_an_object_that_jumps_has_a_counterpart_and_one_that_vanishes_has_none() -> None:
    jumped = _measured(11, moved=lambda frame: (0.0, 0.0) if frame < 14 else (0.2, 0.1))
    assert jumped.series["region_replacement_counterpart"][14] > 0.46
    vanished = _measured(11, shown=lambda frame: frame < 14)
    assert vanished.series["region_replacement_counterpart"][14] < 0.3


def test_the_picture_loses_the_colours_of_what_vanishes_and_gains_those_of_what_appears() -> None:
    def lost_and_gained(**how: object) -> tuple[float, float]:
        series = _measured(11, **how).series
        return series["region_replacement_lost"][14], series["region_replacement_gained"][14]

    vanished, appeared = (
        lost_and_gained(shown=shown) for shown in (lambda frame: frame < 14, lambda frame: frame > 13)
    )
    jumped = lost_and_gained(moved=lambda frame: (0.0, 0.0) if frame < 14 else (0.2, 0.1))
    assert vanished[0] > 0.6
    assert appeared[1] > 0.6
    assert max(jumped) < 0.4


def test_the_colours_of_what_moves_differ_from_those_of_what_rests() -> None:
    def moving_colours(colour: tuple[int, int, int]) -> tuple[float, float]:
        def draw(image: Image, frame: int) -> None:
            _square(image, 20 + 4 * frame, 20, (200, 40, 30), side=40)
            image[20:60:6, 20 + 4 * frame : 60 + 4 * frame] = (120, 20, 20)
            if frame >= 9:
                _square(image, 220, 140, colour)

        series = measured_by(RegionReplacement, _painted(draw)).series
        assert series["region_replacement"][9] > _STRONG
        return series["region_replacement_moving_before"][9], series["region_replacement_moving_now"][9]

    before, now = moving_colours((200, 40, 30))
    assert before < 0.4
    assert now > 0.7
    assert moving_colours((20, 40, 230))[1] < 0.3, "an object that stays in place has not the colours of what moves"


def test_the_colours_of_what_moves_include_later_motion() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 20 + 60 * (frame > 2) + 4 * max(0, frame - 3), 20, (200, 40, 30), side=40)

    found = measured_by(RegionReplacement, _painted(draw)).series
    assert found["region_replacement"][3] > _STRONG
    assert max(found["region_replacement_moving_before"][3], found["region_replacement_moving_now"][3]) > 0.7


def test_an_object_has_contrast_with_its_surroundings_and_its_empty_place_has_none() -> None:
    def edges(**how: object) -> tuple[float, float, float]:
        series = _measured(11, **how).series
        return tuple(series[f"region_replacement_{name}"][14] for name in ("edge_before", "edge_now", "new_near"))  # type: ignore[return-value]

    before, now, found = edges(shown=lambda frame: frame < 14)
    assert before > 2 * now
    assert found > 0.8, "an empty place looks like its surroundings"
    before, now, found = edges(shown=lambda frame: frame > 13)
    assert now > 2 * before
    assert found < 0.3


def test_an_object_that_becomes_another_disappears_and_appears() -> None:
    def draw(image: Image, frame: int) -> None:
        _square(image, 100, 80, (220, 30, 30) if frame < 6 else (20, 200, 60))

    found = measured_by(RegionReplacement, _painted(draw)).series
    assert min(found["region_replacement_appeared"][6], found["region_replacement_disappeared"][6]) > _STRONG
    assert min(found["region_replacement_edge_before"][6], found["region_replacement_edge_now"][6]) > 60
    assert found["region_replacement_abruptness"][6] > 5


def test_an_object_that_vanishes_and_returns_is_a_reversal() -> None:
    def draw(image: Image, frame: int) -> None:
        if not 5 <= frame < 11:
            _square(image, 100, 80, (220, 30, 30))

    found = measured_by(RegionReplacement, _painted(draw, 18))
    assert _strong(found) == [5, 11]
    assert found.series["region_replacement_reversal"][5] == 0
    assert found.series["region_replacement_reversal"][11] > 0.55


def test_a_sudden_shadow_is_no_change_of_colour() -> None:
    def shaded(image: Image, frame: int) -> None:
        _square(image, 100, 80, (220, 130, 60), side=30)
        if frame >= 6:
            image[80:110, 100:130] = (image[80:110, 100:130] * 0.45).astype(np.uint8)

    found = measured_by(RegionReplacement, _painted(shaded)).series
    assert found["region_replacement"][6] > _STRONG
    assert found["region_replacement_colour_change"][6] < 9


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
def test_nothing_is_replaced_in_a_clean_clip(how: dict[str, object]) -> None:
    found = _measured(3, **how)
    assert _strong(found) == []


def test_a_scene_at_rest_has_no_replacement() -> None:
    found = _measured(11, speed=0.0).series
    assert (found["region_replacement"][1:] == 0).all()
    assert found["moving_share"][3] == 0
    assert np.isnan(found["region_replacement_colour_change"]).all()


def test_a_replacement_in_the_last_frame_is_undefined() -> None:
    def draw(image: Image, frame: int) -> None:
        if frame < 13:
            _square(image, 100, 80, (220, 30, 30))

    assert np.isnan(measured_by(RegionReplacement, _painted(draw)).series["region_replacement"][13])
