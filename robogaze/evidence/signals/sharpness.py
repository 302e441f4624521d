"""How sharp the edges of the picture are.

A Laplacian grows with contrast as well as with sharpness. Here it is divided by the gradient at the strongest edges:
for an edge of width w the gradient falls with 1/w and the Laplacian with 1/w^2, so their ratio is 1/w, whatever the
contrast, and flat parts of the picture do not count.

A picture smeared along one direction keeps the edges along it. Therefore sharpness is also measured across each of four
directions, and the direction that loses most counts.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.series import own_level

_Map = NDArray[np.float32]
"""A value per pixel of the working picture."""

WORK_SIDE_PX = 640
"""The longer side of the working picture: half of a usual frame. At 320 px slight defocus would not show."""

_SMOOTH_PX = 1.0  # sensor noise and compression ripples are narrower
_EDGE_LEVELS_PX = 2.0  # a smaller gradient may be noise
_EDGE_SHARE = 0.05  # of the picture: the pixels with the strongest gradient are its strongest edges
_LEAST_EDGE_SHARE, _LEAST_EDGE_PX = 0.002, 16  # with fewer edges than either, sharpness is undefined
_MANY, _EVERY = 10_000, 7  # from this many pixels on, every seventh is enough to find the strongest edges
_LEAST_CONTRAST = 0.1  # of full scale: in fog and in the dark there is noise instead of edges
_OWN_PERCENT = 90  # the clip's own level is the sharpness of its better frames
_SECOND_ORDERS = (((2, 0), 1 / 4), ((1, 1), 1 / 4), ((0, 2), 1 / 4))  # orders of Sobel, and their scales to pixels
_DIRECTIONS = (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4)
_NO_EDGES = "the picture is too dark or too flat there to have edges"


@dataclass(frozen=True)
class _Derivatives:
    """First and second derivatives of luma, to the right and down."""

    right: _Map
    down: _Map
    right_right: _Map
    right_down: _Map
    down_down: _Map

    @classmethod
    def of(cls, gray: cv2.typing.MatLike) -> "_Derivatives":
        first = [cv2.Scharr(gray, cv2.CV_32F, *order, scale=1 / 32) for order in ((1, 0), (0, 1))]
        second = [cv2.Sobel(gray, cv2.CV_32F, *order, scale=scale) for order, scale in _SECOND_ORDERS]
        return cls(*(np.asarray(derivative, dtype=np.float32) for derivative in (*first, *second)))

    def sharpness_across(self) -> tuple[float, ...]:
        """The inverse width of the strongest edges across each of _DIRECTIONS; NaN with too few edges."""
        half = np.float32(math.sqrt(0.5))
        right, down = half * self.right, half * self.down
        gradients = (self.right, right + down, self.down, down - right)
        return tuple(
            self._sharpness(np.abs(gradient), math.cos(angle), math.sin(angle))
            for gradient, angle in zip(gradients, _DIRECTIONS, strict=True)
        )

    def _sharpness(self, gradient: _Map, cos: float, sin: float) -> float:
        strong = _strongest(gradient)
        if strong is None:
            return math.nan
        right_right, right_down, down_down = (
            derivative.ravel()[strong] for derivative in (self.right_right, self.right_down, self.down_down)
        )
        second = cos * cos * right_right + 2 * cos * sin * right_down + sin * sin * down_down
        return _inverse_edge_width(gradient.ravel()[strong], np.asarray(second, dtype=np.float32))


class Sharpness:
    """Sharpness of the strongest edges, and how far it falls below the clip's own level in one direction."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="sharpness",
            unit="per pixel",
            description=(
                f"Inverse width of the strongest edges, in pixels of a picture {WORK_SIDE_PX} wide; "
                "undefined where the picture is too dark or too flat to have edges."
            ),
            gap=_NO_EDGES,
        ),
        Signal(
            name="sharpness_drop",
            unit="of the clip's level",
            description="How far sharpness is below that of the clip's sharper frames, in the direction of most loss.",
            gap=f"{_NO_EDGES}, or the clip is too short for a typical sharpness",
            limitation="a clip that is blurred throughout has no drop, as it is compared with its own sharper frames",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._sharpness: list[float] = []
        self._across: list[tuple[float, ...]] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(frame.time_s)
        if frame.contrast < _LEAST_CONTRAST:
            self._sharpness.append(math.nan)
            self._across.append((math.nan,) * len(_DIRECTIONS))
            return
        gray = _working_picture(frame)
        derivatives = _Derivatives.of(gray)
        gradient = np.asarray(cv2.magnitude(derivatives.right, derivatives.down), dtype=np.float32)
        self._sharpness.append(_sharpness(gradient, gray))
        self._across.append(derivatives.sharpness_across())

    def finish(self) -> ViewSignals:
        """Series over all frames; NaN without edges, and the drop is NaN in a clip under 0.5 s."""
        across = np.array(self._across)
        drops = [1 - series / own_level(series, self._times_s, _OWN_PERCENT) for series in across.T]
        return ViewSignals({"sharpness": np.array(self._sharpness), "sharpness_drop": np.max(drops, axis=0)})


def _working_picture(frame: FrameView) -> cv2.typing.MatLike:
    """The luma on which edges are measured."""
    height, width = frame.gray.shape
    scale = min(1.0, WORK_SIDE_PX / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    gray = cv2.resize(frame.gray, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return cv2.GaussianBlur(gray, (0, 0), _SMOOTH_PX)


def _sharpness(gradient: _Map, gray: cv2.typing.MatLike) -> float:
    """The inverse width of the strongest edges in any direction; NaN with too few edges."""
    strong = _strongest(gradient)
    if strong is None:
        return math.nan
    return _inverse_edge_width(gradient.ravel()[strong], cv2.Laplacian(gray, cv2.CV_32F).ravel()[strong])


def _strongest(gradient: _Map) -> NDArray[np.intp] | None:
    """The positions of the strongest edges in the flattened picture; None with too few edges."""
    if cv2.countNonZero(cv2.compare(gradient, _EDGE_LEVELS_PX, cv2.CMP_GT)) < max(
        _LEAST_EDGE_PX, _LEAST_EDGE_SHARE * gradient.size
    ):
        return None
    sample = gradient.ravel()[::_EVERY] if gradient.size > _MANY else gradient.ravel()
    place = int((1 - _EDGE_SHARE) * sample.size)
    return np.flatnonzero(gradient >= max(_EDGE_LEVELS_PX, float(np.partition(sample, place)[place])))


def _inverse_edge_width(gradient: cv2.typing.MatLike, second: cv2.typing.MatLike) -> float:
    """The second derivative over the first, as root mean squares."""
    return float(np.sqrt(np.mean(np.square(second)) / np.mean(np.square(gradient))))
