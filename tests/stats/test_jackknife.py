"""Student's intervals over units, and what is said where nothing varies."""

import numpy as np
import pytest

from robogaze.stats.jackknife import student_intervals
from robogaze.stats.paired import pairwise_differences, pairwise_mean_differences
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Sums, draw_resamples, mean, mean_rows

CLIPS = 100


def sums_of(values: list[list[float]], units: list[int] | None = None) -> Sums:
    """Systems' values on CLIPS clips; those without a value come last."""
    table = np.full((len(values), CLIPS), np.nan)
    for row, known in zip(table, values, strict=True):
        row[: len(known)] = known
    return draw_resamples([""] * CLIPS, 10, np.random.default_rng(0), units).sums(mean_rows(table))


@pytest.mark.parametrize("count", [1, 2, 3, 20])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_nothing_varies_the_interval_is_that_of_a_share_of_the_units_that_say_something(
    count: int, value: float
) -> None:
    """Three of a hundred clips have a value: that it is 1 in all three shows no more than 3 of 3 does."""
    found = student_intervals(sums_of([[value] * count]), mean, share=True).estimate(0, n=count)
    expected = wilson(round(value * count), count)
    assert (found.low, found.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_a_single_value_between_the_ends_has_no_interval() -> None:
    found = student_intervals(sums_of([[0.5]]), mean, share=True).estimate(0, n=1)
    why = "the value is undefined if one of the units is left out"
    assert (found.value, np.isnan(found.low), found.why) == (0.5, True, why)


def test_seeds_of_one_prompt_are_one_unit_with_a_value() -> None:
    units = [clip // 4 for clip in range(CLIPS)]
    found = student_intervals(sums_of([[1.0] * 12], units), mean, share=True).estimate(0, n=12)
    assert found.low == pytest.approx(wilson(3, 3).low)


def test_two_that_never_differ_are_as_equal_as_the_units_that_say_something_show() -> None:
    for units, telling in ((None, 12), ([clip // 4 for clip in range(CLIPS)], 3)):
        (pair,) = pairwise_differences(sums_of([[1.0] * 12, [1.0] * 12], units), mean, share=True)
        assert pair.difference.high == pytest.approx(wilson(0, telling).high)
        assert pair.difference.n == telling
        assert pair.equivalence_bound == pytest.approx(wilson(0, telling, level=0.9).high)
        values = np.full((2, CLIPS), np.nan)
        values[:, :12] = 1.0
        (of_means,) = pairwise_mean_differences(
            values, draw_resamples([""] * CLIPS, 10, np.random.default_rng(0), units)
        )
        assert (of_means.difference.n, of_means.equivalence_bound) == (12, pytest.approx(pair.equivalence_bound))


def test_what_two_that_never_differ_would_have_shown_is_no_0() -> None:
    """As for shares: 2.8 standard errors, 1.96 of which the interval reaches."""
    (pair,) = pairwise_differences(sums_of([[1.0] * 12, [1.0] * 12]), mean, share=True)
    assert pair.min_detectable == pytest.approx(pair.difference.high * 2.801585 / 1.959964, rel=1e-5)


def test_the_sign_test_counts_the_units_that_say_something() -> None:
    (pair,) = pairwise_differences(sums_of([[1.0] * 4, [0.5] * 4]), mean, share=True)
    assert pair.p == pytest.approx(2 * 0.5**4)
