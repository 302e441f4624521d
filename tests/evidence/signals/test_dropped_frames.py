"""What gets ahead at once, beside what moves fast, starts, or is replaced."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from robogaze.evidence.base import Series
from robogaze.evidence.signals.unexplained_change import Regions
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..procedural import Take, encoded, film

_LARGE = 0.4


def _surge(images: list[Image]) -> Series:
    return measured_by(Regions, images).series["surge"]


def _large(series: Series) -> list[int]:
    return np.flatnonzero(series > _LARGE).tolist()


def _bar_at(right: Callable[[int], float], frames: int = 20, square: Callable[[int], bool] = lambda _: False) -> Series:
    """A bar that moves over a grained ground; and a square that is shown in some of the frames."""
    rng = np.random.default_rng(3)
    ground = np.clip(cv2.GaussianBlur(rng.normal(120, 60, (200, 320, 3)), (0, 0), 3), 0, 255).astype(np.uint8)
    images = []
    for frame in range(frames):
        image = ground.copy()
        left = round(right(frame))
        image[30:150, left : left + 20] = (200, 40, 30)
        if square(frame):
            image[160:190, 30:60] = (30, 60, 220)
        images.append(image)
    return _surge(encoded(images))


def test_where_frames_were_left_out_all_that_moves_is_elsewhere_at_once() -> None:
    series = _bar_at(lambda frame: 20 + 5 * (frame + 12 * (frame >= 10)))
    assert _large(series) == [10]


@pytest.mark.parametrize("seed", range(3))
def test_an_arm_that_moves_fast_does_so_before_and_after_too(seed: int) -> None:
    assert _large(_surge(encoded(film(seed, Take(frames=30, size=(320, 200), speed=2))))) == []


def test_what_starts_to_move_at_full_speed_goes_on_so() -> None:
    assert _large(_bar_at(lambda frame: 20 + 9 * max(0, frame - 9))) == []


def test_what_comes_beside_something_that_moves_leaves_it_where_it_was() -> None:
    series = _bar_at(lambda frame: 20 + 2 * frame, square=lambda frame: frame >= 10)
    assert _large(series) == []


def test_a_scene_at_rest_has_no_surge() -> None:
    assert _large(_bar_at(lambda _: 100)) == []


def test_a_step_without_another_on_each_side_is_not_told() -> None:
    series = _bar_at(lambda frame: 20 + 5 * frame, frames=6)
    assert np.flatnonzero(np.isnan(series)).tolist() == [0, 1, 5]
    assert np.isnan(_bar_at(lambda _: 20, frames=2)).all()
