"""Shares with Wilson's interval."""

import pytest
from scipy.stats import binomtest

from robogaze.stats.proportions import wilson


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_the_published_intervals(hits: int, n: int, low: float, high: float) -> None:
    """Newcombe (1998), Table I, method 3."""
    found = wilson(hits, n)
    assert (found.value, found.n) == (hits / n, n)
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize(("hits", "n"), [(0, 1), (3, 3), (7, 382), (381, 382)])
def test_the_interval_is_scipys(hits: int, n: int) -> None:
    found, known = wilson(hits, n), binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert (found.low, found.high) == pytest.approx((known.low, known.high), abs=1e-12)


def test_a_share_of_nothing_is_undefined() -> None:
    found = wilson(0, 0)
    assert not found.defined
    assert (found.n, found.why) == (0, "there are no cases to compute a share from")


@pytest.mark.parametrize(("hits", "n"), [(-1, 3), (4, 3), (1, 0)])
def test_what_is_no_share_is_refused(hits: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"{hits} of {n} is not a share"):
        wilson(hits, n)


@pytest.mark.parametrize("n", [1, 3, 13, 70, 999])
def test_the_interval_of_all_and_of_none_ends_at_the_share(n: int) -> None:
    assert (wilson(n, n).high, wilson(0, n).low) == (1.0, 0.0)
