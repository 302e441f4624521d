"""How the camera moves from frame to frame.

At most one corner in each block of the picture is followed to the next frame, so that every textured part has one
vote and no part many. A camera moves everything: its motion must be shared by points spread over the picture, and
where points spread over the picture stay in place the camera stands still, however much of the picture moves. When
neither holds, or both do (an arm that fills a plain picture, with a few points at rest around it), nothing is said
(NaN).

A camera that is thrown about sees near and far things move differently, and no single motion fits them all. Where
hardly a point stayed in place a rougher fit will do: its tolerance grows with the motion. It tells that the camera
moved and about how far, which is enough for shake, a median over several frames, and not for a single jolt. Where not
even that fits, and still hardly a point stayed in place, the usual motion of the points counts towards shake alone:
an arm that fills the picture moves so, too, but it does not jump to and fro.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from robogaze.evidence.base import FrameView, Series, Signal, ViewSignals
from robogaze.evidence.series import running_median

Points = NDArray[np.float32]
"""Positions in the reduced picture, shape (points, 2)."""

_BLOCK_PX = 16  # one corner is taken from each such block of the reduced picture
_CORNER_STRENGTH = 1e-4  # least eigenvalue of a corner worth following; noise of 2 levels reaches this
_RETURN_PX = 0.5  # a point followed there and back must come back this near
_SAMPLE = 48  # points that are followed first, where there are more than twice as many
_LEAST_RETURNED = 0.25  # of that sample come back: in noise a fifth does by chance, in filmed frames over a half
_STILL_PX = 0.35  # a point that moved less stayed in place
_INLIER_PX = 1.0
_LEAST_POINTS = 12
_REGIONS = 3  # the picture's regions are a 3 x 3 grid
_LEAST_REGIONS = 5  # one thing that moves fills a corner or a side: up to four regions
_LEAST_IN_REGION = 2
_LEAST_AROUND = 3  # regions with points at rest that contradict a motion
_LEAST_INLIERS = 0.5  # of the points: in a dim, noisy picture a motion that fits four tenths of them is chance
_LEAST_STILL_SHARE = 0.3  # of the points: at rest, for the camera to be
_MOST_STILL_SHARE = 0.1  # of the points: at rest, for a rough fit
_NONE_STILL_SHARE = 0.02  # of the points: at rest, where everything moves
_LEAST_TEXTURED = 0.3  # of the picture: with a corner in reach; plain tables with a few things have up to 0.28
_ROUGH = 0.5  # of the usual point's motion: how far others may be off in a rough fit
_PATH_S = 0.55  # a change of velocity that lasts half of this is a movement; a shorter one is a jolt
_SHAKE_S = 0.4  # jolts in half of this are shake
_AT_REST = 0.004  # of the diagonal: a camera that stands still stays below this
_SWING_S = 0.75  # over so long a camera that swings to another place goes straight on
_LEAST_WAY = 0.005  # diagonals in that time: of a shorter way nothing is said
_GAP = (
    "the picture moves there in a way that no camera motion explains, too little can be followed, "
    "or too few frames lie around"
)


@dataclass(frozen=True)
class _Move:
    """Motion of the picture between two frames: shift in frame diagonals, turn in radians, relative zoom.

    `rough` is true where near and far things move so differently that it is known approximately only, `loose` where
    it is the usual motion of points that share none.
    """

    right: float = math.nan
    down: float = math.nan
    turn: float = math.nan
    zoom: float = math.nan
    inliers: float = math.nan
    spread: float = math.nan
    rough: bool = False
    loose: bool = False


@dataclass(frozen=True)
class _Fit:
    """The shift, turn and zoom that most points share: which agree, and in which regions of the picture they lie."""

    matrix: NDArray[np.float64]
    agree: NDArray[np.bool_]
    regions: NDArray[np.bool_]

    @property
    def shared(self) -> bool:
        """Enough points agree, in enough regions."""
        return bool(self.regions.sum() >= _LEAST_REGIONS and self.agree.mean() >= _LEAST_INLIERS)

    @property
    def reaches_all_sides(self) -> bool:
        """Some of them lie at each of the picture's four sides."""
        sides = (self.regions[0], self.regions[-1], self.regions[:, 0], self.regions[:, -1])
        return all(bool(side.any()) for side in sides)


