"""Differences of two shares of the same things."""

import math

import numpy as np
import pytest
import scipy.stats

from robogaze.stats.proportions import paired_shares


def test_it_is_newcombes_interval() -> None:
    """Newcombe (1998), Table II, method 10."""
    found, _ = paired_shares(36, 12, 2, 0)
    assert (found.value, found.n) == (pytest.approx(0.2), 50)
    assert (found.low, found.high) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_it_has_a_width_where_no_thing_differs() -> None:
    found, p = paired_shares(20, 0, 0, 0)
    assert (found.value, p) == (0.0, 1.0)
    assert (found.low, found.high) == pytest.approx((-0.161, 0.161), abs=5e-4)


def test_the_other_way_round_is_the_same_with_the_other_sign() -> None:
    one, p = paired_shares(30, 9, 4, 7)
    other, q = paired_shares(30, 4, 9, 7)
    assert (one.low, one.high, p) == pytest.approx((-other.high, -other.low, q))


def test_p_is_the_binomial_one_with_half_of_what_was_seen() -> None:
    _, p = paired_shares(50, 15, 5, 30)
    exact = scipy.stats.binomtest(5, 20).pvalue
    assert p == pytest.approx(exact - scipy.stats.binom.pmf(5, 20, 0.5))


def test_without_a_pair_the_difference_is_undefined() -> None:
    found, p = paired_shares(0, 0, 0, 0)
    assert not found.defined
    assert math.isnan(p)


def test_a_negative_number_is_refused() -> None:
    with pytest.raises(ValueError, match="counts must not be negative"):
        paired_shares(3, -1, 0, 0)


@pytest.mark.parametrize(("first", "second", "n"), [(0.6, 0.5, 300), (0.95, 0.95, 60), (0.3, 0.3, 100)])
def test_the_interval_holds_the_truth_and_alarms_are_rare(first: float, second: float, n: int) -> None:
    rng = np.random.default_rng(n)
    ease = rng.normal(size=(1500, n))
    one, other = (
        ease + rng.normal(size=ease.shape) < math.sqrt(2) * scipy.stats.norm.ppf(share) for share in (first, second)
    )
    held = alarms = 0
    for a, b in zip(one, other, strict=True):
        found, p = paired_shares(int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum()))
        held += found.low <= first - second <= found.high
        alarms += p < 0.05
    assert 0.935 < held / 1500 < 0.98
    if first == second:
        assert alarms / 1500 < 0.06
