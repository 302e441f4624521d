"""Differences of systems over the same resamples, and ranks."""

import math
from itertools import combinations

import numpy as np
import pytest

from robogaze.stats import Resamples, Sums, compare, draw, interval, mean, mean_rows, ranks

from . import plain

STRATA = ["a"] * 9 + ["b"] * 6


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def sums_of(values: list[list[float]], strata: list[str] | None = None, count: int = 200) -> tuple[Resamples, Sums]:
    """Systems' values on clips."""
    resamples = draw(strata or ["a"] * len(values[0]), count, rng())
    return resamples, resamples.sums(mean_rows(np.array(values)))


def drawn_means(values: list[list[float]], resamples: Resamples) -> list[list[float]]:
    return [
        [math.fsum(one[clip] for clip in sample) / len(sample) for sample in plain.samples(resamples)] for one in values
    ]


# Differences.


@pytest.mark.parametrize("seed", range(5))
def test_differences_are_those_on_the_same_resamples(seed: int) -> None:
    values = (rng(seed).random((4, 15)) + 0.2 * np.arange(4)[:, None]).tolist()
    resamples, sums = sums_of(values, STRATA)
    drawn = drawn_means(values, resamples)
    found = compare(sums, mean)
    assert [(one.first, one.second) for one in found] == list(combinations(range(4), 2))
    for pair in found:
        apart = [a - b for a, b in zip(drawn[pair.first], drawn[pair.second], strict=True)]
        centre = math.fsum(apart) / len(apart)
        error = math.sqrt(math.fsum((one - centre) ** 2 for one in apart) / (len(apart) - 1))
        expected = math.fsum(values[pair.first]) / 15 - math.fsum(values[pair.second]) / 15
        assert pair.difference.value == pytest.approx(expected, abs=1e-9)
        assert (pair.difference.low, pair.difference.high) == pytest.approx(plain.percentile(apart), abs=1e-9)
        assert pair.difference.n == 15
        assert pair.p == pytest.approx(plain.two_sided(apart), abs=1e-9)
        assert pair.smallest == pytest.approx((1.959963985 + 0.841621234) * error, rel=1e-8)


def test_a_pair_separates_where_the_two_intervals_overlap() -> None:
    """What makes a clip hard for both cancels."""
    hard = rng(1).random(40)
    _, sums = sums_of([(hard + 0.05 + 0.01 * rng(2).random(40)).tolist(), hard.tolist()])
    apart = interval(sums, mean)
    assert apart.low[0] < apart.high[1]
    assert compare(sums, mean)[0].verdict == "the interval of the difference excludes zero: separated"


def test_a_difference_within_chance_is_not_separated() -> None:
    _, sums = sums_of([rng(1).random(30).tolist(), rng(2).random(30).tolist()])
    pair = compare(sums, mean)[0]
    assert pair.separated is False
    assert pair.verdict == "the interval of the difference includes zero: not separated"
    assert pair.p > 0.05


def test_p_is_never_below_what_the_resamples_can_tell() -> None:
    _, sums = sums_of([(5 + rng(1).random(20)).tolist(), rng(2).random(20).tolist()], count=99)
    assert compare(sums, mean)[0].p == 2 / 100


def test_p_is_one_at_most() -> None:
    """Resamples without any difference count on both sides."""
    _, sums = sums_of([[0.0] * 9 + [1.0], [0.0] * 10])
    assert compare(sums, mean)[0].p == pytest.approx(2 * (1 + 200 * 0.9**10) / 201, abs=0.1)
    _, sums = sums_of([[0.0] * 19 + [1.0, 0.0], [0.0] * 19 + [0.0, 1.0]])
    assert compare(sums, mean)[0].p == 1


def test_differences_by_rounding_alone_are_none() -> None:
    """0.1 + 0.2 is not 0.3 to the last bit: such resamples lie on both sides of zero."""
    _, sums = sums_of([[0.1 + 0.2] * 9 + [0.9], [0.3] * 9 + [0.4]])
    resamples_without_the_last = (1 - 0.1) ** 10
    assert compare(sums, mean)[0].p == pytest.approx(2 * resamples_without_the_last, abs=0.1)


