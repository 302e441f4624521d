"""P-values adjusted for the number of comparisons. A NaN is not counted and stays NaN."""

from collections.abc import Callable, Sequence

import numpy as np

from robogaze.stats.resample import Floats


def holm(p: Sequence[float] | Floats) -> Floats:
    """Holm's adjustment: it controls the probability of any false positive among all comparisons."""
    return _adjusted(p, _step_down)


def benjamini_hochberg(p: Sequence[float] | Floats) -> Floats:
    """Benjamini and Hochberg's adjustment: it controls the mean share of false positives among the positives."""
    from scipy.stats import false_discovery_control

    return _adjusted(p, lambda known: np.asarray(false_discovery_control(known, method="bh"), dtype=np.float64))


def _adjusted(p: Sequence[float] | Floats, adjust: Callable[[Floats], Floats]) -> Floats:
    """The defined p-values adjusted among themselves. Raises ValueError for a p-value outside [0, 1]."""
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
