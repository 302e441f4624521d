"""Prediction-powered means. Seeded: each figure is the same in every run."""

import numpy as np
import pytest

from robogaze.stats.calibrated import calibrated_mean, naive_mean
from robogaze.stats.resample import Floats


def judged(rng: np.random.Generator, n: int, share: float = 0.3) -> tuple[Floats, Floats]:
    """Clips of which that share is clean, and a judge that calls 40 % of the others clean and misses 10 % of these."""
    truth = rng.random(n) < share
    said = np.where(truth, rng.random(n) < 0.9, rng.random(n) < 0.4)
    return said.astype(float), truth.astype(float)


def test_it_can_be_counted_by_hand() -> None:
    labelled = np.array([1.0] * 8 + [0.0] * 4)
    truth = np.array([1.0] * 5 + [0.0] * 7)  # three of twelve were called clean and are not
    predictions = np.array([1.0, 1.0, 1.0, 0.0] * 10)
    found = calibrated_mean(predictions, labelled, truth)
    assert found.value == pytest.approx(0.75 - 0.25)
    assert found.n == 40
    spread = predictions.var(ddof=1) / 40 + (labelled - truth).var(ddof=1) / 12
    assert found.high - found.value == pytest.approx(1.959964 * np.sqrt(spread))


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
    predictions, labels = np.array([1.0, 0.0, 1.0, 0.0]), np.ones(10)
    assert calibrated_mean(predictions, labels, labels) == naive_mean(predictions)


@pytest.mark.parametrize(("predictions", "labels"), [(40, 9), (1, 20), (0, 20)])
def test_too_few_of_either_tell_nothing(predictions: int, labels: int) -> None:
    found = calibrated_mean(np.ones(predictions), np.ones(labels), np.zeros(labels))
    assert not found.defined
    assert found.why


def test_the_labelled_sample_is_one_to_one() -> None:
    with pytest.raises(ValueError, match="do not go with"):
        calibrated_mean(np.ones(10), np.ones(10), np.ones(11))
