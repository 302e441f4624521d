"""Gaps: where a rule could not tell.

That a rule does not hold is an answer only where it could have. Where a signal it needs could not be measured, and
the signals that were measured do not settle the question, there is a gap; so there is where it would hold, but is
blind, or what it would tell is not defined.
"""

import numpy as np

from robogaze.core.data import Data
from robogaze.core.time import runs
from robogaze.evidence.base import ClipSignals
from robogaze.evidence.rules import TOLERANCE_S, Frames, SignalRule, frame_edges, held, joined_runs


class MeasurementGap(Data):
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


def gaps(rule: SignalRule, evidence: ClipSignals) -> tuple[MeasurementGap, ...]:
    """Where a rule could not tell, a gap for each view that has one; empty when it could tell everywhere.

    The first frame, which has none before it, is left out, unless it is the only one. A run too short to hold what
    the rule looks for is none. In a clip shorter than `for_s` a rule that would hold throughout stays open.
    """
    found = (_gap(rule, evidence, view) for view in evidence.views)
    return tuple(gap for gap in found if gap is not None)


def _gap(rule: SignalRule, evidence: ClipSignals, view: str) -> MeasurementGap | None:
    edges = frame_edges(evidence)
    holds, missing = held(rule, evidence, view), _missing(rule, evidence, view)
    possible = np.logical_or.reduce([holds, *missing.values()])
    least_s = min(rule.for_s, edges[-1])
    inside = np.zeros(len(holds), dtype=np.bool_)
    for first, end in joined_runs(rule, possible, edges):
        # A gap that could not hold what the rule looks for, had it been measured, hides nothing.
        inside[first:end] = edges[end] - edges[first] >= least_s - TOLERANCE_S
    asked = 1 if len(holds) > 1 else 0
    inside[:asked] = False
    stretches = runs(np.flatnonzero(np.logical_or.reduce(list(missing.values())) & inside).tolist())
    if not stretches:
        return None
    return MeasurementGap(
        view=view,
        runs=stretches,
        of=len(holds) - asked,
        longest_s=max(edges[end] - edges[first] for first, end in stretches),
        why=max(missing, key=lambda why: int((missing[why] & inside).sum())),
    )


def _missing(rule: SignalRule, evidence: ClipSignals, view: str) -> dict[str, Frames]:
    """In which frames the rule's question stays open, by what stands in the way."""
    measured, edges = evidence.views[view], frame_edges(evidence)
    settled = np.zeros(len(edges) - 1, dtype=np.bool_)
    lacking: dict[str, Frames] = {}
    for condition in (rule, *rule.also):
        gap = evidence.signals[condition.signal].gap
        missing = np.isnan(measured.series[condition.signal]) & bool(gap)
        gap = gap if len(missing) > 1 else "the clip is a single frame"
        settled |= ~condition.holds(evidence, view) & ~missing
        lacking[gap] = lacking[gap] | missing if gap in lacking else missing
    for condition in rule.unless:
        settled |= condition.holds(evidence, view)
    if rule.shows:
        untold = held(rule.with_(shows=""), evidence, view) & np.isnan(measured.series[rule.shows])
        lacking[f"{rule.shows}, which would be told, is not defined there"] = untold
    sighted = held(rule.with_(blind=()), evidence, view)
    for condition in rule.blind:
        lacking[condition.explains] = condition.holds(evidence, view) & sighted
    if edges[-1] < rule.for_s - TOLERANCE_S:
        lacking[f"the clip is shorter than the {rule.for_s:g} s it would have to last"] = held(rule, evidence, view)
    return {why: missing & ~settled for why, missing in lacking.items()}
