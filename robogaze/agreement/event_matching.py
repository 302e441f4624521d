"""Which events of several annotators are the same one.

The events of every two annotators of a clip are matched one to one, by when they happen and what is said of them:

    iou*similarity   IoU in time times the similarity of the two descriptions
    iou              IoU alone; where that leaves a choice, similarity makes it

Dimension, type and severity have no part in it, for agreement on them is what is measured; the judge is not shown them
either. It is asked in both directions and the mean is taken: neither annotator is the reference. Where it gave nothing
in one direction the other one counts; where it gave nothing at all the pair is unscored, and matched only if no pair
with a judgement is lost by it.

Matches are then chained into units: the best first, as long as no annotator has two events in one unit. An event that
nobody else reports is a unit of its own.
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
from robogaze.matching import Match, Overlap, Weighting, iou_matrix, match

Matrix = NDArray[np.float64]

By = Literal["iou*similarity", "iou"]

NEXT_TO_NOTHING = 1e-9
"""What decides between pairs that weigh the same, and the weight of a similarity that is not known."""

_WEIGHTING = Weighting(use="similarity*iou")

Place = tuple[int, int]
"""An annotator of a case and one of the findings."""


@dataclass(frozen=True, slots=True)
class MatchedEvents:
    """Two annotators' events that are matched; `similarity` is NaN where no judgement was given."""

    first: Place
    second: Place
    iou: float
    similarity: float
    weight: float


Unit = tuple[AnnotatedEvent | None, ...]
"""One event as each annotator of a case reports it; None for those who do not."""


@dataclass(frozen=True)
class MatchedClip:
    """A case with its matches, and the units they form."""

    case: ClipAnnotations
    links: tuple[MatchedEvents, ...]
    units: tuple[Unit, ...]

    def finding(self, place: Place) -> AnnotatedEvent:
        """The event at a place."""
        annotator, number = place
        return self.case.accounts[annotator].findings[number]

    def only(self, authors: Collection[str]) -> "MatchedClip | None":
        """The same for some of the annotators; None where fewer than two of them judged the clip."""
        kept = [number for number, name in enumerate(self.case.authors) if name in authors]
        if len(kept) < 2:
            return None
        case = replace(self.case, accounts=tuple(self.case.accounts[number] for number in kept))
        moved = {number: place for place, number in enumerate(kept)}
        links = tuple(
            replace(one, first=(moved[one.first[0]], one.first[1]), second=(moved[one.second[0]], one.second[1]))
            for one in self.links
            if {one.first[0], one.second[0]} <= moved.keys()
        )
        return MatchedClip(case, links, _units(case, links))


async def match_events(
    cases: Sequence[ClipAnnotations], judge: Judge, by: By, iou: Overlap
) -> tuple[tuple[MatchedClip, ...], int]:
    """The cases, matched, and how many pairs of events that share time have no judgement."""
    meetings = [
        _Meeting(case, i, j, iou_matrix(case.accounts[i].findings, case.accounts[j].findings, case.frame_times_s, iou))
        for case in cases
        for i, j in combinations(range(len(case.accounts)), 2)
    ]
    similarities = await _similarities(meetings, judge)
    links: dict[str, list[MatchedEvents]] = {case.clip_id: [] for case in cases}
    failed = 0
    for meeting, similarity in zip(meetings, similarities, strict=True):
        links[meeting.case.clip_id] += _links(meeting, similarity, by)
        failed += int((np.isnan(similarity) & (meeting.iou > 0)).sum())
    matched = (MatchedClip(case, tuple(links[case.clip_id]), _units(case, links[case.clip_id])) for case in cases)
    return tuple(matched), failed


@dataclass(frozen=True)
class _Meeting:
    """Two annotators of a case, with the IoU of every pair of their events."""

    case: ClipAnnotations
    first: int
    second: int
    iou: Matrix

    @property
    def accounts(self) -> tuple[ClipAnnotation, ClipAnnotation]:
        return self.case.accounts[self.first], self.case.accounts[self.second]

    @property
    def overlapping(self) -> Iterator[Place]:
        """The pairs of events that share time."""
        return ((int(row), int(column)) for row, column in np.argwhere(self.iou > 0))


