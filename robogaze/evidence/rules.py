"""Rules: from measured series to findings.

A rule says of one signal when it is conspicuous, for how long it must be, and what would explain it away. It holds
in the frames where

    its signal is above (or below) its threshold, all of `also` hold, and none of `unless` or `blind` holds.

Runs of such frames are joined across gaps shorter than `join_s`; what is then shorter than `for_s`, or longer than
`at_most_s`, is dropped. What is left goes on over the frames beside it in which all of `spread` hold: a fault that
comes and goes little by little is conspicuous in its middle only. NaN is neither above nor below anything: where a
signal is not defined a rule does not hold, and nothing is explained away.

What an `unless` explains away would have been a finding without it. Where the condition says what it explains,
`explained` tells of these, so that a reader can see what was rejected, and why; one without words only leaves to
another rule what that one tells. Where one of `blind` holds the rule cannot be trusted: what it would find there is
neither found nor explained, but a gap.
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
from robogaze.evidence.base import ClipSignals, Series

TOLERANCE_S = 1e-6

Frames = NDArray[np.bool_]
"""One value per frame: whether something holds in it."""


class Condition(Data):
    """A signal above or below a threshold, in the signal's unit; exactly one of the two is given.

    With `near_s` it holds in the frames so near to one in which it does, too. `explains` says, in an `unless`, what
    the condition stands for ("the camera moves").
    """

    signal: str
    above: float | None = None
    below: float | None = None
    near_s: float = Field(default=0.0, ge=0)
    explains: str = ""

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"the condition on {self.signal} needs one of 'above' and 'below'")
        return self

    def holds(self, evidence: ClipSignals, view: str) -> Frames:
        """In which frames it holds."""
        series = evidence.views[view].series[self.signal]
        limit = self.above if self.above is not None else self.below
        assert limit is not None, "a condition has one of the two"
        holds = series > limit if self.above is not None else series < limit
        if not self.near_s:
            return holds
        return _near(holds, np.array(evidence.frame_times_s), self.near_s)

    @property
    def limit(self) -> str:
        """The threshold in words."""
        return f"above {self.above:g}" if self.above is not None else f"below {self.below:g}"

    def extreme(self, series: Series, within: Frames) -> int:
        """The frame, of those within, in which the series goes furthest beyond the threshold."""
        height = series if self.above is not None else -series
        return int(np.where(within & np.isfinite(height), height, -np.inf).argmax())


class SignalRule(Condition):
    """A condition that lasts: at least `for_s` (0: a single frame will do), with gaps shorter than `join_s` bridged.

    What lasts longer than `at_most_s` is something else (None: it may last). `also` must hold too, in the same frame;
    `unless` lists what explains the frame away, and `blind` where nothing is sure, each with words; over frames in
    which all of `spread` hold a finding goes on. What is told of a finding is the value of `shows` at its peak, or the
    peak itself; where that is not defined nothing is found, and there is a gap.
    """

    for_s: float = Field(default=0.0, ge=0)
    at_most_s: float | None = Field(default=None, gt=0)
    join_s: float = Field(default=0.0, ge=0)
    also: tuple[Condition, ...] = ()
    unless: tuple[Condition, ...] = ()
    blind: tuple[Condition, ...] = ()
    spread: tuple[Condition, ...] = ()
    shows: str = ""

    @model_validator(mode="after")
    def _blind_in_words(self) -> Self:
        if unsaid := [one.signal for one in self.blind if not one.explains]:
            raise ValueError(f"'blind' on {unsaid[0]} needs 'explains': why nothing is sure there")
        return self

    @property
    def shown(self) -> str:
        """The name of the signal whose value is told of a finding."""
        return self.shows or self.signal

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals the rule reads."""
        conditions = (*self.also, *self.unless, *self.blind, *self.spread)
        return (self.signal, self.shown, *(condition.signal for condition in conditions))


class RuleFinding(Data):
    """A stretch of one view in which a rule holds.

    `peak` is the rule's signal where it is most extreme, and `peak_frame` where; `amount`, in `unit`, is what is
    told of it. `frames` are worth looking at (first, peak, last, without repetition); `box` is the place, where the
    signal has one.
    """

    view: str
    span: Span
    peak: float
    peak_frame: int
    amount: float
    frames: tuple[int, ...]
    box: Box | None
    unit: str


class Explained(Data):
    """What a rule would have found, had nothing explained it away.

    `by` is what explains most of its frames, and `peak` the most extreme value of that condition's signal in them, in
    `unit`.
    """

    finding: RuleFinding
    by: Condition
    peak: float
    unit: str


def check(rule: SignalRule, known: Iterable[str]) -> None:
    """Raise InputError when the rule reads a signal that is not among the known ones."""
    names = tuple(known)
    for name in rule.signals:
        if name not in names:
            raise InputError(f"there is no signal {name!r}; there is: {', '.join(names)}")


def find(rule: SignalRule, evidence: ClipSignals) -> tuple[RuleFinding, ...]:
    """Where a rule holds, by view and then in time; empty when it holds nowhere.

    Raises InputError for a signal that was not measured.
    """
    check(rule, evidence.signals)
    return tuple(finding for view in evidence.views for finding in _in_view(rule, evidence, view))


