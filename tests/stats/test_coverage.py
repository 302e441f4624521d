"""Intervals hold the truth about as often as they say. Seeded: each figure is the same in every run."""

import numpy as np
import pytest
import scipy.stats

from robogaze.stats.correlation import mean_difference
from robogaze.stats.interval import interval
from robogaze.stats.paired import pairwise_differences
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Clusters, Floats, draw_resamples, mean, mean_rows, ratio


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(("n", "least", "most"), [(10, 0.84, 0.89), (20, 0.88, 0.92), (50, 0.91, 0.95)])
def test_an_interval_of_a_skewed_mean_is_short_of_its_level_with_few_clips(
    method: str, n: int, least: float, most: float
) -> None:
    values = rng(n).exponential(size=(1500, n))  # 1,500 samples as so many systems
    found = interval(draw_resamples([0] * n, 500, rng(1)).sums(mean_rows(values)), mean, method=method)  # type: ignore[arg-type]
    held = ((found.low <= 1) & (found.high >= 1)).mean()
    assert least < held < most


def test_an_interval_of_a_ratio_over_strata_holds_the_truth() -> None:
    sizes, rates = (30, 60), (0.3, 0.8)
    strata = [place for place, size in enumerate(sizes) for _ in range(size)]
    events = rng(1).poisson(3, size=(1500, 90)) + 1.0
    hits = rng(2).binomial(events.astype(int), np.repeat(rates, sizes)).astype(float)

    def share(sums: Floats) -> Floats:
        return ratio(sums[..., 0], sums[..., 1])

    found = interval(draw_resamples(strata, 500, rng(3)).sums(np.stack([hits, events], axis=-1)), share)
    truth = sum(size * rate for size, rate in zip(sizes, rates, strict=True)) / 90
    assert 0.92 < ((found.low <= truth) & (found.high >= truth)).mean() < 0.97


def test_things_of_one_cluster_are_no_independent_evidence() -> None:
    """Five ratings of each of 40 events that share what is special about the event."""
    of = np.repeat(np.arange(40), 5)
    held = {"clusters": 0, "things": 0}
    for seed in range(200):
        special, own = rng(seed).normal(size=40), rng(seed + 1000).normal(size=200) / 2
        x = special[of] + own
        for name, by in {
            "clusters": Clusters(draw_resamples([0] * 40, 300, rng(seed)), of.tolist()),
            "things": Clusters(draw_resamples([0] * 200, 300, rng(seed)), range(200)),
        }.items():
            found = mean_difference(x, np.zeros(200), by=by)
            held[name] += found.low <= 0 <= found.high
    assert 0.90 < held["clusters"] / 200 < 0.98
    assert held["things"] / 200 < 0.75


def test_the_smallest_difference_is_found_four_times_of_five() -> None:
    min_detectable = (1.959964 + 0.841621) * np.sqrt(2 / 100)  # of two systems with a deviation of 1 on 100 clips
    found, min_detectables = 0, []
    for seed in range(300):
        values = rng(seed).normal(size=(2, 100)) + np.array([[min_detectable], [0.0]])
        pair = pairwise_differences(draw_resamples([0] * 100, 300, rng(seed)).sums(mean_rows(values)), mean)[0]
        found += bool(pair.significant)
        min_detectables.append(pair.min_detectable)
    assert np.mean(min_detectables) == pytest.approx(min_detectable, rel=0.03)
    assert 0.75 < found / 300 < 0.86


@pytest.mark.parametrize("n", [10, 20, 60])
def test_wilson_covers_the_share_at_its_level_on_average(n: int) -> None:
    """Exactly, from the binomial distribution, over shares from 0.05 to 0.95."""
    bounds = [wilson(hits, n) for hits in range(n + 1)]
    held = [
        sum(
            scipy.stats.binom.pmf(hits, n, share)
            for hits, bound in enumerate(bounds)
            if bound.low <= share <= bound.high
        )
        for share in np.linspace(0.05, 0.95, 181)
    ]
    assert np.mean(held) == pytest.approx(0.95, abs=0.01)
    assert min(held) > 0.83
