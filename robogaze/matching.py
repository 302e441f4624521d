"""Which prediction is which reference: one to one, by what their descriptions share and how their times overlap.

A pair is weighed by (RoboGaze, eq. 7)

    C = S * IoU * (1 + bonus * [same dimension])

with S, the similarity of the two descriptions, in [0, 1], as a judge gave it. The assignment with the largest sum of C
is taken, and pairs that weigh 0 are dropped: under this weight an event is never matched to one it shares no time
with. Two further weights are known by name: S * IoU (the GLIDE paper) and S alone (its released evaluator).

IoU is between unions of spans, on frames (the default; RoboGaze, A.2.4) or exact. On frames a span stands for the
frames whose time lies in it, and a span that holds none, for it is shorter than a frame and lies between two, stands
for the frame that is shown at its start: an event is never too short to be matched. What starts after the last frame
has gone (which is taken to stay as long as the one before it) holds no frame and overlaps with nothing. Frame
intervals have an exclusive end, so a perfect single-frame event has IoU 1; in the released evaluator it has 0.

All arrays here have one row per reference and one column per prediction.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.time import RESOLUTION, Span

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]

Use = Literal["similarity*iou*bonus", "similarity*iou", "similarity"]
Overlap = Literal["frames", "exact"]


@dataclass(frozen=True)
class Weighting:
    """How pairs are weighed and IoU is measured; ValueError for a bonus that is no number from 0 up."""

    use: Use = "similarity*iou*bonus"
    dimension_bonus: float = 0.25
    """What a shared dimension adds: RoboGaze's lambda. It decides who is matched, never what a match is worth."""
    iou: Overlap = "frames"

    def __post_init__(self) -> None:
        if not (math.isfinite(self.dimension_bonus) and self.dimension_bonus >= 0):
            raise ValueError(f"dimension_bonus must be a number from 0 up, not {self.dimension_bonus}")

    def weights(self, similarity: Matrix, iou: Matrix, same_dimension: Flags) -> Matrix:
        """The weight of every pair, from 0 up; where the IoU is undefined (NaN) it counts as 0."""
        if self.use == "similarity":
            return similarity
        overlapping = similarity * np.where(iou > 0, iou, 0.0)
        return (
            overlapping if self.use == "similarity*iou" else overlapping * (1 + self.dimension_bonus * same_dimension)
        )


@dataclass(frozen=True, slots=True)
class Match:
    """A pair: the indices of its two findings, and what speaks for it.

    `iou` is NaN where a side gives no time; only the weight "similarity" matches such events.
    """

    reference: int
    prediction: int
    similarity: float
    iou: float
    weight: float


def match_events(
    references: Sequence[AnnotatedEvent],
    predictions: Sequence[AnnotatedEvent],
    similarity: Matrix,
    iou: Matrix,
    weighting: Weighting,
) -> tuple[Match, ...]:
    """The best assignment of two lists of findings, as `match_pairs` finds it, whatever order they came in.

    Where several assignments weigh the same, the findings' contents decide: they are put in order by spans, dimension,
    type, description, severity and confidence before they are assigned. Ids decide nothing. Findings that say the very
    same are alike to any judge; should one rate them differently, their similarities tell them apart as far as they
    can. The indices are those of the lists as given, and the pairs are in the references' order.
    """
    columns = _in_order(predictions, similarity.T.tolist())
    rows = _in_order(references, similarity.tolist())
    order = np.ix_(rows, columns)
    found = match_pairs(similarity[order], iou[order], same_dimension(references, predictions)[order], weighting)
    given = [
        Match(
            rows[estimate.reference], columns[estimate.prediction], estimate.similarity, estimate.iou, estimate.weight
        )
        for estimate in found
    ]
    return tuple(sorted(given, key=lambda match_pairs: match_pairs.reference))


