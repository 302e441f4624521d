"""Unusual motion of a tracked object.

Motion is relative to the background: the camera's part is removed if it is known. Motion is measured between the frames
in which the object was found. The unit is frame diagonals, so that motion does not depend on the clip's size. Four
kinds of motion are flagged:

jump     one step ends JUMP away from where the motion before and after it would have led
still    it stops within a frame from a speed of MOVING, rests for STILL_S, and continues with a similar velocity
burst    it gains BURST in speed within a frame and keeps it
shake    for SHAKE_S at least half of its steps turn back, each of SHAKE or more

A flag is a measurement, not a verdict: an object that is hit also bursts into motion.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robogaze.core.time import runs
from robogaze.evidence.tracker.tracking import TrackedObject

JUMP = 0.05
"""Diagonals."""

BURST = 0.8
"""Diagonals per second."""

MOVING, STILL_S = 0.12, 0.25
"""Diagonals per second, and seconds."""

SHAKE, SHAKE_S = 0.003, 0.5
"""Diagonals, and seconds."""

REST = 0.0015
"""A shorter step, in diagonals, counts as rest: one pixel of a picture of 640."""

_AROUND = 3  # steps before and after, whose median is the usual velocity there
_GAP_S = 0.5  # an object that was missing for longer may be anywhere
_SUDDEN = 0.8  # of the usual speed before a stop: the least in the last whole step before it
_AS_BEFORE = 0.5  # of the velocity before a stop: how far that after it may differ
_TURNS = 0.5

Vectors = NDArray[np.float64]
Kind = Literal["jump", "still", "burst", "shake"]


@dataclass(frozen=True)
class Flag:
    """Unusual motion from one frame to another; `first` and `last` are the positions of these frames in the track.

    For some flags, `value` is a distance (diagonals): how far the object is from where its usual motion would have led,
    or the typical length of its steps while it shakes. For other flags, `value` is a speed (diagonals per second): the
    object's speed before it stopped, or the speed that it gained.
    """

    kind: Kind
    first: int
    last: int
    value: float


@dataclass(frozen=True)
class Movement:
    """The motion of an object.

    `frames` are the positions in the track at which the object was found; `speeds` are its speeds from each of these
    positions to the next, in diagonals per second. `compensated` is the share of these steps from which the camera's
    part was removed, NaN if there are no steps. `rests` are the ranges of frames in which the object rests, and
    `missing` are the ranges in which it was not found. The ranges are half-open.
    """

    frames: tuple[int, ...]
    speeds: tuple[float, ...]
    compensated: float
    flags: tuple[Flag, ...]
    rests: tuple[tuple[int, int], ...]
    missing: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Steps:
    """The motion between the frames in which the object was found, in diagonals, and the duration of this motion."""

    frames: NDArray[np.int_]
    moved: Vectors
    seconds: NDArray[np.float64]
    compensated: NDArray[np.bool_]

    @property
    def velocity(self) -> Vectors:
        return self.moved / self.seconds[:, None]

    @property
    def lengths(self) -> NDArray[np.float64]:
        return np.asarray(np.hypot(*self.moved.T), dtype=np.float64)

    @property
    def speeds(self) -> NDArray[np.float64]:
        return self.lengths / self.seconds


def movement(track: TrackedObject, times_s: NDArray[np.float64]) -> Movement:
    """The motion of the object of a track; `times_s` are the times of its frames."""
    steps = _steps(track, times_s)
    rests = tuple(_rests(steps))
    shakes = tuple(_shakes(steps))
    flags = (*_jumps(steps, shakes), *_stills(steps, rests), *_bursts(steps), *shakes)
    return Movement(
        frames=tuple(steps.frames.tolist()),
        speeds=tuple(steps.speeds.tolist()),
        compensated=float(np.mean(steps.compensated)) if len(steps.compensated) else float("nan"),
        flags=tuple(sorted(flags, key=lambda flag: (flag.first, flag.kind))),
        rests=tuple((int(steps.frames[first]), int(steps.frames[end]) + 1) for first, end in rests),
        missing=runs(number for number, place in enumerate(track.places) if place is None),
    )


def _steps(track: TrackedObject, times_s: NDArray[np.float64]) -> _Steps:
    found = [(number, place.middle) for number, place in enumerate(track.places) if place is not None]
    frames = np.array([number for number, _ in found])
    known = np.asarray(np.isfinite(track.camera).all(axis=1), dtype=np.bool_)
    camera = np.vstack([np.zeros((1, 2)), np.cumsum(np.where(known[:, None], track.camera, 0.0), axis=0)])
    moved = np.diff(np.array([middle for _, middle in found]) - camera[frames], axis=0)
    size = np.array([track.width, track.height])
    return _Steps(
        frames=frames,
        moved=moved * size / np.hypot(*size),
        seconds=np.diff(times_s[frames]),
        compensated=np.array([bool(known[first:second].all()) for first, second in pairwise(frames)], dtype=np.bool_),
    )


def _usual(velocity: Vectors, first: int, end: int) -> Vectors:
    """The median velocity of three consecutive steps; NaN if there are fewer steps."""
    if first < 0 or end > len(velocity):
        return np.full(2, np.nan)
    return np.median(velocity[first:end], axis=0)


def _jumps(steps: _Steps, shakes: tuple[Flag, ...]) -> Iterator[Flag]:
    """Single steps that the motion before and after does not explain; steps of a shake are left out."""
    off = np.full(len(steps.moved), np.nan)
    for place, moved in enumerate(steps.moved):
        usual = _usual(steps.velocity, place - _AROUND, place), _usual(steps.velocity, place + 1, place + 1 + _AROUND)
        if steps.seconds[place] <= _GAP_S:
            off[place] = np.min([np.hypot(*(moved - velocity * steps.seconds[place])) for velocity in usual])
    for first, end in runs(np.flatnonzero(off >= JUMP).tolist()):
        before, after = int(steps.frames[first]), int(steps.frames[end])
        if end - first == 1 and not any(shake.first <= before and after <= shake.last for shake in shakes):
            yield Flag("jump", before, after, float(off[first]))


def _bursts(steps: _Steps) -> Iterator[Flag]:
    velocity = steps.velocity
    usual = [
        (_usual(velocity, place - _AROUND, place), _usual(velocity, place, place + _AROUND))
        for place in range(len(velocity))
    ]
    gains = np.array([np.hypot(*after) - np.hypot(*before) for before, after in usual])
    for first, end in runs(np.flatnonzero(gains >= BURST).tolist()):
        most = first + int(gains[first:end].argmax())
        yield Flag("burst", int(steps.frames[most]), int(steps.frames[most + 1]), float(gains[most]))


def _rests(steps: _Steps) -> Iterator[tuple[int, int]]:
    """The runs of steps in which the object rests."""
    stays = (steps.lengths <= REST) & (steps.seconds <= _GAP_S)
    for first, end in runs(np.flatnonzero(stays).tolist()):
        if steps.seconds[first:end].sum() >= STILL_S - 1e-6:
            yield first, end


def _stills(steps: _Steps, rests: tuple[tuple[int, int], ...]) -> Iterator[Flag]:
    for first, end in rests:
        # The step in which it stops may be shorter, so the speed is taken from the steps before it.
        before = _usual(steps.velocity, first - 1 - _AROUND, first - 1)
        after = _usual(steps.velocity, end, end + _AROUND)
        speed = float(np.hypot(*before))
        if speed < MOVING or steps.speeds[first - 2] < _SUDDEN * speed:
            continue
        if np.hypot(*(after - before)) <= _AS_BEFORE * speed:
            yield Flag("still", int(steps.frames[first]), int(steps.frames[end]), speed)


def _shakes(steps: _Steps) -> Iterator[Flag]:
    lengths = steps.lengths
    turns = np.zeros(len(lengths))
    turns[1:] = (steps.moved[1:] * steps.moved[:-1]).sum(axis=1) < 0
    turns[1:] *= np.minimum(lengths[1:], lengths[:-1]) >= SHAKE
    ends = np.cumsum(steps.seconds)
    shaking: set[int] = set()
    for first in range(1, len(lengths)):
        end = int(np.searchsorted(ends, ends[first - 1] + SHAKE_S - 1e-6)) + 1
        if end <= len(lengths) and turns[first:end].mean() >= _TURNS:
            shaking.update(range(first, end))
    for first, end in runs(shaking):
        yield Flag("shake", int(steps.frames[first]), int(steps.frames[end]), float(np.median(lengths[first:end])))
