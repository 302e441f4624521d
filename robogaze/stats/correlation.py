"""Correlation and mean difference of two series of ratings of the same items.

Intervals are percentile intervals over resampled clusters, because pairs of descriptions of one event are not
independent. scipy computes the correlations. This module computes those of the resamples: it uses sums, and handles all
resamples at once.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.core.estimate import Estimate, undefined
from robogaze.stats.interval import NOISE, estimate, percentile
from robogaze.stats.resample import Clusters, Floats, mean, mean_rows, ratio

Numbers = Sequence[float] | Floats


def pearson(x: Numbers, y: Numbers, *, by: Clusters | None = None) -> Estimate:
    """Pearson's correlation, in [-1, 1]; undefined for fewer than two pairs and if one side is constant."""
    first, second = _both(x, y)
    if why := _why_undefined(first, second):
        return undefined(why, n=len(first))
    from scipy.stats import pearsonr

    value = float(pearsonr(first, second).statistic)
    rows = _moments(np.ones(len(first)), first - first.mean(), second - second.mean())
    return estimate(value, rows, _pearson, n=len(first), by=by)


def spearman(x: Numbers, y: Numbers, *, by: Clusters | None = None) -> Estimate:
    """Spearman's rank correlation; undefined in the same cases as `pearson`. Tied values share their mean rank, and
    each resample is ranked again.
    """
    first, second = _both(x, y)
    if why := _why_undefined(first, second):
        return undefined(why, n=len(first))
    from scipy.stats import spearmanr

    value = float(spearmanr(first, second).statistic)
    if by is None:
        return Estimate(value, n=len(first))
    drawn = [
        _pearson(_moments(counts, _ranks(first, counts), _ranks(second, counts)).sum(axis=1)) for counts in by.blocks()
    ]
    return percentile(np.array(value), np.concatenate(drawn)).estimate(n=len(first))


def auc(x: Numbers, positive: NDArray[np.bool_], *, by: Clusters | None = None) -> Estimate:
    """The probability that a positive has a higher value than a negative, ties counted half; undefined if there are no
    positives or no negatives.
    """
    values = np.asarray(x, dtype=np.float64)
    if positive.all() or not positive.any():
        return undefined("there are only positives or only negatives", n=len(values))
    above, below = values[positive], values[~positive]
    wins = (above[:, None] > below) + 0.5 * (above[:, None] == below)
    if by is None:
        return Estimate(float(wins.mean()), n=len(values))
    drawn = [
        ratio(((counts[:, positive] @ wins) * counts[:, ~positive]).sum(axis=1),
              counts[:, positive].sum(axis=1) * counts[:, ~positive].sum(axis=1))
        for counts in by.blocks()
    ]  # fmt: skip
    return percentile(np.array(wins.mean()), np.concatenate(drawn)).estimate(n=len(values))


def mean_difference(x: Numbers, y: Numbers, *, by: Clusters | None = None) -> Estimate:
    """The mean of x - y; undefined for no pairs."""
    first, second = _both(x, y)
    return _mean(first - second, by)


def mean_absolute_error(x: Numbers, y: Numbers, *, by: Clusters | None = None) -> Estimate:
    """The mean of |x - y|, 0 or more; undefined for no pairs."""
    first, second = _both(x, y)
    return _mean(np.abs(first - second), by)


def _mean(values: Floats, by: Clusters | None) -> Estimate:
    if not len(values):
        return undefined("there are no pairs")
    return estimate(float(values.mean()), mean_rows(values), mean, n=len(values), by=by)


def _both(x: Numbers, y: Numbers) -> tuple[Floats, Floats]:
    """Both sides as arrays. Raises ValueError if the sides have different lengths or are not finite."""
    first, second = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise ValueError(f"two series of the same length are needed, not {first.shape} and {second.shape}")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ValueError("a series holds a number that is not finite; remove pairs without a rating first")
    return first, second


def _why_undefined(first: Floats, second: Floats) -> str:
    if len(first) < 2:
        return "there are fewer than two pairs"
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return "all ratings on one side are the same"
    return ""


def _moments(counts: Floats, x: Floats, y: Floats) -> Floats:
    """The terms of the sums for a correlation, weighted by `counts`, shape (..., items, 6)."""
    return np.stack([counts, counts * x, counts * y, counts * x * x, counts * y * y, counts * x * y], axis=-1)


def _pearson(sums: Floats) -> Floats:
    """Pearson's correlation from sums (..., 6) of `_moments`; NaN where a side does not vary."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    n = np.maximum(n, 1)
    spread_x, spread_y = xx - x * x / n, yy - y * y / n
    varies = (spread_x > NOISE * xx) & (spread_y > NOISE * yy)
    size = np.sqrt(np.where(varies, spread_x * spread_y, 1.0))
    found: Floats = np.where(varies, np.clip((xy - x * y / n) / size, -1, 1), np.nan)
    return found


def _ranks(values: Floats, counts: Floats) -> Floats:
    """Mean ranks, centred at 0, of values in samples that contain each value `counts` (resamples, values) times."""
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=np.nan))
    grouped = np.add.reduceat(counts[:, order], starts, axis=1)
    place = np.searchsorted(values[order[starts]], values)
    upto = np.cumsum(grouped, axis=1)
    ranks: Floats = (upto - grouped / 2 - upto[:, -1:] / 2)[:, place]
    return ranks
