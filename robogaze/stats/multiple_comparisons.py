"""Many comparisons at once: p-values adjusted for their number.

A p-value that is NaN is no comparison: it is not counted and stays NaN.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from robogaze.stats.resample import Floats


def holm(p: Sequence[float] | Floats) -> Floats:
    """Adjusted by Holm: below a level, the probability of any false positive among all comparisons is at most that
    level.
    """
    return _adjusted(p, _step_down)


def benjamini_hochberg(p: Sequence[float] | Floats) -> Floats:
    """Adjusted by Benjamini and Hochberg: of those below a level, at most that share are false positives on average."""
    from scipy.stats import false_discovery_control

    return _adjusted(p, lambda known: np.asarray(false_discovery_control(known, method="bh"), dtype=np.float64))


def min_resamples(comparisons: int, level: float = 0.05) -> int:
    """The number of resamples from which Holm's adjustment can make any of so many comparisons significant.

    A p-value from B resamples is at least 2 / (B + 1): with 1,000, none of 276 pairs can be significant.
    """
    return max(1, math.ceil(round(2 * comparisons / level, 6)) - 1)


def _adjusted(p: Sequence[float] | Floats, adjust: Callable[[Floats], Floats]) -> Floats:
    """The defined p-values adjusted among themselves. Raises ValueError for one outside [0, 1]."""
    given = np.asarray(p, dtype=np.float64)
    known = ~np.isnan(given)
    if ((given[known] < 0) | (given[known] > 1)).any():
        raise ValueError("a p-value lies in [0, 1]")
    result = np.full(given.shape, np.nan)
    if known.any():
        result[known] = adjust(given[known])
    return result


def _step_down(known: Floats) -> Floats:
    order = np.argsort(known, kind="stable")
    weighted = known[order] * np.arange(len(known), 0, -1)
    result = np.empty(len(known))
    result[order] = np.minimum(1.0, np.maximum.accumulate(weighted))
    return result
