"""Signals as text: one line per signal, short enough to be shown to a model next to the frames."""

import numpy as np

from robogaze.evidence.base import ClipSignals, Series
from robogaze.evidence.series import level


def summarise(evidence: ClipSignals) -> list[str]:
    """Each signal's median, usual range and extremes with their times, per view.

    If a signal is constant or undefined throughout, its text says so. If values are missing because they could not be
    measured, the text gives the number of frames without a value. Details of other signals are left out.
    """
    return [_line(evidence, signal.name) for signal in evidence.signals.values() if not signal.part_of]


def _line(evidence: ClipSignals, name: str) -> str:
    signal = evidence.signals[name]
    parts = []
    for view, measured in evidence.views.items():
        text = _describe(measured.series[name], np.array(evidence.frame_times_s), counts_missing=bool(signal.gap))
        parts.append(text if len(evidence.views) == 1 else f"{view}: {text}")
    return f"{name} ({signal.unit}): {'; '.join(parts)}"


def _describe(series: Series, times_s: Series, *, counts_missing: bool) -> str:
    if not np.isfinite(series).any():
        return "not defined"
    missing = int(np.isnan(series[1:]).sum()) if counts_missing else 0
    suffix = f", not measured in {missing} of {len(series)} frames" if missing else ""
    low, high = int(np.nanargmin(series)), int(np.nanargmax(series))
    if series[low] == series[high]:
        return f"{series[low]:.3g} throughout{suffix}"
    p5, p50, p95 = (level(series, percent) for percent in (5, 50, 95))
    return (
        f"median {p50:.3g}, mostly {p5:.3g} to {p95:.3g}, "
        f"lowest {series[low]:.3g} at {times_s[low]:.2f} s, highest {series[high]:.3g} at {times_s[high]:.2f} s{suffix}"
    )
