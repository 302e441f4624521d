"""Following one object by the masks of a learned tracker, for `robogaze.evidence.tracker.tracking.follow`.

The largest connected part of a mask counts, because specks elsewhere are not part of the object. The object's middle is
the centre of mass, because the centre of mass hardly moves when an arm is stretched out.
"""

import math
from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.core.events import Box
from robogaze.evidence.tracker.pattern import PixelRegion
from robogaze.evidence.tracker.tracking import ObjectPlace, TrackingFrame, placed
from robogaze.media.decode import Image

Masks = Callable[[Image], NDArray[np.bool_] | None]
"""Returns the object's mask in the next frame, None where it is not visible."""


class ByMask:
    """Follows an object in one direction of time; see `robogaze.evidence.tracker.tracking.Follower`.

    If the tracker finds no mask in the first frame, the region is taken as the object's place in this frame.
    """

    def __init__(self, begin: Callable[[Box], Masks], frame: TrackingFrame, region: PixelRegion) -> None:
        """`begin` receives the box of the region; the masks that it returns start with this frame."""
        self.region = region
        self._masks = begin(region.box(frame.image))
        self.first = self.next(frame) or placed(region, frame.image, math.nan)

    def next(self, now: TrackingFrame) -> ObjectPlace | None:
        """See `robogaze.evidence.tracker.tracking.Follower`."""
        mask = self._masks(now.full)
        if mask is None or not mask.any():
            return None
        place = _place(mask)
        self.region = PixelRegion.of(place.box, now.image)
        return place


def _place(mask: NDArray[np.bool_]) -> ObjectPlace:
    """The place of the largest part of a mask."""
    high, wide = mask.shape
    _, _, parts, centres = cv2.connectedComponentsWithStats(mask.astype(np.uint8))
    largest = 1 + int(parts[1:, cv2.CC_STAT_AREA].argmax())
    left, top, width, height = (int(side) for side in parts[largest, :4])
    box = Box(left=left / wide, top=top / high, right=(left + width) / wide, bottom=(top + height) / high)
    right, down = (float(at) for at in centres[largest])
    return ObjectPlace(box, ((right + 0.5) / wide, (down + 0.5) / high), math.nan)
