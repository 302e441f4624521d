"""A clip and a system as one row of numbers, so that every metric is a function of sums of rows.

The rows of many clips are a table of shape (clips, columns). A metric over the corpus is computed from the sum of the
rows. To resample the corpus, a matrix that says how often each clip is drawn is multiplied with the table. A row takes
304 bytes.

Three rules decide what is counted:

* A missing (None) or unscored prediction reports nothing: all references are missed. Reporting nothing is not the same
  as finding the clip clean: a clip is correctly clean only if the prediction is complete and covers every dimension
  that the reference covers.
* A predicted event is judgeable if the reference's author looked for its dimension or one of its secondary dimensions,
  or found an event in one of them. A predicted event is also judgeable if the reference does not say which dimensions
  were looked for, or if the predicted event names no dimension. A predicted event that is not judgeable is neither
  right nor wrong: it is counted separately, as `unjudgeable`, and must not be matched.
* References have no rule of this kind: a reference event is missed even if the system does not look for its dimension.
  The number of reference events in dimensions that the system does not look for is counted as
  `references_not_looked_for`.

A field that a prediction leaves blank (time, dimension, severity) never raises a score: if the reference gives the
field, the blank counts as wrong. A prediction without a match counts against every metric that depends on such a field.
Only fields that the reference itself leaves blank are excluded. A metric that depends on a field therefore leaves out a
prediction if the matched reference event does not have the field. It leaves out a clip if its reference has events, but
none of them has the field.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.matching import Match

Matrix = NDArray[np.float64]

COLUMN_MEANINGS = {
    "clips": "1",
    "unscored": "1 where the prediction is missing or unscored",
    "references": "reference events",
    "predictions": "judgeable predicted events",
    "unjudgeable": "predicted events in dimensions that the reference's author did not look for",
    "references_not_looked_for": "reference events in dimensions that the system did not look for",
    "matched": "matched pairs",
    "similarity": "sum of S over matched pairs",
    "similarity_iou": "sum of S * IoU over matched pairs",
    "references_overlapped": "reference events that share time with a judgeable predicted event",
    "predictions_overlapped": "judgeable predicted events that share time with a reference event",
    "similarity_overlapped": "sum of S over matched pairs that share time",
    "references_timed": "reference events with a time",
    "predictions_timed": "judgeable predicted events that should have a time",
    "matched_timed": "matched pairs whose reference has a time",
    "iou": "sum of IoU over matched pairs whose reference has a time; the IoU is 0 where the prediction has no time",
    "tiou_30": "matched pairs with an IoU of at least 0.3",
    "tiou_50": "matched pairs with an IoU of at least 0.5",
    "tiou_70": "matched pairs with an IoU of at least 0.7",
    "references_dimensioned": "reference events with a dimension",
    "predictions_dimensioned": "judgeable predicted events that should have a dimension",
    "similarity_dimension": "sum of S over matched pairs with the same dimension",
    "severity_pairs": "matched pairs whose reference has a severity",
    "severity_exact": "matched pairs with the same severity",
    "severity_within1": "matched pairs whose severities differ by at most 1",
    "references_severity": "sum of the severities of reference events",
    "predictions_severity": "sum of the severities of judgeable predicted events; an event without a severity "
    "counts with the highest",
    "references_graded": "reference events with a severity",
    "predictions_blank": "judgeable predicted events without a time, dimension or severity that the reference gives",
    "similarity_references_severity": "sum of S * reference severity over matched pairs",
    "similarity_predictions_severity": "sum of S * predicted severity over matched pairs",
    "references_severe": "reference events with a time and a severity of at least SEVERE",
    "severe_recovered": "reference events with a time and a severity of at least SEVERE that are recovered (see "
    "`severe_recovered`)",
    "clean": "1 where the reference has no events",
    "clean_found": "1 where the reference has no events, and the system covers its dimensions and reported no events",
    "faulty": "1 where the reference has events",
    "faulty_found": "1 where the reference has events and the system reported any event",
    "alarms": "1 where the system reported any event",
}
"""What the columns count."""

COLUMNS = tuple(COLUMN_MEANINGS)

THRESHOLDS = {"tiou_30": 0.3, "tiou_50": 0.5, "tiou_70": 0.7}
"""The columns of well-overlapping pairs, with their thresholds on IoU."""

SEVERE = 4
"""From this severity on, a reference event is severe: the authors' second version reports the recall of 4 and 5."""

WORST = 5
"""The highest severity: the weight of a prediction without one, so that no severity could be worse."""

