"""Which events annotators agree on, and which events need adjudication, by the rules of the RoboGaze paper (A.2.3).

The events of a group (see `event_matching`) are merged if each pair of them overlaps with an IoU of at least 0.6. The
merged event covers the union of their spans. It has a dimension if all annotators who give a dimension give the same
one; the same rule applies to the type. Severities that differ by at most 1 are averaged; a half rounds up, to the more
severe level. The longest description is kept. The merged event omits everything that the annotators do not agree on.

    adjudication   an event is settled if all annotators of the clip report it and nothing is in dispute; a person
                   settles all other events. A clip with an open event is "partial": not finished.
    consensus      the consensus of several annotators contains an event if more than half of them report it and its
                   times can be merged. The consensus serves as the reference for another annotator until there is an
                   adjudication. If the annotators report events but agree on none, there is no consensus, and the clip
                   does not count as clean.
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
    """Events merged into one. `disputes` say what the annotators do not agree on; `timed` says whether the times of the
    events can be merged.
    """

    finding: AnnotatedEvent
    timed: bool
    disputes: tuple[str, ...]


@dataclass(frozen=True)
class AdjudicationItem:
    """Something that a person must settle: the events of a group by annotator, and the reasons why these events cannot
    be merged.
    """

    clip_id: str
    events: tuple[tuple[str, AnnotatedEvent], ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Adjudication:
    """The result of an adjudication: `annotations` has the settled events of each clip, `queue` the open questions."""

    annotations: tuple[ClipAnnotation, ...]
    queue: tuple[AdjudicationItem, ...]

    @property
    def settled(self) -> int:
        """The number of settled events."""
        return sum(len(annotation.findings) for annotation in self.annotations)


def adjudicate(matched: Sequence[MatchedClip], iou: Overlap) -> Adjudication:
    """Merge the events that can be merged, and list the remaining ones for a person, clip by clip in the order of
    onsets.
    """
    annotations, queue = [], []
    for clip in matched:
        settled: list[AnnotatedEvent] = []
        for unit in clip.units:
            merged = merge(unit, clip.annotated, iou)
            reasons = (*_missing(unit, clip.annotated.authors), *merged.disputes)
            if reasons:
                queue.append(
                    AdjudicationItem(clip.annotated.clip_id, _by_author(unit, clip.annotated.authors), reasons)
                )
            else:
                settled.append(merged.finding)
        open_questions = len(settled) < len(clip.units)
        numbered = [replace(event, id=f"e{number}") for number, event in enumerate(settled, start=1)]
        annotations.append(_consensus_annotation(clip.annotated, numbered, "partial" if open_questions else "complete"))
    return Adjudication(tuple(annotations), tuple(queue))


def consensus(clip: MatchedClip, iou: Overlap) -> ClipAnnotation:
    """The events that more than half of a clip's annotators agree on. The status is "partial" if the annotators report
    events but agree on none of them.
    """
    merged = [
        merge(unit, clip.annotated, iou)
        for unit in clip.units
        if 2 * sum(found is not None for found in unit) > len(clip.annotated.annotations)
    ]
    agreed = [event.finding for event in merged if event.timed]
    return _consensus_annotation(clip.annotated, agreed, "complete" if agreed or not clip.units else "partial")


def merge(unit: EventGroup, clip: ClipAnnotations, iou: Overlap) -> MergedEvent:
    """Merge the events of a group into one event, which gets its name and its description from the same event."""
    reported = [(author, found) for author, found in zip(clip.authors, unit, strict=True) if found is not None]
    found = [event for _, event in reported]
    overlap = _least_overlap(found, clip, iou)
    timed = not overlap < MIN_IOU - ROUNDING
    dimension, dimensions = _shared("dimensions", [(author, event.dimension) for author, event in reported])
    event_type, type_dispute = _shared("types", [(author, event.type) for author, event in reported])
    severity, severities = _severity([(author, event.severity) for author, event in reported])
    # Events of two dimensions also have two types; only the dispute about dimensions is listed.
    disputes = (
        dimensions or type_dispute,
        severities,
        "" if timed else f"times overlap with an IoU of only {overlap:.2f}",
    )
    described = min(reported, key=lambda pair: (-len(pair[1].description), pair[1].description))
    finding = AnnotatedEvent(
        id=event_name(*described),
        spans=union(span for event in found for span in event.spans),
        description=described[1].description,
        dimension=dimension,
        type=event_type,
        secondary=tuple(sorted({name for event in found for name in event.secondary} - {dimension})),
        severity=severity,
    )
    return MergedEvent(finding, timed, tuple(filter(None, disputes)))


def named(annotation: ClipAnnotation) -> ClipAnnotation:
    """The annotation with event names that are unique among several annotators."""
    return replace(
        annotation,
        findings=tuple(replace(event, id=event_name(annotation.author, event)) for event in annotation.findings),
    )


def _least_overlap(found: Sequence[AnnotatedEvent], clip: ClipAnnotations, iou: Overlap) -> float:
    """The lowest IoU of two of the events; 1 for a single event."""
    matrix = iou_matrix(found, found, clip.frame_times_s, iou)
    return min((float(matrix[two]) for two in combinations(range(len(found)), 2)), default=1.0)


def _shared(noun: str, given: Sequence[tuple[str, str | None]]) -> tuple[str | None, str]:
    """The label if exactly one label is given, else None; and the dispute, empty if there is no dispute."""
    labels = {label for _, label in given if label is not None}
    if len(labels) > 1:
        return None, _dispute(noun, given)
    return next(iter(labels), None), ""


def _severity(given: Sequence[tuple[str, int | None]]) -> tuple[int | None, str]:
    levels = [level for _, level in given if level is not None]
    if levels and max(levels) - min(levels) > MAX_SEVERITY_GAP:
        return None, _dispute("severities", given)
    return (math.floor(sum(levels) / len(levels) + 0.5) if levels else None), ""


def _dispute(noun: str, given: Sequence[tuple[str, str | int | None]]) -> str:
    return f"{noun} differ: " + ", ".join(f"{author} {label}" for author, label in given if label is not None)


def _missing(unit: EventGroup, authors: Sequence[str]) -> Iterator[str]:
    silent = [author for author, found in zip(authors, unit, strict=True) if found is None]
    if silent:
        yield f"not reported by {', '.join(silent)}"


def _by_author(unit: EventGroup, authors: Sequence[str]) -> tuple[tuple[str, AnnotatedEvent], ...]:
    return tuple((author, found) for author, found in zip(authors, unit, strict=True) if found is not None)


def _consensus_annotation(clip: ClipAnnotations, findings: Sequence[AnnotatedEvent], status: Status) -> ClipAnnotation:
    first = clip.annotations[0]
    instructions = sorted(
        {annotation.instruction for annotation in clip.annotations if annotation.instruction is not None}
    )
    return replace(
        first,
        author=AUTHOR,
        status=status,
        findings=tuple(findings),
        coverage=_coverage(clip),
        candidates=(),
        frame_times_s=clip.frame_times_s,
        duration_s=clip.duration_s,
        instruction=instructions[0] if instructions else None,
        fields={name: value for annotation in reversed(clip.annotations) for name, value in annotation.fields.items()},
        source=AUTHOR,
    )


def _coverage(clip: ClipAnnotations) -> Mapping[str, CoverageState] | None:
    """The state of each dimension: examined if all annotators looked for it, not examined if only some of them did;
    None means all dimensions.
    """
    if clip.dimensions is None:
        return None
    named = sorted({name for annotation in clip.annotations for name in annotation.coverage or ()})
    return {name: "examined" if name in clip.dimensions else "not_examined" for name in named}