def match_pairs(similarity: Matrix, iou: Matrix, same_dimension: Flags, weighting: Weighting) -> tuple[Match, ...]:
    """The pairs of a one-to-one assignment with the largest sum of weights; those that weigh 0 are dropped.

    The arrays have shape (references, predictions), each side of which may be 0. Which of several equally good
    assignments is taken depends on the order of rows and columns; `match_findings` sees to that. ValueError for
    arrays of different shapes and for similarities outside [0, 1], NaN among them: whoever asks decides what a pair
    without a judgement counts as.
    """
    if not similarity.shape == iou.shape == same_dimension.shape:
        raise ValueError(f"shapes differ: {similarity.shape}, {iou.shape} and {same_dimension.shape}")
    if not ((similarity >= 0) & (similarity <= 1)).all():
        raise ValueError("similarities must lie in [0, 1]; decide what a pair without a judgement counts as")
    weights = weighting.weights(similarity, iou, same_dimension)
    pairs = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
    return tuple(
        Match(
            int(row), int(column), float(similarity[row, column]), float(iou[row, column]), float(weights[row, column])
        )
        for row, column in pairs
        if weights[row, column] > 0
    )


def same_dimension(references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent]) -> Flags:
    """Whether two findings have the same primary dimension (RoboGaze, A.1); False where one has none."""
    flags = [
        reference.dimension is not None and reference.dimension == other.dimension
        for reference in references
        for other in predictions
    ]
    return np.array(flags, dtype=np.bool_).reshape(len(references), len(predictions))


def iou_matrix(
    references: Sequence[AnnotatedEvent],
    predictions: Sequence[AnnotatedEvent],
    frame_times_s: Sequence[float] | None,
    iou: Overlap = "frames",
) -> Matrix:
    """The IoU of every pair, in [0, 1]; NaN where a side gives no time.

    `frame_times_s` are the clip's, ascending. Where they are not known the IoU is exact, whatever was asked for.
    """
    frames = frame_times_s if iou == "frames" and frame_times_s is not None and len(frame_times_s) else None
    rows, columns = ([_runs(event.spans, frames) for event in side] for side in (references, predictions))
    pairs = [_iou(row, column) for row in rows for column in columns]
    return np.array(pairs, dtype=np.float64).reshape(len(references), len(predictions))


Runs = list[tuple[float, float]]
"""Disjoint half-open intervals in order, of seconds or of frame numbers."""


def _runs(spans: Sequence[Span], frame_times_s: Sequence[float] | None) -> Runs | None:
    """What an event takes up on the axis of its clip; None for one that gives no time."""
    if not spans:
        return None
    if frame_times_s is None:
        return [(span.start, span.end) for span in spans]
    runs: Runs = []
    for span in spans:
        first, end = _frames(span, frame_times_s)
        # A span that stands for the frame shown at its start may share that frame with the span before it.
        first = max(first, int(runs[-1][1])) if runs else first
        if first < end:
            runs.append((first, end))
    return runs


def _frames(span: Span, times_s: Sequence[float]) -> tuple[int, int]:
    """The frames of a span, end exclusive; the same for both where it holds none."""
    first, end = (bisect_left(times_s, edge - RESOLUTION) for edge in (span.start, span.end))
    if first < end:
        return first, end
    last_s = times_s[-1]
    stays_s = last_s - times_s[-2] if len(times_s) > 1 else math.inf
    if span.start >= last_s + stays_s - RESOLUTION:
        return first, first
    shown = max(first - 1, 0)
    return shown, shown + 1


def _iou(a: Runs | None, b: Runs | None) -> float:
    if a is None or b is None:
        return math.nan
    shared = sum(max(0, min(end, other_end) - max(start, other)) for start, end in a for other, other_end in b)
    total = sum(end - start for start, end in a) + sum(end - start for start, end in b) - shared
    return shared / total if total else 0.0


def _in_order(findings: Sequence[AnnotatedEvent], similarities: Sequence[Sequence[float]]) -> list[int]:
    """The indices of findings in an order that depends on what they say alone."""
    return sorted(range(len(findings)), key=lambda index: (findings[index].content, sorted(similarities[index])))