ROUNDING = 1e-9
"""An IoU this close below a threshold reaches it, because seconds are not exact in binary: 0.3 is not 3/10."""


def scored(prediction: ClipAnnotation | None) -> TypeGuard[ClipAnnotation]:
    """Whether there is a prediction that is not unscored."""
    return prediction is not None and prediction.status != "unscored"


def judgeable(reference: ClipAnnotation, prediction: ClipAnnotation | None) -> NDArray[np.bool_]:
    """Which of the prediction's events the reference can judge, shape (events,); empty without a prediction.

    Predicted events that the reference cannot judge must not be matched: give them the similarity 0.
    """
    findings = prediction.findings if scored(prediction) else ()
    covered = reference.covered
    if covered is not None:
        covered = covered.union(event.dimension for event in reference.findings if event.dimension is not None)
    return np.array([_looked_for(event, covered) for event in findings], dtype=np.bool_)


def tally(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, matches: Sequence[Match], iou: Matrix
) -> Matrix:
    """The row of one clip, shape (len(COLUMNS),).

    `matches` are one to one, `iou` has shape (reference events, predicted events); both are ignored for a missing or
    unscored prediction. Sums are rounded once (`math.fsum`), so the order of events does not change them. Raises
    ValueError if the reference is not complete, because it may then lack events. Also raises ValueError if an event
    that is not judgeable is matched.
    """
    if reference.status != "complete":
        raise ValueError(f"{reference.clip_id}: an annotation that is {reference.status} cannot be a reference")
    kept = judgeable(reference, prediction)
    if not scored(prediction):
        return _row(_event_counts(reference.findings, (), None) | _clip_counts(reference, None, 0))
    if not all(kept[match.prediction] for match in matches):
        raise ValueError(f"{reference.clip_id}: an event that the reference cannot judge was matched")
    predicted = [event for event, judged in zip(prediction.findings, kept, strict=True) if judged]
    pairs = [(reference.findings[match.reference], prediction.findings[match.prediction], match) for match in matches]
    return _row(
        _event_counts(reference.findings, predicted, prediction.looked_for)
        | _field_counts(reference.findings, predicted, pairs)
        | _clip_counts(reference, prediction, len(predicted))
        | _match_counts(pairs)
        | _severity_counts(pairs)
        | _overlap_counts(iou[:, kept])
        | {"severe_recovered": severe_recovered(reference.findings, predicted, iou[:, kept])}
        | {"unjudgeable": len(kept) - len(predicted)}
    )


def severe_recovered(references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent], iou: Matrix) -> int:
    """How many severe reference events are recovered; no judge is asked.

    A severe event is recovered if a predicted event has its dimension and shares time with it. One prediction recovers
    at most one event, and the assignment that recovers the most events is used. Where the reference gives no dimension,
    the time alone decides. `iou` has shape (references, predictions).
    """
    from scipy.optimize import linear_sum_assignment  # slow to import, and many commands import this module only

    severe = [place for place, reference in enumerate(references) if _severe(reference)]
    possible = np.array(
        [
            [
                iou[place, column] > 0 and references[place].dimension in (None, prediction.dimension)
                for column, prediction in enumerate(predictions)
            ]
            for place in severe
        ],
        dtype=np.float64,
    ).reshape(len(severe), len(predictions))
    return int(possible[linear_sum_assignment(possible, maximize=True)].sum())


def _severe(reference: AnnotatedEvent) -> bool:
    return bool(reference.spans) and reference.severity is not None and reference.severity >= SEVERE


Pairs = Sequence[tuple[AnnotatedEvent, AnnotatedEvent, Match]]


def _row(numbers: dict[str, float]) -> Matrix:
    return np.array([numbers.get(column, 0) for column in COLUMNS], dtype=np.float64)


def _clip_counts(reference: ClipAnnotation, prediction: ClipAnnotation | None, predicted: int) -> dict[str, float]:
    complete = scored(prediction) and prediction.status == "complete"
    said_clean = complete and not predicted and _covers_reference(prediction, reference)
    return {
        "clips": 1,
        "unscored": not scored(prediction),
        "clean": not reference.findings,
        "clean_found": not reference.findings and said_clean,
        "faulty": bool(reference.findings),
        "faulty_found": bool(reference.findings) and predicted > 0,
        "alarms": predicted > 0,
    }


