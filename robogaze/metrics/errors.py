"""The errors of a system in one clip, and what each kind of error costs.

The idea comes from TIDE (Bolya et al., 2020) and is applied to events in time here. Two events are "the same" if S >=
SAME_SIMILARITY and "well placed" if IoU >= WELL_PLACED_IOU; events without a time count as overlapping. The first rule
that holds decides.

a matched pair
    description   The two are not the same event.
    span          The prediction is not well placed.
    dimension     The two dimensions differ.
    (Otherwise there is no error. If such a pair scores below 1, the loss belongs to no kind of error.)
a prediction without a match
    duplicate     It is the same event as a matched reference that it overlaps with. It and the prediction matched to
                  that reference share at least half of the shorter one.
    split         As for duplicate, but they share less than half: both are parts of one event.
    span          It is the same event as a reference without a match, but at another time.
    description   It is well placed on a reference without a match, but is not the same event.
    spurious      None of these rules holds.
a reference without a match
    (There is no further error if the rules span or description have attributed a prediction to it.)
    merged        It is the same event as a prediction that it overlaps with and that is matched to another reference.
    missed        None of these rules holds.

If a rule fits several events, the event with the highest S is chosen, or the event with the highest IoU if the rule
requires a well-placed event.

The cost of a kind of error is what a metric gains when the errors of this kind are repaired and the clip is matched and
scored again:

missed                 a perfect prediction is added
spurious, duplicate    the prediction is removed
span                   the prediction gets the spans of its reference
dimension              the prediction gets the dimension of its reference
description            the similarity S of the pair becomes 1
split                  the matched prediction gets the spans of all parts, and the other parts are removed
merged                 a copy of the prediction is added for the other reference; each gets the spans of its reference

The costs do not add up to 1 minus the metric, because repairs interact. For example, two predictions for one reference
can be moved to the same place, and only one of them is matched. A cost can be 0: a wrong dimension costs nothing in a
metric that ignores dimensions (`desc_f1_dimension` does not ignore them). A cost can be negative: after the repair, the
matching with the largest sum of weights may have a lower S. In a clip without a scored prediction every reference is
missed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span, union
from robogaze.matching import Match
from robogaze.metrics.tally import judgeable, scored, tally

Matrix = NDArray[np.float64]

ErrorKind = Literal["missed", "spurious", "span", "dimension", "description", "duplicate", "split", "merged"]

ERROR_KINDS: tuple[ErrorKind, ...] = get_args(ErrorKind)

SAME_SIMILARITY = 0.5
"""From this similarity on, two descriptions are of the same event: half of what a rubric can give."""

WELL_PLACED_IOU = 0.5
"""From this IoU on, an event is well placed: the middle one of the thresholds in use."""

Rematch = Callable[[Sequence[AnnotatedEvent], Sequence[AnnotatedEvent], Matrix], tuple[Sequence[Match], Matrix]]
"""Matches references with predictions by their similarities; returns the matches and the IoU of all pairs."""


@dataclass(frozen=True, slots=True)
class EventError:
    """An error, with the indices of its two events. An index is None if the error has no event on this side.

    For a duplicate or a split part `reference` is the event that is reported twice; for a merged event `prediction` is
    the event that covers two references.
    """

    kind: ErrorKind
    reference: int | None = None
    prediction: int | None = None


@dataclass(frozen=True)
class ErrorAnalysis:
    """The errors of a clip. For each kind of error, `rows` has the clip's row of counts after all errors of this kind
    are repaired; the shape is (len(ERROR_KINDS), columns).

    `unknown` marks the pairs without a similarity whose similarity could change the errors or the rows. It has shape
    (reference events, predicted events).
    """

    errors: tuple[EventError, ...]
    rows: Matrix
    unknown: NDArray[np.bool_]

    @property
    def counts(self) -> Matrix:
        """The number of errors of each kind, in the order of ERROR_KINDS."""
        return np.array([sum(error.kind == kind for error in self.errors) for kind in ERROR_KINDS], dtype=np.float64)


@dataclass(frozen=True)
class MatchedClipEvents:
    """A clip's events on both sides, and their matches. `similarity` and `iou` have shape (references, predictions).

    `judgeable` marks the predictions that the reference can judge; the other predictions are not errors.
    """

    references: Sequence[AnnotatedEvent]
    predictions: Sequence[AnnotatedEvent]
    judgeable: NDArray[np.bool_]
    similarity: Matrix
    iou: Matrix
    matches: Sequence[Match]

    @cached_property
    def prediction_of(self) -> Mapping[int, int]:
        """The prediction of each matched reference."""
        return {match.reference: match.prediction for match in self.matches}

    @cached_property
    def unmatched_pairs(self) -> NDArray[np.bool_]:
        """Marks pairs of a reference and a judgeable prediction: both are unmatched, or their IoU is not known."""
        references, predictions = np.ones(len(self.references), np.bool_), self.judgeable.copy()
        for match in self.matches:
            references[match.reference] = predictions[match.prediction] = False
        pairs: NDArray[np.bool_] = np.outer(references, predictions) | (np.isnan(self.iou) & self.judgeable)
        return pairs

    @cached_property
    def overlap(self) -> Matrix:
        """The IoU, 0 where it is not known."""
        return np.where(self.iou > 0, self.iou, 0.0)

    @cached_property
    def same_event(self) -> NDArray[np.bool_]:
        """Which pairs are the same event and overlap in time."""
        same: NDArray[np.bool_] = (self.similarity >= SAME_SIMILARITY) & (self.iou != 0)
        return same


def analyse_errors(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Matrix, rematch: Rematch
) -> ErrorAnalysis:
    """The errors of one clip, and its repaired rows.

    `similarity` has shape (reference events, predicted events). Similarities that are not given are NaN and count as 0.
    """
    if scored(prediction):
        system = prediction
    else:
        system, similarity = replace(reference, findings=()), np.zeros((len(reference.findings), 0))
    matches, iou = rematch(reference.findings, system.findings, np.nan_to_num(similarity))
    kept = judgeable(reference, system)
    clip = MatchedClipEvents(reference.findings, system.findings, kept, similarity, iou, matches)
    errors = classify_errors(clip)
    rows = np.tile(tally(reference, prediction, matches, iou), (len(ERROR_KINDS), 1))
    unknown = np.isnan(similarity) & clip.unmatched_pairs
    for number, kind in enumerate(ERROR_KINDS):
        if of_kind := [error for error in errors if error.kind == kind]:
            predictions, given = _REPAIRS[kind](clip, of_kind)
            repaired = replace(system, findings=tuple(predictions))
            matches, iou = rematch(reference.findings, predictions, np.nan_to_num(given))
            rows[number] = tally(reference, repaired, matches, iou)
            if (np.isnan(given) & (iou > 0)).any():
                unknown = np.isnan(similarity)
    return ErrorAnalysis(errors, rows, unknown)


def classify_errors(clip: MatchedClipEvents) -> tuple[EventError, ...]:
    """All errors of a clip, without repeats: the errors of matched pairs, then of predictions, then of references."""
    unmatched = [reference for reference in range(len(clip.references)) if reference not in clip.prediction_of]
    matched = set(clip.prediction_of.values())
    of_predictions = [
        _prediction_error(clip, prediction, unmatched)
        for prediction in range(len(clip.predictions))
        if prediction not in matched and clip.judgeable[prediction]
    ]
    attributed = {error.reference for error in of_predictions if error.kind in ("span", "description")}
    of_references = (_reference_error(clip, reference) for reference in unmatched if reference not in attributed)
    return (*_match_errors(clip), *of_predictions, *of_references)


def _match_errors(clip: MatchedClipEvents) -> Iterator[EventError]:
    for match in clip.matches:
        dimensions = {clip.references[match.reference].dimension, clip.predictions[match.prediction].dimension}
        if match.similarity < SAME_SIMILARITY:
            yield EventError("description", match.reference, match.prediction)
        elif match.iou < WELL_PLACED_IOU:
            yield EventError("span", match.reference, match.prediction)
        elif len(dimensions - {None}) == 2:
            yield EventError("dimension", match.reference, match.prediction)


def _prediction_error(clip: MatchedClipEvents, prediction: int, unmatched: Sequence[int]) -> EventError:
    similarity, overlap = clip.similarity[:, prediction], clip.overlap[:, prediction]
    reported = [reference for reference in clip.prediction_of if clip.same_event[reference, prediction]]
    if (repeated := _highest(reported, clip.references, similarity, overlap)) is not None:
        together = _share_half(clip.predictions[prediction], clip.predictions[clip.prediction_of[repeated]])
        return EventError("duplicate" if together else "split", repeated, prediction)
    same = [reference for reference in unmatched if similarity[reference] >= SAME_SIMILARITY]
    if (elsewhere := _highest(same, clip.references, similarity, overlap)) is not None:
        return EventError("span", elsewhere, prediction)
    placed = [reference for reference in unmatched if overlap[reference] >= WELL_PLACED_IOU]
    if (here := _highest(placed, clip.references, overlap, similarity)) is not None:
        return EventError("description", here, prediction)
    return EventError("spurious", prediction=prediction)


def _reference_error(clip: MatchedClipEvents, reference: int) -> EventError:
    same = [prediction for prediction in clip.prediction_of.values() if clip.same_event[reference, prediction]]
    whole = _highest(same, clip.predictions, clip.similarity[reference], clip.overlap[reference])
    return EventError("missed", reference) if whole is None else EventError("merged", reference, whole)


def _highest(among: Sequence[int], events: Sequence[AnnotatedEvent], first: Matrix, then: Matrix) -> int | None:
    """The index with the highest values; ties are broken by the events' contents. None if `among` is empty."""
    return min(among, key=lambda index: (-first[index], -then[index], events[index].content), default=None)


