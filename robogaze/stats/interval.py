"""Bootstrap intervals, for many systems at once.

An interval is undefined, with the reason, and never replaced by an interval of another kind, if

- the value itself is undefined;
- fewer than MIN_DEFINED_SHARE of the resamples have a value (for example, if an event type occurs in only three clips),
  because the resamples with a value would be a biased sample;
- every resample gives the same value, because there is one clip or all clips are equal: the data do not show how the
  value varies (for a share, use `wilson`);
- the BCa correction does not exist: the value lies outside all resampled values, or the skew is too large.

With few clips a bootstrap interval is too narrow. A percentile interval at 95 % contained the true mean of exponential
values in 77 % of samples of 5 values. For samples of 10, 20, 50 and 200 values, the share was 86 %, 90 %, 93 % and 94
%. BCa was better by at most two percentage points. Each share was measured on 2,000 samples;
tests/stats/test_coverage.py repeats some of these measurements.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from robogaze.core.estimate import Estimate
from robogaze.stats.resample import Clusters, Floats, Sums

Statistic = Callable[[Floats], Floats]
"""Sums (..., columns) to values (...), NaN where undefined."""

Method = Literal["percentile", "bca"]

LEVEL = 0.95
MIN_DEFINED_SHARE = 0.95
"""The share of resamples in which a value must be defined to have an interval."""

NOISE = 1e-12
"""Values nearer than this, relative to the larger of 1 and the value, differ by rounding alone."""


@dataclass(frozen=True)
class Intervals:
    """Values with intervals, arrays of the same shape.

    Where there is no interval, `low` and `high` are NaN, and `why` gives the reason.
    """

    value: Floats
    low: Floats
    high: Floats
    why: NDArray[np.object_]

    def estimate(self, *index: int, n: int) -> Estimate:
        """The estimate at an index of the arrays; `n` is the number of items behind it."""
        return Estimate(
            float(self.value[index]), float(self.low[index]), float(self.high[index]), n, str(self.why[index])
        )


def interval(sums: Sums, statistic: Statistic, *, level: float = LEVEL, method: Method = "percentile") -> Intervals:
    """The value of a statistic for every system, with its bootstrap interval. The arrays of the result have one element
    for each system.

    `percentile` takes the quantiles of the resampled values. `bca` (Efron's method) also corrects these quantiles for
    bias and skew. It estimates the skew by leaving out each unit in turn; the weights of the strata stay the same.
    """
    value, drawn = np.asarray(statistic(sums.total)), statistic(sums.drawn)
    if method == "percentile":
        return percentile(value, drawn, level=level)
    skew = np.empty(value.shape)
    for system in np.ndindex(value.shape):
        skew[system] = _acceleration(sums, statistic, system)
    shares = _corrected(value, drawn, skew, level)
    return _between(value, drawn, shares)


def percentile(value: Floats, drawn: Floats, *, level: float = LEVEL) -> Intervals:
    """Percentile intervals of values (...) from resampled values (..., resamples), by linear interpolation."""
    tail = (1 - level) / 2
    shares = np.broadcast_to([tail, 1 - tail], (*np.shape(value), 2))
    return _between(np.asarray(value, dtype=np.float64), drawn, shares)


def estimate(
    value: float, rows: Floats, statistic: Statistic, *, n: int, by: Clusters | None, level: float = LEVEL
) -> Estimate:
    """A value with the percentile interval of its statistic; without an interval if `by` is None.

    The statistic is a function of the sums of `rows` (items, columns).
    """
    if by is None:
        return Estimate(value, n=n)
    return percentile(np.array(value), statistic(by.drawn(rows)), level=level).estimate(n=n)


def _between(value: Floats, drawn: Floats, shares: Floats) -> Intervals:
    """Intervals between the quantiles at `shares` (..., 2); none where a share is NaN."""
    ordered = np.sort(drawn, axis=-1)  # NaNs last
    count = (~np.isnan(ordered)).sum(axis=-1)
    why = _why(value, ordered, count, shares)
    bounds = [np.where(why == "", _quantile(ordered, count, shares[..., side]), np.nan) for side in (0, 1)]
    return Intervals(value=value, low=bounds[0], high=bounds[1], why=why)


def _quantile(ordered: Floats, count: NDArray[np.intp], share: Floats) -> Floats:
    """Quantiles of sorted samples by linear interpolation; only the first `count` of a sample are numbers."""
    at = np.nan_to_num(share) * np.maximum(count - 1, 0)
    below = np.floor(at).astype(np.intp)
    above = np.ceil(at).astype(np.intp)
    low, high = (np.take_along_axis(ordered, place[..., None], axis=-1)[..., 0] for place in (below, above))
    found: Floats = low + (at - below) * (high - low)
    return found


def _why(value: Floats, ordered: Floats, count: NDArray[np.intp], shares: Floats) -> NDArray[np.object_]:
    """Why there is no interval, empty if there is one."""
    defined = count / ordered.shape[-1]
    last = np.take_along_axis(ordered, np.maximum(count - 1, 0)[..., None], axis=-1)[..., 0]
    same = last - ordered[..., 0] <= NOISE * np.maximum(1, np.abs(value))
    why = np.full(value.shape, "", dtype=object)
    why[np.isnan(shares).any(axis=-1)] = "the BCa correction is undefined here"
    why[same] = "every resample gives the same value"
    for index in np.argwhere(defined < MIN_DEFINED_SHARE):
        why[tuple(index)] = f"the value is undefined in {1 - defined[tuple(index)]:.0%} of the resamples"
    why[np.isnan(value)] = "there is nothing to compute the value from"
    return why


def _corrected(value: Floats, drawn: Floats, skew: Floats, level: float) -> Floats:
    """The two shares (..., 2) at which BCa takes its quantiles; NaN if the correction does not exist."""
    at = value[..., None]
    count = np.maximum((~np.isnan(drawn)).sum(axis=-1), 1)
    bias = ndtri(((drawn < at).sum(axis=-1) + (drawn <= at).sum(axis=-1)) / 2 / count)[..., None]
    bias = np.where(np.isfinite(bias), bias, np.nan)
    tail = ndtri((1 - level) / 2)
    moved = bias + np.array([tail, -tail])
    stretch = 1 - skew[..., None] * moved
    stretch = np.where(stretch > 0, stretch, np.nan)
    shares: Floats = ndtr(bias + moved / stretch)
    return shares


def _acceleration(sums: Sums, statistic: Statistic, system: tuple[int, ...]) -> float:
    """BCa's acceleration of a system, from leaving out each unit in turn (the jackknife).

    A stratum without one of its units is scaled to its full size, so that the weights of strata stay the same.
    """
    rows, total = sums.rows[system], sums.total[system]
    squares = cubes = 0.0
    for members in sums.strata:
        size = len(members)
        if size < 2:
            continue  # a stratum of one clip does not vary
        inside = rows[members]
        left = statistic(total + (inside.mean(axis=0) - inside) * (size / (size - 1)))
        pull = (left.mean() - left) * ((size - 1) / size)
        squares += float((pull**2).sum())
        cubes += float((pull**3).sum())
    return cubes / (6 * squares**1.5) if squares > 0 else np.nan
