"""Who annotated which clips: the clips with complete annotations by two or more annotators, and all other clips.

Only the dimensions that all annotators of a clip looked for are compared. Events in other dimensions are excluded, and
`AnnotationSet.excluded_events` counts them.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.errors import InputError

Dimensions = frozenset[str] | None
"""Dimensions that were looked for; None means all."""


@dataclass(frozen=True)
class ClipAnnotations:
    """A clip with the complete annotations of two or more annotators.

    `annotations` are in the order of the authors' names. The annotations hold only events in `dimensions`, the
    dimensions that all authors looked for; events are sorted by their contents. `dataset` is the name of the clip's
    data set, empty if no field of the clip gives it; clips are resampled within their data set. `frame_times_s` and
    `duration_s` are the longest that an annotation gives, None if no annotation gives any.
    """

    clip_id: str
    dataset: str
    annotations: tuple[ClipAnnotation, ...]
    dimensions: Dimensions
    frame_times_s: Sequence[float] | None
    duration_s: float | None

    @property
    def authors(self) -> tuple[str, ...]:
        """The annotators' names."""
        return tuple(annotation.author for annotation in self.annotations)

    def unit(self, field: str) -> Hashable:
        """The unit with which the clip is resampled: the clip's value of the field, or the clip itself if no annotation
        has a value.
        """
        values = sorted(annotation.fields[field] for annotation in self.annotations if annotation.fields.get(field))
        return values[0] if values else (self.clip_id,)


@dataclass(frozen=True)
class AnnotationSet:
    """The clips of several annotators.

    `clips` are in the order of their ids. Three fields list the other clips and annotations. `single_annotator` lists
    the clips that only one annotator completed. `unfinished` lists the annotations that are not complete, as pairs of
    clip id and author. `no_shared_dimensions` lists the clips for which there is no dimension that all annotators
    looked for. `excluded_events` counts the events outside shared dimensions.
    """

    annotators: tuple[str, ...]
    clips: tuple[ClipAnnotations, ...]
    single_annotator: tuple[str, ...]
    unfinished: tuple[tuple[str, str], ...]
    no_shared_dimensions: tuple[str, ...]
    excluded_events: int

    @classmethod
    def of(cls, annotations: Iterable[ClipAnnotation], by: str = "split", *, mixed: bool = False) -> "AnnotationSet":
        """Group annotations by clip; `by` is the field that names the data set.

        Raises InputError if an annotator annotated a clip twice, or if the annotations of a clip disagree on its file
        or its data set. Without `mixed`, labels of different taxonomies are also an error.
        """
        given = sorted(annotations, key=lambda annotation: (annotation.clip_id, annotation.author))
        if not mixed:
            _check_same_labels(given)
        complete = {
            clip_id: [annotation for annotation in of_clip if annotation.status == "complete"]
            for clip_id, of_clip in _by_clip(given).items()
        }
        several = {clip_id: of_clip for clip_id, of_clip in complete.items() if len(of_clip) > 1}
        shared = {clip_id: common_dimensions(of_clip) for clip_id, of_clip in several.items()}
        compared = {clip_id: of_clip for clip_id, of_clip in several.items() if shared[clip_id] != frozenset()}
        clips = tuple(_clip(of_clip, shared[clip_id], by) for clip_id, of_clip in compared.items())
        before = sum(len(annotation.findings) for of_clip in compared.values() for annotation in of_clip)
        return cls(
            annotators=tuple(sorted({annotation.author for annotation in given})),
            clips=clips,
            single_annotator=tuple(clip_id for clip_id, of_clip in complete.items() if len(of_clip) == 1),
            unfinished=tuple(
                (annotation.clip_id, annotation.author) for annotation in given if annotation.status != "complete"
            ),
            no_shared_dimensions=tuple(clip_id for clip_id in several if clip_id not in compared),
            excluded_events=before - sum(len(annotation.findings) for clip in clips for annotation in clip.annotations),
        )