def _share_half(first: AnnotatedEvent, second: AnnotatedEvent) -> bool:
    """Whether two predictions share at least half of the shorter one; True if one has no time."""
    shared = sum(a.overlap(b) for a in first.spans for b in second.spans)
    return 2 * shared >= min(sum(span.length for span in side.spans) for side in (first, second))


Repaired = tuple[list[AnnotatedEvent], Matrix]
"""Predictions without the errors of a kind, and their similarities."""


def _add_missed(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    of_errors = {error.reference for error in errors}
    missed = [reference for reference in range(len(clip.references)) if reference in of_errors]
    perfect = np.eye(len(clip.references))[:, missed]
    return (
        [*clip.predictions, *(clip.references[reference] for reference in missed)],
        np.hstack([clip.similarity, perfect]),
    )


def _remove(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    removed = {error.prediction for error in errors}
    kept = [prediction for prediction in range(len(clip.predictions)) if prediction not in removed]
    return [clip.predictions[prediction] for prediction in kept], clip.similarity[:, kept]


def _correct_spans(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    predictions = list(clip.predictions)
    for reference, prediction in _pairs(errors):
        predictions[prediction] = replace(predictions[prediction], spans=clip.references[reference].spans)
    return predictions, clip.similarity


def _correct_dimensions(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    predictions = list(clip.predictions)
    for reference, prediction in _pairs(errors):
        predictions[prediction] = replace(predictions[prediction], dimension=clip.references[reference].dimension)
    return predictions, clip.similarity


def _correct_descriptions(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    similarity = clip.similarity.copy()
    for pair in _pairs(errors):
        similarity[pair] = 1.0
    return list(clip.predictions), similarity


def _join_parts(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    predictions = list(clip.predictions)
    for reference, part in _pairs(errors):
        whole = clip.prediction_of[reference]
        spans: tuple[Span, ...] = union((*predictions[whole].spans, *clip.predictions[part].spans))
        predictions[whole] = replace(predictions[whole], spans=spans)
    return _remove(replace(clip, predictions=predictions), errors)


def _split_merged(clip: MatchedClipEvents, errors: Sequence[EventError]) -> Repaired:
    predictions = list(clip.predictions)
    reference_of = {prediction: reference for reference, prediction in clip.prediction_of.items()}
    columns = np.zeros((len(clip.references), len(errors)))
    for number, (reference, whole) in enumerate(_pairs(errors)):
        predictions.append(replace(clip.predictions[whole], spans=clip.references[reference].spans))
        predictions[whole] = replace(clip.predictions[whole], spans=clip.references[reference_of[whole]].spans)
        columns[reference, number] = clip.similarity[reference, whole]
    return predictions, np.hstack([clip.similarity, columns])


def _pairs(errors: Sequence[EventError]) -> list[tuple[int, int]]:
    return [
        (error.reference, error.prediction)
        for error in errors
        if error.reference is not None and error.prediction is not None
    ]


_REPAIRS: Mapping[ErrorKind, Callable[[MatchedClipEvents, Sequence[EventError]], Repaired]] = {
    "missed": _add_missed,
    "spurious": _remove,
    "span": _correct_spans,
    "dimension": _correct_dimensions,
    "description": _correct_descriptions,
    "duplicate": _remove,
    "split": _join_parts,
    "merged": _split_merged,
}
