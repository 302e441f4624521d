"""A large dark patch between the camera and the scene, and how fast it grows.

An arm near the camera can also be a large dark patch, but this patch grows only as fast as the arm approaches.
Therefore two signals are measured: how much larger the patch is than usual in the clip, and how much of it appeared
within a fraction of a second. Thumbnails of all frames, about 3 KB each, are kept until the clip ends, because the
usual level is known only then.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Series, Signal, ViewSignals, reduced

_SIDE_PX = 64  # the longer side of a thumbnail
_DARK_LEVELS, _DARKER_LEVELS = 60, 40  # luma of a dark place, and how far it is below the place's median
_GROWTH_S = 0.4


class DarkPatch:
    """The largest unusual dark patch, and its sudden growth."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="dark_patch",
            unit="of the view",
            description="Area of the largest patch that is dark where the clip is usually not dark, minus the "
            "median of this area.",
        ),
        Signal(
            name="dark_patch_growth",
            unit="of the view",
            description=f"By how much the dark patch is larger than its smallest size in the {_GROWTH_S} s before.",
            limitation="only a dark cover that appears fast is found; a light, slow or lasting cover is not found",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._thumbnails: list[NDArray[np.uint8]] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(frame.time_s)
        self._thumbnails.append(reduced(frame.small_gray, _SIDE_PX))

    def finish(self) -> ViewSignals:
        """Both series over all frames, with the patch's box."""
        thumbnails = np.array(self._thumbnails, dtype=np.int16)
        usual = np.median(thumbnails, axis=0)
        patches = [
            _largest((thumbnail < _DARK_LEVELS) & (usual - thumbnail > _DARKER_LEVELS)) for thumbnail in thumbnails
        ]
        area = np.array([share for share, _ in patches])
        patch = np.maximum(area - np.median(area), 0.0)
        boxes = {number: box for number, (_, box) in enumerate(patches) if box is not None}
        series = {"dark_patch": patch, "dark_patch_growth": _growth(patch, np.array(self._times_s))}
        return ViewSignals(series, dict.fromkeys(series, boxes))


def _largest(dark: NDArray[np.bool_]) -> tuple[float, Box | None]:
    """The area of the largest connected patch, as a share of the view, and its box."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(dark.astype(np.uint8), connectivity=4)
    if count == 1:
        return 0.0, None
    left, top, box_width, box_height, area = (int(value) for value in max(stats[1:], key=lambda patch: patch[4]))
    height, width = dark.shape
    box = Box(left=left / width, top=top / height, right=(left + box_width) / width, bottom=(top + box_height) / height)
    return area / dark.size, box


def _growth(patch: Series, times_s: Series) -> Series:
    """Each value minus the lowest value of the moment before it."""
    first = np.searchsorted(times_s, times_s - _GROWTH_S - 1e-6)
    return np.array([patch[number] - patch[start : number + 1].min() for number, start in enumerate(first)])
