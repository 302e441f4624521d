"""Camera motion from frame to frame.

At most one corner per block of the picture is followed to the next frame, so every textured part counts once. A camera
moves everything, so points all over the picture must share its motion. If points all over the picture stay in place,
the camera is at rest, even if much of the picture moves. The motion is undefined (NaN) if points all over the picture
do not share a motion and do not stay in place. The motion is also undefined if there are both points that share a
motion and points that stay in place all over the picture. For example, an arm fills a plain picture, and a few points
around the arm are at rest.

When the camera moves strongly, near and far objects move differently, and no single motion fits them all. Where hardly
any point stayed in place, a rough fit is enough, with a tolerance that grows with the motion. The rough fit shows that
the camera moved and about how far. A rough fit is enough for shake, which is a median over several frames, but not for
a single jitter. If even a rough fit fails and hardly any point stayed in place, the median motion of the points is used
for shake only. The points on an arm that fills the picture also have a median motion, but an arm does not jump back and
forth.
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

_BLOCK_PX = 16  # one corner is taken from each block of the reduced picture
_CORNER_STRENGTH = 1e-4  # least eigenvalue of a corner worth following; noise of 2 levels reaches this
_RETURN_PX = 0.5  # a point followed forward and backward must return this near
_SAMPLE = 48  # points that are followed first where there are more than twice as many
_LEAST_RETURNED = 0.25  # of that sample: in noise a fifth returns by chance, in video over a half
_STILL_PX = 0.35  # a point that moved less stayed in place
_INLIER_PX = 1.0
_LEAST_POINTS = 12
_REGIONS = 3  # the picture's regions are a 3 x 3 grid
_LEAST_REGIONS = 5  # one moving object fills a corner or a side: up to four regions
_LEAST_IN_REGION = 2
_LEAST_AROUND = 3  # regions with points at rest contradict a motion
_LEAST_INLIERS = 0.5  # of the points: in a dim, noisy picture a motion fits four tenths of them by chance
_LEAST_STILL_SHARE = 0.3  # of the points are at rest where the camera is
_MOST_STILL_SHARE = 0.1  # of the points are at rest, for a rough fit
_NONE_STILL_SHARE = 0.02  # of the points are at rest where everything moves
_LEAST_TEXTURED = 0.3  # of the picture has corners; plain tables with a few objects have up to 0.28
_ROUGH = 0.5  # of the median motion: the tolerance of a rough fit
_PATH_S = 0.55  # a change of velocity that lasts half of this is a movement; a shorter one is jitter
_SHAKE_S = 0.4  # jitter in half of this is shake
_AT_REST = 0.004  # of the diagonal: the motion of a camera at rest is smaller
_SWING_S = 0.75  # for this long, a camera that pans moves straight on
_LEAST_WAY = 0.005  # diagonals in that time: of a shorter path straightness is undefined
_GAP = (
    "the picture moves there in a way that no camera motion explains, too few points can be followed, "
    "or there are too few frames before and after"
)


@dataclass(frozen=True)
class _Move:
    """Motion of the picture between two frames: shift in frame diagonals, rotation in radians, relative zoom.

    `rough` means that near and far objects move differently, so the motion is approximate; `loose` means that the
    motion is the median of points without a common motion.
    """

    right: float = math.nan
    down: float = math.nan
    rotation: float = math.nan
    zoom: float = math.nan
    rough: bool = False
    loose: bool = False


@dataclass(frozen=True)
class _Fit:
    """The shift, rotation and zoom that most points share, which points agree, and in which regions they are."""

    matrix: NDArray[np.float64]
    agree: NDArray[np.bool_]
    regions: NDArray[np.bool_]

    @property
    def shared(self) -> bool:
        """Whether enough points agree, in enough regions."""
        return bool(self.regions.sum() >= _LEAST_REGIONS and self.agree.mean() >= _LEAST_INLIERS)

    @property
    def reaches_all_sides(self) -> bool:
        """Whether each of the picture's four sides has some of the points that agree."""
        sides = (self.regions[0], self.regions[-1], self.regions[:, 0], self.regions[:, -1])
        return all(bool(side.any()) for side in sides)