class Motion:
    """The camera's motion, how well it is supported, and its unsteady part."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="camera_shift",
            unit="of the diagonal",
            description="How far the whole picture moved since the frame before, at its centre.",
            gap=_GAP,
        ),
        Signal(
            name="camera_turn", unit="degrees", description="How far the whole picture turned since the frame before."
        ),
        Signal(name="camera_zoom", unit="of the size", description="How much the whole picture grew or shrank."),
        Signal(
            name="camera_inliers",
            unit="of the points",
            description="Share of the followed points that agree with the camera's motion.",
        ),
        Signal(
            name="camera_spread",
            unit="of the regions",
            description="Share of the picture's nine regions that hold such points; below 5/9 no motion is given.",
        ),
        Signal(
            name="camera_jolt",
            unit="of the diagonal",
            description="How far the picture moved beside the smooth path of the camera in one frame.",
            gap=_GAP,
        ),
        Signal(
            name="camera_shake",
            unit="of the diagonal",
            description=f"The jolt per frame that the camera keeps up over {_SHAKE_S} s; a single jump leaves it low.",
            gap=_GAP,
        ),
        Signal(
            name="camera_unrest",
            of="camera_shift",
            unit="of the frames",
            description=(
                f"Share of the clip's frames in which the picture moves by more than {_AT_REST} of the diagonal, or by "
                "how much cannot be told."
            ),
        ),
        Signal(
            name="camera_straightness",
            unit="of the way",
            description=f"How far the camera gets in {_SWING_S} s, over the way it went: 1 straight on, 0 to and fro.",
        ),
    )

    def __init__(self) -> None:
        self._before: NDArray[np.uint8] | None = None
        self._times_s: list[float] = []
        self._moves: list[_Move] = []

    def update(self, look: FrameView) -> None:
        """Take the next frame."""
        before, self._before = self._before, look.small_gray
        self._times_s.append(look.time_s)
        self._moves.append(_Move() if before is None else _camera_move(before, look.small_gray))

    def finish(self) -> ViewSignals:
        """Series of all frames; NaN at the first one and wherever the camera's motion cannot be told."""
        times_s = np.array(self._times_s)
        right, down, turn, zoom, inliers, spread = np.array(
            [(m.right, m.down, m.turn, m.zoom, m.inliers, m.spread) for m in self._moves]
        ).T
        # A turn or a zoom moves the picture's corners, which lie half a diagonal from its centre.
        path = (right, down, turn / 2, zoom / 2)
        jolt = np.sqrt(sum(np.square(part - running_median(part, times_s, _PATH_S)) for part in path))
        loose = np.array([move.loose for move in self._moves])
        rough = loose | np.array([move.rough for move in self._moves])
        shift = np.where(loose, math.nan, np.hypot(right, down))
        return ViewSignals(
            {
                "camera_shift": shift,
                "camera_unrest": _unrest(shift),
                "camera_turn": np.where(loose, math.nan, np.degrees(np.abs(turn))),
                "camera_zoom": np.where(loose, math.nan, np.abs(zoom)),
                "camera_inliers": inliers,
                "camera_spread": spread,
                "camera_jolt": np.where(rough, math.nan, jolt),
                "camera_shake": running_median(jolt, times_s, _SHAKE_S),
                "camera_straightness": _straightness(path, times_s),
            }
        )


def _unrest(shift: Series) -> Series:
    """The share of all frames but the first, which has none before it; the same for each frame, NaN for the first."""
    share = float(np.mean(~(shift[1:] <= _AT_REST))) if len(shift) > 1 else math.nan
    return np.concatenate([[math.nan], np.full(len(shift) - 1, share)])


def _straightness(path: Sequence[Series], times_s: Series) -> Series:
    """How far the camera gets in _SWING_S around each frame, over the way it went; NaN where it hardly moves."""
    steps = np.nan_to_num(np.array(path))
    first = np.searchsorted(times_s, times_s - _SWING_S / 2 - 1e-6, side="left")
    end = np.searchsorted(times_s, times_s + _SWING_S / 2 + 1e-6, side="right")
    sums = np.cumsum(np.pad(np.vstack([steps, np.sqrt(np.square(steps).sum(axis=0))]), ((0, 0), (1, 0))), axis=1)
    around = sums[:, end] - sums[:, first]
    got, went = np.sqrt(np.square(around[:-1]).sum(axis=0)), around[-1]
    return np.asarray(np.where(went > _LEAST_WAY, got / np.maximum(went, _LEAST_WAY), math.nan), dtype=np.float64)