async def _similarities(meetings: Sequence[_Meeting], judge: Judge) -> list[Matrix]:
    """The similarity of every pair of events that share time, NaN for all others and where no judgement was given."""
    asked = [pair for meeting in meetings for place in meeting.overlapping for pair in _both_ways(meeting, place)]
    judged = iter(await judge.rate(asked))
    found = []
    for meeting in meetings:
        matrix = np.full(meeting.iou.shape, np.nan)
        for place in meeting.overlapping:
            given = [one for one in (next(judged).similarity, next(judged).similarity) if one is not None]
            matrix[place] = sum(given) / len(given) if given else np.nan
        found.append(matrix)
    return found


def _both_ways(meeting: _Meeting, place: Place) -> tuple[DescriptionPair, DescriptionPair]:
    one, other = (
        (event_name(account.author, account.findings[number]), account.findings[number].description)
        for account, number in zip(meeting.accounts, place, strict=True)
    )
    return _pair(meeting.accounts, one, other), _pair(meeting.accounts, other, one)


def _pair(
    accounts: Sequence[ClipAnnotation], reference: tuple[str, str], prediction: tuple[str, str]
) -> DescriptionPair:
    told = sorted({one.instruction for one in accounts if one.instruction is not None})
    return DescriptionPair(
        clip_id=accounts[0].clip_id,
        reference_id=reference[0],
        prediction_id=prediction[0],
        reference=reference[1],
        prediction=prediction[1],
        instruction=told[0] if told else None,
        reference_type=None,
        prediction_type=None,
    )


def _links(meeting: _Meeting, similarity: Matrix, by: By) -> Iterator[MatchedEvents]:
    for one in _best(meeting, _appeal(similarity, by)):
        place = one.reference, one.prediction
        yield MatchedEvents(
            first=(meeting.first, one.reference),
            second=(meeting.second, one.prediction),
            iou=one.iou,
            similarity=float(similarity[place]),
            weight=one.weight,
        )


def _appeal(similarity: Matrix, by: By) -> Matrix:
    """What the IoU of a pair is multiplied with, in [0, 1]."""
    if by == "iou":
        return 1 - NEXT_TO_NOTHING * (1 - np.nan_to_num(similarity))
    return np.where(np.isnan(similarity), NEXT_TO_NOTHING, similarity)


def _best(meeting: _Meeting, appeal: Matrix) -> Iterable[Match]:
    """The best assignment; which of several equally good ones must not depend on who is called first."""
    one, other = ([content(finding) for finding in account.findings] for account in meeting.accounts)
    turned = other < one
    arrays = (appeal.T, meeting.iou.T) if turned else (appeal, meeting.iou)
    found = match(*arrays, np.zeros(arrays[0].shape, dtype=np.bool_), _WEIGHTING)
    return [replace(each, reference=each.prediction, prediction=each.reference) for each in found] if turned else found


def _units(case: ClipAnnotations, links: Sequence[MatchedEvents]) -> tuple[Unit, ...]:
    """Chain matches, the heaviest first; each event ends up in one unit."""
    findings = {
        (annotator, number): one
        for annotator, account in enumerate(case.accounts)
        for number, one in enumerate(account.findings)
    }
    unit_of: dict[Place, Mapping[int, Place]] = {place: {place[0]: place} for place in findings}
    for link in sorted(links, key=lambda one: _rank(one, findings)):
        one, other = unit_of[link.first], unit_of[link.second]
        if one.keys().isdisjoint(other.keys()):
            joined = {**one, **other}
            unit_of.update(dict.fromkeys(joined.values(), joined))
    units = {frozenset(unit.values()): unit for unit in unit_of.values()}.values()
    placed = [
        tuple(findings[unit[who]] if who in unit else None for who in range(len(case.accounts))) for unit in units
    ]
    return tuple(sorted(placed, key=lambda unit: sorted(content(one) for one in unit if one is not None)))


def _rank(link: MatchedEvents, findings: Mapping[Place, AnnotatedEvent]) -> tuple[float, list[tuple[Any, ...]]]:
    return -link.weight, sorted(content(findings[place]) for place in (link.first, link.second))
