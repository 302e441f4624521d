import math

import numpy as np
import pytest

from robogaze.evidence import Measured
from robogaze.evidence.regions import Regions

from .measuring import measured_by
from .procedural import Take, encoded, film, victim_place

_SMALL = (320, 200)
_SEED = 11  # its victim is never covered by the arm


def _regions(seed: int = _SEED, **how: object) -> Measured:
    return measured_by(Regions, encoded(film(seed, Take(frames=24, size=_SMALL, **how))))  # type: ignore[arg-type]


def _frames(series: np.ndarray) -> list[int]:
    return np.flatnonzero(series > 0).tolist()


def test_a_thing_that_appears_is_found_in_its_frame_and_place() -> None:
    found = _regions(shown=lambda frame: frame >= 14)
    assert _frames(found.series["appeared"]) == [14]
    assert _frames(found.series["vanished"]) == []
    x, y = victim_place(_SEED, Take(size=_SMALL))
    box = found.boxes["appeared"][14]
    assert box.left < x < box.right
    assert box.top < y < box.bottom


def test_a_thing_that_vanishes_is_found_and_not_taken_for_an_appearance() -> None:
    found = _regions(shown=lambda frame: frame < 14)
    assert _frames(found.series["vanished"]) == [14]
    assert _frames(found.series["appeared"]) == []
    assert found.series["pop_contrast"][14] > 20


def test_a_thing_that_jumps_is_a_pair_that_looks_the_same() -> None:
    found = _regions(moved=lambda frame: (0.0, 0.0) if frame < 14 else (0.2, 0.1))
    assert found.series["pair_similarity"][14] > 0.4
    assert found.series["jump"][14] == pytest.approx(math.hypot(0.2, 0.1) / math.hypot(1.6, 1), abs=0.02)


def test_a_moving_camera_does_not_hide_that_a_thing_vanishes() -> None:
    found = _regions(shown=lambda frame: frame < 14, camera=lambda f: (0.01 * f, 0.005 * f, 0.1 * f, 1.0))
    assert _frames(found.series["vanished"]) == [14]


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
def test_nothing_pops_in_a_clean_clip(how: dict[str, object]) -> None:
    found = _regions(3, **how)
    assert _frames(found.series["appeared"]) == []
    assert _frames(found.series["vanished"]) == []


def test_after_a_cut_most_of_the_picture_is_unexplained() -> None:
    images = [*film(1, Take(frames=8, size=_SMALL)), *film(2, Take(frames=8, size=_SMALL))]
    series = measured_by(Regions, images).series
    assert int(np.nanargmax(series["unexplained"])) == 8
    assert series["unexplained"][8] > 0.45
    assert series["unexplained_rise"][8] > 0.4
