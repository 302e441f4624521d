"""Percentile and BCa intervals from resamples, and where there are none."""

import math
import re

import numpy as np
import pytest

from robogaze.stats.interval import Statistic, interval
from robogaze.stats.resample import Floats, draw_resamples, mean, mean_rows, ratio

from . import plain

STRATA = ["a"] * 7 + ["b"] * 5 + ["c"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def share(sums: Floats) -> Floats:
    """A ratio of two sums, as precision is."""
    return ratio(sums[..., 0], sums[..., 1])


def f1(sums: Floats) -> Floats:
    return ratio(2 * sums[..., 0], sums[..., 0] + sums[..., 1])


def plain_share(rows: list[list[float]]) -> float:
    whole = math.fsum(row[1] for row in rows)
    return math.fsum(row[0] for row in rows) / whole if whole else math.nan


def only(values: list[float], method: str = "percentile", strata: list[str] | None = None) -> tuple[float, float, str]:
    """The interval of a mean over clips, and why there is none."""
    rows = mean_rows(np.array(values))
    sums = draw_resamples(strata or ["a"] * len(values), 400, rng()).sums(rows)
    found = interval(sums, mean, method=method)  # type: ignore[arg-type]
    return float(found.low), float(found.high), str(found.why)


# Against plain Python.


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_percentile_interval_holds_the_middle_of_the_resampled_values(seed: int, level: float) -> None:
    rows = np.stack([rng(seed).random((4, 13)), rng(seed + 50).random((4, 13)) + 0.5], axis=-1)
    resamples = draw_resamples(STRATA, 199, rng(seed))
    found = interval(resamples.sums(rows), share, level=level)
    for system in range(4):
        clips = rows[system].tolist()
        drawn = [plain_share([clips[place] for place in sample]) for sample in plain.samples(resamples)]
        assert found.value[system] == pytest.approx(plain_share(clips), abs=1e-9)
        assert (found.low[system], found.high[system]) == pytest.approx(plain.percentile(drawn, level), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_a_bca_interval_is_efrons(seed: int, level: float) -> None:
    rows = np.stack([rng(seed).exponential(size=(3, 12)), rng(seed + 50).random((3, 12)) + 0.5], axis=-1)
    resamples = draw_resamples(["a"] * 12, 299, rng(seed))
    found = interval(resamples.sums(rows), share, level=level, method="bca")
    for system in range(3):
        clips = rows[system].tolist()
        drawn = [plain_share([clips[place] for place in sample]) for sample in plain.samples(resamples)]
        left_out = [plain_share(clips[:place] + clips[place + 1 :]) for place in range(12)]
        expected = plain.bca(plain_share(clips), drawn, left_out, level)
        assert (found.low[system], found.high[system]) == pytest.approx(expected, abs=1e-9)


def test_the_skew_of_strata_is_that_of_the_estimate_over_all() -> None:
    """Davison and Hinkley (1997, 5.4): each stratum's influences weigh by the inverse of its size."""
    values = rng(3).exponential(size=13)
    resamples = draw_resamples(STRATA, 999, rng())
    sums = resamples.sums(mean_rows(values))
    drawn = [math.fsum(values[place] for place in sample) / 13 for sample in plain.samples(resamples)]
    squares = cubes = 0.0
    for start, end in ((0, 7), (7, 12)):  # the third has one clip, which does not vary
        inside = values[start:end]
        for value in inside:  # the influence of a clip on the mean over all, by its stratum's share
            pull = (value - inside.mean()) * len(inside) / 13 / len(inside)
            squares, cubes = squares + pull**2, cubes + pull**3
    skew = cubes / (6 * squares**1.5)
    bias = plain.NORMAL.inv_cdf(sum(mean < values.mean() for mean in drawn) / len(drawn))
    shares = [
        plain.NORMAL.cdf(bias + (bias + z) / (1 - skew * (bias + z))) for z in (-1.959963984540054, 1.959963984540054)
    ]
    found = interval(sums, mean, method="bca")
    assert found.low == pytest.approx(plain.quantile(drawn, shares[0]), abs=1e-9)
    assert found.high == pytest.approx(plain.quantile(drawn, shares[1]), abs=1e-9)


# What changes an interval.


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", [share, f1])
def test_the_order_of_clips_does_not_change_the_value(statistic: Statistic, method: str) -> None:
    rows = rng(2).random((2, 13, 2))
    order = [*rng(1).permutation(7), *(7 + rng(1).permutation(5)), 12]
    one, other = (
        interval(draw_resamples(STRATA, 100, rng()).sums(table), statistic, method=method)  # type: ignore[arg-type]
        for table in (rows, rows[:, order])
    )
    assert one.value.tobytes() == other.value.tobytes()
    assert one.low == pytest.approx(other.low, abs=0.1)  # other clips were drawn: callers sort


def test_an_interval_comes_out_as_an_estimate() -> None:
    rows = mean_rows(np.array([[1.0, 2.0, 3.0], [math.nan] * 3]))
    found = interval(draw_resamples([0] * 3, 200, rng()).sums(rows), mean)
    defined, undefined = found.estimate(0, n=3), found.estimate(1, n=0)
    assert (defined.value, defined.n, defined.why) == (2.0, 3, "")
    assert 1 <= defined.low < 2 < defined.high <= 3
    assert undefined.as_json() == {
        "value": None,
        "low": None,
        "high": None,
        "n": 0,
        "why": "there is nothing to compute the value from",
    }


# Where there is none.


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize(
    ("values", "why"),
    [
        ([], "there is nothing to compute the value from"),
        ([math.nan, math.nan], "there is nothing to compute the value from"),
        ([0.3], "every resample gives the same value"),
        ([0.3] * 20, "every resample gives the same value"),
        ([1.0] * 20, "every resample gives the same value"),
        ([0.1, *[math.nan] * 20], r"the value is undefined in 3\d% of the resamples"),
    ],
)
def test_there_is_no_interval_if_the_resamples_do_not_support_it(values: list[float], why: str, method: str) -> None:
    low, high, said = only(values, method=method)
    assert math.isnan(low)
    assert math.isnan(high)
    assert re.fullmatch(why, said)


def test_values_that_differ_by_rounding_alone_are_the_same() -> None:
    assert only([0.1 + 0.2, 0.3, 0.3])[2] == "every resample gives the same value"


def test_strata_of_one_clip_do_not_vary() -> None:
    assert only([0.1, 0.9], strata=["a", "b"])[2] == "every resample gives the same value"
    assert only([0.1, 0.9], "bca", strata=["a", "b"])[2] == "every resample gives the same value"


def test_a_few_undefined_resamples_are_left_out_of_the_interval() -> None:
    values = [*[math.nan] * 16, 0.1, 0.2, 0.3, 0.4]  # 1 % of the resamples draw none of the four
    resamples = draw_resamples([0] * 20, 400, rng(2))
    found = interval(resamples.sums(mean_rows(np.array(values))), mean)
    drawn = []
    for sample in plain.samples(resamples):
        known = [values[place] for place in sample if not math.isnan(values[place])]
        drawn.append(math.fsum(known) / len(known) if known else math.nan)
    assert 0 < sum(map(math.isnan, drawn)) < 20
    assert (found.low, found.high) == pytest.approx(plain.percentile(drawn), abs=1e-9)


def test_bca_is_undefined_for_a_value_outside_all_resampled_ones() -> None:
    """How many different clips there are is more in the data than in nearly any resample."""

    def different(sums: Floats) -> Floats:
        found: Floats = (sums > 0).sum(axis=-1).astype(float)
        return found

    sums = draw_resamples([0] * 12, 200, rng()).sums(np.eye(12))
    assert interval(sums, different).why == ""
    assert interval(sums, different, method="bca").why == "the BCa correction is undefined here"


def test_bca_is_undefined_where_the_skew_is_too_large_for_the_level() -> None:
    values = np.array([0.0] * 20 + [1.0])
    sums = draw_resamples([0] * 21, 200, rng()).sums(mean_rows(values))
    assert interval(sums, mean, method="bca").why == ""
    assert interval(sums, mean, method="bca", level=1 - 1e-15).why == "the BCa correction is undefined here"
