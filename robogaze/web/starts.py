"""Annotations that annotators start from: earlier annotations in any format, or the events of a model."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from robogaze.annotations import NamedSource, ReadOptions, SourceReader
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.clip import Clip, address
from robogaze.core.time import Span
from robogaze.datasets import ManifestEntry
from robogaze.datasets.pairing import match_clip_ids
from robogaze.errors import InputError
from robogaze.web.drafts import DraftEvent, DraftSpan, Origin


def annotations_for(
    path: Path, entries: Mapping[str, ManifestEntry], domain: str, author: str | None = None
) -> dict[str, ClipAnnotation]:
    """The annotations of the given clips, keyed by clip id. They are read from a path in any format, and matched to the
    clips by id, sha256 or file stem.

    Raises InputError if the path cannot be read, or if it has no annotation of any of the clips. If it has several
    annotations of a clip, exactly one of them must be by `author`; otherwise, InputError is raised.
    """
    reader = SourceReader(ReadOptions(domain=domain), ReadOptions(domain=domain).labels(), quiet=True)
    clips = [
        ClipAnnotation(
            clip_id,
            "",
            "complete",
            (),
            clip_file=entry.address,
            clip_sha256=entry.sha256 and address(entry.sha256, entry.start_s, entry.end_s),
        )
        for clip_id, entry in entries.items()
    ]
    found = _one_a_clip(reader.read(NamedSource.of(path)), path, author)
    paired = {annotation.clip_id: annotation for annotation in match_clip_ids(clips, found).annotations}
    wanted = {clip_id: paired[clip_id] for clip_id in entries if clip_id in paired}
    if not wanted:
        raise InputError(
            f"{path} has no annotation of any of these clips; check that clip ids, file names or sha256 are the same"
        )
    return wanted


def _one_a_clip(annotations: Sequence[ClipAnnotation], path: Path, author: str | None) -> list[ClipAnnotation]:
    by_clip: dict[str, list[ClipAnnotation]] = {}
    for annotation in annotations:
        by_clip.setdefault(annotation.clip_id, []).append(annotation)
    chosen = []
    for clip_id, given in by_clip.items():
        own = given if len(given) == 1 else [annotation for annotation in given if annotation.author == author]
        if len(own) != 1:
            names = ", ".join(sorted({annotation.author for annotation in given}))
            raise InputError(
                f"{path} has annotations of {clip_id} by {names}; name a file with annotations by only one of them"
            )
        chosen.append(own[0])
    return chosen


def draft_events(events: Iterable[AnnotatedEvent], clip: Clip, origin: Origin) -> tuple[DraftEvent, ...]:
    """Events as drafts; spans are cut to the clip."""
    return tuple(
        DraftEvent(
            id=event.id,
            dimension=event.dimension,
            type=event.type,
            secondary=event.secondary,
            spans=tuple(_draft_span(clip.clamp(span)) for span in event.spans),
            severity=event.severity,
            description=event.description,
            origin=origin,
        )
        for event in events
    )


def _draft_span(span: Span) -> DraftSpan:
    return DraftSpan(start_s=span.start, end_s=span.end)
