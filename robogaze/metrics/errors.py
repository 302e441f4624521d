"""The errors of a system in one clip, each of one kind.

The idea is TIDE's (Bolya et al., 2020), for events in time. "The same event" means S >= SAME, "well placed" IoU >=
PLACED; where a time is not given, events are taken to share time. The first rule that holds decides.

a matched pair
    description   not the same event
    span          not well placed
    dimension     filed under different ones
    (else none: what such a pair lacks to 1 is lost to no error)
a prediction without a match
    duplicate     the same event as a matched reference with which it shares time, and the two predictions share at
                  least half of the shorter
    split         likewise, but the two lie apart: parts of one event
    span          the same event as a reference without a match, and elsewhere in time
    description   well placed on a reference without a match, and not the same event
    spurious      none of these
a reference without a match
    (none where a prediction without a match, by the two rules above, was meant for it)
    merged        the same event as a prediction with which it shares time and which is matched to another reference
    missed        none of these

Where a rule fits several findings, the one with the highest S is meant, or IoU where it is the place that fits.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent
from robogaze.metrics.tally import MatchedPair

Matrix = NDArray[np.float64]

Kind = Literal["missed", "spurious", "span", "dimension", "description", "duplicate", "split", "merged"]

KINDS: tuple[Kind, ...] = get_args(Kind)

SAME = 0.5
"""The similarity from which two descriptions are of the same event: half of what a rubric can give."""

PLACED = 0.5
"""The IoU from which an event is well placed: the middle one of the thresholds in use."""


@dataclass(frozen=True, slots=True)
class EventError:
    """An error and the findings it lies between, as indices; None where a side has none.

    For a duplicate or a split part `reference` is the event it tells of again; for a merged event `prediction` is the
    one that tells of it and of another.
    """

    kind: Kind
    reference: int | None = None
    prediction: int | None = None


@dataclass(frozen=True)
class MatchedClipEvents:
    """A clip's findings on both sides and how they were matched; arrays are (references, predictions).

    `judgeable` says which predictions the reference can speak for; the others are no errors.
    """

    references: Sequence[AnnotatedEvent]
    predictions: Sequence[AnnotatedEvent]
    judgeable: NDArray[np.bool_]
    similarity: Matrix
    iou: Matrix
    matches: Sequence[MatchedPair]

    @cached_property
    def prediction_of(self) -> Mapping[int, int]:
        """The prediction that each matched reference has."""
        return {one.reference: one.prediction for one in self.matches}

    @cached_property
    def overlap(self) -> Matrix:
        """The IoU, 0 where it is not known."""
        return np.where(self.iou > 0, self.iou, 0.0)

    @cached_property
    def told(self) -> NDArray[np.bool_]:
        """Which pairs are the same event and share time."""
        told: NDArray[np.bool_] = (self.similarity >= SAME) & (self.iou != 0)
        return told


def faults_of(case: MatchedClipEvents) -> tuple[EventError, ...]:
    """All errors of a clip, each once: those of matched pairs, of predictions, of references."""
    lone = [one for one in range(len(case.references)) if one not in case.prediction_of]
    matched = set(case.prediction_of.values())
    spare = [
        _of_prediction(case, one, lone)
        for one in range(len(case.predictions))
        if one not in matched and case.judgeable[one]
    ]
    meant = {fault.reference for fault in spare if fault.kind in ("span", "description")}
    return (*_of_pairs(case), *spare, *(_of_reference(case, one) for one in lone if one not in meant))


def _of_pairs(case: MatchedClipEvents) -> Iterator[EventError]:
    for one in case.matches:
        dimensions = {case.references[one.reference].dimension, case.predictions[one.prediction].dimension}
        if one.similarity < SAME:
            yield EventError("description", one.reference, one.prediction)
        elif one.iou < PLACED:
            yield EventError("span", one.reference, one.prediction)
        elif len(dimensions - {None}) == 2:
            yield EventError("dimension", one.reference, one.prediction)


def _of_prediction(case: MatchedClipEvents, prediction: int, lone: Sequence[int]) -> EventError:
    similarity, overlap = case.similarity[:, prediction], case.overlap[:, prediction]
    told = [one for one in case.prediction_of if case.told[one, prediction]]
    if (again := _highest(told, case.references, similarity, overlap)) is not None:
        together = _together(case.predictions[prediction], case.predictions[case.prediction_of[again]])
        return EventError("duplicate" if together else "split", again, prediction)
    same = [one for one in lone if similarity[one] >= SAME]
    if (elsewhere := _highest(same, case.references, similarity, overlap)) is not None:
        return EventError("span", elsewhere, prediction)
    placed = [one for one in lone if overlap[one] >= PLACED]
    if (here := _highest(placed, case.references, overlap, similarity)) is not None:
        return EventError("description", here, prediction)
    return EventError("spurious", prediction=prediction)


def _of_reference(case: MatchedClipEvents, reference: int) -> EventError:
    telling = [one for one in case.prediction_of.values() if case.told[reference, one]]
    whole = _highest(telling, case.predictions, case.similarity[reference], case.overlap[reference])
    return EventError("missed", reference) if whole is None else EventError("merged", reference, whole)


def _highest(among: Sequence[int], findings: Sequence[AnnotatedEvent], first: Matrix, then: Matrix) -> int | None:
    """The index with the highest values; where they are equal the findings' contents decide. None among none."""
    return min(among, key=lambda one: (-first[one], -then[one], findings[one].content), default=None)


def _together(one: AnnotatedEvent, other: AnnotatedEvent) -> bool:
    """Whether two predictions share at least half of the shorter; True where a time is not given."""
    shared = sum(a.overlap(b) for a in one.spans for b in other.spans)
    return 2 * shared >= min(sum(span.length for span in side.spans) for side in (one, other))
