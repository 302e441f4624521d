"""What comes between the camera and the scene: a large dark patch where it is not usually dark, and how fast it came.

An arm may be dark, too, and large when it is near; but it comes at the pace of its motion. So two things are told
apart: how large the patch is beyond what is usual in the clip, and how much of that came within a fraction of a
second. Thumbnails of all frames are kept until the clip ends, some 3 KB for each: what is usual shows only then.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.base import FrameView, Series, Signal, ViewSignals

_SIDE_PX = 64  # the longer side of a thumbnail
_DARK_LEVELS, _DARKER_LEVELS = 60, 40  # luma of a dark place, and how far it lies below what is usual there
_ARRIVAL_S = 0.4

Patches = list[tuple[float, Box | None]]


class Cover:
    """The largest dark patch beyond what is usual, and how suddenly it came."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="dark_patch",
            unit="of the view",
            description="Area of the largest patch that is dark where it usually is not, beyond its median.",
        ),
        Signal(
            name="dark_arrival",
            unit="of the view",
            description=f"How much larger that patch is than at its smallest within {_ARRIVAL_S} s before.",
            hides="dark_arrival sees what is dark and comes fast; a light, a slow or a lasting cover is not found",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._thumbnails: list[NDArray[np.uint8]] = []

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        height, width = look.small_gray.shape
        scale = min(1.0, _SIDE_PX / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        thumbnail = cv2.resize(look.small_gray, size, interpolation=cv2.INTER_AREA)
        self._times_s.append(look.time_s)
        self._thumbnails.append(np.asarray(thumbnail, dtype=np.uint8))

    def finish(self) -> ViewSignals:
        """A value of both for every frame."""
        frames = np.array(self._thumbnails, dtype=np.int16)
        usual = np.median(frames, axis=0)
        patches = [_largest((frame < _DARK_LEVELS) & (usual - frame > _DARKER_LEVELS)) for frame in frames]
        area = np.array([share for share, _ in patches])
        patch = np.maximum(area - np.median(area), 0.0)
        boxes = {number: box for number, (_, box) in enumerate(patches) if box is not None}
        series = {"dark_patch": patch, "dark_arrival": _arrival(patch, np.array(self._times_s))}
        return ViewSignals(series, dict.fromkeys(series, boxes))


def _largest(dark: NDArray[np.bool_]) -> tuple[float, Box | None]:
    """The area of the largest connected patch, as a share of the view, and its box."""
    count, _, stats, _ = cv2.connectedComponentsWithStats(dark.astype(np.uint8), connectivity=4)
    if count == 1:
        return 0.0, None
    left, top, wide, high, area = (int(value) for value in max(stats[1:], key=lambda one: one[4]))
    height, width = dark.shape
    box = Box(left=left / width, top=top / height, right=(left + wide) / width, bottom=(top + high) / height)
    return area / dark.size, box


def _arrival(patch: Series, times_s: Series) -> Series:
    """How far each value lies above the lowest of the moment before it."""
    first = np.searchsorted(times_s, times_s - _ARRIVAL_S - 1e-6)
    return np.array([patch[number] - patch[start : number + 1].min() for number, start in enumerate(first)])
