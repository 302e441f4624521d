"""How sharp the edges of the picture are.

A Laplacian grows with contrast as well as with sharpness. Here it is divided by the gradient, at the strongest
edges only: for an edge of width w the gradient falls with 1/w and the Laplacian with 1/w^2, so their ratio is
1/w, whatever the edge's contrast, and flat parts of the picture do not count.

A picture smeared along one direction keeps its edges along it: so the same is measured across each of four
directions, and the one that loses most tells. What moves is measured by itself, too.
"""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import FrameView, Signal, ViewSignals
from robogaze.evidence.series import own_level

Map = NDArray[np.float32]
"""A value per pixel of the picture worked on."""

WORK_SIDE_PX = 640
"""The longer side of the picture edges are measured on: half a usual frame. At 320 slight defocus would not show."""

_SMOOTH_PX = 1.0  # sensor noise and compression ripples are narrower than this
_EDGE_LEVELS_PX = 2.0  # a gradient below this may be noise
_EDGE_SHARE = 0.05  # of the picture: how many pixels count as its strongest edges
_LEAST_EDGE_SHARE, _LEAST_EDGE_PX = 0.002, 16  # with fewer edges than either there is nothing to be sharp
_MANY, _EVERY = 10_000, 7  # of so many pixels, every so manieth tells which edges are the strongest
_LEAST_CONTRAST = 0.1  # of full scale: in fog and in the dark, noise takes the place of edges
_OWN_PERCENT = 90  # the clip's own level: what it reaches in its better frames, without its single best
_SECOND = (((2, 0), 1 / 4), ((1, 1), 1 / 4), ((0, 2), 1 / 4))  # the orders of Sobel, and what scales each to pixels
_DIRECTIONS = (0.0, math.pi / 4, math.pi / 2, 3 * math.pi / 4)
_MOVED_LEVELS = 12.0  # a place that changed by more since the frame before moves; noise of 3 levels stays below
_AROUND_PX = 5  # of the picture worked on: so much around it counts as moving, too
_NO_EDGES = "the picture is too dark or too flat there to have edges"


@dataclass(frozen=True)
class _Slopes:
    """How luma rises from pixel to pixel, to the right and down, and how that changes."""

    right: Map
    down: Map
    right_right: Map
    right_down: Map
    down_down: Map

    @classmethod
    def of(cls, gray: cv2.typing.MatLike) -> "_Slopes":
        right, down = (cv2.Scharr(gray, cv2.CV_32F, *order, scale=1 / 32) for order in ((1, 0), (0, 1)))
        second = [cv2.Sobel(gray, cv2.CV_32F, *order, scale=scale) for order, scale in _SECOND]
        return cls(*(np.asarray(one, dtype=np.float32) for one in (right, down, *second)))

    def first(self, angle: float) -> Map:
        """The first derivative in a direction."""
        return np.asarray(math.cos(angle) * self.right + math.sin(angle) * self.down, dtype=np.float32)

    def second(self, angle: float, where: NDArray[np.bool_]) -> Map:
        """The second derivative in a direction, at some places."""
        cos, sin = math.cos(angle), math.sin(angle)
        right_right, right_down, down_down = (one[where] for one in (self.right_right, self.right_down, self.down_down))
        second = cos * cos * right_right + 2 * cos * sin * right_down + sin * sin * down_down
        return np.asarray(second, dtype=np.float32)

    def across(self, angle: float) -> float:
        """The inverse width of the strongest edges across a direction; NaN with too few of them."""
        rise = np.abs(self.first(angle))
        strong = _strongest(rise)
        return math.nan if strong is None else _inverse_edge_width(rise[strong], self.second(angle, strong))


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
        Signal(
            name="smear",
            unit="of the clip's level",
            description="The same drop across the one of four directions in which edges lose most.",
            gap=f"{_NO_EDGES}, or the clip is too short to have sharper frames",
            hides="smear compares with the clip's own sharper frames; a clip that is soft throughout has none",
        ),
        Signal(
            name="moving_sharpness",
            unit="per pixel",
            description="Inverse width of the strongest edges of what moves; not defined where next to nothing does.",
        ),
    )

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._before: cv2.typing.MatLike | None = None
        self._sharpness: list[float] = []
        self._moving: list[float] = []
        self._across: list[tuple[float, ...]] = []

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        self._times_s.append(look.time_s)
        gray, before = _worked_on(look), self._before
        self._before = gray
        if look.contrast < _LEAST_CONTRAST:
            self._sharpness.append(math.nan)
            self._moving.append(math.nan)
            self._across.append((math.nan,) * len(_DIRECTIONS))
            return
        slopes = _Slopes.of(gray)
        gradient, bend = cv2.magnitude(slopes.right, slopes.down), cv2.Laplacian(gray, cv2.CV_32F)
        self._sharpness.append(_of_edges(gradient, bend))
        self._across.append(tuple(slopes.across(angle) for angle in _DIRECTIONS))
        moves = None if before is None else _moves(before, gray)
        self._moving.append(math.nan if moves is None else _of_edges(gradient[moves], bend[moves]))

    def finish(self) -> ViewSignals:
        """A value for every frame; NaN without edges, and for the drops in clips that are too short."""
        series, across = np.array(self._sharpness), np.array(self._across)
        drops = [1 - one / own_level(one, self._times_s, _OWN_PERCENT) for one in (series, *across.T)]
        return ViewSignals(
            {
                "sharpness": series,
                "sharpness_drop": drops[0],
                "smear": np.max(drops[1:], axis=0),
                "moving_sharpness": np.array(self._moving),
            }
        )


def _worked_on(look: FrameView) -> cv2.typing.MatLike:
    """The luma that edges are measured on."""
    height, width = look.gray.shape
    scale = min(1.0, WORK_SIDE_PX / max(height, width))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    gray = cv2.resize(look.gray, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return cv2.GaussianBlur(gray, (0, 0), _SMOOTH_PX)


def _moves(before: cv2.typing.MatLike, now: cv2.typing.MatLike) -> NDArray[np.bool_]:
    """Where the picture changed since the frame before, and around it."""
    changed = (cv2.absdiff(before, now) > _MOVED_LEVELS).astype(np.uint8)
    return np.asarray(cv2.dilate(changed, np.ones((_AROUND_PX, _AROUND_PX), np.uint8)) > 0)


def _of_edges(rise: cv2.typing.MatLike, bend: cv2.typing.MatLike) -> float:
    """The inverse width of the strongest edges, by all first and second derivatives; NaN with too few of them."""
    strong = _strongest(rise)
    return math.nan if strong is None else _inverse_edge_width(rise[strong], bend[strong])


def _strongest(rise: cv2.typing.MatLike) -> NDArray[np.bool_] | None:
    """Where the strongest edges are; None with too few of them."""
    if np.count_nonzero(rise > _EDGE_LEVELS_PX) < max(_LEAST_EDGE_PX, _LEAST_EDGE_SHARE * rise.size):
        return None
    some = rise.ravel()[::_EVERY] if rise.size > _MANY else rise.ravel()
    place = int((1 - _EDGE_SHARE) * some.size)
    return np.asarray(rise >= max(_EDGE_LEVELS_PX, float(np.partition(some, place)[place])))


def _inverse_edge_width(rise: cv2.typing.MatLike, bend: cv2.typing.MatLike) -> float:
    """Second over first derivative."""
    return float(np.sqrt(np.mean(np.square(bend)) / np.mean(np.square(rise))))
