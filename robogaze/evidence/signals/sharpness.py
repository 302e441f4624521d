"""How sharp the edges of the picture are.

A Laplacian grows not only with sharpness but also with contrast. Here the Laplacian is divided by the gradient at the
strongest edges. For an edge of width w, the gradient falls with 1/w and the Laplacian with 1/w^2, so their ratio is 1/w
for any contrast. Flat parts of the picture do not count.

If a picture is smeared in one direction, edges that run in this direction stay sharp. Therefore, sharpness is also
measured across each of four directions, and the direction in which most sharpness is lost counts.
"""

import math
from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import FrameView, Signal, ViewSignals, reduced
from robogaze.evidence.series import own_level

_Values = NDArray[np.float32]
"""A value for each of some pixels of the working picture."""

WORK_SIDE_PX = 640
"""The longer side of the working picture: half of a usual frame. At 320 px slight defocus would not show."""

_SMOOTH_PX = 1.0  # sensor noise and compression ripples are narrower
_EDGE_LEVELS_PX = 2.0  # a smaller gradient may be noise
_EDGE_SHARE = 0.05  # of the picture: the pixels with the strongest gradient are its strongest edges
_LEAST_EDGE_SHARE, _LEAST_EDGE_PX = 0.002, 16  # with fewer edges than either, sharpness is undefined
_MANY, _EVERY = 10_000, 7  # from this many pixels on, every seventh is enough to find the strongest edges
_LEAST_CONTRAST = 0.1  # of full scale: in fog and in the dark there is noise instead of edges
_OWN_PERCENT = 90  # the clip's own level is the sharpness of its better frames
_DIRECTIONS = (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4)
_NO_EDGES = "the picture is too dark or too flat there to have edges"


class Sharpness:
    """The sharpness of the strongest edges, and its drop below the clip's own level in the direction with the largest
    drop.
    """

    signals: tuple[Signal, ...] = (
        Signal(
            name="sharpness",
            unit="per pixel",
            description=(
                f"Inverse width of the strongest edges; the width is in pixels of a picture {WORK_SIDE_PX} "
                f"pixels wide; "
                "undefined where the picture is too dark or too flat to have edges."
            ),
            gap=_NO_EDGES,
        ),
        Signal(
            name="sharpness_drop",
            unit="of the clip's level",
            description="How far sharpness is below the sharpness of the clip's sharper frames, in the direction "
            "that loses the most sharpness.",
            gap=f"{_NO_EDGES}, or the clip is too short to have a typical sharpness",
            limitation="a clip that is blurred throughout has no drop, because its frames are compared with its "
            "own sharper frames",
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
        gray = reduced(frame.gray, WORK_SIDE_PX).astype(np.float32)
        whole, *across = _sharpness(cv2.GaussianBlur(gray, (0, 0), _SMOOTH_PX))
        self._sharpness.append(whole)
        self._across.append(tuple(across))

    def finish(self) -> ViewSignals:
        """Series over all frames. Both are NaN in frames that do not have enough edges; the drop is also NaN in a clip
        under 0.5 s.
        """
        across = np.array(self._across)
        drops = [1 - series / own_level(series, self._times_s, _OWN_PERCENT) for series in across.T]
        return ViewSignals({"sharpness": np.array(self._sharpness), "sharpness_drop": np.max(drops, axis=0)})


def _sharpness(gray: cv2.typing.MatLike) -> Iterator[float]:
    """The inverse width of the strongest edges in any direction, then across each of _DIRECTIONS; NaN if there are too
    few edges.
    """
    right, down = (_flat(cv2.Scharr(gray, cv2.CV_32F, *order, scale=1 / 32)) for order in ((1, 0), (0, 1)))
    length = _flat(cv2.magnitude(right, down))
    is_large = length.size > _MANY
    sample = slice(None, None, _EVERY if is_large else 1)
    limits = [_limit(gradient) for gradient in _gradients(length[sample], right[sample], down[sample])]
    # No gradient is longer than `length`, but it may be rounded up.
    near = np.flatnonzero(length >= (0.999 * min(limits) if is_large else 0.0))
    seconds = _second_derivatives(gray, near)
    for gradient, second, limit in zip(_gradients(length[near], right[near], down[near]), seconds, limits, strict=True):
        if np.count_nonzero(gradient > _EDGE_LEVELS_PX) < max(_LEAST_EDGE_PX, _LEAST_EDGE_SHARE * length.size):
            yield math.nan
            continue
        strong = np.flatnonzero(gradient >= limit)  # positions are gathered faster than a mask
        yield float(np.sqrt(np.mean(np.square(second.take(strong))) / np.mean(np.square(gradient.take(strong)))))


def _gradients(length: _Values, right: _Values, down: _Values) -> tuple[_Values, ...]:
    """The gradient in any direction, and across each of _DIRECTIONS."""
    diagonal = np.float32(math.sqrt(0.5))
    right_part, down_part = diagonal * right, diagonal * down
    return (length, *map(np.abs, (right, right_part + down_part, down, down_part - right_part)))


def _second_derivatives(gray: cv2.typing.MatLike, places: NDArray[np.intp]) -> Iterator[_Values]:
    """The Laplacian at some places of the flattened picture, then the derivatives across each of _DIRECTIONS."""
    yield _flat(cv2.Laplacian(gray, cv2.CV_32F))[places]
    right_right, right_down, down_down = (
        _flat(cv2.Sobel(gray, cv2.CV_32F, *order, scale=1 / 4))[places] for order in ((2, 0), (1, 1), (0, 2))
    )
    for angle in _DIRECTIONS:
        cos, sin = math.cos(angle), math.sin(angle)
        yield cos * cos * right_right + 2 * cos * sin * right_down + sin * sin * down_down


def _limit(gradient: _Values) -> float:
    """The least gradient of the strongest edges."""
    place = int((1 - _EDGE_SHARE) * gradient.size)
    return max(_EDGE_LEVELS_PX, float(np.partition(gradient, place)[place]))


def _flat(picture: cv2.typing.MatLike) -> _Values:
    return np.asarray(picture, dtype=np.float32).ravel()
