"""How sharp the edges of the picture are.

A Laplacian grows with contrast as well as with sharpness. Here it is divided by the gradient, at the strongest
edges only: for an edge of width w the gradient falls with 1/w and the Laplacian with 1/w^2, so their ratio is
1/w, whatever the edge's contrast, and flat parts of the picture do not count.
"""

import math

import cv2
import numpy as np

from robogaze.evidence.base import Look, Measured, Signal
from robogaze.evidence.series import own_level

WORK_SIDE_PX = 640
"""The longer side of the picture edges are measured on: half a usual frame. At 320 slight defocus would not show."""

_SMOOTH_PX = 1.0  # sensor noise and compression ripples are narrower than this
_EDGE_LEVELS_PX = 2.0  # a gradient below this may be noise
_EDGE_SHARE = 0.05  # of the picture: how many pixels count as its strongest edges
_LEAST_EDGE_SHARE, _LEAST_EDGE_PX = 0.002, 16  # with fewer edges than either there is nothing to be sharp
_LEAST_CONTRAST = 0.1  # of full scale: in fog and in the dark, noise takes the place of edges
_OWN_PERCENT = 90  # the clip's own level: what it reaches in its better frames, without its single best
_NO_EDGES = "the picture is too dark or too flat there to have edges"


class Sharpness:
    """Sharpness of the strongest edges, and how far it falls below the clip's own level."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="sharpness",
            unit="per pixel",
            description=(
                f"Inverse width of the strongest edges, in pixels of a picture {WORK_SIDE_PX} wide; "
                "not defined where the picture is too dark or too flat to have edges."
            ),
            gap=_NO_EDGES,
        ),
        Signal(
            name="sharpness_drop",
            unit="of the clip's level",
            description="How far sharpness lies below what the clip reaches in its sharper frames (0: not at all).",
            gap=f"{_NO_EDGES}, or the clip is too short to have sharper frames",
            hides="sharpness_drop compares with the clip's own sharper frames; one that is soft throughout has no drop",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._sharpness: list[float] = []

    def update(self, look: Look) -> None:
        """Take the next frame."""
        self._times_s.append(look.time_s)
        if look.contrast < _LEAST_CONTRAST:
            self._sharpness.append(math.nan)
            return
        height, width = look.gray.shape
        scale = min(1.0, WORK_SIDE_PX / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        gray = cv2.resize(look.gray, size, interpolation=cv2.INTER_AREA).astype(np.float32)
        self._sharpness.append(_inverse_edge_width(cv2.GaussianBlur(gray, (0, 0), _SMOOTH_PX)))

    def finish(self) -> Measured:
        """A value for every frame; NaN without edges, and for the drop in clips that are too short."""
        series = np.array(self._sharpness, dtype=np.float64)
        own = own_level(series, self._times_s, _OWN_PERCENT)
        return Measured({"sharpness": series, "sharpness_drop": 1 - series / own})


def _inverse_edge_width(gray: cv2.typing.MatLike) -> float:
    """Laplacian over gradient at the strongest edges; NaN with too few of them."""
    across = cv2.Scharr(gray, cv2.CV_32F, 1, 0, scale=1 / 32)
    down = cv2.Scharr(gray, cv2.CV_32F, 0, 1, scale=1 / 32)
    gradient = cv2.magnitude(across, down)
    if np.count_nonzero(gradient > _EDGE_LEVELS_PX) < max(_LEAST_EDGE_PX, _LEAST_EDGE_SHARE * gradient.size):
        return math.nan
    place = int((1 - _EDGE_SHARE) * gradient.size)
    strong = gradient >= max(_EDGE_LEVELS_PX, float(np.partition(gradient, place, axis=None)[place]))
    bend = cv2.Laplacian(gray, cv2.CV_32F)
    return float(np.sqrt(np.mean(np.square(bend[strong])) / np.mean(np.square(gradient[strong]))))
