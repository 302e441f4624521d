"""How two series of ratings go together."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from robogaze.core.estimate import Estimate
from robogaze.stats.correlation import auc, mean_absolute_error, mean_difference, pearson, spearman
from robogaze.stats.resample import Clusters, draw_resamples

from . import plain

Coefficient = Callable[..., Estimate]
PLAIN: dict[Coefficient, Callable[[list[float], list[float]], float]] = {
    pearson: plain.pearson,
    spearman: plain.spearman,
    mean_difference: lambda x, y: math.fsum(a - b for a, b in zip(x, y, strict=True)) / len(x),
    mean_absolute_error: lambda x, y: math.fsum(abs(a - b) for a, b in zip(x, y, strict=True)) / len(x),
}
CORRELATIONS = [pearson, spearman]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_pearson_on_anscombes_first_set() -> None:
    """Anscombe (1973): 0.816 in all four of his sets."""
    x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5]
    y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68]
    assert pearson(x, y).value == pytest.approx(0.81642, abs=5e-6)


def test_spearman_by_hand() -> None:
    """Ranks 1 to 5 against 2, 1, 4, 3, 5: 1 - 6 x 4 / (5 x 24)."""
    assert spearman([1, 2, 3, 4, 50], [20, 1, 40, 30, 500]).value == pytest.approx(0.8)


def test_differences_by_hand() -> None:
    x, y = [3, 1, 5], [1, 2, 5]
    assert mean_difference(x, y) == Estimate(1 / 3, n=3)
    assert mean_absolute_error(x, y) == Estimate(1, n=3)


@pytest.mark.parametrize("coefficient", PLAIN)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tied", [False, True])
def test_values_and_intervals_are_those_of_plain_python(coefficient: Coefficient, seed: int, tied: bool) -> None:
    n = int(rng(seed).integers(8, 25))
    x = rng(seed).normal(3, 1, size=n)
    y = x + rng(seed + 100).normal(size=n)
    if tied:
        x, y = x.round(), y.round()
    of = rng(seed).integers(0, 9, size=n).tolist()
    by = Clusters(draw_resamples([place % 2 for place in range(9)], 150, rng(seed)), of)
    found = coefficient(x, y, by=by)
    drawn = []
    for sample in plain.samples(by.resamples, of):
        drawn.append(PLAIN[coefficient](x[sample].tolist(), y[sample].tolist()) if sample else math.nan)
    assert found.value == pytest.approx(PLAIN[coefficient](x.tolist(), y.tolist()), abs=1e-9)
    assert found.n == n
    assert sum(map(math.isnan, drawn)) <= 7
    assert (found.low, found.high) == pytest.approx(plain.percentile(drawn), abs=1e-9)


@pytest.mark.parametrize("coefficient", PLAIN)
def test_an_interval_needs_resamples(coefficient: Coefficient) -> None:
    found = coefficient([1, 2, 4], [1, 3, 2])
    assert found.defined
    assert math.isnan(found.low)
    assert found.why == ""


@pytest.mark.parametrize("coefficient", CORRELATIONS)
@pytest.mark.parametrize(("sign", "value"), [(1, 1), (-1, -1)])
def test_what_goes_together_always_has_no_interval(coefficient: Coefficient, sign: int, value: float) -> None:
    x = np.arange(9.0)
    found = coefficient(x, 7 + sign * x, by=Clusters(draw_resamples([0] * 9, 100, rng()), range(9)))
    assert found.value == pytest.approx(value)
    assert found.why == "every resample gives the same value"


@pytest.mark.parametrize("coefficient", CORRELATIONS)
@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([], [], "there are fewer than two pairs"),
        ([1], [2], "there are fewer than two pairs"),
        ([3, 3, 3], [1, 2, 3], "all ratings on one side are the same"),
        ([1, 2, 3], [0.1, 0.1, 0.1], "all ratings on one side are the same"),
    ],
)
def test_without_variation_there_is_no_correlation(
    coefficient: Coefficient, x: list[float], y: list[float], why: str
) -> None:
    found = coefficient(x, y, by=Clusters(draw_resamples(x, 20, rng()), range(len(x))))
    assert not found.defined
    assert math.isnan(found.low)
    assert (found.n, found.why) == (len(x), why)


@pytest.mark.parametrize("coefficient", CORRELATIONS)
def test_resamples_without_variation_are_undefined(coefficient: Coefficient) -> None:
    x, y = [0.1] * 11 + [0.7], list(range(12))
    found = coefficient(x, y, by=Clusters(draw_resamples([0] * 12, 300, rng()), range(12)))
    assert found.defined
    assert "% of the resamples" in found.why  # (11 / 12) ** 12, in which the one that differs is not


@pytest.mark.parametrize("coefficient", [mean_difference, mean_absolute_error])
def test_no_pairs_have_no_mean(coefficient: Coefficient) -> None:
    found = coefficient([], [])
    assert not found.defined
    assert found.why == "there are no pairs"


@pytest.mark.parametrize("coefficient", PLAIN)
@pytest.mark.parametrize(
    ("x", "y", "fault"),
    [
        ([1, 2], [1, 2, 3], "same length"),
        ([[1, 2]], [[1, 2]], "same length"),
        ([1, math.nan], [1, 2], "not finite; remove pairs"),
        ([1, 2], [math.inf, 2], "not finite; remove pairs"),
    ],
)
def test_series_that_do_not_pair_are_refused(
    coefficient: Coefficient, x: list[float], y: list[float], fault: str
) -> None:
    with pytest.raises(ValueError, match=fault):
        coefficient(x, y)


def test_the_auc_is_the_share_of_pairs_in_the_right_order() -> None:
    values, positive = np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])
    assert auc(values, positive).value == (2 + 1.5) / 4
    by = Clusters(draw_resamples([0] * 4, 400, np.random.default_rng(0)), range(4))
    large = np.random.default_rng(1).normal(size=400)
    many = auc(large, large > 0, by=Clusters(draw_resamples([0] * 400, 200, np.random.default_rng(0)), range(400)))
    assert (many.value, many.why) == (1.0, "every resample gives the same value")
    assert not auc(values, positive | True, by=by).defined
