"""One clip and one system: matched, and counted in rows of numbers.

The rows of a clip are all that is kept of it, so that a corpus of any size is a table.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from robogaze.core.account import Account, Finding
from robogaze.matching import Match, Weighting, iou_matrix, match_findings
from robogaze.metrics.breakdown import by_group, confusion, dimension_of, type_of
from robogaze.metrics.losses import losses
from robogaze.metrics.scores import COLUMN
from robogaze.metrics.tally import COLUMNS, judgeable, scored, tally
from robogaze.scoring.terms import LAMBDAS, Terms

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Groups:
    """The dimensions and types that occur in a corpus: the labels of every breakdown."""

    dimensions: tuple[str, ...]
    types: tuple[str, ...]


F1_AT = [COLUMN[name] for name in ("similarity", "predictions", "references")]
"""The columns that description F1 is computed from."""


@dataclass(frozen=True)
class Rows:
    """What is kept of a clip under one system.

    `base` is its row; all zero when a judgement failed (`judged` is False): the clip leaves the estimate, and `worst`
    and `best`, which take failed pairs for unrelated and for the same, say between which bounds that matters.
    `lambdas` has a row for each of LAMBDAS; `repaired` has what F1 needs (F1_AT) with each kind of error repaired, of
    which there are `faults`. The breakdowns have the shapes of `robogaze.metrics.breakdown`.
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


def count(reference: Account, prediction: Account | None, similarity: Matrix, terms: Terms, groups: Groups) -> Rows:
    """The rows of one clip; `similarity` (reference findings, predicted findings) is NaN for a failed judgement."""
    similarity = only_judgeable(reference, prediction, similarity)
    failed = np.isnan(similarity)
    judged = not failed.any()
    low = np.where(failed, 0.0, similarity)
    matches, iou = found(reference, prediction, low, terms.weighting)
    worst = tally(reference, prediction, matches, iou)
    best = worst if judged else row(reference, prediction, np.where(failed, 1.0, similarity), terms.weighting)
    lost = losses(reference, prediction, low, partial(matched, reference, weighting=terms.weighting))
    kept = float(judged)
    return Rows(
        judged=judged,
        base=worst * kept,
        worst=worst,
        best=best,
        lambdas=_by_bonus(reference, prediction, low, iou, worst, matches, terms) * kept,
        repaired=lost.rows[:, F1_AT] * kept,
        faults=lost.counts * kept,
        dimensions=by_group(reference, prediction, matches, dimension_of, groups.dimensions) * kept,
        types=by_group(reference, prediction, matches, type_of, groups.types) * kept,
        confusion=confusion(reference, prediction, matches, dimension_of, groups.dimensions) * kept,
        matches=matches,
    )


def _by_bonus(
    reference: Account, prediction: Account | None, similarity: Matrix, iou: Matrix, base: Matrix,
    matches: tuple[Match, ...], terms: Terms,
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


def row(reference: Account, prediction: Account | None, similarity: Matrix, weighting: Weighting) -> Matrix:
    """The row of one clip, shape (columns,)."""
    return tally(reference, prediction, *found(reference, prediction, similarity, weighting))


def found(
    reference: Account, prediction: Account | None, similarity: Matrix, weighting: Weighting
) -> tuple[tuple[Match, ...], Matrix]:
    """The matches of a clip and the IoU of all pairs; none for a prediction that says nothing."""
    findings = prediction.findings if scored(prediction) else ()
    return matched(reference, reference.findings, findings, similarity[:, : len(findings)], weighting=weighting)


def matched(
    clip: Account, references: Sequence[Finding], predictions: Sequence[Finding], similarity: Matrix, *,
    weighting: Weighting,
) -> tuple[tuple[Match, ...], Matrix]:  # fmt: skip
    """The matches between findings on the axis of a clip, and the IoU of all pairs."""
    iou = iou_matrix(references, predictions, clip.frame_times_s, weighting.iou)
    return match_findings(references, predictions, similarity, iou, weighting), iou


def only_judgeable(reference: Account, prediction: Account | None, similarity: Matrix) -> Matrix:
    """The similarities with 0 for findings that the reference cannot speak for."""
    if not scored(prediction):
        return np.zeros((len(reference.findings), 0))
    return np.where(judgeable(reference, prediction), similarity, 0.0)


NOTHING = np.zeros(len(COLUMNS))
"""The row of a clip that leaves the estimate."""
