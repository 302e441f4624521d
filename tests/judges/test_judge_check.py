"""A judge measured: what can be counted by hand."""

import math

import numpy as np
import pytest

from judges.cases import pair
from robogaze.judges.base import Judgement, unscored
from robogaze.judges.judge_check import JudgeCheck, check_judge
from robogaze.judges.rated_pairs import RatedPair


def measured(people: list[float], *runs: list[float | None], units: str = "") -> JudgeCheck:
    """Runs of a judge (None: unscored) against what people say."""
    names = units or [str(number) for number in range(len(people))]
    rated = [
        RatedPair(pair(), similarity, {}, unit, "odd" if number % 2 else "even", "")
        for number, (similarity, unit) in enumerate(zip(people, names, strict=True))
    ]
    judged = [[unscored("no") if similarity is None else Judgement(similarity) for similarity in run] for run in runs]
    return check_judge(rated, judged, np.random.default_rng(0))


def test_a_judge_equal_to_the_ratings_agrees_perfectly() -> None:
    found = measured([0, 0.2, 0.4, 1], [0, 0.2, 0.4, 1]).agreement
    assert found.pearson.value == pytest.approx(1)
    assert found.spearman.value == pytest.approx(1)
    assert found.mean_difference.value == 0
    assert found.mean_absolute_error.value == 0


def test_a_lenient_judge_in_the_right_order_shows_by_its_difference() -> None:
    found = measured([0, 0.2, 0.4, 0.6], [0.4, 0.6, 0.8, 1.0]).agreement
    assert found.spearman.value == pytest.approx(1)
    assert found.mean_difference.value == pytest.approx(0.4)
    assert measured([0.5, 0.5], [0.4, 0.6]).agreement.mean_difference.value == pytest.approx(0)
    assert measured([0.5, 0.5], [0.4, 0.6]).agreement.mean_absolute_error.value == pytest.approx(0.1)


def test_unscored_pairs_are_counted_and_left_out() -> None:
    found = measured([0, 0.2, 0.4, 1], [0, None, 0.4, None])
    assert (found.pairs, found.units, found.unscored) == (4, 2, 2)
    assert found.agreement.mean_absolute_error.n == 2
    assert found.agreement.mean_absolute_error.value == 0


def test_a_judge_that_scores_nothing_has_no_agreement() -> None:
    found = measured([0, 1], [None, None])
    assert found.unscored == 2
    assert math.isnan(found.agreement.pearson.value)
    assert math.isnan(found.agreement.mean_absolute_error.value)
    assert found.agreement.pearson.why


def test_a_constant_judge_has_no_correlation() -> None:
    found = measured([0, 0.5, 1], [0.5, 0.5, 0.5]).agreement
    assert math.isnan(found.pearson.value)
    assert found.mean_absolute_error.value == pytest.approx(1 / 3)


def test_intervals_are_over_what_was_rated_together() -> None:
    """Forty pairs that are ten times the same four say no more than four."""
    people, judged = [0, 0.3, 0.7, 1] * 10, [0.1, 0.1, 0.9, 0.6] * 10
    apart = measured(people, judged).agreement.mean_absolute_error
    together = measured(people, judged, units="abcd" * 10).agreement.mean_absolute_error
    assert apart.value == together.value
    assert together.high - together.low > 2 * (apart.high - apart.low)


def test_one_run_has_no_stability() -> None:
    assert measured([0, 1], [0, 1]).stability is None


def test_stability_is_over_the_pairs_that_every_repeat_scored() -> None:
    found = measured([0, 0.5, 1, 1], [0.2, 0.5, 0.9, 1], [0.4, 0.5, 0.9, None]).stability
    assert found is not None
    assert found.repeats == 2
    assert (found.changed.value, found.changed.n) == (pytest.approx(1 / 3), 3)
    assert found.spread.value == pytest.approx(np.std([0.2, 0.4], ddof=1) / 3)


def test_the_agreement_is_that_of_the_first_run() -> None:
    assert measured([0, 1], [0, 1], [1, 0]).agreement.mean_absolute_error.value == 0


def test_kinds_of_pairs_are_shown_apart() -> None:
    kinds = measured([0, 1, 0.5, 1], [0.1, 0.8, 0.3, 0.6]).kinds
    assert kinds["even"] == (2, 0.25, pytest.approx(0.2))
    assert kinds["odd"] == (2, 1.0, pytest.approx(0.7))
