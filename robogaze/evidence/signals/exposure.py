"""Brightness and contrast of the picture."""

import numpy as np

from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.series import own_level

_OWN_PERCENT = 90  # the clip's own level is the contrast of its better frames


class Exposure:
    """Luma and contrast of the reduced picture."""

    signals: tuple[Signal, ...] = (
        Signal(name="luma", unit="of full scale", description="Mean luma of the picture, from 0 (black) to 1 (white)."),
        Signal(
            name="luma_change",
            unit="of full scale",
            description="Absolute change of the mean luma since the frame before.",
            gap="the clip has a single frame",
        ),
        Signal(
            name="contrast",
            unit="of full scale",
            description="Luma of the lightest 0.5 % of the picture minus the luma of the darkest 0.5 %.",
        ),
        Signal(
            name="contrast_drop",
            unit="of the clip's level",
            description="How far contrast is below the contrast of the clip's better frames; 0 if it is not below.",
            gap="the clip is too short to have a typical contrast",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._values: list[tuple[float, float]] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(frame.time_s)
        self._values.append((float(frame.small_gray.mean()) / 255, frame.contrast))

    def finish(self) -> ViewSignals:
        """Series over all frames. The change is NaN in the first frame; the drop is NaN in a clip under 0.5 s."""
        luma, contrast = np.array(self._values, dtype=np.float64).T
        own = own_level(contrast, self._times_s, _OWN_PERCENT)
        return ViewSignals(
            {
                "luma": luma,
                "luma_change": np.abs(np.diff(luma, prepend=np.nan)),
                "contrast": contrast,
                "contrast_drop": np.zeros_like(contrast) if own == 0 else 1 - contrast / own,
            }
        )
