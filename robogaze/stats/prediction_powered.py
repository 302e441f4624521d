"""Prediction-powered inference: the mean of a judge's predictions, corrected with a few labels.

    corrected = mean of the predictions - mean of (prediction - truth) over a labelled sample

The method is that of Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), for a mean. The interval is Student's,
from the variances of both parts. If the labelled items are a random sample of the same population, the interval has its
stated coverage for any errors of the judge. Items of one unit (clips of one prompt) are not independent, so the
variances are those of sums over units. The plain mean of the predictions has a narrower interval around a wrong
value. A better judge gives a narrower corrected interval; with a useless judge, the interval has the same width as with
the labels alone.

The authors' package `ppi-python` is not a dependency, because a mean takes ten lines.
"""

from collections.abc import Hashable, Sequence
from math import nan, sqrt

import numpy as np
from scipy.special import stdtr, stdtrit

from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.interval import LEVEL
from robogaze.stats.resample import Floats

MIN_LABELS = 30
"""With fewer labels the coverage of a 95 % interval is too low: 82 % with 10 labels, 94 % with 30."""

Units = Sequence[Hashable]
"""The unit of each item."""


def calibrated_mean(
    predictions: Floats,
    labelled: Floats,
    truth: Floats,
    *,
    level: float = LEVEL,
    units: Units | None = None,
    label_units: Units | None = None,
) -> Estimate:
    """The mean true value of the `n` items that were predicted.

    `labelled` and `truth` are the predictions and the true values of the labelled sample. `units` are the units of the
    predictions, and `label_units` those of the labels; without them, each item is a unit. The value may be outside the
    range of the truth (a share below 0); it is not clipped, because that would bias it. Undefined with fewer than
    MIN_LABELS labelled units or two predicted ones. Raises ValueError if `labelled` and `truth` differ in shape.
    """
    if labelled.shape != truth.shape:
        raise ValueError(f"the numbers of labelled predictions ({len(labelled)}) and labels ({len(truth)}) differ")
    if (independent := _number(truth, label_units)) < MIN_LABELS:
        return undefined(_too_few(independent), len(predictions))
    if _number(predictions, units) < 2:
        return undefined("there are fewer than two independent predictions", len(predictions))
    errors = labelled - truth
    value = float(predictions.mean() - errors.mean())
    parts = (_spread(predictions, units), _spread(errors, label_units))
    if not any(variance for variance, _ in parts):
        return Estimate(value, n=len(predictions), why="nothing varies")
    reach = _reach(parts, level)
    return Estimate(value, value - reach, value + reach, len(predictions))


Errors = tuple[Floats, Units]
"""The errors (prediction - truth) on labelled clips, and the unit of each clip."""


def calibrated_difference(
    predicted: tuple[float, float, float], first: Errors, second: Errors, n: int, *, level: float, outer: float
) -> tuple[Estimate, float, float, float]:
    """The difference of two means that are corrected with different labels. Returns the estimate, the p-value, the
    standard error and the equivalence bound.

    `predicted` is the paired difference of the predictions with its standard error and degrees of freedom. `first` and
    `second` are the errors on the labelled clips of each side; the two sides have different labelled clips. The
    equivalence bound is the largest absolute difference in the interval at the confidence level `outer`. Undefined with
    fewer than MIN_LABELS labelled units.
    """
    fewest = min(_number(*first), _number(*second))
    if fewest < MIN_LABELS:
        return undefined(_too_few(fewest), n), nan, nan, nan
    value = predicted[0] - float(first[0].mean() - second[0].mean())
    parts = ((predicted[1] ** 2, predicted[2]), _spread(*first), _spread(*second))
    error = sqrt(sum(variance for variance, _ in parts))
    if not error > 0:
        return Estimate(value, n=n, why="nothing varies"), nan, nan, nan
    reach, p = _reach(parts, level), float(2 * stdtr(_freedom(parts), -abs(value) / error))
    return Estimate(value, value - reach, value + reach, n), p, error, abs(value) + _reach(parts, outer)


def _number(values: Floats, units: Units | None) -> int:
    return len(values) if units is None else len(set(units))


def _too_few(labels: int) -> str:
    return f"there are {labels} independent labels, fewer than {MIN_LABELS}"


Parts = Sequence[tuple[float, float]]
"""Variances of independent parts of a sum, with their degrees of freedom."""


def _spread(values: Floats, units: Units | None) -> tuple[float, float]:
    """The variance of the mean, from the sums over units, and its degrees of freedom."""
    places = {unit: place for place, unit in enumerate(dict.fromkeys(units or range(len(values))))}
    of = np.array([places[unit] for unit in units or range(len(values))])
    sums, count = np.bincount(of, weights=values - values.mean()), len(places)
    return float((sums**2).sum() / len(values) ** 2 * count / (count - 1)), count - 1.0


def _freedom(parts: Parts) -> float:
    """Welch and Satterthwaite's degrees of freedom."""
    whole = sum(variance for variance, _ in parts)
    return whole**2 / sum(variance**2 / freedom for variance, freedom in parts if variance > 0)


def _reach(parts: Parts, level: float) -> float:
    return float(stdtrit(_freedom(parts), (1 + level) / 2)) * sqrt(sum(variance for variance, _ in parts))


def naive_mean(predictions: Floats, *, level: float = LEVEL, units: Units | None = None) -> Estimate:
    """The mean of the predictions without a correction, for comparison. Its interval is of the same kind as that of
    `calibrated_mean`.
    """
    nothing = np.zeros(MIN_LABELS)
    return calibrated_mean(predictions, nothing, nothing, level=level, units=units)
