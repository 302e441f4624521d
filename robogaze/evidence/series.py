"""Statistics of series with undefined values: a clip's usual level, and the median around each frame.

NaN means undefined. An undefined value is left out of every statistic and never replaced by a number.
"""

import math
from collections.abc import Sequence

import numpy as np

from robogaze.evidence.base import Series

_LEAST_S = 0.5  # a shorter clip may be faulty throughout, so it has no level to compare with
_LEAST_AROUND = 3  # defined values around a frame: the median of one or two is those values themselves


def level(series: Series, percent: float) -> float:
    """A percentile (0 to 100) of the defined values; NaN if no value is defined."""
    defined = series[np.isfinite(series)]
    return float(np.percentile(defined, percent)) if defined.size else math.nan


def own_level(series: Series, times_s: Sequence[float], percent: float) -> float:
    """A clip's own level: a percentile of the clip's values, with which the value of each frame is compared. NaN for a
    clip shorter than 0.5 s.

    If a fault lasts throughout the clip, it also changes the clip's own level, so the comparison does not show it.
    """
    return level(series, percent) if times_s[-1] - times_s[0] >= _LEAST_S else math.nan


def running_median(series: Series, times_s: Series, width_s: float) -> Series:
    """The median of the defined values in a window of `width_s` around each frame.

    NaN where fewer than half of the values, or fewer than three, are defined. A median follows a step at once and
    ignores a spike, so the difference between the series and its median is the spike alone.
    """
    starts = np.searchsorted(times_s, times_s - width_s / 2 - 1e-6, side="left")
    ends = np.searchsorted(times_s, times_s + width_s / 2 + 1e-6, side="right")
    numbers = starts[:, None] + np.arange(int((ends - starts).max(initial=0)))
    inside = numbers < ends[:, None]
    windows = np.where(inside, series[np.minimum(numbers, len(series) - 1)], math.nan)
    ordered = np.sort(np.where(np.isfinite(windows), windows, math.nan), axis=1)  # undefined values are last
    defined = np.isfinite(ordered).sum(axis=1)
    enough = defined >= np.maximum(_LEAST_AROUND, (ends - starts) / 2)
    frames, middle = np.flatnonzero(enough), defined[enough]
    lower, upper = ordered[frames, (middle - 1) // 2], ordered[frames, middle // 2]
    medians = np.full(len(series), math.nan)
    medians[frames] = upper - (upper - lower) / 2
    return medians
