"""Resamples of clips within strata, and the sums over them."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from robogaze.stats import resample as module
from robogaze.stats.resample import Clusters, draw_resamples, mean, mean_rows, ratio

from . import plain

STRATA = ["a", "b", "a", "c", "b", "a", "a", "b"]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


# What is drawn.


def test_every_resample_has_as_many_clips_of_each_stratum_as_there_are() -> None:
    for counts in draw_resamples(STRATA, 50, rng()).blocks():
        for stratum in "abc":
            members = [place for place, name in enumerate(STRATA) if name == stratum]
            assert (counts[:, members].sum(axis=1) == len(members)).all()


def test_every_clip_is_drawn_as_often_as_any_other_of_its_stratum() -> None:
    counts = np.concatenate(list(draw_resamples(STRATA, 20_000, rng()).blocks()))
    assert counts.mean(axis=0) == pytest.approx(np.ones(8), abs=0.03)
    assert counts[:, 3] == pytest.approx(1)  # the only one of its stratum
    assert counts[:, 1].var() == pytest.approx(3 * (1 / 3) * (2 / 3), abs=0.03)  # binomial


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not() -> None:
    rows = rng(1).random((2, 8, 3))
    first, again, other = (draw_resamples(STRATA, 100, rng(seed)).sums(rows).drawn.tobytes() for seed in (5, 5, 6))
    assert first == again
    assert first != other


def test_resamples_are_the_same_whenever_they_are_asked_for() -> None:
    resamples = draw_resamples(STRATA, 30, rng())
    first, second = (np.concatenate(list(resamples.blocks())) for _ in range(2))
    assert (first == second).all()


def test_two_draws_from_one_generator_differ() -> None:
    source = rng()
    first, second = draw_resamples(STRATA, 30, source), draw_resamples(STRATA, 30, source)
    assert first.seed != second.seed


def test_how_many_are_drawn_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    resamples = draw_resamples(STRATA, 100, rng())
    at_once = np.concatenate(list(resamples.blocks()))
    monkeypatch.setattr(module, "BLOCK", 50)
    few = list(resamples.blocks())
    assert [len(block) for block in few] == [6] * 16 + [4]
    assert (np.concatenate(few) == at_once).all()
    assert {len(block) for block in resamples.blocks(width=25)} == {2}


def test_many_clips_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", 50_000)
    resamples = draw_resamples([0] * 20_000, 200, rng())
    rows = np.ones((20_000, 2))
    tracemalloc.start()
    resamples.sums(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6  # all counts at once are 32e6


# The sums.


def test_the_sums_of_a_resample_are_those_of_the_clips_it_drew() -> None:
    rows = rng(1).normal(size=(3, 8, 2))
    resamples = draw_resamples(STRATA, 40, rng())
    drawn = resamples.sums(rows).drawn
    assert drawn.shape == (3, 40, 2)
    for system, (number, sample), column in itertools.product(range(3), enumerate(plain.samples(resamples)), range(2)):
        expected = math.fsum(rows[system, clip, column] for clip in sample)
        assert drawn[system, number, column] == pytest.approx(expected, abs=1e-9)


def test_the_total_is_the_same_to_the_last_bit_in_any_order() -> None:
    rows = rng(1).normal(size=(2, 500, 3))
    totals = set()
    for _ in range(5):
        rows = rng().permuted(rows, axis=1)
        totals.add(draw_resamples([0] * 500, 1, rng()).sums(rows).total.tobytes())
    shuffled = [rows[:, rng(seed).permutation(500)] for seed in range(5)]
    assert len({draw_resamples([0] * 500, 1, rng()).sums(values).total.tobytes() for values in shuffled}) == 1
    assert draw_resamples([0] * 500, 1, rng()).sums(rows).total == pytest.approx(rows.sum(axis=1), abs=1e-9)


def test_no_clips_have_sums_of_zero() -> None:
    sums = draw_resamples([], 10, rng()).sums(np.zeros((2, 0, 3)))
    assert sums.total.shape == (2, 3)
    assert sums.drawn.shape == (2, 10, 3)
    assert not sums.total.any()
    assert not sums.drawn.any()


def test_a_table_of_other_clips_is_refused() -> None:
    with pytest.raises(ValueError, match="the resamples are drawn from 8 clips, but the table has 7 rows"):
        draw_resamples(STRATA, 10, rng()).sums(np.zeros((7, 2)))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_table_with_a_number_that_is_none_is_refused(wrong: float) -> None:
    rows = np.zeros((8, 2))
    rows[3, 1] = wrong
    with pytest.raises(ValueError, match="not finite"):
        draw_resamples(STRATA, 10, rng()).sums(rows)


def test_no_resamples_are_refused() -> None:
    with pytest.raises(ValueError, match="1 or more, not 0"):
        draw_resamples(STRATA, 0, rng())


# Things in clusters.


def test_things_of_a_cluster_are_drawn_together() -> None:
    of = [0, 2, 2, 2, 5, 0]  # clusters 1, 3, 4, 6 and 7 have none
    rows = rng(1).normal(size=(6, 2))
    resamples = draw_resamples(STRATA, 25, rng())
    clusters = Clusters(resamples, of)
    drawn = clusters.drawn(rows)
    times = np.concatenate(list(clusters.blocks()))
    for number, sample in enumerate(plain.samples(resamples, of)):
        assert drawn[number] == pytest.approx([math.fsum(rows[thing, column] for thing in sample) for column in (0, 1)])
        assert list(times[number]) == [sample.count(thing) for thing in range(6)]


# Means and ratios of sums.


def test_a_mean_leaves_out_what_has_no_value() -> None:
    values = np.array([[1.0, math.nan, 4.0], [math.nan] * 3])
    rows = mean_rows(values)
    assert rows.shape == (2, 3, 2)
    means = mean(rows.sum(axis=1))
    assert means[0] == 2.5
    assert math.isnan(means[1])


def test_a_share_of_nothing_is_undefined() -> None:
    shares = ratio(np.array([1.0, 0.0, 3.0]), np.array([2.0, 0.0, 0.0]))
    assert shares[0] == 0.5
    assert np.isnan(shares[1:]).all()
