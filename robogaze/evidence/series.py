"""Arithmetic of series with undefined values: what is usual in a clip, and what is usual around a moment.

NaN stands for "not defined" everywhere: it is left out of a median and never turned into a number.
"""

import math

import numpy as np

from robogaze.evidence.base import Series


def level(series: Series, percent: float) -> float:
    """A percentile (0 to 100) of the defined values; NaN when there is none."""
    defined = series[np.isfinite(series)]
    return float(np.percentile(defined, percent)) if defined.size else math.nan


def running_median(series: Series, times_s: Series, width_s: float) -> Series:
    """The median of the defined values within `width_s` centred on each frame; NaN where fewer than half are defined.

    A median follows a step at once and leaves out a spike, so what remains beside it is the spike alone.
    """
    starts = np.searchsorted(times_s, times_s - width_s / 2 - 1e-6, side="left")
    ends = np.searchsorted(times_s, times_s + width_s / 2 + 1e-6, side="right")
    windows = (series[start:end] for start, end in zip(starts, ends, strict=True))
    return np.array([level(window, 50) if np.isfinite(window).mean() >= 0.5 else math.nan for window in windows])