@pytest.mark.parametrize(
    ("first", "second", "why"),
    [
        ([0.1, 0.5, 0.9], [0.1, 0.5, 0.9], "every resample gives the same value"),
        ([1.0] * 20, [0.0] * 20, "every resample gives the same value"),
        ([0.7], [0.2], "every resample gives the same value"),
        ([0.7, 0.1], [math.nan, math.nan], "there is nothing to compute it from"),
    ],
)
def test_without_an_interval_there_is_no_p(first: list[float], second: list[float], why: str) -> None:
    _, sums = sums_of([first, second])
    pair = compare(sums, mean)[0]
    assert pair.verdict == f"undefined: {why}"
    assert pair.separated is None
    assert math.isnan(pair.p)
    assert math.isnan(pair.smallest)
    assert math.isnan(pair.difference.low)


@pytest.mark.parametrize("values", [[[0.1, 0.2]], []])
def test_fewer_than_two_systems_have_no_differences(values: list[list[float]]) -> None:
    rows = mean_rows(np.array(values).reshape(-1, 2))
    assert compare(draw([0, 0], 50, rng()).sums(rows), mean) == ()


def test_the_smallest_difference_shrinks_with_the_root_of_the_clips() -> None:
    values = rng(1).normal(size=(2, 400))
    few, many = (
        compare(draw([0] * table.shape[1], 2000, rng()).sums(mean_rows(table)), mean)[0].smallest
        for table in (values, np.tile(values, 4))
    )
    assert few / many == pytest.approx(2, rel=0.06)


# Ranks.


@pytest.mark.parametrize("seed", range(5))
def test_ranks_are_those_in_every_resample(seed: int) -> None:
    values = rng(seed).integers(0, 3, size=(4, 15)).astype(float).tolist()
    resamples, sums = sums_of(values, STRATA)
    taken = [plain.places(row) for row in zip(*drawn_means(values, resamples), strict=True)]
    now = plain.places([math.fsum(one) for one in values])
    for system, found in enumerate(ranks(sums, mean)):
        places = sorted(place[system] for place in taken)
        assert found.rank.value == now[system]
        assert found.rank.low == places[math.floor(0.025 * 199 + 1e-9)]
        assert found.rank.high == places[math.ceil(0.975 * 199 - 1e-9)]
        best = [min(place) for place in taken]
        firsts = [(place[system] == first) / place.count(first) for place, first in zip(taken, best, strict=True)]
        assert found.first == pytest.approx(math.fsum(firsts) / 200, abs=1e-9)


def test_first_places_add_up_to_one() -> None:
    _, sums = sums_of(rng(1).integers(0, 2, size=(5, 12)).astype(float).tolist())
    assert sum(one.first for one in ranks(sums, mean)) == pytest.approx(1)


def test_systems_with_the_same_values_share_their_places() -> None:
    clips = rng(1).random(12)
    _, sums = sums_of([clips.tolist(), (clips - 1).tolist(), clips.tolist()])
    found = ranks(sums, mean)
    assert [(one.rank.value, one.rank.low, one.rank.high, one.first) for one in found] == [
        (1.5, 1.5, 1.5, 0.5),
        (3, 3, 3, 0),
        (1.5, 1.5, 1.5, 0.5),
    ]


def test_a_system_without_a_value_has_no_rank_and_takes_none() -> None:
    _, sums = sums_of([[0.1, 0.2, 0.3], [math.nan] * 3, [1.1, 1.2, 1.3]])
    found = ranks(sums, mean)
    assert [one.rank.value for one in found[::2]] == [2, 1]
    assert not found[1].rank.defined
    assert found[1].rank.why == "its value is undefined"
    assert math.isnan(found[1].first)


def test_no_system_with_a_value_leaves_no_rank() -> None:
    _, sums = sums_of([[math.nan] * 3] * 2)
    assert [one.rank.defined for one in ranks(sums, mean)] == [False, False]


@pytest.mark.parametrize(
    ("values", "strata", "why"),
    [
        ([[0.2], [0.4]], ["a"], "every resample holds the same clips"),
        ([[0.2, 0.1], [0.4, 0.3]], ["a", "b"], "every resample holds the same clips"),
        ([[0.2, *[math.nan] * 20], [0.1] * 21], ["a"] * 21, "a system is undefined in"),
    ],
)
def test_where_resamples_cannot_tell_a_rank_has_no_interval(
    values: list[list[float]], strata: list[str], why: str
) -> None:
    _, sums = sums_of(values, strata)
    for found in ranks(sums, mean):
        assert found.rank.value in (1, 2)
        assert math.isnan(found.rank.low)
        assert math.isnan(found.first)
        assert found.rank.why.startswith(why)
