"""Differences of systems over the same resamples, and ranks."""

import math
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from robogaze.stats.interval import interval
from robogaze.stats.multiple_comparisons import holm
from robogaze.stats.paired import pairwise_differences, pairwise_share_differences, ranks
from robogaze.stats.proportions import paired_shares, wilson
from robogaze.stats.resample import Resamples, Sums, draw_resamples, mean, mean_rows

from . import plain

STRATA = ["a"] * 9 + ["b"] * 6


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def sums_of(values: list[list[float]], strata: list[str] | None = None, count: int = 200) -> tuple[Resamples, Sums]:
    """Systems' values on clips."""
    resamples = draw_resamples(strata or ["a"] * len(values[0]), count, rng())
    return resamples, resamples.sums(mean_rows(np.array(values)))


def drawn_means(values: list[list[float]], resamples: Resamples) -> list[list[float]]:
    return [
        [math.fsum(value[clip] for clip in sample) / len(sample) for sample in plain.samples(resamples)]
        for value in values
    ]


# Differences.


@pytest.mark.parametrize("seed", range(5))
def test_differences_are_those_of_a_paired_t_test(seed: int) -> None:
    values = rng(seed).random((4, 15)) + 0.2 * np.arange(4)[:, None]
    found = pairwise_differences(sums_of(values.tolist())[1], mean)
    assert [(pair.first, pair.second) for pair in found] == list(combinations(range(4), 2))
    for pair in found:
        apart = values[pair.first] - values[pair.second]
        test = scipy.stats.ttest_rel(values[pair.first], values[pair.second])
        outer = test.confidence_interval(1 - 2 * 0.05 / 6)
        assert pair.difference.value == pytest.approx(apart.mean())
        assert (pair.difference.low, pair.difference.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
        assert (pair.difference.n, pair.p) == (15, pytest.approx(test.pvalue))
        assert pair.min_detectable == pytest.approx((1.959963985 + 0.841621234) * apart.std(ddof=1) / math.sqrt(15))
        assert pair.equivalence_bound == pytest.approx(max(-outer.low, outer.high))
    assert [pair.holm for pair in found] == pytest.approx(holm([pair.p for pair in found]).tolist())


def test_strata_keep_their_sizes() -> None:
    values = rng(3).random((2, 15))
    (pair,) = pairwise_differences(sums_of(values.tolist(), STRATA)[1], mean)
    apart = values[0] - values[1]
    variance = sum(len(part) * part.var(ddof=1) for part in (apart[:9], apart[9:])) / 15**2
    reach = math.sqrt(variance) * scipy.stats.t.ppf(0.975, 13)
    assert pair.difference.high - pair.difference.value == pytest.approx(reach)


def test_clips_of_one_unit_are_one_piece_of_evidence() -> None:
    """Four copies of each unit say no more than one."""
    values = rng(4).random((2, 12))
    alone = pairwise_differences(sums_of(values.tolist())[1], mean)[0]
    copies = np.repeat(values, 4, axis=1)
    units = draw_resamples(["a"] * 48, 50, rng(), [f"unit {number // 4}" for number in range(48)])
    together = pairwise_differences(units.sums(mean_rows(copies)), mean)[0]
    assert together.p == pytest.approx(alone.p)
    assert together.difference.low == pytest.approx(alone.difference.low)
    assert pairwise_differences(sums_of(copies.tolist())[1], mean)[0].p < alone.p


def test_a_pair_separates_where_the_two_intervals_overlap() -> None:
    """What makes a clip hard for both cancels."""
    hard = rng(1).random(40)
    _, sums = sums_of([(hard + 0.05 + 0.01 * rng(2).random(40)).tolist(), hard.tolist()])
    apart = interval(sums, mean)
    assert apart.low[0] < apart.high[1]
    assert pairwise_differences(sums, mean)[0].verdict() == "different"


def test_a_difference_that_is_not_significant_gives_what_is_ruled_out() -> None:
    _, sums = sums_of([rng(1).random(30).tolist(), rng(2).random(30).tolist()])
    pair = pairwise_differences(sums, mean)[0]
    assert pair.significant is False
    assert pair.p > 0.05
    assert pair.verdict() == f"no significant difference; no difference larger than {pair.equivalence_bound:.3f}"
    assert pair.verdict(0.01) == "no significant difference; not shown to be equal within 0.01"
    assert pair.verdict(0.3) == "no significant difference; equal within 0.3"


def test_a_verdict_goes_by_the_adjusted_p() -> None:
    shifted = rng(5).normal(size=(2, 40))
    shifted[0] += 0.5 - shifted[0].mean() + shifted[1].mean()
    others = rng(6).normal(size=(3, 40)) * 3
    alone, among = (
        pairwise_differences(sums_of(table.tolist())[1], mean)[0] for table in (shifted, np.vstack([shifted, others]))
    )
    assert alone.p == among.p < 0.05 < among.holm
    assert (alone.significant, among.significant) == (True, False)


def test_of_five_alike_systems_some_pair_is_called_different_in_one_run_of_twenty_at_most() -> None:
    alarms = 0
    for seed in range(400):
        values = rng(seed).normal(size=60) + rng(seed + 1000).normal(size=(5, 60))
        alarms += any(
            row.significant
            for row in pairwise_differences(draw_resamples([0] * 60, 1, rng()).sums(mean_rows(values)), mean)
        )
    assert alarms / 400 < 0.07


def test_a_difference_is_rarely_ruled_out_that_is_there() -> None:
    wrong = 0
    for seed in range(400):
        values = rng(seed).normal(size=(2, 40)) + np.array([[0.3], [0.0]])
        wrong += (
            pairwise_differences(draw_resamples([0] * 40, 1, rng()).sums(mean_rows(values)), mean)[0].equivalence_bound
            < 0.3
        )
    assert wrong / 400 < 0.07


def test_differences_by_rounding_alone_are_none() -> None:
    """0.1 + 0.2 is not 0.3 to the last bit."""
    _, sums = sums_of([[0.1 + 0.2] * 10, [0.3] * 10])
    assert pairwise_differences(sums, mean, share=True)[0].p == 1


def test_where_all_units_show_the_same_difference_shares_have_the_interval_of_a_share_and_a_sign_test() -> None:
    _, sums = sums_of([[1.0] * 20, [0.0] * 20, [0.0] * 20])
    first, _, last = pairwise_differences(sums, mean, share=True)
    assert (first.p, last.p) == (2**-19, 1.0)
    assert (first.difference.high, first.difference.low) == (1.0, pytest.approx(1 - wilson(0, 20).high))
    assert last.difference.high == pytest.approx(wilson(0, 20).high)


def test_shares_of_the_same_things_have_newcombe_s_interval_and_mcnemar_s_p() -> None:
    hits = np.array([[1] * 12 + [0] * 8, [1] * 5 + [0] * 10 + [1] * 5], dtype=bool)
    (pair,) = pairwise_share_differences(hits)
    difference, p = paired_shares(5, 7, 5, 3)
    assert (pair.difference, pair.p) == (difference, p)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ([0.1, 0.5, 0.9], [0.1, 0.5, 0.9], "nothing varies from unit to unit"),
        ([1.0] * 20, [0.0] * 20, "nothing varies from unit to unit"),
        ([0.7], [0.2], "there are fewer than two units"),
        ([0.7, 0.1], [math.nan, math.nan], "there is nothing to compute the value from"),
    ],
)
def test_without_an_interval_there_is_no_p(first: list[float], second: list[float], why: str) -> None:
    _, sums = sums_of([first, second])
    pair = pairwise_differences(sums, mean)[0]
    assert pair.verdict() == f"undefined: {why}"
    assert pair.significant is None
    assert math.isnan(pair.p)
    assert math.isnan(pair.min_detectable)
    assert math.isnan(pair.difference.low)


