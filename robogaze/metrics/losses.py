"""What the errors of a system cost: the errors of one kind repaired, and the clip matched and scored again.

missed                 a perfect prediction is added
spurious, duplicate    the prediction is gone
span                   the prediction has the spans of its reference
dimension              the prediction has the dimension of its reference
description            S = 1
split                  the matched prediction has the spans of all parts, and the other parts are gone
merged                 a second prediction like it stands for the other reference, each with the spans of its own

The cost of a kind is a metric of the repaired rows less that of the rows as they are, summed over clips or averaged,
with resamples and all. The costs do not add up to what is missing to 1, for repairs interact: two predictions for one
reference can be brought to the same place, and only one is matched. A cost can be 0, as that of the dimension is for
every metric that does not ask for it (`desc_f1_dimension` does), or below 0, where the better match by weight has the
lower S. In a clip without a scored prediction every reference is missed.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span, union
from robogaze.metrics.errors import KINDS, EventError, Kind, MatchedClipEvents, faults_of
from robogaze.metrics.tally import MatchedPair, judgeable, scored, tally

Matrix = NDArray[np.float64]

Rescore = Callable[[Sequence[AnnotatedEvent], Sequence[AnnotatedEvent], Matrix], tuple[Sequence[MatchedPair], Matrix]]
"""Matches references with predictions by their similarities; gives the matches and the IoU of all pairs."""


@dataclass(frozen=True)
class Losses:
    """The errors of a clip, and its rows with each kind repaired, shape (len(KINDS), columns)."""

    faults: tuple[EventError, ...]
    rows: Matrix

    @property
    def counts(self) -> Matrix:
        """The number of errors of each kind, in the order of KINDS."""
        return np.array([sum(one.kind == kind for one in self.faults) for kind in KINDS], dtype=np.float64)


def losses(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, rescore: Rescore
) -> Losses:
    """The errors of one clip, and its rows repaired; `similarity` is (reference findings, predicted findings)."""
    if scored(prediction):
        system = prediction
    else:
        system, similarity = replace(reference, findings=()), np.zeros((len(reference.findings), 0))
    matches, iou = rescore(reference.findings, system.findings, similarity)
    kept = judgeable(reference, system)
    case = MatchedClipEvents(reference.findings, system.findings, kept, similarity, iou, matches)
    faults = faults_of(case)
    rows = np.tile(tally(reference, prediction, matches, iou), (len(KINDS), 1))
    for number, kind in enumerate(KINDS):
        if of_kind := [one for one in faults if one.kind == kind]:
            predictions, judged = _REPAIRS[kind](case, of_kind)
            mended = replace(system, findings=tuple(predictions))
            rows[number] = tally(reference, mended, *rescore(reference.findings, predictions, judged))
    return Losses(faults, rows)


Repaired = tuple[list[AnnotatedEvent], Matrix]
"""Predictions without the errors of a kind, and their similarities."""


def _found(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    missed = [one for one in range(len(case.references)) if one in {fault.reference for fault in faults}]
    perfect = np.eye(len(case.references))[:, missed]
    return [*case.predictions, *(case.references[one] for one in missed)], np.hstack([case.similarity, perfect])


def _gone(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    stays = [one for one in range(len(case.predictions)) if one not in {fault.prediction for fault in faults}]
    return [case.predictions[one] for one in stays], case.similarity[:, stays]


def _moved(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    predictions = list(case.predictions)
    for reference, prediction in _pairs(faults):
        predictions[prediction] = replace(predictions[prediction], spans=case.references[reference].spans)
    return predictions, case.similarity


def _filed(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    predictions = list(case.predictions)
    for reference, prediction in _pairs(faults):
        predictions[prediction] = replace(predictions[prediction], dimension=case.references[reference].dimension)
    return predictions, case.similarity


def _described(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    similarity = case.similarity.copy()
    for pair in _pairs(faults):
        similarity[pair] = 1.0
    return list(case.predictions), similarity


def _joined(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    predictions = list(case.predictions)
    for reference, part in _pairs(faults):
        whole = case.prediction_of[reference]
        spans: tuple[Span, ...] = union((*predictions[whole].spans, *case.predictions[part].spans))
        predictions[whole] = replace(predictions[whole], spans=spans)
    return _gone(replace(case, predictions=predictions), faults)


def _parted(case: MatchedClipEvents, faults: Sequence[EventError]) -> Repaired:
    predictions = list(case.predictions)
    own = {prediction: reference for reference, prediction in case.prediction_of.items()}
    columns = np.zeros((len(case.references), len(faults)))
    for number, (reference, whole) in enumerate(_pairs(faults)):
        predictions.append(replace(case.predictions[whole], spans=case.references[reference].spans))
        predictions[whole] = replace(case.predictions[whole], spans=case.references[own[whole]].spans)
        columns[reference, number] = case.similarity[reference, whole]
    return predictions, np.hstack([case.similarity, columns])


def _pairs(faults: Sequence[EventError]) -> list[tuple[int, int]]:
    return [
        (one.reference, one.prediction) for one in faults if one.reference is not None and one.prediction is not None
    ]


_REPAIRS: Mapping[Kind, Callable[[MatchedClipEvents, Sequence[EventError]], Repaired]] = {
    "missed": _found,
    "spurious": _gone,
    "span": _moved,
    "dimension": _filed,
    "description": _described,
    "duplicate": _gone,
    "split": _joined,
    "merged": _parted,
}
