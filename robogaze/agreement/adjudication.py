"""What annotators agree on, and what a person must settle: the adjudication rules of RoboGaze, A.2.3.

Events of a unit (see `events`) are merged when every two of them overlap with an IoU of at least 0.6: the spans are
united. Dimension and type stand where all who name one name the same. Severities at most 1 apart are averaged; a half
goes up, to the graver one. The longest description is kept. What they do not agree on, the merged event does not say.

    adjudication   an event is settled when all annotators of the clip report it and nothing is in dispute; all else
                   goes to a person. A clip with something to settle is "partial": not finished.
    consensus      an event is in the consensus of some annotators when more than half of them report it and its times
                   can be merged. It stands for what the others of an annotator agree on, when there is no person to
                   ask. Where they report events but agree on none, there is no consensus, which is not a clean clip.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from robogaze.agreement.annotation_set import ClipAnnotations, event_name
from robogaze.agreement.event_matching import EventGroup, MatchedClip
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState
from robogaze.core.report import Status
from robogaze.core.time import union
from robogaze.matching import Overlap, iou_matrix
from robogaze.metrics.tally import ROUNDING

MIN_IOU = 0.6
"""Spans that overlap less are two events (RoboGaze, A.2.3)."""

MAX_SEVERITY_GAP = 1
"""Severities that are further apart are rated again (RoboGaze, A.2.3)."""

AUTHOR = "consensus"


@dataclass(frozen=True)
class MergedEvent:
    """Events as one. `disputes` say what they do not agree on; `timed` whether their times can be merged at all."""

    finding: AnnotatedEvent
    timed: bool
    disputes: tuple[str, ...]


@dataclass(frozen=True)
class AdjudicationItem:
    """Something for a person to settle: the events of a unit by annotator, and why they cannot be merged."""

    clip_id: str
    events: tuple[tuple[str, AnnotatedEvent], ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Adjudication:
    """What is settled and what is not. `accounts` hold the settled events of every clip."""

    annotations: tuple[ClipAnnotation, ...]
    queue: tuple[AdjudicationItem, ...]

    @property
    def settled(self) -> int:
        """How many events are settled."""
        return sum(len(annotation.findings) for annotation in self.annotations)


def adjudicate(matched: Sequence[MatchedClip], iou: Overlap) -> Adjudication:
    """Merge what can be merged, and list the rest, clip by clip in the order of onsets."""
    annotations, queue = [], []
    for clip in matched:
        settled: list[AnnotatedEvent] = []
        for unit in clip.units:
            merged = merge(unit, clip.clip, iou)
            reasons = (*_missing(unit, clip.clip.authors), *merged.disputes)
            if reasons:
                queue.append(AdjudicationItem(clip.clip.clip_id, _by_author(unit, clip.clip.authors), reasons))
            else:
                settled.append(merged.finding)
        open_questions = len(settled) < len(clip.units)
        numbered = [replace(event, id=f"e{number}") for number, event in enumerate(settled, start=1)]
        annotations.append(_account(clip.clip, numbered, "partial" if open_questions else "complete"))
    return Adjudication(tuple(annotations), tuple(queue))


def consensus(clip: MatchedClip, iou: Overlap) -> ClipAnnotation:
    """What more than half of the annotators of a case agree on; "partial" where they agree on nothing they report."""
    merged = [
        merge(unit, clip.clip, iou)
        for unit in clip.units
        if 2 * sum(found is not None for found in unit) > len(clip.clip.annotations)
    ]
    agreed = [event.finding for event in merged if event.timed]
    return _account(clip.clip, agreed, "complete" if agreed or not clip.units else "partial")


def merge(unit: EventGroup, clip: ClipAnnotations, iou: Overlap) -> MergedEvent:
    """The events of a unit as one, under the name of the event whose description it keeps."""
    told = [(author, found) for author, found in zip(clip.authors, unit, strict=True) if found is not None]
    found = [event for _, event in told]
    overlap = _least_overlap(found, clip, iou)
    timed = not overlap < MIN_IOU - ROUNDING
    dimension, dimensions = _shared("dimensions", [(author, event.dimension) for author, event in told])
    event_type, type_dispute = _shared("types", [(author, event.type) for author, event in told])
    severity, severities = _severity([(author, event.severity) for author, event in told])
    # Events of two dimensions have two types; to say so would be to say it twice.
    disputes = (
        dimensions or type_dispute,
        severities,
        "" if timed else f"times overlap with an IoU of {overlap:.2f} only",
    )
    described = min(told, key=lambda pair: (-len(pair[1].description), pair[1].description))
    finding = AnnotatedEvent(
        id=event_name(*described),
        spans=union(span for estimate in found for span in estimate.spans),
        description=described[1].description,
        dimension=dimension,
        type=event_type,
        secondary=tuple(sorted({name for estimate in found for name in estimate.secondary} - {dimension})),
        severity=severity,
    )
    return MergedEvent(finding, timed, tuple(filter(None, disputes)))


def named(annotation: ClipAnnotation) -> ClipAnnotation:
    """An account whose events go by the names they have where several annotators' events meet."""
    return replace(
        annotation,
        findings=tuple(replace(event, id=event_name(annotation.author, event)) for event in annotation.findings),
    )


