"""Who annotated what: the clips that two annotators or more have completed, and those that they have not.

Only what all annotators of a clip looked for can be compared: where one of them was asked for some dimensions alone,
the findings of the others are set aside and counted.
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
    """A clip with what two annotators or more say of it.

    `accounts` are in the order of the authors' names and hold nothing outside `dimensions`, those that all of
    them looked for; findings are in the order of what they say. `dataset` is the clip's value of the field that clips
    are resampled within, empty where it has none. `frame_times_s` and `duration_s` are those of whichever account
    knows them.
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
        """What the clip is resampled with: its value of the field, as one of the accounts gives it, else itself."""
        said = sorted(annotation.fields[field] for annotation in self.annotations if annotation.fields.get(field))
        return said[0] if said else (self.clip_id,)


@dataclass(frozen=True)
class AnnotationSet:
    """The clips of several annotators.

    `cases` are in the order of the clips' ids. What is not among them is listed: `single` clips, which one annotator
    alone has completed, `unfinished` accounts (clip, author), and `apart`, clips whose annotators looked for nothing in
    common. `aside` counts the findings that were set aside.
    """

    annotators: tuple[str, ...]
    clips: tuple[ClipAnnotations, ...]
    single_annotator: tuple[str, ...]
    unfinished: tuple[tuple[str, str], ...]
    no_shared_dimensions: tuple[str, ...]
    excluded_events: int

    @classmethod
    def of(cls, annotations: Iterable[ClipAnnotation], by: str = "split", *, mixed: bool = False) -> "AnnotationSet":
        """Gather accounts by clip; `by` names the field that tells the dataset.

        Raises InputError when one annotator has two accounts of a clip, when two accounts of a clip are known to be
        of different files or datasets, and, unless `mixed`, when labels of different taxonomies meet.
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
    """What a finding says, comparable; labels and severity last, for they must not decide what is matched."""
    return event.spans, event.description, event.dimension or "", event.type or "", event.severity or 0, event.secondary


def event_name(author: str, event: AnnotatedEvent) -> str:
    """What an event is called where several annotators' events meet, for a judge as for people."""
    return f"{author}/{event.id}"


def common_dimensions(annotations: Sequence[ClipAnnotation]) -> Dimensions:
    """The dimensions that all authors looked for; None when nobody says, which means all."""
    said = [covered for annotation in annotations if (covered := annotation.covered) is not None]
    return frozenset.intersection(*said) if said else None


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
        # Two that know the frames know the same ones; if they do not, the choice must not depend on who came first.
        frame_times_s=max(times, key=lambda times_s: (len(times_s), tuple(times_s))) if times else None,
        duration_s=max(lengths) if lengths else None,
    )


def _compared(findings: Sequence[AnnotatedEvent], dimensions: Dimensions) -> tuple[AnnotatedEvent, ...]:
    """The findings that can be compared, in an order that depends on what they say alone."""
    kept = (
        event
        for event in findings
        if dimensions is None
        or event.dimension is None
        or not dimensions.isdisjoint((event.dimension, *event.secondary))
    )
    return tuple(sorted(kept, key=content))


def _dataset(annotations: Sequence[ClipAnnotation], by: str) -> str:
    said = {annotation.fields[by]: annotation for annotation in annotations if by in annotation.fields}
    if len(said) > 1:
        (first_value, first), (second_value, second) = list(said.items())[:2]
        raise InputError(
            f"{first.clip_id} has the {by} {first_value!r} in {first.source} and {second_value!r} in {second.source}; "
            "correct one of them, or choose another field with --by"
        )
    return next(iter(said), "")


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
                f"{annotation.clip_id} is a different file in {other.source} and in "
                f"{annotation.source} (the sha256 differs); "
                "rename one of the two clips"
            )


def _check_same_labels(annotations: Sequence[ClipAnnotation]) -> None:
    seen: Mapping[str, ClipAnnotation] = {
        annotation.taxonomy: annotation for annotation in reversed(annotations) if annotation.taxonomy is not None
    }
    if len(seen) > 1:
        first, second = sorted(annotation.source for annotation in seen.values())[:2]
        raise InputError(f"{first} and {second} use labels of different taxonomies; --mixed compares them anyway")
