"""What moves beside a segment from a frame to the next: whether that explains what the segment does.

Beside a segment at rest any change of tone or strong change of luma counts, but for what changes within the segment
itself and close around it; a shadow that passes does not. A segment that moves stirs what is around it by itself
(its shadow, what it uncovers), so there something else is asked: whether what stirs reaches far beyond it, or whether
what surrounds it moves along with it, as it does with a part of something larger.
"""

from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.flow import FLOW_STEP, UNLIKE_LEVELS, Change, Field
from robogaze.evidence.segments import Part, Point, Tones

_TONE_LEVELS, _LUMA_LEVELS = 12, 30  # a shadow changes tone by less, and luma by a factor of 0.35 at most
_OWN_PX, _BESIDE_PX = 0, 6
_LEAST_PX = 4  # that many pixels change beside it; fewer are noise
_FAR = 2.0  # times its size: what reaches so far is more than its own trace
_LEAST_FAR_PX = 8
_AROUND_PX, _CLOSE_PX = 12, 3  # the ring whose motion is compared
_ALIKE = 0.5  # of the motion: the most that another may differ from it
_ALONG = 0.3  # of the ring


class Beside:
    """The changes between two frames, by place."""

    def __init__(self, change: Change, before: Tones, now: Tones) -> None:
        self._stirred = change.stirred > UNLIKE_LEVELS
        self._flow = change.flow
        levels = cv2.split(cv2.absdiff(before, now))
        toned = cv2.max(cv2.max(levels[0], levels[1]), levels[2]) > _TONE_LEVELS
        self.changed: NDArray[np.bool_] = toned | (levels[3] > _LUMA_LEVELS)
        self._moving = cv2.integral((self.changed & self._stirred).astype(np.uint8))

    @cached_property
    def _movers(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """What stirs, in one piece each: labels and stats, of every other row and column."""
        grown = cv2.dilate(self._stirred.astype(np.uint8), np.ones((3, 3), np.uint8))
        half = np.ascontiguousarray(grown[::2, ::2])
        _, labels, stats, _ = cv2.connectedComponentsWithStats(half, connectivity=8)
        return np.asarray(labels, dtype=np.int32), np.asarray(stats, dtype=np.int32)

    def touches(self, part: Part, size: float) -> bool:
        """Whether something moves beside a part that rests, and reaches far beyond it."""
        beside = self._count(self._grown(part, _BESIDE_PX)) - self._count(self._grown(part, _OWN_PX))
        return beside > _LEAST_PX and self.sweeps(part, size)

    def sweeps(self, part: Part, size: float) -> bool:
        """Whether something moves there that reaches far beyond the part."""
        left, top, right, bottom = self._grown(part, _BESIDE_PX)
        far = self._grown(part, max(_LEAST_FAR_PX, int(_FAR * size)))
        labels, stats = self._movers
        for label in np.unique(labels[top // 2 : -(-bottom // 2), left // 2 : -(-right // 2)]):
            x, y, wide, high = 2 * stats[label, :4]
            if label and (x < far[0] or y < far[1] or x + wide > far[2] or y + high > far[3]):
                return True
        return False

    def carries(self, part: Part, moved: Point) -> bool:
        """Whether what surrounds a part that moved so far moved along with it; at the picture's side, too."""
        ring = _cells(self._flow, self._grown(part, _AROUND_PX))
        inner, outer = self._grown(part, _CLOSE_PX), self._grown(part, _AROUND_PX)
        free = np.ones(ring.shape[:2], dtype=np.bool_)
        left, top = outer[0] // FLOW_STEP, outer[1] // FLOW_STEP
        free[
            inner[1] // FLOW_STEP - top : -(-inner[3] // FLOW_STEP) - top,
            inner[0] // FLOW_STEP - left : -(-inner[2] // FLOW_STEP) - left,
        ] = False
        apart = np.hypot(*(ring[free] - moved).T)
        return not apart.size or float((apart < _ALIKE * np.hypot(*moved)).mean()) > _ALONG

    def share_changed(self, part: Part, mask: NDArray[np.bool_]) -> float:
        """The share of a mask's pixels that changed in tone, or strongly in luma."""
        return float(self.changed[part[1] : part[3], part[0] : part[2]][mask].mean())

    def _count(self, part: Part) -> int:
        left, top, right, bottom = part
        whole = self._moving
        return int(whole[bottom, right]) - int(whole[top, right]) - int(whole[bottom, left]) + int(whole[top, left])

    def _grown(self, part: Part, by_px: int) -> Part:
        high, wide = self._stirred.shape
        return (
            max(0, part[0] - by_px),
            max(0, part[1] - by_px),
            min(wide, part[2] + by_px),
            min(high, part[3] + by_px),
        )


def joined(one: Part, other: Part) -> Part:
    """The smallest part that holds both."""
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])


def _cells(flow: Field, part: Part) -> Field:
    """The flow's samples within a part."""
    left, top, right, bottom = part
    return flow[top // FLOW_STEP : -(-bottom // FLOW_STEP), left // FLOW_STEP : -(-right // FLOW_STEP)]