def _least_overlap(found: Sequence[AnnotatedEvent], clip: ClipAnnotations, iou: Overlap) -> float:
    """The least IoU of two of the events; 1 for a single one."""
    matrix = iou_matrix(found, found, clip.frame_times_s, iou)
    return min((float(matrix[two]) for two in combinations(range(len(found)), 2)), default=1.0)


def _shared(noun: str, said: Sequence[tuple[str, str | None]]) -> tuple[str | None, str]:
    """The one label that is named, None where there is none or not one; and the dispute, empty where there is none."""
    labels = {label for _, label in said if label is not None}
    if len(labels) > 1:
        return None, _dispute(noun, said)
    return next(iter(labels), None), ""


def _severity(said: Sequence[tuple[str, int | None]]) -> tuple[int | None, str]:
    levels = [level for _, level in said if level is not None]
    if levels and max(levels) - min(levels) > MAX_SEVERITY_GAP:
        return None, _dispute("severities", said)
    return (math.floor(sum(levels) / len(levels) + 0.5) if levels else None), ""


def _dispute(noun: str, said: Sequence[tuple[str, str | int | None]]) -> str:
    return f"{noun} differ: " + ", ".join(f"{author} {label}" for author, label in said if label is not None)


def _missing(unit: EventGroup, authors: Sequence[str]) -> Iterator[str]:
    silent = [author for author, found in zip(authors, unit, strict=True) if found is None]
    if silent:
        yield f"not reported by {', '.join(silent)}"


def _by_author(unit: EventGroup, authors: Sequence[str]) -> tuple[tuple[str, AnnotatedEvent], ...]:
    return tuple((author, found) for author, found in zip(authors, unit, strict=True) if found is not None)


def _account(clip: ClipAnnotations, findings: Sequence[AnnotatedEvent], status: Status) -> ClipAnnotation:
    first = clip.annotations[0]
    told = sorted({annotation.instruction for annotation in clip.annotations if annotation.instruction is not None})
    return replace(
        first,
        author=AUTHOR,
        status=status,
        findings=tuple(findings),
        coverage=_coverage(clip),
        candidates=(),
        frame_times_s=clip.frame_times_s,
        duration_s=clip.duration_s,
        instruction=told[0] if told else None,
        fields={name: value for annotation in reversed(clip.annotations) for name, value in annotation.fields.items()},
        source=AUTHOR,
    )


def _coverage(clip: ClipAnnotations) -> Mapping[str, CoverageState] | None:
    """What all annotators looked for is examined; what only some of them looked for is not; None for all."""
    if clip.dimensions is None:
        return None
    named = sorted({name for annotation in clip.annotations for name in annotation.coverage or ()})
    return {name: "examined" if name in clip.dimensions else "not_examined" for name in named}
