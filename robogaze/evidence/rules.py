"""Rules: from measured series to findings.

A rule says of one signal when it is conspicuous, for how long it must be, and what would explain it away. It holds
in the frames where

    its signal is above (or below) its threshold, all of `also` hold, and none of `unless` holds.

Runs of such frames are joined across gaps shorter than `join_s`; what is then shorter than `for_s`, or longer than
`at_most_s`, is dropped. NaN is neither above nor below anything: where a signal is not defined a rule does not hold,
and nothing is explained away.

That a rule does not hold is an answer only where it could have. Where a signal it needs could not be measured, and
the signals that were measured do not settle the question, there is a gap; `gaps` finds them.
"""

import math
from collections.abc import Iterable, Sequence
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

    What lasts longer than `at_most_s` is something else (None: it may last). `also` must hold too, in the same frame;
    `unless` lists what explains the frame away.
    """

    for_s: float = Field(default=0.0, ge=0)
    at_most_s: float | None = Field(default=None, gt=0)
    join_s: float = Field(default=0.0, ge=0)
    also: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals the rule reads."""
        return (self.signal, *(condition.signal for condition in (*self.also, *self.unless)))


class Gap(Data):
    """Where a rule could not tell, in one view: half-open runs of frame numbers.

    `of` counts the frames in which it was asked to; `longest_s` is how long the longest run lasts; `why` says what
    stood in the way in most of the frames.
    """

    view: str
    runs: tuple[tuple[int, int], ...]
    of: int
    longest_s: float
    why: str

    @property
    def frames(self) -> int:
        """In how many frames."""
        return sum(end - first for first, end in self.runs)


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


def gaps(rule: Rule, evidence: Evidence) -> tuple[Gap, ...]:
    """Where a rule could not tell, a gap for each view that has one; empty when it could tell everywhere.

    The first frame, which has none before it, is left out, unless it is the only one. A run too short to hold what
    the rule looks for is none. In a clip shorter than `for_s` a rule that would hold throughout stays open.
    """
    found = (_gap(rule, evidence, view) for view in evidence.views)
    return tuple(gap for gap in found if gap is not None)


def place(box: Box | None) -> str | None:
    """Where a box lies, in words such as "upper left"; None without a box, or for one over half the view or more."""
    if box is None or (box.right - box.left) * (box.bottom - box.top) >= 0.5:
        return None
    column = ("left", "middle", "right")[min(2, int(3 * (box.left + box.right) / 2))]
    row = ("upper", "middle", "lower")[min(2, int(3 * (box.top + box.bottom) / 2))]
    return row if row == column else f"{row} {column}"


def _gap(rule: Rule, evidence: Evidence, view: str) -> Gap | None:
    measured, edges = evidence.views[view], _edges(evidence)
    holds, missing = _holds(rule, measured), _missing(rule, evidence, view)
    possible = np.logical_or.reduce([holds, *missing.values()])
    least_s = min(rule.for_s, edges[-1])
    inside = np.zeros(len(holds), dtype=np.bool_)
    for first, end in _stretches(rule, possible, edges):
        # A gap that could not hold what the rule looks for, had it been measured, hides nothing.
        inside[first:end] = edges[end] - edges[first] >= least_s - _TOLERANCE_S
    asked = 1 if len(holds) > 1 else 0
    inside[:asked] = False
    stretches = runs(np.flatnonzero(np.logical_or.reduce(list(missing.values())) & inside).tolist())
    if not stretches:
        return None
    return Gap(
        view=view,
        runs=stretches,
        of=len(holds) - asked,
        longest_s=max(edges[end] - edges[first] for first, end in stretches),
        why=max(missing, key=lambda why: int((missing[why] & inside).sum())),
    )


def _missing(rule: Rule, evidence: Evidence, view: str) -> dict[str, Frames]:
    """In which frames the rule's question stays open, by what stands in the way."""
    measured, edges = evidence.views[view], _edges(evidence)
    settled = np.zeros(len(edges) - 1, dtype=np.bool_)
    lacking: dict[str, Frames] = {}
    for condition in (rule, *rule.also):
        gap = evidence.signals[condition.signal].gap
        missing = np.isnan(measured.series[condition.signal]) & bool(gap)
        gap = gap if len(missing) > 1 else "the clip is a single frame"
        settled |= ~condition.holds(measured) & ~missing
        lacking[gap] = lacking[gap] | missing if gap in lacking else missing
    for condition in rule.unless:
        settled |= condition.holds(measured)
    if edges[-1] < rule.for_s - _TOLERANCE_S:
        lacking[f"the clip is shorter than the {rule.for_s:g} s it would have to last"] = _holds(rule, measured)
    return {why: missing & ~settled for why, missing in lacking.items()}


def _edges(evidence: Evidence) -> tuple[float, ...]:
    """Where each frame begins, and where the last one ends."""
    return (*evidence.frame_times_s, evidence.duration_s)


def _holds(rule: Rule, measured: Measured) -> Frames:
    """In which frames the rule holds, however long."""
    holds = rule.holds(measured)
    for condition in rule.also:
        holds = holds & condition.holds(measured)
    for condition in rule.unless:
        holds = holds & ~condition.holds(measured)
    return holds


def _stretches(rule: Rule, frames: Frames, edges: Sequence[float]) -> list[tuple[int, int]]:
    """The runs of frames, joined across the gaps a rule bridges."""
    joined: list[tuple[int, int]] = []
    for first, end in runs(np.flatnonzero(frames).tolist()):
        if joined and edges[first] - edges[joined[-1][1]] < rule.join_s - _TOLERANCE_S:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return joined


def _in_view(rule: Rule, evidence: Evidence, view: str) -> list[Finding]:
    holds, edges = _holds(rule, evidence.views[view]), _edges(evidence)
    least_s = rule.for_s - _TOLERANCE_S
    most_s = math.inf if rule.at_most_s is None else rule.at_most_s + _TOLERANCE_S
    return [
        _finding(rule, evidence, view, holds, first, end)
        for first, end in _stretches(rule, holds, edges)
        if least_s <= edges[end] - edges[first] <= most_s
    ]


def _finding(rule: Rule, evidence: Evidence, view: str, holds: Frames, first: int, end: int) -> Finding:
    measured, edges = evidence.views[view], _edges(evidence)
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
