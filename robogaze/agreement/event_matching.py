"""Which events of several annotators are the same event.

For each pair of annotators of a clip, the events of one are matched one to one with the events of the other. The weight
of a match depends on time and description:

    iou*similarity   IoU in time times the similarity of the two descriptions
    iou              IoU alone; similarity breaks ties

Dimension, type and severity have no influence, because agreement on them is measured; the judge does not see them. The
judge is asked in both directions and the mean is taken, because neither annotator is the reference. If the judge fails
in one direction, the other direction counts. If the judge fails in both directions, the pair is unscored. An unscored
pair is matched only if it does not take the place of a pair with a judgement.

Matches are then joined into groups, the best match first; no annotator may have two events in one group. An event that
nobody else reports forms a separate group.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robogaze.agreement.annotation_set import ClipAnnotations, content, event_name
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.judges.base import DescriptionPair, Judge
from robogaze.matching import Match, Overlap, Weighting, iou_matrix, match_pairs

Matrix = NDArray[np.float64]

By = Literal["iou*similarity", "iou"]

TINY = 1e-9
"""The weight that breaks ties, and that of an unknown similarity."""

_WEIGHTING = Weighting(use="similarity*iou")

EventRef = tuple[int, int]
"""An event: the position of its annotator in a clip, and its position among the annotator's events."""


@dataclass(frozen=True, slots=True)
class EventMatch:
    """Two annotators' matched events; `similarity` is NaN without a judgement."""

    first: EventRef
    second: EventRef
    iou: float
    similarity: float
    weight: float


EventGroup = tuple[AnnotatedEvent | None, ...]
"""One event as each annotator of a clip reports it; None for those who do not."""


@dataclass(frozen=True)
class MatchedClip:
    """A clip with its matches, and the groups they form."""

    annotated: ClipAnnotations
    matches: tuple[EventMatch, ...]
    units: tuple[EventGroup, ...]

    def finding(self, place: EventRef) -> AnnotatedEvent:
        """The event at a position in this clip (see `EventRef`)."""
        annotator, number = place
        return self.annotated.annotations[annotator].findings[number]

    def only(self, authors: Collection[str]) -> "MatchedClip | None":
        """The matched clip with only some of the annotators; None if fewer than two of them annotated the clip."""
        kept = [number for number, name in enumerate(self.annotated.authors) if name in authors]
        if len(kept) < 2:
            return None
        clip = replace(self.annotated, annotations=tuple(self.annotated.annotations[number] for number in kept))
        moved = {number: place for place, number in enumerate(kept)}
        matches = tuple(
            replace(
                match, first=(moved[match.first[0]], match.first[1]), second=(moved[match.second[0]], match.second[1])
            )
            for match in self.matches
            if {match.first[0], match.second[0]} <= moved.keys()
        )
        return MatchedClip(clip, matches, _groups(clip, matches))


async def match_annotators(
    clips: Sequence[ClipAnnotations], judge: Judge, by: By, iou: Overlap
) -> tuple[tuple[MatchedClip, ...], int]:
    """The clips with matched events, and the number of overlapping pairs of events without a judgement."""
    annotator_pairs = [
        _AnnotatorPair(
            clip, i, j, iou_matrix(clip.annotations[i].findings, clip.annotations[j].findings, clip.frame_times_s, iou)
        )
        for clip in clips
        for i, j in combinations(range(len(clip.annotations)), 2)
    ]
    similarities = await _similarities(annotator_pairs, judge)
    matches: dict[str, list[EventMatch]] = {clip.clip_id: [] for clip in clips}
    failed = 0
    for annotator_pair, similarity in zip(annotator_pairs, similarities, strict=True):
        matches[annotator_pair.clip.clip_id] += _matches(annotator_pair, similarity, by)
        failed += int((np.isnan(similarity) & (annotator_pair.iou > 0)).sum())
    matched = (MatchedClip(clip, tuple(matches[clip.clip_id]), _groups(clip, matches[clip.clip_id])) for clip in clips)
    return tuple(matched), failed


@dataclass(frozen=True)
class _AnnotatorPair:
    """Two annotators of a clip, with the IoU of every pair of their events."""

    clip: ClipAnnotations
    first: int
    second: int
    iou: Matrix

    @property
    def annotations(self) -> tuple[ClipAnnotation, ClipAnnotation]:
        return self.clip.annotations[self.first], self.clip.annotations[self.second]

    @property
    def overlapping(self) -> Iterator[EventRef]:
        """The pairs of events that overlap in time."""
        return ((int(row), int(column)) for row, column in np.argwhere(self.iou > 0))


