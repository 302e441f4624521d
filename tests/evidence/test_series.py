import math

import numpy as np
import pytest

from robogaze.evidence.series import level, running_median

NAN = math.nan


def test_a_level_leaves_out_what_is_not_defined() -> None:
    assert level(np.array([NAN, 1.0, 3.0, NAN, 2.0]), 50) == 2.0
    assert math.isnan(level(np.array([NAN, NAN]), 50))
    assert math.isnan(level(np.array([]), 50))


def test_a_running_median_keeps_a_step_and_removes_a_spike() -> None:
    times = np.arange(9) / 10
    assert running_median(np.array([0, 0, 0, 0, 1, 1, 1, 1, 1.0]), times, 0.4).tolist() == [0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert running_median(np.array([0, 0, 0, 0, 9, 0, 0, 0, 0.0]), times, 0.4).tolist() == [0.0] * 9


def test_a_running_median_is_not_defined_where_most_around_is_not() -> None:
    found = running_median(np.array([NAN, NAN, NAN, 4.0, 5.0]), np.arange(5.0), 2.0)
    assert np.isnan(found[:3]).all()
    assert found[3:] == pytest.approx([4.5, 4.5])


def test_a_running_median_counts_seconds_not_frames() -> None:
    times = np.array([0.0, 0.1, 0.2, 5.0])
    assert running_median(np.array([1.0, 2.0, 3.0, 9.0]), times, 1.0).tolist() == [2.0, 2.0, 2.0, 9.0]
