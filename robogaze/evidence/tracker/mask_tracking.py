"""Following one thing by the masks that a learned tracker gives of it, for `robogaze.evidence.tracker.tracking.follow`.

Of a mask the largest connected part counts: specks elsewhere are no limbs. Its middle is the centre of mass, which
stays where it is when an arm is stretched out.
"""

import math
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.tracker.pattern import Spot
from robogaze.evidence.tracker.tracking import Place, TrackingFrame, placed
from robogaze.media.decode import Image

Masks = Callable[[Image], NDArray[np.bool_] | None]
"""Gives the thing's mask in the next frame, None where it is not seen there."""


class ByMask:
    """Follows a thing in one direction of time; see `robogaze.evidence.tracker.tracking.Chase`.

    Where the frame it is followed from has no mask, its place there is the spot.
    """

    def __init__(self, begin: Callable[[Box], Masks], look: TrackingFrame, spot: Spot) -> None:
        """`begin` is given the box of the spot, and what it returns that frame first."""
        self.spot = spot
        self._masks = begin(spot.box(look.image))
        self.first = self.next(look) or placed(spot, look.image, math.nan)

    def next(self, now: TrackingFrame) -> Place | None:
        """See `robogaze.evidence.tracker.tracking.Chase`."""
        mask = self._masks(now.full)
        if mask is None or not mask.any():
            return None
        place = _place(mask)
        self.spot = Spot.of(place.box, now.image)
        return place


def _place(mask: NDArray[np.bool_]) -> Place:
    """Where the largest part of a mask lies."""
    high, wide = mask.shape
    _, _, parts, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    largest = 1 + int(parts[1:, cv2.CC_STAT_AREA].argmax())
    left, top, width, height = (int(side) for side in parts[largest, :4])
    box = Box(left=left / wide, top=top / high, right=(left + width) / wide, bottom=(top + height) / high)
    right, down = (float(at) for at in centres[largest])
    return Place(box, ((right + 0.5) / wide, (down + 0.5) / high), math.nan)