class CameraMotion:
    """The camera's motion and its unsteady part."""

    signals: tuple[Signal, ...] = (
        Signal(
            name="camera_shift",
            unit="of the diagonal",
            description="How far the whole picture moved since the previous frame, measured at the centre of the "
            "picture.",
            gap=_GAP,
        ),
        Signal(
            name="camera_jitter",
            unit="of the diagonal",
            description="Distance of one frame from the smooth path of the camera.",
            gap=_GAP,
        ),
        Signal(
            name="camera_shake",
            unit="of the diagonal",
            description=f"Median jitter over {_SHAKE_S} s; a single jump hardly changes it.",
            gap=_GAP,
        ),
        Signal(
            name="camera_moving_share",
            part_of="camera_shift",
            unit="of the frames",
            description=(
                f"Share of the clip's frames in which the picture moves by more than {_AT_REST} of the diagonal, or by "
                "an unknown amount."
            ),
        ),
        Signal(
            name="camera_straightness",
            unit="of the path",
            description=f"Distance between start and end of the camera's path in {_SWING_S} s, divided by the "
            f"length of the path: 1 straight on, 0 back and forth.",
        ),
    )

    def __init__(self) -> None:
        self._before: NDArray[np.uint8] | None = None
        self._times_s: list[float] = []
        self._moves: list[_Move] = []

    def update(self, frame: FrameView) -> None:
        """Take the next frame."""
        before, self._before = self._before, frame.small_gray
        self._times_s.append(frame.time_s)
        self._moves.append(_Move() if before is None else _camera_move(before, frame.small_gray))

    def finish(self) -> ViewSignals:
        """Series over all frames; NaN in the first one and where the camera's motion is unknown."""
        times_s = np.array(self._times_s)
        right, down, rotation, zoom = np.array(
            [(move.right, move.down, move.rotation, move.zoom) for move in self._moves]
        ).T
        # A rotation or a zoom moves the picture's corners, which are half a diagonal from its centre.
        path = (right, down, rotation / 2, zoom / 2)
        jitter = np.sqrt(sum(np.square(part - running_median(part, times_s, _PATH_S)) for part in path))
        loose = np.array([move.loose for move in self._moves])
        rough = loose | np.array([move.rough for move in self._moves])
        shift = np.where(loose, math.nan, np.hypot(right, down))
        return ViewSignals(
            {
                "camera_shift": shift,
                "camera_moving_share": _moving_share(shift),
                "camera_jitter": np.where(rough, math.nan, jitter),
                "camera_shake": running_median(jitter, times_s, _SHAKE_S),
                "camera_straightness": _straightness(path, times_s),
            }
        )


def _moving_share(shift: Series) -> Series:
    """The share of all frames after the first; the same value in each frame, NaN in the first."""
    share = float(np.mean(~(shift[1:] <= _AT_REST))) if len(shift) > 1 else math.nan
    return np.concatenate([[math.nan], np.full(len(shift) - 1, share)])


def _straightness(path: Sequence[Series], times_s: Series) -> Series:
    """Distance over path length of the camera in _SWING_S around each frame; NaN where it hardly moves."""
    steps = np.nan_to_num(np.array(path))
    first = np.searchsorted(times_s, times_s - _SWING_S / 2 - 1e-6, side="left")
    end = np.searchsorted(times_s, times_s + _SWING_S / 2 + 1e-6, side="right")
    sums = np.cumsum(np.pad(np.vstack([steps, np.sqrt(np.square(steps).sum(axis=0))]), ((0, 0), (1, 0))), axis=1)
    around = sums[:, end] - sums[:, first]
    distance, length = np.sqrt(np.square(around[:-1]).sum(axis=0)), around[-1]
    return np.asarray(
        np.where(length > _LEAST_WAY, distance / np.maximum(length, _LEAST_WAY), math.nan), dtype=np.float64
    )


def _camera_move(before: NDArray[np.uint8], now: NDArray[np.uint8]) -> _Move:
    corners = _corners(before)
    if len(corners) < _LEAST_POINTS:
        return _Move()
    start, end = _followed(before, now, corners)
    if len(start) < _LEAST_POINTS:
        return _Move()
    still = np.hypot(*(end - start).T) < _STILL_PX
    if still.mean() >= _LEAST_STILL_SHARE and _regions(start[still], now.shape).sum() >= _LEAST_REGIONS:
        fit = _fitted(start[still], end[still], _INLIER_PX, now.shape)
        return _move(fit, now.shape) if fit is not None and fit.shared else _Move()
    fit, rough = _fitted(start, end, _INLIER_PX, now.shape), False
    if fit is not None and not fit.shared and still.mean() < _MOST_STILL_SHARE:
        median_px = float(np.hypot(*np.median(end - start, axis=0)))
        fit, rough = _fitted(start, end, max(_INLIER_PX, _ROUGH * median_px), now.shape), True
    # On a plain table, most of the points may be on a moving arm. A camera's motion reaches all sides of a textured
    # picture, or leaves nothing at rest.
    nothing_still = still.mean() <= _NONE_STILL_SHARE
    textured = len(corners) * _BLOCK_PX**2 >= _LEAST_TEXTURED * before.size
    if fit is not None and fit.shared and textured and (fit.reaches_all_sides or nothing_still):
        contradicted = _all_around(_regions(start[still & ~fit.agree], now.shape))
        return _Move() if contradicted else _move(fit, now.shape, rough=rough)
    if nothing_still and _across(_regions(start, now.shape)):
        return _median_move(end - start, now.shape)
    return _Move()


