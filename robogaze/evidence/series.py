"""Arithmetic of series with undefined values: what is usual in a clip, and what is usual around a moment.

NaN stands for "not defined" everywhere: it is left out of a median and never turned into a number.
"""

import math
from collections.abc import Sequence

import numpy as np

from robogaze.evidence.base import Series

_OWN_S = 0.5  # a shorter clip may be all fault: it has no level of its own to compare with
_LEAST_AROUND = 3  # defined values around a moment: of one or two the median is those themselves


def level(series: Series, percent: float) -> float:
    """A percentile (0 to 100) of the defined values; NaN when there is none."""
    defined = series[np.isfinite(series)]
    return float(np.percentile(defined, percent)) if defined.size else math.nan


def own_level(series: Series, times_s: Sequence[float], percent: float) -> float:
    """A clip's own level, to compare its frames with; NaN for a clip of less than 0.5 s between first and last frame.

    What lasts throughout the clip is part of that level, and does not stand out from it.
    """
    return level(series, percent) if times_s[-1] - times_s[0] >= _OWN_S else math.nan


def running_median(series: Series, times_s: Series, width_s: float) -> Series:
    """The median of the defined values within `width_s` centred on each frame.

    NaN where fewer than half are defined, or fewer than three. A median follows a step at once and leaves out a
    spike, so what remains beside it is the spike alone.
    """
    starts = np.searchsorted(times_s, times_s - width_s / 2 - 1e-6, side="left")
    ends = np.searchsorted(times_s, times_s + width_s / 2 + 1e-6, side="right")
    return np.array([_median(series[start:end]) for start, end in zip(starts, ends, strict=True)])


def _median(window: Series) -> float:
    defined = int(np.isfinite(window).sum())
    return level(window, 50) if defined >= max(_LEAST_AROUND, len(window) / 2) else math.nan