@pytest.mark.parametrize("values", [[[0.1, 0.2]], []])
def test_fewer_than_two_systems_have_no_differences(values: list[list[float]]) -> None:
    rows = mean_rows(np.array(values).reshape(-1, 2))
    assert pairwise_differences(draw_resamples([0, 0], 50, rng()).sums(rows), mean) == ()


# Ranks.


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_in_every_resample(seed: int) -> None:
    values = rng(seed).integers(0, 3, size=(4, 15)).astype(float).tolist()
    resamples, sums = sums_of(values, STRATA)
    taken = [plain.places(row) for row in zip(*drawn_means(values, resamples), strict=True)]
    now = plain.places([math.fsum(value) for value in values])
    for system, found in enumerate(ranks(sums, mean)):
        places = sorted(place[system] for place in taken)
        assert found.rank.value == now[system]
        assert found.rank.low == places[math.floor(0.025 * 199 + 1e-9)]
        assert found.rank.high == places[math.ceil(0.975 * 199 - 1e-9)]
        best = [min(place) for place in taken]
        firsts = [(place[system] == first) / place.count(first) for place, first in zip(taken, best, strict=True)]
        assert found.first == pytest.approx(math.fsum(firsts) / 200, abs=1e-9)


def test_systems_with_the_same_values_share_their_places() -> None:
    clips = rng(1).random(12)
    _, sums = sums_of([clips.tolist(), (clips - 1).tolist(), clips.tolist()])
    found = ranks(sums, mean)
    assert [(item.rank.value, item.rank.low, item.rank.high, item.first) for item in found] == [
        (1.5, 1.5, 1.5, 0.5),
        (3, 3, 3, 0),
        (1.5, 1.5, 1.5, 0.5),
    ]


def test_a_system_without_a_value_has_no_rank_and_takes_none() -> None:
    _, sums = sums_of([[0.1, 0.2, 0.3], [math.nan] * 3, [1.1, 1.2, 1.3]])
    found = ranks(sums, mean)
    assert [item.rank.value for item in found[::2]] == [2, 1]
    assert not found[1].rank.defined
    assert found[1].rank.why == "its value is undefined"
    assert math.isnan(found[1].first)


def test_no_system_with_a_value_leaves_no_rank() -> None:
    _, sums = sums_of([[math.nan] * 3] * 2)
    assert [rank.rank.defined for rank in ranks(sums, mean)] == [False, False]


@pytest.mark.parametrize(
    ("values", "strata", "why"),
    [
        ([[0.2], [0.4]], ["a"], "every resample holds the same clips"),
        ([[0.2, 0.1], [0.4, 0.3]], ["a", "b"], "every resample holds the same clips"),
        ([[0.2, *[math.nan] * 20], [0.1] * 21], ["a"] * 21, "the value of a system is undefined in"),
    ],
)
def test_a_rank_has_no_interval_if_the_resamples_do_not_support_it(
    values: list[list[float]], strata: list[str], why: str
) -> None:
    _, sums = sums_of(values, strata)
    for found in ranks(sums, mean):
        assert found.rank.value in (1, 2)
        assert math.isnan(found.rank.low)
        assert math.isnan(found.first)
        assert found.rank.why.startswith(why)
