"""What changes when another judge is asked."""

import math

import pytest

from robogaze.core.estimate import Estimate, undefined
from robogaze.evaluation.robustness import Robustness, robustness


def compared(first: list[float], second: list[float]) -> Robustness:
    def scores(values: list[float]) -> dict[str, dict[str, Estimate]]:
        return {
            name: {"f1": undefined("x") if math.isnan(value) else Estimate(value, n=9)}
            for name, value in zip("abcd", values, strict=False)
        }

    (found,) = robustness(scores(first), scores(second), ["f1"])
    return found


def test_a_judge_that_is_only_milder_keeps_the_order() -> None:
    found = compared([0.1, 0.2, 0.4], [0.2, 0.3, 0.45])
    assert (found.spearman.value, found.swapped) == (1.0, ())
    assert found.difference.value == pytest.approx(0.25 / 3)
    assert found.largest == pytest.approx(0.1)


def test_systems_that_change_places_are_named() -> None:
    assert compared([0.1, 0.2, 0.4], [0.1, 0.5, 0.4]).swapped == (("b", "c"),)


def test_what_one_judge_leaves_undefined_is_left_out() -> None:
    found = compared([0.1, math.nan, 0.4], [0.1, 0.2, 0.3])
    assert (found.difference.n, found.largest) == (2, pytest.approx(0.1))


def test_one_system_has_no_order() -> None:
    found = compared([0.1], [0.3])
    assert (found.spearman.defined, found.spearman.why) == (False, "there are fewer than two pairs")
    assert compared([], []).largest != compared([], []).largest  # NaN