def _covers_reference(prediction: ClipAnnotation | None, reference: ClipAnnotation) -> bool:
    """Whether the prediction examined or ruled out every dimension that the reference covers."""
    if prediction is None or prediction.coverage is None:
        return prediction is not None
    spoken_for = prediction.coverage.keys() if reference.covered is None else reference.covered
    # Nothing is right about a clip of which the reference says nothing.
    return bool(spoken_for) and (prediction.covered or frozenset()).issuperset(spoken_for)


def _event_counts(
    references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent], looked_for: frozenset[str] | None
) -> dict[str, float]:
    numbers: dict[str, float] = {
        "references_not_looked_for": sum(not _looked_for(reference, looked_for) for reference in references),
    }
    for side, findings in (("references", references), ("predictions", predictions)):
        numbers[side] = len(findings)
    numbers["references_timed"] = sum(bool(reference.spans) for reference in references)
    numbers["references_dimensioned"] = sum(reference.dimension is not None for reference in references)
    numbers["references_graded"] = sum(reference.severity is not None for reference in references)
    numbers["references_severe"] = sum(map(_severe, references))
    numbers["references_severity"] = sum(reference.severity or 0 for reference in references)
    numbers["predictions_severity"] = sum(prediction.severity or WORST for prediction in predictions)
    return numbers


_FIELDS: Mapping[str, Callable[[AnnotatedEvent], bool]] = {
    "timed": lambda event: bool(event.spans),
    "dimensioned": lambda event: event.dimension is not None,
    "graded": lambda event: event.severity is not None,
}
"""The fields that may be blank, and whether an event has each."""


def _field_counts(
    references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent], pairs: Pairs
) -> dict[str, float]:
    """The number of predictions that should have each field, and the number of predictions that leave blank a field
    that the reference's events have.
    """
    numbers: dict[str, float] = {}
    blank: set[int] = set()
    for name, has in _FIELDS.items():
        asked = not references or any(map(has, references))
        if f"predictions_{name}" in COLUMN_MEANINGS:
            numbers[f"predictions_{name}"] = asked * (len(predictions) - sum(not has(pair) for pair, _, _ in pairs))
        if asked and references:
            blank.update(index for index, prediction in enumerate(predictions) if not has(prediction))
    return numbers | {"predictions_blank": len(blank)}


def _match_counts(pairs: Pairs) -> dict[str, float]:
    asked = [pair for reference, _, pair in pairs if reference.spans]
    timed = [match for match in asked if not math.isnan(match.iou)]
    numbers: dict[str, float] = {
        "matched": len(pairs),
        "matched_timed": len(asked),
        "similarity": math.fsum(pair.similarity for _, _, pair in pairs),
        "similarity_iou": math.fsum(match.similarity * match.iou for match in timed),
        "similarity_overlapped": math.fsum(match.similarity for match in timed if match.iou > 0),
        "similarity_dimension": math.fsum(
            pair.similarity
            for reference, prediction, pair in pairs
            if reference.dimension is not None and reference.dimension == prediction.dimension
        ),
        "iou": math.fsum(match.iou for match in timed),
    }
    reached = {column: sum(match.iou >= least - ROUNDING for match in timed) for column, least in THRESHOLDS.items()}
    return numbers | reached


def _severity_counts(pairs: Pairs) -> dict[str, float]:
    apart = [
        math.inf if prediction.severity is None else abs(reference.severity - prediction.severity)
        for reference, prediction, _ in pairs
        if reference.severity is not None
    ]
    return {
        "severity_pairs": len(apart),
        "severity_exact": sum(difference == 0 for difference in apart),
        "severity_within1": sum(difference <= 1 for difference in apart),
        "similarity_references_severity": _weighted(
            (pair.similarity, reference.severity) for reference, _, pair in pairs
        ),
        "similarity_predictions_severity": _weighted((pair.similarity, other.severity) for _, other, pair in pairs),
    }


def _weighted(credit: Iterable[tuple[float, int | None]]) -> float:
    return math.fsum(similarity * severity for similarity, severity in credit if severity is not None)


def _overlap_counts(iou: Matrix) -> dict[str, float]:
    overlapping = iou > 0
    return {
        "references_overlapped": int(overlapping.any(axis=1).sum()),
        "predictions_overlapped": int(overlapping.any(axis=0).sum()),
    }


def _looked_for(event: AnnotatedEvent, dimensions: frozenset[str] | None) -> bool:
    """Whether an author who looked for these dimensions would have reported this event."""
    return (
        dimensions is None or event.dimension is None or not dimensions.isdisjoint((event.dimension, *event.secondary))
    )
