"""Rules that turn measured series into findings.

A rule holds in the frames where

    its signal is above (or below) its threshold, all of `also` hold, and none of `unless` and `undecidable_when` hold.

Runs of these frames with gaps shorter than `merge_gap_s` are merged, and runs shorter than `min_duration_s` are
dropped. A remaining run extends over the neighbouring frames in which all of `extend_while` hold, because a fault that
grows slowly is conspicuous only in its middle. NaN is neither above nor below a threshold.

If an `unless` with an `explanation` rejects a finding of the rule, the finding becomes an `ExplainedFinding`, so that a
reader sees what was rejected and why. An `unless` without an explanation is for frames that another rule covers. In the
frames of `undecidable_when`, the rule gives no answer; a finding in these frames becomes a measurement gap.
"""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
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
"""One value per frame."""


class SignalCondition(Data):
    """A signal above or below a threshold, in the signal's unit; exactly one of the two is given.

    With `within_s`, the condition also holds in frames that are at most this long before or after a frame in which it
    holds. In an `unless`, `explanation` says what the condition means ("the camera moves").
    """

    signal: str
    above: float | None = None
    below: float | None = None
    within_s: float = Field(default=0.0, ge=0)
    explanation: str = ""

    @model_validator(mode="after")
    def _one_threshold(self) -> Self:
        if (self.above is None) == (self.below is None):
            raise ValueError(f"the condition on {self.signal} needs either 'above' or 'below'")
        return self

    @property
    def threshold(self) -> float:
        """The value of 'above' or 'below'."""
        threshold = self.above if self.above is not None else self.below
        assert threshold is not None, "a condition has either"
        return threshold

    @property
    def sign(self) -> int:
        """1 for a condition with 'above', -1 for one with 'below'."""
        return 1 if self.above is not None else -1

    @property
    def limit(self) -> str:
        """The threshold as text."""
        return f"{'above' if self.above is not None else 'below'} {self.threshold:g}"

    def holds(self, evidence: ClipSignals, view: str) -> Frames:
        """In which frames the condition holds."""
        series = evidence.views[view].series[self.signal]
        holds = self.sign * series > self.sign * self.threshold
        if not self.within_s:
            return holds
        return _within(holds, np.array(evidence.frame_times_s), self.within_s)

    def extreme_frame(self, series: Series, within: Frames) -> int:
        """The given frame in which the series is furthest beyond the threshold."""
        height = self.sign * series
        return int(np.where(within & np.isfinite(height), height, -np.inf).argmax())


