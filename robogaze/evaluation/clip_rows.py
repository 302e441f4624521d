"""Matches the events of one clip under one system, and counts the result in rows of numbers.

Only these rows are kept, so the result for a corpus is a table with a row for each clip.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.evaluation.config import DIMENSION_BONUSES, EvaluationConfig
from robogaze.matching import Match, Weighting, iou_matrix, match_events
from robogaze.metrics.breakdown import confusion, dimension_of, group_counts, type_of
from robogaze.metrics.errors import analyse_errors
from robogaze.metrics.scores import COLUMN
from robogaze.metrics.tally import COLUMNS, judgeable, scored, tally

Matrix = NDArray[np.float64]

EMPTY_ROW = np.zeros(len(COLUMNS))
"""The row of a clip that is excluded from the estimate."""

F1_COLUMNS = [COLUMN[name] for name in ("similarity", "predictions", "references")]
"""The columns that description F1 is computed from."""

_WITHOUT_JUDGE = (
    "clips", "unscored", "clean", "clean_found", "faulty", "faulty_found", "alarms", "references_severe",
    "severe_recovered",
)  # fmt: skip
_NEEDS_NO_JUDGE = np.array([float(name in _WITHOUT_JUDGE) for name in COLUMNS])
"""1 for the columns of the metrics that need no judge: those of whole clips, and the recall of severe events."""


@dataclass(frozen=True)
class Groups:
    """The dimensions and event types that occur in a corpus: the labels of every breakdown."""

    dimensions: tuple[str, ...]
    types: tuple[str, ...]


@dataclass(frozen=True)
class ClipRows:
    """The counts of one clip under one system.

    `judged` is False if a failed judgement could have changed the matching or the score of a match. A failed judgement
    of two events that do not overlap in time changes nothing, except when the convention ignores time. For a clip that
    is not judged, `base` keeps only the columns that need no judge; the clip's events are excluded from the other
    estimates. `worst` and `best` are the lowest and the highest score that the descriptions could have, whatever the
    failed judgements would have said and however the events are matched.

    `unknown` marks the pairs whose similarity is missing but needed by the analysis of errors (see `ErrorAnalysis`).
    `by_bonus` has one row for each of DIMENSION_BONUSES. `repaired` has the F1_COLUMNS after each kind of error is
    repaired. `errors` has the number of errors of each kind. The breakdowns have the shapes of `metrics.breakdown`.
    """

    judged: bool
    unknown: NDArray[np.bool_]
    base: Matrix
    worst: Matrix
    best: Matrix
    by_bonus: Matrix
    repaired: Matrix
    errors: Matrix
    dimensions: Matrix
    types: Matrix
    confusion: Matrix
    matches: tuple[Match, ...]


def count_clip(
    reference: ClipAnnotation,
    prediction: ClipAnnotation | None,
    similarity: Matrix,
    config: EvaluationConfig,
    groups: Groups,
) -> ClipRows:
    """Match and count one clip.

    `similarity` (reference events, predicted events) is NaN for a failed judgement, and for a pair that was not judged.
    """
    weighting = config.weighting
    similarity = mask_unjudgeable(reference, prediction, similarity)
    events = prediction.findings if scored(prediction) else ()
    iou, failed = _overlap(reference, events, similarity, weighting)
    low, judged = np.nan_to_num(similarity), not failed.any()
    matches = match_events(reference.findings, events, low, iou, weighting)
    as_matched = tally(reference, prediction, matches, iou)
    worst = as_matched if judged else tally(reference, prediction, (), iou)
    best = as_matched if judged else _upper_bound(reference, prediction, np.where(failed, 1.0, low), iou)

    def rematch(
        references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent], given: Matrix
    ) -> tuple[tuple[Match, ...], Matrix]:
        overlap = iou_matrix(references, predictions, reference.frame_times_s, weighting.iou)
        return match_events(references, predictions, given, overlap, weighting), overlap

    analysis = analyse_errors(reference, prediction, similarity, rematch)
    keep = float(judged)
    return ClipRows(
        judged=judged,
        unknown=analysis.unknown,
        base=as_matched if judged else worst * _NEEDS_NO_JUDGE,
        worst=worst,
        best=best,
        by_bonus=_rows_by_bonus(reference, prediction, low, iou, as_matched, matches, config)
        * np.maximum(_NEEDS_NO_JUDGE, keep),
        repaired=analysis.rows[:, F1_COLUMNS] * keep,
        errors=analysis.counts * keep,
        dimensions=group_counts(reference, prediction, matches, dimension_of, groups.dimensions) * keep,
        types=group_counts(reference, prediction, matches, type_of, groups.types) * keep,
        confusion=confusion(reference, prediction, matches, dimension_of, groups.dimensions) * keep,
        matches=matches,
    )


def matchable(reference: ClipAnnotation, prediction: ClipAnnotation | None, weighting: Weighting) -> NDArray[np.bool_]:
    """Which pairs can be matched: those that overlap in time. The result has the shape (reference events, predicted
    events).

    If time has no weight, all pairs can be matched. A predicted event that the reference cannot judge is never matched.
    """
    events = prediction.findings if scored(prediction) else ()
    iou = iou_matrix(reference.findings, events, reference.frame_times_s, weighting.iou)
    possible: NDArray[np.bool_] = (iou > 0) | (weighting.use == "similarity")
    return possible & judgeable(reference, prediction)


def base_row(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, config: EvaluationConfig
) -> Matrix:
    """`ClipRows.base` alone. Nothing is counted by dimension or type, so the events may have any label."""
    similarity = mask_unjudgeable(reference, prediction, similarity)
    events = prediction.findings if scored(prediction) else ()
    iou, failed = _overlap(reference, events, similarity, config.weighting)
    if failed.any():
        unmatched: Matrix = tally(reference, prediction, (), iou) * _NEEDS_NO_JUDGE
        return unmatched
    matches = match_events(reference.findings, events, np.nan_to_num(similarity), iou, config.weighting)
    return tally(reference, prediction, matches, iou)


def mask_unjudgeable(reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix) -> Matrix:
    """The similarities, set to 0 for every predicted event that the reference cannot judge (see `metrics.tally`)."""
    if not scored(prediction):
        return np.zeros((len(reference.findings), 0))
    return np.where(judgeable(reference, prediction), similarity, 0.0)


def _overlap(
    reference: ClipAnnotation, events: Sequence[AnnotatedEvent], similarity: Matrix, weighting: Weighting
) -> tuple[Matrix, NDArray[np.bool_]]:
    """The IoU of all pairs, and which failed judgements could change the matching or the score of a match."""
    iou = iou_matrix(reference.findings, events, reference.frame_times_s, weighting.iou)
    return iou, np.isnan(similarity) & ((iou > 0) | (weighting.use == "similarity"))


def _upper_bound(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, iou: Matrix
) -> Matrix:
    """The row with the largest sums of S and of S * IoU that any matching of overlapping events has."""
    assert scored(prediction)
    rows = []
    for use in ("similarity", "similarity*iou"):
        possible = np.where(iou > 0, similarity, 0.0)
        matches = match_events(reference.findings, prediction.findings, possible, iou, Weighting(use=use))
        rows.append(tally(reference, prediction, matches, iou))
    column = COLUMN["similarity_iou"]
    rows[0][column] = rows[1][column]
    return rows[0]


def _rows_by_bonus(
    reference: ClipAnnotation,
    prediction: ClipAnnotation | None,
    similarity: Matrix,
    iou: Matrix,
    base: Matrix,
    matches: tuple[Match, ...],
    config: EvaluationConfig,
) -> Matrix:
    """The row for each of DIMENSION_BONUSES. The bonus changes a row only if it changes the matching."""
    events = prediction.findings if scored(prediction) else ()
    matched = [(match.reference, match.prediction) for match in matches]
    rows = []
    for bonus in DIMENSION_BONUSES:
        weighting = replace(config.weighting, dimension_bonus=bonus)
        pairs = match_events(reference.findings, events, similarity, iou, weighting) if matches else ()
        same = [(match.reference, match.prediction) for match in pairs] == matched
        rows.append(base if same else tally(reference, prediction, pairs, iou))
    return np.array(rows)