def content(event: AnnotatedEvent) -> tuple[Any, ...]:
    """A key that sorts events by their content. Labels and severity come last, because they must not influence the
    matching.
    """
    return event.spans, event.description, event.dimension or "", event.type or "", event.severity or 0, event.secondary


def event_name(author: str, event: AnnotatedEvent) -> str:
    """The name of an event among several annotators' events, for judges and people."""
    return f"{author}/{event.id}"


def common_dimensions(annotations: Sequence[ClipAnnotation]) -> Dimensions:
    """The dimensions that all authors looked for. If no annotation states its dimensions, the result is None, which
    means all dimensions.
    """
    covered_by_each = [covered for annotation in annotations if (covered := annotation.covered) is not None]
    return frozenset.intersection(*covered_by_each) if covered_by_each else None


def _clip(annotations: Sequence[ClipAnnotation], dimensions: Dimensions, by: str) -> ClipAnnotations:
    times = [annotation.frame_times_s for annotation in annotations if annotation.frame_times_s is not None]
    lengths = [annotation.duration_s for annotation in annotations if annotation.duration_s is not None]
    return ClipAnnotations(
        clip_id=annotations[0].clip_id,
        dataset=_dataset(annotations, by),
        annotations=tuple(
            replace(annotation, findings=_compared(annotation.findings, dimensions)) for annotation in annotations
        ),
        dimensions=dimensions,
        # If annotations give different frame times, the choice must not depend on their order.
        frame_times_s=max(times, key=lambda times_s: (len(times_s), tuple(times_s))) if times else None,
        duration_s=max(lengths) if lengths else None,
    )


def _compared(findings: Sequence[AnnotatedEvent], dimensions: Dimensions) -> tuple[AnnotatedEvent, ...]:
    """The events that can be compared, in an order that depends only on their contents."""
    kept = (
        event
        for event in findings
        if dimensions is None
        or event.dimension is None
        or not dimensions.isdisjoint((event.dimension, *event.secondary))
    )
    return tuple(sorted(kept, key=content))


def _dataset(annotations: Sequence[ClipAnnotation], by: str) -> str:
    by_value = {annotation.fields[by]: annotation for annotation in annotations if by in annotation.fields}
    if len(by_value) > 1:
        (first_value, first), (second_value, second) = list(by_value.items())[:2]
        raise InputError(
            f"{first.clip_id}: the field {by} is {first_value!r} in {first.source} but {second_value!r} in "
            f"{second.source}; correct one of them, or choose another field with --by"
        )
    return next(iter(by_value), "")


def _by_clip(annotations: Sequence[ClipAnnotation]) -> Mapping[str, Sequence[ClipAnnotation]]:
    clips: dict[str, list[ClipAnnotation]] = {}
    for annotation in annotations:
        others = clips.setdefault(annotation.clip_id, [])
        _check_new(annotation, others)
        others.append(annotation)
    return clips


def _check_new(annotation: ClipAnnotation, others: Sequence[ClipAnnotation]) -> None:
    for other in others:
        if other.author == annotation.author:
            raise InputError(
                f"{annotation.author} annotates {annotation.clip_id} twice, in {other.source} and "
                f"in {annotation.source}; "
                "if these are two people, name them: robogaze agree ANN=FILE BOB=FILE"
            )
        if None not in (other.clip_sha256, annotation.clip_sha256) and other.clip_sha256 != annotation.clip_sha256:
            raise InputError(
                f"{annotation.clip_id} is a different file, or a different part of a file, in {other.source} and in "
                f"{annotation.source}; rename one of the two clips"
            )


def _check_same_labels(annotations: Sequence[ClipAnnotation]) -> None:
    seen: Mapping[str, ClipAnnotation] = {
        annotation.taxonomy: annotation for annotation in reversed(annotations) if annotation.taxonomy is not None
    }
    if len(seen) > 1:
        first, second = sorted(annotation.source for annotation in seen.values())[:2]
        raise InputError(
            f"{first} and {second} use labels from different taxonomies; use --mixed to compare them anyway"
        )
