"""Rules: from measured series to findings.

A rule says of one signal when it is conspicuous, for how long it must be, and what would explain it away. It holds
in the frames where

    its signal is above (or below) its threshold, all of `also` hold, and none of `unless` holds.

Runs of such frames are joined across gaps shorter than `join_s`; what is then shorter than `for_s` is dropped. NaN is
neither above nor below anything: where a signal is not defined a rule does not hold, and nothing is explained away.
"""

from collections.abc import Iterable
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.core.events import Box
from robogaze.core.time import Span, runs
from robogaze.errors import InputError
from robogaze.evidence.base import Evidence, Measured

_TOLERANCE_S = 1e-6

Frames = NDArray[np.bool_]
"""One value per frame: whether something holds in it."""


class Condition(Data):
    """A signal above or below a threshold, in the signal's unit; exactly one of the two is given."""

    signal: str
    above: float | None = None
    below: float | None = None

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"the condition on {self.signal} needs one of 'above' and 'below'")
        return self

    def holds(self, measured: Measured) -> Frames:
        """In which frames it holds."""
        series = measured.series[self.signal]
        if self.above is not None:
            return series > self.above
        assert self.below is not None, "a condition has one of the two"
        return series < self.below


class Rule(Condition):
    """A condition that lasts: at least `for_s` (0: a single frame will do), with gaps shorter than `join_s` bridged.

    `also` must hold too, in the same frame; `unless` lists what explains the frame away.
    """

    for_s: float = Field(default=0.0, ge=0)
    join_s: float = Field(default=0.0, ge=0)
    also: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals the rule reads."""
        return (self.signal, *(condition.signal for condition in (*self.also, *self.unless)))


class Finding(Data):
    """A stretch of one view in which a rule holds.

    `peak` is the rule's signal where it is most extreme, in `unit`, and `peak_frame` where that is; `frames` are
    worth looking at (first, peak, last, without repetition); `box` is the place, where the signal has one.
    """

    view: str
    span: Span
    peak: float
    peak_frame: int
    frames: tuple[int, ...]
    box: Box | None
    unit: str


def check(rule: Rule, known: Iterable[str]) -> None:
    """Raise InputError when the rule reads a signal that is not among the known ones."""
    names = tuple(known)
    for name in rule.signals:
        if name not in names:
            raise InputError(f"there is no signal {name!r}; there is: {', '.join(names)}")


def find(rule: Rule, evidence: Evidence) -> tuple[Finding, ...]:
    """Where a rule holds, by view and then in time; empty when it holds nowhere.

    Raises InputError for a signal that was not measured.
    """
    check(rule, evidence.signals)
    return tuple(finding for view in evidence.views for finding in _in_view(rule, evidence, view))


def gaps(evidence: Evidence, signal: str) -> int:
    """In how many frames after the first a signal is missing in some view."""
    series = [measured.series[signal][1:] for measured in evidence.views.values()]
    return int(np.isnan(series).any(axis=0).sum())


def place(box: Box | None) -> str | None:
    """Where a box lies, in words such as "upper left"; None without a box, or for one over half the view or more."""
    if box is None or (box.right - box.left) * (box.bottom - box.top) >= 0.5:
        return None
    column = ("left", "middle", "right")[min(2, int(3 * (box.left + box.right) / 2))]
    row = ("upper", "middle", "lower")[min(2, int(3 * (box.top + box.bottom) / 2))]
    return row if row == column else f"{row} {column}"


def _in_view(rule: Rule, evidence: Evidence, view: str) -> list[Finding]:
    measured = evidence.views[view]
    holds = rule.holds(measured)
    for condition in rule.also:
        holds = holds & condition.holds(measured)
    for condition in rule.unless:
        holds = holds & ~condition.holds(measured)
    edges = (*evidence.frame_times_s, evidence.duration_s)
    joined: list[tuple[int, int]] = []
    for first, end in runs(np.flatnonzero(holds).tolist()):
        if joined and edges[first] - edges[joined[-1][1]] < rule.join_s - _TOLERANCE_S:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    long_enough = [(a, b) for a, b in joined if edges[b] - edges[a] >= rule.for_s - _TOLERANCE_S]
    return [_finding(rule, evidence, view, holds, a, b) for a, b in long_enough]


def _finding(rule: Rule, evidence: Evidence, view: str, holds: Frames, first: int, end: int) -> Finding:
    measured = evidence.views[view]
    edges = (*evidence.frame_times_s, evidence.duration_s)
    height = measured.series[rule.signal] if rule.above is not None else -measured.series[rule.signal]
    # A bridged gap may hold a higher value that was explained away: the peak is sought where the rule holds.
    peak = first + int(np.where(holds[first:end], height[first:end], -np.inf).argmax())
    return Finding(
        view=view,
        span=Span(edges[first], edges[end]),
        peak=float(measured.series[rule.signal][peak]),
        peak_frame=peak,
        frames=tuple(sorted({first, peak, end - 1})),
        box=measured.boxes.get(rule.signal, {}).get(peak),
        unit=evidence.signals[rule.signal].unit,
    )
