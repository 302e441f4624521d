"""Prediction-powered estimates: a judge's mean over many things, corrected by what a few labels say of its errors.

    corrected = mean of the predictions - mean of (prediction - truth) over a labelled sample

Angelopoulos, Bates, Fannjiang, Jordan and Zrnic (2023), for a mean. The interval is the normal one from the variances
of both parts; it holds the truth as often as it says whatever the judge's errors are, when the labelled things are a
random sample of the same kind and no label stands for two things. The plain mean of predictions has a narrow interval
around the wrong value instead. A judge that is always right costs nothing; one that is no use leaves the labels' width.

`ppi-python`, the authors' package, does this and much more; it is no dependency, since a mean takes ten lines.
"""

from math import sqrt

import numpy as np
from scipy.special import ndtri

from robogaze.core.scores import Estimate, undefined
from robogaze.stats.interval import LEVEL
from robogaze.stats.resample import Floats

LEAST_LABELS = 10
"""With fewer labels the normal interval of their mean error says nothing."""


def calibrated_mean(predictions: Floats, labelled: Floats, truth: Floats, *, level: float = LEVEL) -> Estimate:
    """The mean truth of the things that `predictions` are of; `n` counts those.

    `labelled` and `truth` are the predictions and the true values of the labelled sample. The value may leave the
    range of the truth (a share below 0): it is not cut, for a cut one would be biased. Undefined with fewer than
    LEAST_LABELS labels or two predictions. Raises ValueError when the labelled sample is not one to one.
    """
    if labelled.shape != truth.shape:
        raise ValueError(f"{len(labelled)} labelled predictions do not go with {len(truth)} labels")
    if len(truth) < LEAST_LABELS:
        return undefined(f"{len(truth)} labels are fewer than {LEAST_LABELS}", len(predictions))
    if len(predictions) < 2:
        return undefined("there are fewer than two predictions", len(predictions))
    errors = labelled - truth
    value = float(predictions.mean() - errors.mean())
    variance = predictions.var(ddof=1) / len(predictions) + errors.var(ddof=1) / len(errors)
    if variance == 0:
        return Estimate(value, n=len(predictions), why="nothing varies")
    reach = float(ndtri((1 + level) / 2)) * sqrt(float(variance))
    return Estimate(value, value - reach, value + reach, len(predictions))


def naive_mean(predictions: Floats, *, level: float = LEVEL) -> Estimate:
    """The mean of the predictions as if they were the truth, with the same kind of interval, to stand beside."""
    nothing = np.zeros(LEAST_LABELS)
    return calibrated_mean(predictions, nothing, nothing, level=level)
