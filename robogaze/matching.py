"""Which prediction matches which reference: one to one, by the similarity of their descriptions and their overlap in
time.

A pair has the weight (RoboGaze, eq. 7)

    C = S * IoU * (1 + bonus * [same dimension])

with S, the similarity of the two descriptions, in [0, 1], from a judge. The assignment with the largest sum of C is
chosen, and pairs with weight 0 are dropped. With this weight, events without overlap in time are therefore never
matched. Two other weights are S * IoU (the GLIDE paper) and S alone (GLIDE's released evaluator).

The IoU of two events is computed between the unions of their spans, either on frames (the default; RoboGaze, A.2.4) or
exactly. On frames, a span covers the frames whose times lie in the span. A span that is shorter than a frame and lies
between two frames counts as covering the frame shown at its start, so no event is too short to be matched. The last
frame is assumed to have the duration of the frame before it. A span that starts after the end of the last frame covers
no frame and overlaps with nothing. Frame intervals have an exclusive end, so a single-frame event that is predicted
perfectly has IoU 1. The released evaluator gives this event IoU 0.

All arrays have one row per reference and one column per prediction.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.time import RESOLUTION, Span

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]

Use = Literal["similarity*iou*bonus", "similarity*iou", "similarity"]
Overlap = Literal["frames", "exact"]


@dataclass(frozen=True)
class Weighting:
    """How pairs are weighted and how their IoU is computed. `dimension_bonus` is 0 or more."""

    use: Use = "similarity*iou*bonus"
    dimension_bonus: float = 0.25
    """The bonus for a shared dimension, RoboGaze's lambda. It affects who is matched, never the score of a match."""
    iou: Overlap = "frames"

    def weights(self, similarity: Matrix, iou: Matrix, same_dimension: Flags) -> Matrix:
        """The weight of every pair, 0 or more; an undefined IoU (NaN) counts as 0."""
        if self.use == "similarity":
            return similarity
        overlapping = similarity * np.where(iou > 0, iou, 0.0)
        return (
            overlapping if self.use == "similarity*iou" else overlapping * (1 + self.dimension_bonus * same_dimension)
        )


@dataclass(frozen=True, slots=True)
class Match:
    """A matched pair: the indices of its two events, their similarity, IoU and weight.

    `iou` is NaN if either event has no time. Such events are matched only if `Weighting.use` is "similarity".
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
    """The best assignment of predictions to references, as `match_pairs` finds it. It does not depend on the order of
    the two lists.

    Ties between assignments are broken by the events' contents: they are sorted by spans, dimension, type, description,
    severity and confidence before they are assigned. Ids have no influence. Two events with equal contents look the
    same to any judge. If a judge still gives them different similarities, these similarities break the tie where
    possible. The indices refer to the lists as given, and the pairs are in the order of the references.
    """
    columns = _in_order(predictions, similarity.T.tolist())
    rows = _in_order(references, similarity.tolist())
    order = np.ix_(rows, columns)
    found = match_pairs(similarity[order], iou[order], same_dimension(references, predictions)[order], weighting)
    given = [replace(match, reference=rows[match.reference], prediction=columns[match.prediction]) for match in found]
    return tuple(sorted(given, key=lambda match: match.reference))


def match_pairs(similarity: Matrix, iou: Matrix, same_dimension: Flags, weighting: Weighting) -> tuple[Match, ...]:
    """The pairs of a one-to-one assignment with the largest sum of weights, without pairs of weight 0.

    The arrays have shape (references, predictions); either length may be 0. Ties depend on the order of rows and
    columns; `match_events` avoids this dependence. Raises ValueError for similarities outside [0, 1] or NaN: the caller
    decides how a failed judgement counts.
    """
    if not ((similarity >= 0) & (similarity <= 1)).all():
        raise ValueError("similarities must be in [0, 1], not NaN; choose a similarity for pairs without a judgement")
    from scipy.optimize import linear_sum_assignment  # slow to import, and many commands import this module only

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
    """Whether two events have the same primary dimension (RoboGaze, A.1); False if either event has none."""
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
    """The IoU of every pair, in [0, 1]; NaN if either event has no time.

    `frame_times_s` are the times of the clip's frames, in ascending order. Without frame times the IoU is exact, even
    if `iou` is "frames".
    """
    frames = frame_times_s if iou == "frames" and frame_times_s is not None and len(frame_times_s) else None
    rows, columns = ([_runs(event.spans, frames) for event in side] for side in (references, predictions))
    pairs = [_iou(row, column) for row in rows for column in columns]
    return np.array(pairs, dtype=np.float64).reshape(len(references), len(predictions))


Runs = list[tuple[float, float]]
"""Disjoint half-open intervals in order, in seconds or frame numbers."""


def _runs(spans: Sequence[Span], frame_times_s: Sequence[float] | None) -> Runs | None:
    """The intervals of an event on its clip's axis; None for an event without a time."""
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
    """The first frame of a span and the frame after its last frame; both are equal if the span covers no frame."""
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
    """The indices of events in an order that depends only on their contents."""
    return sorted(range(len(findings)), key=lambda index: (findings[index].content, sorted(similarities[index])))