def _median_move(motion: Points, shape: tuple[int, ...]) -> _Move:
    """The median motion of points without a common motion."""
    right, down = np.median(motion, axis=0) / math.hypot(*shape)
    return _Move(float(right), float(down), 0.0, 0.0, loose=True)


def _fitted(start: Points, end: Points, within_px: float, shape: tuple[int, ...]) -> _Fit | None:
    """The motion on which most points agree within this distance; None if no motion is found."""
    matrix, chosen = cv2.estimateAffinePartial2D(start, end, ransacReprojThreshold=within_px)
    if matrix is None:
        return None
    agree = chosen.ravel() == 1
    return _Fit(np.asarray(matrix, dtype=np.float64), agree, _regions(start[agree], shape))


def _corners(gray: NDArray[np.uint8]) -> Points:
    """The strongest corner of each block that has one."""
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


def _followed(before: NDArray[np.uint8], now: NDArray[np.uint8], corners: Points) -> tuple[Points, Points]:
    """The points that return to their start when followed backward, as positions before and after; none if too few of a
    sample return.

    Points that are not in the next frame take longest to follow. A sample of the points is followed first, so that
    noise does not take longer than video. A small number of points is always followed completely.
    """
    ends = np.empty_like(corners)
    returned = np.zeros(len(corners), dtype=np.bool_)
    remaining = np.ones(len(corners), dtype=np.bool_)
    if len(corners) > 2 * _SAMPLE:
        sample = np.linspace(0, len(corners) - 1, _SAMPLE).astype(np.intp)
        ends[sample], returned[sample] = _follow(before, now, corners[sample])
        if np.count_nonzero(returned) < _LEAST_RETURNED * _SAMPLE:
            return corners[:0], ends[:0]
        remaining[sample] = False
    ends[remaining], returned[remaining] = _follow(before, now, corners[remaining])
    return corners[returned], ends[returned]


def _follow(before: NDArray[np.uint8], now: NDArray[np.uint8], start: Points) -> tuple[Points, NDArray[np.bool_]]:
    """Where points are afterwards, and which of them return when followed backward."""
    end, forward_found, _ = cv2.calcOpticalFlowPyrLK(before, now, start[:, None], np.empty_like(start[:, None]))
    back, backward_found, _ = cv2.calcOpticalFlowPyrLK(now, before, end, np.empty_like(end))
    off = np.hypot(*(back[:, 0] - start).T)
    returned = (forward_found.ravel() == 1) & (backward_found.ravel() == 1) & (off < _RETURN_PX)
    return np.asarray(end[:, 0], dtype=np.float32), np.asarray(returned, dtype=np.bool_)


def _regions(points: Points, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Which of the picture's regions contain at least two of the points, shape (3, 3)."""
    height, width = shape
    column = np.clip(points[:, 0] * _REGIONS // width, 0, _REGIONS - 1).astype(int)
    row = np.clip(points[:, 1] * _REGIONS // height, 0, _REGIONS - 1).astype(int)
    counts = np.bincount(row * _REGIONS + column, minlength=_REGIONS**2)
    return (counts >= _LEAST_IN_REGION).reshape(_REGIONS, _REGIONS)


def _all_around(regions: NDArray[np.bool_]) -> bool:
    """Whether the regions are more than a corner or a side, which an object attached to the camera may fill."""
    return bool(regions.sum() >= _LEAST_AROUND and min(regions.any(axis=0).sum(), regions.any(axis=1).sum()) > 1)


def _across(regions: NDArray[np.bool_]) -> bool:
    """Whether the regions reach from one side of the picture to the other."""
    return bool(regions.any(axis=0).all() or regions.any(axis=1).all())


def _move(fit: _Fit, shape: tuple[int, ...], *, rough: bool = False) -> _Move:
    """The motion of the picture's centre."""
    matrix, (height, width) = fit.matrix, shape
    centre = np.array([width / 2, height / 2])
    right, down = (matrix[:, :2] @ centre + matrix[:, 2] - centre) / math.hypot(width, height)
    rotation, zoom = math.atan2(matrix[1, 0], matrix[0, 0]), math.hypot(matrix[0, 0], matrix[1, 0]) - 1
    return _Move(float(right), float(down), rotation, zoom, rough)
