"""Measurement gaps: where a rule gives no answer.

If a rule does not hold in a frame, this is an answer only if the rule could have held there. There is a gap in four
cases: a signal that the rule needs could not be measured, and the other signals do not decide whether the rule holds; a
condition in `undecidable_when` holds, and the rule would hold without this condition; the value that the rule reports
is undefined; or the clip is too short for the rule.
"""

import numpy as np

from robogaze.core.data import Data
from robogaze.core.time import runs
from robogaze.evidence.base import ClipSignals
from robogaze.evidence.rules import TOLERANCE_S, Frames, SignalRule, frames_where_rule_holds, merged_runs


class MeasurementGap(Data):
    """Where a rule gives no answer in one view.

    `runs` are half-open ranges of frame numbers. `of` is the number of frames in which the rule should give an answer.
    `longest_s` is the duration of the longest run, and `reason` is the cause in most of the frames.
    """

    view: str
    runs: tuple[tuple[int, int], ...]
    of: int
    longest_s: float
    reason: str

    @property
    def frames(self) -> int:
        """The number of frames in the gap."""
        return sum(end - first for first, end in self.runs)


def measurement_gaps(rule: SignalRule, evidence: ClipSignals) -> tuple[MeasurementGap, ...]:
    """One gap for each view in which a gap exists; empty when the rule has an answer everywhere.

    The first frame has no previous frame and therefore counts only if it is the only frame. A run that is too short for
    the rule's minimum duration is not a gap. In a clip shorter than the minimum duration, a rule gives no answer if its
    condition holds throughout the clip.
    """
    found = (_gap(rule, evidence, view) for view in evidence.views)
    return tuple(gap for gap in found if gap is not None)


def _gap(rule: SignalRule, evidence: ClipSignals, view: str) -> MeasurementGap | None:
    edges_s = evidence.frame_edges_s
    holds, missing = frames_where_rule_holds(rule, evidence, view), _missing(rule, evidence, view)
    possible = np.logical_or.reduce([holds, *missing.values()])
    least_s = min(rule.min_duration_s, edges_s[-1])
    inside = np.zeros(len(holds), dtype=np.bool_)
    for first, end in merged_runs(rule, possible, edges_s):
        # A run that is too short for a finding hides nothing.
        inside[first:end] = edges_s[end] - edges_s[first] >= least_s - TOLERANCE_S
    not_asked = 1 if len(holds) > 1 else 0
    inside[:not_asked] = False
    gap_runs = runs(np.flatnonzero(np.logical_or.reduce(list(missing.values())) & inside).tolist())
    if not gap_runs:
        return None
    return MeasurementGap(
        view=view,
        runs=gap_runs,
        of=len(holds) - not_asked,
        longest_s=max(edges_s[end] - edges_s[first] for first, end in gap_runs),
        reason=max(missing, key=lambda reason: int((missing[reason] & inside).sum())),
    )


def _missing(rule: SignalRule, evidence: ClipSignals, view: str) -> dict[str, Frames]:
    """The frames in which the rule has no answer, by reason."""
    measured, edges_s = evidence.views[view], evidence.frame_edges_s
    settled = np.zeros(len(edges_s) - 1, dtype=np.bool_)
    missing: dict[str, Frames] = {}
    for condition in (rule, *rule.also):
        reason = evidence.signals[condition.signal].gap
        undefined = np.isnan(measured.series[condition.signal]) & bool(reason)
        reason = reason if len(undefined) > 1 else "the clip is a single frame"
        settled |= ~condition.holds(evidence, view) & ~undefined
        missing[reason] = missing[reason] | undefined if reason in missing else undefined
    for condition in rule.unless:
        settled |= condition.holds(evidence, view)
    if rule.reported_signal:
        holds = frames_where_rule_holds(rule.with_(reported_signal=""), evidence, view)
        reason = f"{rule.reported_signal}, which the description reports, is undefined there"
        missing[reason] = holds & np.isnan(measured.series[rule.reported_signal])
    decidable = frames_where_rule_holds(rule.with_(undecidable_when=()), evidence, view)
    for condition in rule.undecidable_when:
        missing[condition.explanation] = condition.holds(evidence, view) & decidable
    if edges_s[-1] < rule.min_duration_s - TOLERANCE_S:
        reason = f"the clip is shorter than the required {rule.min_duration_s:g} s"
        missing[reason] = frames_where_rule_holds(rule, evidence, view)
    return {reason: frames & ~settled for reason, frames in missing.items()}
