"""Dropped frames, compared with fast motion, sudden starts and replaced objects."""

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from robogaze.evidence.base import Series
from robogaze.evidence.signals.dropped_frames import DroppedFrames
from robogaze.media.decode import Image

from ..measuring import measured_by
from ..procedural import Take, encoded, film

_LARGE = 0.4


def _dropped_frames(images: list[Image]) -> Series:
    return measured_by(DroppedFrames, images).series["dropped_frames"]


def _large(series: Series) -> list[int]:
    return np.flatnonzero(series > _LARGE).tolist()


def _bar_at(right: Callable[[int], float], frames: int = 20, square: Callable[[int], bool] = lambda _: False) -> Series:
    """A bar that moves over grained ground, and a square that is shown in some of the frames."""
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
    return _dropped_frames(encoded(images))


def test_missing_frames_are_found_in_the_step_across_the_gap() -> None:
    series = _bar_at(lambda frame: 20 + 5 * (frame + 12 * (frame >= 10)))
    assert _large(series) == [10]


@pytest.mark.parametrize("seed", range(3))
def test_a_fast_arm_is_not_taken_for_missing_frames(seed: int) -> None:
    assert _large(_dropped_frames(encoded(film(seed, Take(frames=30, size=(320, 200), speed=2))))) == []


def test_a_sudden_start_is_not_taken_for_missing_frames() -> None:
    assert _large(_bar_at(lambda frame: 20 + 9 * max(0, frame - 9))) == []


def test_an_object_that_appears_is_not_taken_for_missing_frames() -> None:
    series = _bar_at(lambda frame: 20 + 2 * frame, square=lambda frame: frame >= 10)
    assert _large(series) == []


def test_a_scene_at_rest_has_no_missing_frames() -> None:
    assert _large(_bar_at(lambda _: 100)) == []


def test_a_step_without_neighbours_on_both_sides_is_undefined() -> None:
    series = _bar_at(lambda frame: 20 + 5 * frame, frames=6)
    assert np.flatnonzero(np.isnan(series)).tolist() == [0, 1, 5]
    assert np.isnan(_bar_at(lambda _: 20, frames=2)).all()
