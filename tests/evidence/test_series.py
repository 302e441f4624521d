import math

import numpy as np
import pytest

from robogaze.evidence.series import level, own_level, running_median

NAN = math.nan


def test_a_level_ignores_undefined_values() -> None:
    assert level(np.array([NAN, 1.0, 3.0, NAN, 2.0]), 50) == 2.0
    assert math.isnan(level(np.array([NAN, NAN]), 50))
    assert math.isnan(level(np.array([]), 50))


def test_a_clip_under_half_a_second_has_no_level() -> None:
    series = np.array([1.0, 1.0, 3.0])
    assert own_level(series, [0.0, 0.25, 0.5], 50) == 1.0
    assert math.isnan(own_level(series, [0.0, 0.2, 0.4], 50))


def test_a_running_median_keeps_a_step_and_removes_a_spike() -> None:
    times = np.arange(9) / 10
    assert running_median(np.array([0, 0, 0, 0, 1, 1, 1, 1, 1.0]), times, 0.4).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert running_median(np.array([0, 0, 0, 0, 9, 0, 0, 0, 0.0]), times, 0.4).tolist() == [0.0] * 9


def test_a_running_median_is_the_median_of_the_defined_values_around() -> None:
    series = np.random.default_rng(7).normal(size=60)
    series[[3, 4, 5, 20, 59]] = NAN
    found = running_median(series, np.arange(60.0), 8.0)
    for frame, median in enumerate(found):
        assert median == level(series[max(0, frame - 4) : frame + 5], 50)  # to the last bit


def test_a_running_median_is_undefined_where_most_values_are() -> None:
    found = running_median(np.array([NAN, NAN, NAN, 4.0, 5.0, 6.0]), np.arange(6.0), 4.0)
    assert np.isnan(found[:3]).all()
    assert found[3:] == pytest.approx([5.0, 5.0, 5.0])


def test_a_running_median_needs_three_values() -> None:
    """A single value would be its own median and never stand out."""
    found = running_median(np.array([0.0, 9.0, 0.0, 0.0]), np.arange(4.0), 2.0)
    assert np.isnan(found[[0, 3]]).all()
    assert found[1:3].tolist() == [0.0, 0.0]
    assert np.isnan(running_median(np.array([0.0, 9.0, 0.0]), np.arange(3.0), 1.0)).all()


def test_a_running_median_counts_seconds_not_frames() -> None:
    times = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2])
    assert running_median(np.array([1.0, 2.0, 3.0, 9.0, 9.0, 8.0]), times, 1.0).tolist() == [2.0] * 3 + [9.0] * 3
