"""What is odd about the way a tracked thing moves.

Motion is that before the background: where the camera's share of it can be told it is taken out. It is measured in
frame diagonals, so that it does not depend on the clip's size, from each frame in which the thing was found to the
next, and four things about it are flagged:

jump     in one step it gets JUMP beside where its motion before and after the step would have taken it
still    it stops from MOVING within a frame, stays where it is for STILL_S, and goes on with about the same velocity
burst    it gains BURST in speed within a frame, and keeps it (what stops has mostly hit something)
shake    for SHAKE_S at least half of its steps turn back, each of SHAKE or more

A flag is a measurement and no verdict: a thing that is hit bursts into motion, too.
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
"""Diagonals a second."""

MOVING, STILL_S = 0.12, 0.25
"""Diagonals a second, and seconds."""

SHAKE, SHAKE_S = 0.003, 0.5
"""Diagonals, and seconds."""

REST = 0.0015
"""A step of less, in diagonals, is none: one pixel of a picture of 640."""

_AROUND = 3  # steps before and after, of which the median is what is usual there
_GAP_S = 0.5  # a thing that was missing for longer may have gone anywhere
_SUDDEN = 0.8  # of the usual speed before: what it still has in the last whole step before it stops
_AS_BEFORE = 0.5  # of the velocity before: how far that after a stop may differ
_TURNS = 0.5

Vectors = NDArray[np.float64]
Kind = Literal["jump", "still", "burst", "shake"]


@dataclass(frozen=True)
class Flag:
    """Something odd from the frame `first` to the frame `last`, by their places in the track.

    `value` is how far it got beside its motion or turned back (diagonals), how fast it was before it stopped, or how
    much speed it gained (diagonals a second).
    """

    kind: Kind
    first: int
    last: int
    value: float


@dataclass(frozen=True)
class Movement:
    """How a thing moves.

    `frames` are the places in the track at which it was found, `speeds` how fast it moved from each of them to the
    next, in diagonals a second. `compensated` is the share of these steps from which the camera's part could be taken
    out, NaN when there is no step. `rests` are the stretches in which it stays where it is, `missing` those in which it
    was not found, as half-open runs of places in the track.
    """

    frames: tuple[int, ...]
    speeds: tuple[float, ...]
    compensated: float
    flags: tuple[Flag, ...]
    rests: tuple[tuple[int, int], ...]
    missing: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class _Steps:
    """The motion from each frame in which it was found to the next: in diagonals, and the time it took."""

    frames: NDArray[np.int_]
    moved: Vectors
    seconds: NDArray[np.float64]
    told: NDArray[np.bool_]

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
    """How the thing of a track moves; `times_s` are the times of its frames."""
    steps = _steps(track, times_s)
    rests = tuple(_rests(steps))
    shakes = tuple(_shakes(steps))
    flags = (*_jumps(steps, shakes), *_stills(steps, rests), *_bursts(steps), *shakes)
    return Movement(
        frames=tuple(steps.frames.tolist()),
        speeds=tuple(steps.speeds.tolist()),
        compensated=float(np.mean(steps.told)) if len(steps.told) else float("nan"),
        flags=tuple(sorted(flags, key=lambda flag: (flag.first, flag.kind))),
        rests=tuple((int(steps.frames[first]), int(steps.frames[end]) + 1) for first, end in rests),
        missing=runs(number for number, place in enumerate(track.places) if place is None),
    )


def _steps(track: TrackedObject, times_s: NDArray[np.float64]) -> _Steps:
    found = [(number, place.middle) for number, place in enumerate(track.places) if place is not None]
    frames = np.array([number for number, _ in found])
    told = np.asarray(np.isfinite(track.camera).all(axis=1), dtype=np.bool_)
    camera = np.vstack([np.zeros((1, 2)), np.cumsum(np.where(told[:, None], track.camera, 0.0), axis=0)])
    moved = np.diff(np.array([middle for _, middle in found]) - camera[frames], axis=0)
    size = np.array([track.width, track.height])
    return _Steps(
        frames=frames,
        moved=moved * size / np.hypot(*size),
        seconds=np.diff(times_s[frames]),
        told=np.array([bool(told[one:other].all()) for one, other in pairwise(frames)], dtype=np.bool_),
    )


def _usual(velocity: Vectors, first: int, end: int) -> Vectors:
    """The usual velocity of three steps in a row; NaN where there are not so many."""
    if first < 0 or end > len(velocity):
        return np.full(2, np.nan)
    return np.median(velocity[first:end], axis=0)


def _jumps(steps: _Steps, shakes: tuple[Flag, ...]) -> Iterator[Flag]:
    """Single steps that neither the motion before nor that after explains; what shakes does not jump."""
    beside = np.full(len(steps.moved), np.nan)
    for place, moved in enumerate(steps.moved):
        usual = _usual(steps.velocity, place - _AROUND, place), _usual(steps.velocity, place + 1, place + 1 + _AROUND)
        if steps.seconds[place] <= _GAP_S:
            beside[place] = np.min([np.hypot(*(moved - one * steps.seconds[place])) for one in usual])
    for first, end in runs(np.flatnonzero(beside >= JUMP).tolist()):
        before, after = int(steps.frames[first]), int(steps.frames[end])
        if end - first == 1 and not any(one.first <= before and after <= one.last for one in shakes):
            yield Flag("jump", before, after, float(beside[first]))


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
    """The runs of steps in which it stays where it is."""
    stays = (steps.lengths <= REST) & (steps.seconds <= _GAP_S)
    for first, end in runs(np.flatnonzero(stays).tolist()):
        if steps.seconds[first:end].sum() >= STILL_S - 1e-6:
            yield first, end


def _stills(steps: _Steps, rests: tuple[tuple[int, int], ...]) -> Iterator[Flag]:
    for first, end in rests:
        # The step in which it stops may be a part of one: how fast it was shows in those before.
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
