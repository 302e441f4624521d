"""Prediction-powered means. Seeded: each figure is the same in every run."""

import numpy as np
import pytest
import scipy.stats

from robogaze.stats.prediction_powered import calibrated_difference, calibrated_mean, naive_mean
from robogaze.stats.resample import Floats


def judged(rng: np.random.Generator, n: int, share: float = 0.3) -> tuple[Floats, Floats]:
    """Clips of which that share is clean, and a judge that calls 40 % of the others clean and misses 10 % of these."""
    truth = rng.random(n) < share
    said = np.where(truth, rng.random(n) < 0.9, rng.random(n) < 0.4)
    return said.astype(float), truth.astype(float)


def test_it_can_be_counted_by_hand() -> None:
    labelled = np.array([1.0] * 24 + [0.0] * 12)
    truth = np.array([1.0] * 15 + [0.0] * 21)  # nine of 36 were called clean and are not
    predictions = np.array([1.0, 1.0, 1.0, 0.0] * 10)
    found = calibrated_mean(predictions, labelled, truth)
    assert found.value == pytest.approx(0.75 - 0.25)
    assert found.n == 40
    parts = [predictions.var(ddof=1) / 40, (labelled - truth).var(ddof=1) / 36]
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 39 + parts[1] ** 2 / 35)
    assert found.high - found.value == pytest.approx(scipy.stats.t.ppf(0.975, freedom) * np.sqrt(sum(parts)))


def test_the_corrected_interval_holds_the_truth_and_the_naive_one_does_not() -> None:
    held = {"corrected": 0, "naive": 0}
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        predictions, _ = judged(rng, 400)
        labelled, truth = judged(rng, 80)
        for name, found in {
            "corrected": calibrated_mean(predictions, labelled, truth),
            "naive": naive_mean(predictions),
        }.items():
            held[name] += found.low <= 0.3 <= found.high
    assert 0.93 < held["corrected"] / 1000 < 0.97
    assert held["naive"] / 1000 < 0.01


def test_a_good_judge_makes_it_narrower_than_the_labels_alone() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(60) < 0.5).astype(float)
    said = np.where(rng.random(60) < 0.05, 1 - truth, truth)
    found = calibrated_mean((rng.random(2000) < 0.5).astype(float), said, truth)
    alone = naive_mean(truth)
    assert found.high - found.low < 0.6 * (alone.high - alone.low)


def test_a_judge_without_errors_changes_nothing() -> None:
    predictions, labels = np.array([1.0, 0.0, 1.0, 0.0]), np.ones(30)
    assert calibrated_mean(predictions, labels, labels) == naive_mean(predictions)


def test_clips_of_one_prompt_are_one_unit() -> None:
    rng = np.random.default_rng(5)
    predictions, (labelled, truth) = judged(rng, 40)[0], judged(rng, 36)
    alone = calibrated_mean(predictions, labelled, truth)
    seeds = [np.repeat(values, 4) for values in (predictions, labelled, truth)]
    units, label_units = np.repeat(np.arange(40), 4).tolist(), np.repeat(np.arange(36), 4).tolist()
    found = calibrated_mean(*seeds, units=units, label_units=label_units)
    assert (found.value, found.low, found.high) == pytest.approx((alone.value, alone.low, alone.high))
    assert found.n == 160
    few = calibrated_mean(*seeds, units=units, label_units=[unit // 2 for unit in label_units])
    assert few.why == "there are 18 independent labels, fewer than 30"


@pytest.mark.parametrize(("predictions", "labels"), [(40, 29), (1, 40), (0, 40)])
def test_too_few_of_either_are_undefined(predictions: int, labels: int) -> None:
    found = calibrated_mean(np.ones(predictions), np.ones(labels), np.zeros(labels))
    assert not found.defined
    assert found.why


def test_the_labelled_sample_is_one_to_one() -> None:
    with pytest.raises(ValueError, match=r"the numbers of labelled predictions \(10\) and labels \(11\) differ"):
        calibrated_mean(np.ones(10), np.ones(10), np.ones(11))


@pytest.mark.parametrize("labels", [30, 80])
def test_a_corrected_difference_holds_the_truth_where_the_judge_favours_a_side(labels: int) -> None:
    """Both sides are clean in half of the clips; the judge misses a third of the second's faults."""
    held = wrong = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        true = rng.random((2, 300 + labels)) < 0.5
        said = true | ((rng.random(true.shape) < 1 / 3) & [[False], [True]])
        apart = said[0, :300].astype(float) - said[1, :300]
        naive = float(apart.mean()), float(apart.std(ddof=1) / np.sqrt(300)), 299.0
        sides = [(errors, range(labels)) for errors in (said.astype(float) - true)[:, 300:]]
        found, p, _, most = calibrated_difference(naive, *sides, 300, level=0.95, outer=0.9)
        held += found.low <= 0 <= found.high
        wrong += p < 0.05
        assert abs(found.value) < most < abs(found.value) + (found.high - found.low) / 2
    assert 0.92 < held / 600 < 0.985
    assert wrong == 600 - held


def test_a_difference_needs_labels_on_both_sides() -> None:
    few, many = (np.ones(29), range(29)), (np.ones(60), range(60))
    found, p, _, _ = calibrated_difference((0.1, 0.02, 99.0), few, many, 100, level=0.95, outer=0.9)
    assert (found.why, np.isnan(p)) == ("there are 29 independent labels, fewer than 30", True)