async def _similarities(annotator_pairs: Sequence[_AnnotatorPair], judge: Judge) -> list[Matrix]:
    """The similarity of every overlapping pair of events; NaN for pairs that do not overlap and for pairs without a
    judgement.
    """
    queries = [
        pair
        for annotator_pair in annotator_pairs
        for place in annotator_pair.overlapping
        for pair in _both_ways(annotator_pair, place)
    ]
    judged = iter(await judge.rate(queries))
    found = []
    for annotator_pair in annotator_pairs:
        matrix = np.full(annotator_pair.iou.shape, np.nan)
        for place in annotator_pair.overlapping:
            given = [
                similarity
                for similarity in (next(judged).similarity, next(judged).similarity)
                if similarity is not None
            ]
            matrix[place] = sum(given) / len(given) if given else np.nan
        found.append(matrix)
    return found


def _both_ways(annotator_pair: _AnnotatorPair, place: EventRef) -> tuple[DescriptionPair, DescriptionPair]:
    first, second = (
        (event_name(annotation.author, annotation.findings[number]), annotation.findings[number].description)
        for annotation, number in zip(annotator_pair.annotations, place, strict=True)
    )
    return _pair(annotator_pair.annotations, first, second), _pair(annotator_pair.annotations, second, first)


def _pair(
    annotations: Sequence[ClipAnnotation], reference: tuple[str, str], prediction: tuple[str, str]
) -> DescriptionPair:
    instructions = sorted({annotation.instruction for annotation in annotations if annotation.instruction is not None})
    return DescriptionPair(
        clip_id=annotations[0].clip_id,
        reference_id=reference[0],
        prediction_id=prediction[0],
        reference=reference[1],
        prediction=prediction[1],
        instruction=instructions[0] if instructions else None,
        reference_type=None,
        prediction_type=None,
    )


def _matches(annotator_pair: _AnnotatorPair, similarity: Matrix, by: By) -> Iterator[EventMatch]:
    for match in _best(annotator_pair, _iou_factor(similarity, by)):
        place = match.reference, match.prediction
        yield EventMatch(
            first=(annotator_pair.first, match.reference),
            second=(annotator_pair.second, match.prediction),
            iou=match.iou,
            similarity=float(similarity[place]),
            weight=match.weight,
        )


def _iou_factor(similarity: Matrix, by: By) -> Matrix:
    """The factor of a pair's IoU in its weight, in [0, 1]."""
    if by == "iou":
        return 1 - TINY * (1 - np.nan_to_num(similarity))
    return np.where(np.isnan(similarity), TINY, similarity)


def _best(annotator_pair: _AnnotatorPair, appeal: Matrix) -> Iterable[Match]:
    """The best assignment; ties are broken independently of the order of the annotators."""
    first, second = ([content(event) for event in annotation.findings] for annotation in annotator_pair.annotations)
    turned = second < first
    arrays = (appeal.T, annotator_pair.iou.T) if turned else (appeal, annotator_pair.iou)
    found = match_pairs(*arrays, np.zeros(arrays[0].shape, dtype=np.bool_), _WEIGHTING)
    return (
        [replace(match, reference=match.prediction, prediction=match.reference) for match in found] if turned else found
    )


def _groups(clip: ClipAnnotations, matches: Sequence[EventMatch]) -> tuple[EventGroup, ...]:
    """Join matches into groups, the heaviest first; each event ends up in one group."""
    findings = {
        (annotator, number): event
        for annotator, annotation in enumerate(clip.annotations)
        for number, event in enumerate(annotation.findings)
    }
    unit_of: dict[EventRef, Mapping[int, EventRef]] = {place: {place[0]: place} for place in findings}
    for match in sorted(matches, key=lambda match: _match_order(match, findings)):
        first, second = unit_of[match.first], unit_of[match.second]
        if first.keys().isdisjoint(second.keys()):
            joined = {**first, **second}
            unit_of.update(dict.fromkeys(joined.values(), joined))
    units = {frozenset(unit.values()): unit for unit in unit_of.values()}.values()
    placed = [
        tuple(findings[unit[who]] if who in unit else None for who in range(len(clip.annotations))) for unit in units
    ]
    return tuple(sorted(placed, key=lambda unit: sorted(content(event) for event in unit if event is not None)))


def _match_order(match: EventMatch, findings: Mapping[EventRef, AnnotatedEvent]) -> tuple[float, list[tuple[Any, ...]]]:
    return -match.weight, sorted(content(findings[place]) for place in (match.first, match.second))