class SignalRule(SignalCondition):
    """A condition with a minimum duration, and with conditions on other signals.

    `min_duration_s` 0 accepts a single frame. A finding reports the value of `reported_signal` at its peak; if there is
    no `reported_signal`, the value of the rule's own signal. If the reported value is undefined, there is a gap instead
    of a finding.
    """

    min_duration_s: float = Field(default=0.0, ge=0)
    merge_gap_s: float = Field(default=0.0, ge=0)
    also: tuple[SignalCondition, ...] = ()
    unless: tuple[SignalCondition, ...] = ()
    undecidable_when: tuple[SignalCondition, ...] = ()
    extend_while: tuple[SignalCondition, ...] = ()
    reported_signal: str = ""

    @model_validator(mode="after")
    def _undecidable_with_reason(self) -> Self:
        for condition in self.undecidable_when:
            if not condition.explanation:
                raise ValueError(f"'undecidable_when' on {condition.signal} needs an 'explanation'")
        return self

    @property
    def reports(self) -> str:
        """The name of the signal whose value a finding reports."""
        return self.reported_signal or self.signal

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals that the rule reads."""
        conditions = (*self.also, *self.unless, *self.undecidable_when, *self.extend_while)
        return (self.signal, self.reports, *(condition.signal for condition in conditions))


class RuleFinding(Data):
    """A span of one view in which a rule holds.

    `peak` is the most extreme value of the rule's signal, in the frame `peak_frame`; `amount` is the reported value
    there, in `unit`. `frames` are the first, the peak and the last frame, without repetition. `box` is the region in
    which the reported signal was measured; None if this signal has no region.
    """

    view: str
    span: Span
    peak: float
    peak_frame: int
    amount: float
    frames: tuple[int, ...]
    box: Box | None
    unit: str


class ExplainedFinding(Data):
    """A finding that an explanation of the rule rejects.

    `condition` is the explanation that holds in more of the finding's frames than any other explanation. `peak` is the
    most extreme value of the condition's signal during the finding, in `unit`.
    """

    finding: RuleFinding
    condition: SignalCondition
    peak: float
    unit: str


def check_signals(rule: SignalRule, known: Iterable[str]) -> None:
    """Raise InputError if the rule reads an unknown signal."""
    names = tuple(known)
    for name in rule.signals:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]}?" if close else f"the signals are: {', '.join(names)}"
            raise InputError(f"there is no signal {name!r}; {hint}")


def find(rule: SignalRule, evidence: ClipSignals) -> tuple[RuleFinding, ...]:
    """The findings of a rule, by view and then by time; empty if there are none.

    Raises InputError for a signal that was not measured.
    """
    check_signals(rule, evidence.signals)
    return tuple(finding for view in evidence.views for finding in _find_in_view(rule, evidence, view))


def explained_findings(rule: SignalRule, evidence: ClipSignals) -> tuple[ExplainedFinding, ...]:
    """The findings that the rule's explanations reject; empty if there are none.

    If the rule itself still has a finding in a part of the span, the rejected finding is left out.
    """
    unexplained = rule.with_(unless=tuple(condition for condition in rule.unless if not condition.explanation))
    if unexplained == rule:
        return ()
    found = find(rule, evidence)
    rejected = (
        finding for finding in find(unexplained, evidence) if not any(_overlap(finding, other) for other in found)
    )
    return tuple(_explained(finding, rule, evidence) for finding in rejected)


def describe_place(box: Box | None) -> str | None:
    """The place of a box in words such as "upper left". None if there is no box, or if the box covers half of the view
    or more.
    """
    if box is None or (box.right - box.left) * (box.bottom - box.top) >= 0.5:
        return None
    column = ("left", "middle", "right")[min(2, int(3 * (box.left + box.right) / 2))]
    row = ("upper", "middle", "lower")[min(2, int(3 * (box.top + box.bottom) / 2))]
    return row if row == column else f"{row} {column}"


def frames_where_rule_holds(rule: SignalRule, evidence: ClipSignals, view: str) -> Frames:
    """The frames of a view in which the rule holds, regardless of the duration."""
    holds = rule.holds(evidence, view) & np.isfinite(evidence.views[view].series[rule.reports])
    for condition in rule.also:
        holds = holds & condition.holds(evidence, view)
    for condition in (*rule.unless, *rule.undecidable_when):
        holds = holds & ~condition.holds(evidence, view)
    return holds


def merged_runs(rule: SignalRule, frames: Frames, edges_s: Sequence[float]) -> list[tuple[int, int]]:
    """The runs of frames, merged across gaps shorter than `merge_gap_s`."""
    merged: list[tuple[int, int]] = []
    for first, end in runs(np.flatnonzero(frames).tolist()):
        if merged and edges_s[first] - edges_s[merged[-1][1]] < rule.merge_gap_s - TOLERANCE_S:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((first, end))
    return merged


def _within(frames: Frames, times_s: Series, distance_s: float) -> Frames:
    """The frames that are at most this long before or after one of the given frames."""
    at = np.concatenate([[-np.inf], times_s[frames], [np.inf]])
    later = np.searchsorted(at, times_s)
    distance = np.minimum(at[later] - times_s, times_s - at[later - 1])
    return np.asarray(distance <= distance_s + TOLERANCE_S, dtype=np.bool_)


def _overlap(finding: RuleFinding, other: RuleFinding) -> bool:
    return finding.view == other.view and finding.span.overlap(other.span) > 0


def _explained(finding: RuleFinding, rule: SignalRule, evidence: ClipSignals) -> ExplainedFinding:
    """The finding with the explanation that holds in most of its frames."""
    view, times_s = finding.view, np.array(evidence.frame_times_s)
    inside = (times_s >= finding.span.start - TOLERANCE_S) & (times_s < finding.span.end - TOLERANCE_S)
    explanations = (condition for condition in rule.unless if condition.explanation)
    best = max(explanations, key=lambda condition: int((condition.holds(evidence, view) & inside).sum()))
    series = evidence.views[view].series[best.signal]
    peak = float(series[best.extreme_frame(series, _within(inside, times_s, best.within_s))])
    return ExplainedFinding(finding=finding, condition=best, peak=peak, unit=evidence.signals[best.signal].unit)


def _find_in_view(rule: SignalRule, evidence: ClipSignals, view: str) -> list[RuleFinding]:
    holds, edges_s = frames_where_rule_holds(rule, evidence, view), evidence.frame_edges_s
    found = [
        (first, end)
        for first, end in merged_runs(rule, holds, edges_s)
        if edges_s[end] - edges_s[first] >= rule.min_duration_s - TOLERANCE_S
    ]
    return [_finding(rule, evidence, view, holds, first, end) for first, end in _extended(rule, found, evidence, view)]


def _extended(
    rule: SignalRule, found: Sequence[tuple[int, int]], evidence: ClipSignals, view: str
) -> Sequence[tuple[int, int]]:
    """The runs with the neighbouring frames in which all of `extend_while` hold; runs that meet are joined."""
    if not (rule.extend_while and found):
        return found
    inside = np.logical_and.reduce([condition.holds(evidence, view) for condition in rule.extend_while])
    for first, end in found:
        inside[first:end] = True
    extended = runs(np.flatnonzero(inside).tolist())
    return [(low, high) for low, high in extended if any(low <= first < high for first, _ in found)]


def _finding(rule: SignalRule, evidence: ClipSignals, view: str, holds: Frames, first: int, end: int) -> RuleFinding:
    measured, edges_s = evidence.views[view], evidence.frame_edges_s
    # A merged gap may contain a higher value that is explained away: only frames in which the rule holds have peaks.
    inside = np.zeros(len(holds), dtype=np.bool_)
    inside[first:end] = holds[first:end]
    peak = rule.extreme_frame(measured.series[rule.signal], inside)
    return RuleFinding(
        view=view,
        span=Span(edges_s[first], edges_s[end]),
        peak=float(measured.series[rule.signal][peak]),
        peak_frame=peak,
        amount=float(measured.series[rule.reports][peak]),
        frames=tuple(sorted({first, peak, end - 1})),
        box=measured.boxes.get(rule.reports, {}).get(peak),
        unit=evidence.signals[rule.reports].unit,
    )
