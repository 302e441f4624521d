"""One clip and one system: matched, and counted in rows of numbers.

The rows of a clip are all that is kept of it, so that a corpus of any size is a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.evaluation.config import LAMBDAS, EvaluationConfig
from robogaze.matching import Match, Weighting, iou_matrix, match_findings
from robogaze.metrics.breakdown import by_group, confusion, dimension_of, type_of
from robogaze.metrics.losses import losses
from robogaze.metrics.scores import COLUMN
from robogaze.metrics.tally import COLUMNS, judgeable, scored, tally

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """The dimensions and types that occur in a corpus: the labels of every breakdown."""

    dimensions: tuple[str, ...]
    types: tuple[str, ...]


_CLIP_COLUMNS = ("clips", "unscored", "clean", "clean_found", "faulty", "faulty_found", "alarms")

F1_AT = [COLUMN[name] for name in ("similarity", "predictions", "references")]
"""The columns that description F1 is computed from."""


OF_CLIPS = np.array([float(name in _CLIP_COLUMNS) for name in COLUMNS])
"""1 for the columns that no judge has a part in: those of whole clips."""


@dataclass(frozen=True)
class Rows:
    """What is kept of a clip under one system.

    `judged` is False when a judgement failed that could change who is matched or what a match is worth; one of events
    that share no time cannot, where time is asked for. Then `base`, the clip's row, keeps its columns of whole clips
    only: its events leave the estimates. `worst` and `best` bound what the descriptions could have earned: nothing,
    and the most that any answers and any matching give. `lambdas` has a row for each of LAMBDAS; `repaired` has what
    F1 needs (F1_AT) with each kind of error repaired, of which there are `faults`. The breakdowns have the shapes of
    `robogaze.metrics.breakdown`.
    """

    judged: bool
    base: Matrix
    worst: Matrix
    best: Matrix
    lambdas: Matrix
    repaired: Matrix
    faults: Matrix
    dimensions: Matrix
    types: Matrix
    confusion: Matrix
    matches: tuple[Match, ...]


def count(
    reference: ClipAnnotation,
    prediction: ClipAnnotation | None,
    similarity: Matrix,
    terms: EvaluationConfig,
    groups: Groups,
) -> Rows:
    """The rows of one clip; `similarity` (reference findings, predicted findings) is NaN for a failed judgement."""
    weighting = terms.weighting
    similarity = only_judgeable(reference, prediction, similarity)
    findings = prediction.findings if scored(prediction) else ()
    iou, failed = _overlap(reference, findings, similarity, weighting)
    low, judged = np.nan_to_num(similarity), not failed.any()
    matches = match_findings(reference.findings, findings, low, iou, weighting)
    row_as_is = tally(reference, prediction, matches, iou)
    worst = row_as_is if judged else tally(reference, prediction, (), iou)
    best = row_as_is if judged else _most(reference, prediction, np.where(failed, 1.0, low), iou)
    lost = losses(reference, prediction, low, partial(matched, reference, weighting=weighting))
    kept = float(judged)
    return Rows(
        judged=judged,
        base=row_as_is if judged else worst * OF_CLIPS,
        worst=worst,
        best=best,
        lambdas=_by_bonus(reference, prediction, low, iou, row_as_is, matches, terms) * np.maximum(OF_CLIPS, kept),
        repaired=lost.rows[:, F1_AT] * kept,
        faults=lost.counts * kept,
        dimensions=by_group(reference, prediction, matches, dimension_of, groups.dimensions) * kept,
        types=by_group(reference, prediction, matches, type_of, groups.types) * kept,
        confusion=confusion(reference, prediction, matches, dimension_of, groups.dimensions) * kept,
        matches=matches,
    )


def base_row(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, terms: EvaluationConfig
) -> Matrix:
    """`Rows.base` alone: what counts no groups, so it takes findings of any label."""
    similarity = only_judgeable(reference, prediction, similarity)
    findings = prediction.findings if scored(prediction) else ()
    iou, failed = _overlap(reference, findings, similarity, terms.weighting)
    if failed.any():
        unmatched: Matrix = tally(reference, prediction, (), iou) * OF_CLIPS
        return unmatched
    known = np.nan_to_num(similarity)
    matches = match_findings(reference.findings, findings, known, iou, terms.weighting)
    return tally(reference, prediction, matches, iou)


def _overlap(
    reference: ClipAnnotation, findings: Sequence[AnnotatedEvent], similarity: Matrix, weighting: Weighting
) -> tuple[Matrix, NDArray[np.bool_]]:
    """The IoU of all pairs, and which failed judgements could change who is matched or what a match is worth."""
    iou = iou_matrix(reference.findings, findings, reference.frame_times_s, weighting.iou)
    return iou, np.isnan(similarity) & ((iou > 0) | (weighting.use == "similarity"))


def _most(reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, iou: Matrix) -> Matrix:
    """The row with the largest sum of S, and of S * IoU, that any matching of overlapping events has."""
    assert scored(prediction)
    rows = []
    for use in ("similarity", "similarity*iou"):
        possible = np.where(iou > 0, similarity, 0.0)
        pairs = match_findings(reference.findings, prediction.findings, possible, iou, Weighting(use=use))
        rows.append(tally(reference, prediction, pairs, iou))
    timed = COLUMN["similarity_iou"]
    rows[0][timed] = rows[1][timed]
    return rows[0]


def _by_bonus(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, iou: Matrix, base: Matrix,
    matches: tuple[Match, ...], terms: EvaluationConfig,
) -> Matrix:  # fmt: skip
    """The row for each of LAMBDAS. The bonus changes a row only by who is matched, which it seldom does."""
    findings = prediction.findings if scored(prediction) else ()
    paired = [(one.reference, one.prediction) for one in matches]
    rows = []
    for bonus in LAMBDAS:
        other = replace(terms.weighting, dimension_bonus=bonus)
        pairs = match_findings(reference.findings, findings, similarity, iou, other) if matches else ()
        same = [(one.reference, one.prediction) for one in pairs] == paired
        rows.append(base if same else tally(reference, prediction, pairs, iou))
    return np.array(rows)


def row(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, weighting: Weighting
) -> Matrix:
    """The row of one clip, shape (columns,)."""
    return tally(reference, prediction, *found(reference, prediction, similarity, weighting))


def found(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, weighting: Weighting
) -> tuple[tuple[Match, ...], Matrix]:
    """The matches of a clip and the IoU of all pairs; none for a prediction that says nothing."""
    findings = prediction.findings if scored(prediction) else ()
    return matched(reference, reference.findings, findings, similarity[:, : len(findings)], weighting=weighting)


def matched(
    clip: ClipAnnotation,
    references: Sequence[AnnotatedEvent],
    predictions: Sequence[AnnotatedEvent],
    similarity: Matrix,
    *,
    weighting: Weighting,
) -> tuple[tuple[Match, ...], Matrix]:
    """The matches between findings on the axis of a clip, and the IoU of all pairs."""
    iou = iou_matrix(references, predictions, clip.frame_times_s, weighting.iou)
    return match_findings(references, predictions, similarity, iou, weighting), iou


def only_judgeable(reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix) -> Matrix:
    """The similarities with 0 for findings that the reference cannot speak for."""
    if not scored(prediction):
        return np.zeros((len(reference.findings), 0))
    return np.where(judgeable(reference, prediction), similarity, 0.0)


NOTHING = np.zeros(len(COLUMNS))
"""The row of a clip that leaves the estimate."""
