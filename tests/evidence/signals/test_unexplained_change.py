import math
from collections.abc import Callable

import numpy as np
import pytest

from robogaze.evidence import ViewSignals
from robogaze.evidence.signals.unexplained_change import Regions

from ..measuring import measured_by
from ..planted import flooded
from ..procedural import Take, encoded, film, victim_place

_SMALL = (320, 200)
_SEED = 11  # its victim is never covered by the arm


def _regions(seed: int = _SEED, **how: object) -> ViewSignals:
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


def test_where_nothing_is_replaced_nothing_popped_up_to_the_ends_of_the_clip() -> None:
    found = _regions(speed=0.0)
    for name in ("appeared", "vanished", "pair_similarity", "jump"):
        assert np.isnan(found.series[name][0])
        assert (found.series[name][1:] == 0).all()


@pytest.mark.parametrize("frame", [1, 2, 22, 23])
def test_what_appears_at_an_end_of_the_clip_is_neither_found_nor_denied(frame: int) -> None:
    found = _regions(speed=0.0, shown=lambda number: number >= frame)
    assert np.flatnonzero(np.isnan(found.series["appeared"])).tolist() == [0, frame]
    assert _frames(found.series["appeared"]) == []


def test_what_vanishes_beside_the_moving_arm_is_neither_found_nor_denied() -> None:
    """The arm of this clip leaves the thing at frame 6."""
    take = {"speed": 2.0, "arm": 1.5}
    beside = _regions(4, **take, shown=lambda frame: frame < 5).series["vanished"]
    assert np.isnan(beside[5])
    apart = _regions(4, **take, shown=lambda frame: frame < 9).series["vanished"]
    assert apart[9] == pytest.approx(0.006, abs=0.001)


def test_of_a_pair_that_looks_the_same_one_may_be_beside_the_arm() -> None:
    """It tells a jump from a thing that appears, which the other alone would be."""
    found = _regions(4, speed=2.0, arm=1.5, moved=lambda frame: (0.0, 0.0) if frame < 5 else (-0.4, 0.0))
    assert np.isnan(found.series["vanished"][5])
    assert found.series["appeared"][5] > 0
    assert found.series["pair_similarity"][5] > 0.4
    assert found.series["jump"][5] == pytest.approx(0.4 / math.hypot(1.6, 1), abs=0.01)


def test_a_large_part_that_is_replaced_is_no_thing_and_not_denied_either() -> None:
    images = encoded(flooded(film(2, Take(frames=12, size=_SMALL, speed=0.0)), 6, 12, 0.2))
    found = measured_by(Regions, images).series
    assert np.isnan([found["appeared"][6], found["vanished"][6]]).any()
    assert found["unexplained"][6] == pytest.approx(0.2, abs=0.05)


def test_a_picture_too_small_for_regions_tells_nothing() -> None:
    images = [np.ascontiguousarray(image[:60, :60]) for image in film(2, Take(frames=8, size=_SMALL))]
    assert all(np.isnan(series).all() for series in measured_by(Regions, images).series.values())


def test_half_of_the_picture_replaced_is_half_unexplained_and_spread_over_two_thirds() -> None:
    images = encoded(flooded(film(2, Take(frames=12, size=_SMALL)), 6, 12, 0.5))
    found = measured_by(Regions, images).series
    assert found["unexplained"][6] == pytest.approx(0.5, abs=0.05)
    assert found["unexplained_spread"][6] == pytest.approx(6 / 9)
    assert np.delete(found["unexplained"], [0, 6]).max() < 0.1


@pytest.mark.parametrize("change", [lambda i: 0.6 * i, lambda i: 130 + 0.2 * (i - 130.0)], ids=["lamp", "fog"])
def test_a_change_of_light_is_explained(change: Callable[[np.ndarray], np.ndarray]) -> None:
    images = film(2, Take(frames=12, size=_SMALL))
    images[6:] = [np.round(change(image)).astype(np.uint8) for image in images[6:]]
    assert np.nanmax(measured_by(Regions, encoded(images)).series["unexplained"]) < 0.05


def test_after_a_cut_most_of_the_picture_is_unexplained() -> None:
    images = [*film(1, Take(frames=8, size=_SMALL)), *film(2, Take(frames=8, size=_SMALL))]
    series = measured_by(Regions, images).series
    assert int(np.nanargmax(series["unexplained"])) == 8
    assert series["unexplained"][8] > 0.4
    assert series["unexplained_rise"][8] > 0.4
    assert series["unexplained_spread"][8] > 0.8
