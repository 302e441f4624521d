"""The area that no motion explains."""

from collections.abc import Callable

import numpy as np
import pytest

from robogaze.evidence.signals.unexplained_change import UnexplainedChange

from ..measuring import measured_by
from ..planted import flooded
from ..procedural import Take, encoded, film

_SMALL = (320, 200)


def test_a_picture_under_64_px_is_undefined() -> None:
    images = [np.ascontiguousarray(image[:60, :60]) for image in film(2, Take(frames=8, size=_SMALL))]
    assert all(np.isnan(series).all() for series in measured_by(UnexplainedChange, images).series.values())


def test_half_of_the_picture_replaced_is_half_unexplained_and_spread_over_two_thirds() -> None:
    images = encoded(flooded(film(2, Take(frames=12, size=_SMALL)), 6, 12, 0.5))
    series = measured_by(UnexplainedChange, images).series
    assert series["unexplained_change"][6] == pytest.approx(0.5, abs=0.05)
    assert series["unexplained_spread"][6] == pytest.approx(6 / 9)
    assert np.delete(series["unexplained_change"], [0, 6]).max() < 0.1


@pytest.mark.parametrize(
    "how", [{"speed": 2.0}, {"camera": lambda f: (0.015 * f, 0.0, 0.2 * f, 1.0)}], ids=["arm", "pan"]
)
def test_motion_of_an_arm_and_of_the_camera_is_explained(how: dict[str, object]) -> None:
    images = encoded(film(3, Take(frames=12, size=_SMALL, **how)))  # type: ignore[arg-type]
    assert np.nanmax(measured_by(UnexplainedChange, images).series["unexplained_change"]) < 0.1


@pytest.mark.parametrize("change", [lambda i: 0.6 * i, lambda i: 130 + 0.2 * (i - 130.0)], ids=["lamp", "fog"])
def test_a_change_of_light_is_explained(change: Callable[[np.ndarray], np.ndarray]) -> None:
    images = film(2, Take(frames=12, size=_SMALL))
    images[6:] = [np.round(change(image)).astype(np.uint8) for image in images[6:]]
    assert np.nanmax(measured_by(UnexplainedChange, encoded(images)).series["unexplained_change"]) < 0.05


def test_after_a_cut_most_of_the_picture_is_unexplained() -> None:
    images = [*film(1, Take(frames=8, size=_SMALL)), *film(2, Take(frames=8, size=_SMALL))]
    series = measured_by(UnexplainedChange, images).series
    assert int(np.nanargmax(series["unexplained_change"])) == 8
    assert series["unexplained_change"][8] > 0.4
    assert series["unexplained_spread"][8] > 0.8
