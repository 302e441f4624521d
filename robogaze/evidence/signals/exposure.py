"""How light and how flat the picture is."""

import numpy as np

from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.series import own_level

_DARK, _BRIGHT = 4, 251
"""8-bit luma at and beyond which a pixel holds no more detail; not 0 and 255, for compression ripples around both."""

_OWN_PERCENT = 90  # the clip's own level: what it reaches in its better frames


class Exposure:
    """Luma from its histogram, on the reduced picture."""

    signals: tuple[Signal, ...] = (
        Signal(name="luma", unit="of full scale", description="Mean luma of the picture, from 0 (black) to 1 (white)."),
        Signal(
            name="luma_change",
            unit="of full scale",
            description="How much mean luma changed since the frame before, up or down.",
        ),
        Signal(
            name="contrast",
            unit="of full scale",
            description="Luma of the lightest parts of the picture minus that of the darkest, without 0.5 % of each.",
        ),
        Signal(
            name="contrast_drop",
            unit="of the clip's level",
            description="How far contrast lies below what the clip reaches in its better frames (0: not at all).",
            gap="the clip is too short to have better frames",
        ),
        Signal(name="clipped_dark", unit="of the picture", description="Share of the pixels that are black."),
        Signal(name="clipped_bright", unit="of the picture", description="Share of the pixels that are white."),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._rows: list[tuple[float, float, float, float]] = []

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(look.time_s)
        up_to = look.shares_up_to
        luma = float(look.small_gray.mean()) / 255
        self._rows.append((luma, look.contrast, float(up_to[_DARK]), float(1 - up_to[_BRIGHT - 1])))

    def finish(self) -> ViewSignals:
        """A value of each signal for every frame; the change is NaN at the first one, the drop in clips too short."""
        luma, contrast, dark, bright = np.array(self._rows, dtype=np.float64).T
        change = np.abs(np.diff(luma, prepend=np.nan))
        own = own_level(contrast, self._times_s, _OWN_PERCENT)
        drop = np.zeros_like(contrast) if own == 0 else 1 - contrast / own
        columns = (luma, change, contrast, drop, dark, bright)
        return ViewSignals({signal.name: column for signal, column in zip(self.signals, columns, strict=True)})
