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
    """A percentile (0 to 100) of the defined values; NaN without any."""
    defined = series[np.isfinite(series)]
    return float(np.percentile(defined, percent)) if defined.size else math.nan


def own_level(series: Series, times_s: Sequence[float], percent: float) -> float:
    """A clip's own level, with which its frames are compared; NaN when it lasts less than 0.5 s.

    A condition that lasts throughout the clip is part of that level and does not differ from it.
    """
    return level(series, percent) if times_s[-1] - times_s[0] >= _LEAST_S else math.nan


def running_median(series: Series, times_s: Series, width_s: float) -> Series:
    """The median of the defined values in a window of `width_s` around each frame.

    NaN where fewer than half of the values, or fewer than three, are defined. A median follows a step at once and
    ignores a spike, so the difference to it is the spike alone.
    """
    starts = np.searchsorted(times_s, times_s - width_s / 2 - 1e-6, side="left")
    ends = np.searchsorted(times_s, times_s + width_s / 2 + 1e-6, side="right")
    medians = np.full(len(series), math.nan)
    for frame, (start, end) in enumerate(zip(starts, ends, strict=True)):
        window = series[start:end]
        if np.isfinite(window).sum() >= max(_LEAST_AROUND, len(window) / 2):
            medians[frame] = level(window, 50)
    return medians
