"""How much of the picture changes in a way that no motion explains."""

import math

import numpy as np

from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.optical_flow import DIFFERENT_LEVELS, Mask

_PARTS = 3  # the picture is divided into a 3 x 3 grid
_LEAST_PART = 0.1  # of a grid cell: less may be an object on its border
_TOO_SMALL = "the picture is too small for optical flow"


class UnexplainedChange:
    """The area that neither direction of the optical flow explains, and how widely it is spread."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="unexplained_change",
            unit="of the view",
            description="Share of the picture that cannot be explained by motion from the previous frame; after "
            "a cut, this is most of the picture.",
            gap=_TOO_SMALL,
        ),
        Signal(
            name="unexplained_spread",
            unit="of the regions",
            description="Share of the picture's nine regions in which at least a tenth of the area is unexplained.",
            gap=_TOO_SMALL,
        ),
    )

    def __init__(self) -> None:
        self._values: list[tuple[float, float]] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        change = frame.change
        self._values.append((math.nan, math.nan) if change is None else _shares(change.replaced > DIFFERENT_LEVELS))

    def finish(self) -> ViewSignals:
        """Both series over all frames; NaN in the first one, and in pictures under 64 px."""
        share, spread = np.array(self._values, dtype=np.float64).T
        return ViewSignals({"unexplained_change": share, "unexplained_spread": spread})


def _shares(unexplained: Mask) -> tuple[float, float]:
    parts = [part for rows in np.array_split(unexplained, _PARTS) for part in np.array_split(rows, _PARTS, axis=1)]
    changed = [np.count_nonzero(part) for part in parts]
    large = sum(count / part.size >= _LEAST_PART for count, part in zip(changed, parts, strict=True))
    return sum(changed) / unexplained.size, large / len(parts)