def _camera_move(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> _Move:
    corners = _corners(before)
    if len(corners) < _LEAST_POINTS:
        return _Move()
    if not _can_be_followed(before, now, corners):
        return _Move()
    start, end = _follow(before, now, corners)
    if len(start) < _LEAST_POINTS:
        return _Move()
    still = np.hypot(*(end - start).T) < _STILL_PX
    if still.mean() >= _LEAST_STILL_SHARE and _regions(start[still], now.shape).sum() >= _LEAST_REGIONS:
        fit = _fitted(start[still], end[still], _INLIER_PX, now.shape)
        return _Move() if fit is None else _described(fit, now.shape, len(start), supported=fit.shared)
    fit, rough = _fitted(start, end, _INLIER_PX, now.shape), False
    if fit is not None and not fit.shared and still.mean() < _MOST_STILL_SHARE:
        usual_px = float(np.hypot(*np.median(end - start, axis=0)))
        fit, rough = _fitted(start, end, max(_INLIER_PX, _ROUGH * usual_px), now.shape), True
    # An arm that moves may be most of what can be followed on a plain table. A camera's motion reaches all sides of
    # a picture with texture, or leaves nothing at rest.
    nothing_still = still.mean() <= _NONE_STILL_SHARE
    textured = len(corners) * _BLOCK_PX**2 >= _LEAST_TEXTURED * before.size
    if fit is not None and fit.shared and textured and (fit.reaches_all_sides or nothing_still):
        contradicted = _all_around(_regions(start[still & ~fit.agree], now.shape))
        return _described(fit, now.shape, len(start), not contradicted, rough)
    if nothing_still and _across(_regions(start, now.shape)):
        return _usual(end - start, now.shape)
    return _Move() if fit is None else _described(fit, now.shape, len(start), supported=False)


def _usual(moved: Points, shape: tuple[int, ...]) -> _Move:
    """The usual motion of points that share none."""
    right, down = np.median(moved, axis=0) / math.hypot(*shape)
    return _Move(float(right), float(down), 0.0, 0.0, loose=True)


def _fitted(start: Points, end: Points, within_px: float, shape: tuple[int, ...]) -> _Fit | None:
    """The motion on which most points agree to so many pixels; None when there is none at all."""
    matrix, chosen = cv2.estimateAffinePartial2D(start, end, ransacReprojThreshold=within_px)
    if matrix is None:
        return None
    agree = chosen.ravel() == 1
    return _Fit(np.asarray(matrix, dtype=np.float64), agree, _regions(start[agree], shape))


def _corners(gray: NDArray[np.uint8]) -> Points:
    """The strongest corner of each block, if it is one."""
    rows, columns = gray.shape[0] // _BLOCK_PX, gray.shape[1] // _BLOCK_PX
    if rows == 0 or columns == 0:
        return np.empty((0, 2), np.float32)
    strength = cv2.cornerMinEigenVal(gray, blockSize=5, ksize=3)[: rows * _BLOCK_PX, : columns * _BLOCK_PX]
    blocks = strength.reshape(rows, _BLOCK_PX, columns, _BLOCK_PX).transpose(0, 2, 1, 3).reshape(rows, columns, -1)
    best = blocks.argmax(axis=2)
    row, column = np.nonzero(blocks.max(axis=2) > _CORNER_STRENGTH)
    inside = best[row, column]
    places = (column * _BLOCK_PX + inside % _BLOCK_PX, row * _BLOCK_PX + inside // _BLOCK_PX)
    return np.stack(places, axis=1).astype(np.float32)


def _can_be_followed(before: NDArray[np.uint8], now: NDArray[np.uint8], corners: Points) -> bool:
    """Whether enough of a sample of many points come back; of few points each is followed anyway.

    A point that is nowhere in the next frame takes longest to look for. So noise takes no longer than a film.
    """
    if len(corners) <= 2 * _SAMPLE:
        return True
    sample = corners[np.linspace(0, len(corners) - 1, _SAMPLE).astype(np.intp)]
    start, _ = _follow(before, now, sample)
    return len(start) >= _LEAST_RETURNED * _SAMPLE


def _follow(before: NDArray[np.uint8], now: NDArray[np.uint8], start: Points) -> tuple[Points, Points]:
    """Where points went, for those that come back when followed in reverse."""
    end, there, _ = cv2.calcOpticalFlowPyrLK(before, now, start[:, None], np.empty_like(start[:, None]))
    back, again, _ = cv2.calcOpticalFlowPyrLK(now, before, end, np.empty_like(end))
    off = np.hypot(*(back[:, 0] - start).T)
    kept = (there.ravel() == 1) & (again.ravel() == 1) & (off < _RETURN_PX)
    return start[kept], end[kept, 0]


def _regions(points: Points, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which of the picture's regions hold at least two of the points, shape (3, 3)."""
    height, width = shape
    column = np.clip(points[:, 0] * _REGIONS // width, 0, _REGIONS - 1).astype(int)
    row = np.clip(points[:, 1] * _REGIONS // height, 0, _REGIONS - 1).astype(int)
    counts = np.bincount(row * _REGIONS + column, minlength=_REGIONS**2)
    return (counts >= _LEAST_IN_REGION).reshape(_REGIONS, _REGIONS)


def _all_around(regions: NDArray[np.bool_]) -> bool:
    """More than a corner or a side, which a thing may fill that moves with its camera."""
    return bool(regions.sum() >= _LEAST_AROUND and min(regions.any(axis=0).sum(), regions.any(axis=1).sum()) > 1)


def _across(regions: NDArray[np.bool_]) -> bool:
    """From one side of the picture to the other."""
    return bool(regions.any(axis=0).all() or regions.any(axis=1).all())


def _described(fit: _Fit, shape: tuple[int, ...], followed: int, supported: bool, rough: bool = False) -> _Move:
    """The motion of the picture's centre; only how well it is supported, where that is too little."""
    inliers, spread = float(fit.agree.sum()) / followed, float(fit.regions.mean())
    if not supported:
        return _Move(inliers=inliers, spread=spread)
    matrix, (height, width) = fit.matrix, shape
    centre = np.array([width / 2, height / 2])
    right, down = (matrix[:, :2] @ centre + matrix[:, 2] - centre) / math.hypot(width, height)
    turn, zoom = math.atan2(matrix[1, 0], matrix[0, 0]), math.hypot(matrix[0, 0], matrix[1, 0]) - 1
    return _Move(float(right), float(down), turn, zoom, inliers, spread, rough)