def explained(rule: SignalRule, evidence: ClipSignals) -> tuple[Explained, ...]:
    """What an explanation that has words keeps a rule from finding; empty when there is none.

    A stretch of which the rule finds a part is found, and not explained.
    """
    bare = rule.with_(unless=tuple(one for one in rule.unless if not one.explains))
    if bare == rule:
        return ()
    found = find(rule, evidence)
    open_ = (one for one in find(bare, evidence) if not any(_meet(one, other) for other in found))
    return tuple(_explained(one, rule, evidence) for one in open_)


def place(box: Box | None) -> str | None:
    """Where a box lies, in words such as "upper left"; None without a box, or for one over half the view or more."""
    if box is None or (box.right - box.left) * (box.bottom - box.top) >= 0.5:
        return None
    column = ("left", "middle", "right")[min(2, int(3 * (box.left + box.right) / 2))]
    row = ("upper", "middle", "lower")[min(2, int(3 * (box.top + box.bottom) / 2))]
    return row if row == column else f"{row} {column}"


def _near(frames: Frames, times_s: Series, near_s: float) -> Frames:
    """The frames that are so near in time to one of those given."""
    at = np.concatenate([[-np.inf], times_s[frames], [np.inf]])
    later = np.searchsorted(at, times_s)
    apart = np.minimum(at[later] - times_s, times_s - at[later - 1])
    return np.asarray(apart <= near_s + TOLERANCE_S, dtype=np.bool_)


def _meet(one: RuleFinding, other: RuleFinding) -> bool:
    return one.view == other.view and one.span.overlap(other.span) > 0


def _explained(finding: RuleFinding, rule: SignalRule, evidence: ClipSignals) -> Explained:
    """The explanation that holds in most of a finding's frames."""
    view, times_s = finding.view, np.array(evidence.frame_times_s)
    inside = (times_s >= finding.span.start - TOLERANCE_S) & (times_s < finding.span.end - TOLERANCE_S)
    tried = (one for one in rule.unless if one.explains)
    by = max(tried, key=lambda one: int((one.holds(evidence, view) & inside).sum()))
    series = evidence.views[view].series[by.signal]
    peak = float(series[by.extreme(series, _near(inside, times_s, by.near_s))])
    return Explained(finding=finding, by=by, peak=peak, unit=evidence.signals[by.signal].unit)


def frame_edges(evidence: ClipSignals) -> tuple[float, ...]:
    """Where each frame begins, and where the last one ends."""
    return (*evidence.frame_times_s, evidence.duration_s)


def held(rule: SignalRule, evidence: ClipSignals, view: str) -> Frames:
    """In which frames of a view the rule holds, however long."""
    holds = rule.holds(evidence, view) & np.isfinite(evidence.views[view].series[rule.shown])
    for condition in rule.also:
        holds = holds & condition.holds(evidence, view)
    for condition in (*rule.unless, *rule.blind):
        holds = holds & ~condition.holds(evidence, view)
    return holds


def joined_runs(rule: SignalRule, frames: Frames, edges: Sequence[float]) -> list[tuple[int, int]]:
    """The runs of frames, joined across the gaps a rule bridges."""
    joined: list[tuple[int, int]] = []
    for first, end in runs(np.flatnonzero(frames).tolist()):
        if joined and edges[first] - edges[joined[-1][1]] < rule.join_s - TOLERANCE_S:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return joined


def _in_view(rule: SignalRule, evidence: ClipSignals, view: str) -> list[RuleFinding]:
    holds, edges = held(rule, evidence, view), frame_edges(evidence)
    least_s = rule.for_s - TOLERANCE_S
    most_s = math.inf if rule.at_most_s is None else rule.at_most_s + TOLERANCE_S
    stretches = [
        (first, end) for first, end in joined_runs(rule, holds, edges) if least_s <= edges[end] - edges[first] <= most_s
    ]
    return [
        _finding(rule, evidence, view, holds, first, end) for first, end in _spread(rule, stretches, evidence, view)
    ]


def _spread(
    rule: SignalRule, stretches: Sequence[tuple[int, int]], evidence: ClipSignals, view: str
) -> Sequence[tuple[int, int]]:
    """The stretches with the frames beside them over which they go on; those that meet are one."""
    if not (rule.spread and stretches):
        return stretches
    inside = np.logical_and.reduce([condition.holds(evidence, view) for condition in rule.spread])
    for first, end in stretches:
        inside[first:end] = True
    reached = runs(np.flatnonzero(inside).tolist())
    return [(low, high) for low, high in reached if any(low <= first < high for first, _ in stretches)]


def _finding(rule: SignalRule, evidence: ClipSignals, view: str, holds: Frames, first: int, end: int) -> RuleFinding:
    measured, edges = evidence.views[view], frame_edges(evidence)
    # A bridged gap may hold a higher value that was explained away: the peak is sought where the rule holds.
    inside = np.zeros(len(holds), dtype=np.bool_)
    inside[first:end] = holds[first:end]
    peak = rule.extreme(measured.series[rule.signal], inside)
    return RuleFinding(
        view=view,
        span=Span(edges[first], edges[end]),
        peak=float(measured.series[rule.signal][peak]),
        peak_frame=peak,
        amount=float(measured.series[rule.shown][peak]),
        frames=tuple(sorted({first, peak, end - 1})),
        box=measured.boxes.get(rule.shown, {}).get(peak),
        unit=evidence.signals[rule.shown].unit,
    )
