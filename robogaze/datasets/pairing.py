"""References and predictions, paired by clip.

`match_clip_ids` gives both sides the same clip ids; `pair` pairs by id. Nothing is dropped silently: a clip without a
prediction stays in every denominator; a prediction without a reference and an unfinished reference are listed.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.manifest import stem_of
from robogaze.errors import InputError

_MAX_NAMED = 3
"""The number of clips that a message names."""

_PROMPT = "prompt_id"
"""The field that names what a clip was generated from."""

_VIDEO_SUFFIXES = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")


@dataclass(frozen=True)
class MatchedIds:
    """Annotations whose clip ids were replaced by those of the references. `by` counts the matches by key: id, sha256,
    stem.
    """

    annotations: tuple[ClipAnnotation, ...]
    by: Mapping[str, int]

    def __str__(self) -> str:
        """The counts: `3 by id, 1 by sha256`."""
        return ", ".join(f"{number} by {key}" for key, number in self.by.items() if number)


def match_clip_ids(references: Sequence[ClipAnnotation], annotations: Sequence[ClipAnnotation]) -> MatchedIds:
    """Replace each annotation's clip id by the clip id that the reference of the same clip has. The reference is looked
    for by id, then by sha256, then by file stem.

    A sha256 or a stem matches only if exactly one clip on each side has it, and a stem never matches files that are
    known to differ. An annotation without a match keeps its id.
    """
    ids = {reference.clip_id for reference in references}
    matches = {annotation.clip_id: annotation.clip_id for annotation in annotations if annotation.clip_id in ids}
    by = {"id": len(matches), "sha256": 0, "stem": 0}
    for name, key in (("sha256", _sha256), ("stem", _stem)):
        matched = set(matches.values())
        wanted = _by_unique_key([reference for reference in references if reference.clip_id not in matched], key)
        unmatched = [annotation for annotation in annotations if annotation.clip_id not in matches]
        offered = _by_unique_key(unmatched, key)
        for value in wanted.keys() & offered.keys():
            if len({wanted[value].clip_sha256, offered[value].clip_sha256} - {None}) < 2:
                matches[offered[value].clip_id] = wanted[value].clip_id
                by[name] += 1
    renamed = (
        replace(annotation, clip_id=matches.get(annotation.clip_id, annotation.clip_id)) for annotation in annotations
    )
    return MatchedIds(tuple(renamed), by)


def _by_unique_key(
    annotations: Sequence[ClipAnnotation], key: Callable[[ClipAnnotation], str | None]
) -> dict[str, ClipAnnotation]:
    """One annotation of each clip, by a key that is unique to the clip."""
    clips = {annotation.clip_id: annotation for annotation in annotations}
    counts = Counter(key(clip) for clip in clips.values())
    return {value: clip for clip in clips.values() if (value := key(clip)) is not None and counts[value] == 1}


def _sha256(annotation: ClipAnnotation) -> str | None:
    return annotation.clip_sha256


def _stem(annotation: ClipAnnotation) -> str:
    name, *part = (annotation.clip_file or annotation.clip_id).split("#t=", 1)
    path = PurePath(name)
    is_file = annotation.clip_file or path.suffix.lower() in _VIDEO_SUFFIXES
    return "#t=".join([stem_of(path.stem if is_file else path.name).casefold(), *part])


@dataclass(frozen=True)
class System:
    """A system's predictions: one annotation for each clip that the system reported on, keyed by clip id."""

    name: str
    annotations: Mapping[str, ClipAnnotation]

    @classmethod
    def of(cls, name: str, annotations: Sequence[ClipAnnotation]) -> "System":
        """Raises InputError if a clip has two annotations."""
        return cls(name, _by_clip(annotations))


@dataclass(frozen=True)
class Pairing:
    """The clips that can be scored, in the order of their ids, and the clips that cannot be scored.

    `unreferenced` clips have a prediction but no reference; `unfinished` clips have a reference that is not complete.
    `left_out` lists the parts of files that could not be read, and says where each of them is.
    """

    references: tuple[ClipAnnotation, ...]
    systems: tuple[System, ...]
    unreferenced: tuple[str, ...]
    unfinished: tuple[str, ...]
    left_out: tuple[str, ...] = ()


def pair(references: Sequence[ClipAnnotation], systems: Sequence[System], *, mixed: bool = False) -> Pairing:
    """Pair references and predictions by clip id.

    Raises InputError if a clip has two references, if a reference and a prediction of one clip give different sha256
    values, if no reference is complete, or if no clip has both a reference and a prediction. Without `mixed`, labels
    from different taxonomies are also an error.
    """
    by_clip = _by_clip(references)
    for system in systems:
        for clip_id, prediction in system.annotations.items():
            if clip_id in by_clip:
                _check_same_file(by_clip[clip_id], prediction)
    if not mixed:
        _check_same_taxonomy(references, systems)
    finished = {
        clip_id: _completed(reference, systems)
        for clip_id, reference in by_clip.items()
        if reference.status == "complete"
    }
    if not finished:
        raise InputError(f"no reference is complete: the references of {_some(by_clip)} are partial or unscored")
    predicted = {clip_id for system in systems for clip_id in system.annotations}
    if not predicted & by_clip.keys():
        raise InputError(f"no prediction has the clip id of a reference (references: {_some(by_clip)}; "
                         f"predictions: {_some(predicted)}); use the same clip ids in both")  # fmt: skip
    return Pairing(
        references=tuple(finished[clip_id] for clip_id in sorted(finished)),
        systems=tuple(systems),
        unreferenced=tuple(sorted(predicted - by_clip.keys())),
        unfinished=tuple(sorted(by_clip.keys() - finished.keys())),
    )


def _completed(reference: ClipAnnotation, systems: Sequence[System]) -> ClipAnnotation:
    """The reference with the prompt and the frame times of the clip, if only predictions give them.

    Other fields are not taken over: clips without a prediction would lack them, and would form a data set of their own.
    """
    predictions = [
        system.annotations[reference.clip_id] for system in systems if reference.clip_id in system.annotations
    ]
    prompt_ids = (prediction.fields.get(_PROMPT) for prediction in (reference, *predictions))
    prompt_id = next((value for value in prompt_ids if value is not None), None)
    completed = reference if prompt_id is None else replace(reference, fields={**reference.fields, _PROMPT: prompt_id})
    if reference.frame_times_s is not None:
        return completed
    timed = next((prediction for prediction in predictions if prediction.frame_times_s is not None), None)
    if timed is None:
        return completed
    return replace(completed, frame_times_s=timed.frame_times_s, duration_s=reference.duration_s or timed.duration_s)


def _by_clip(annotations: Sequence[ClipAnnotation]) -> dict[str, ClipAnnotation]:
    by_clip: dict[str, ClipAnnotation] = {}
    for annotation in annotations:
        other = by_clip.setdefault(annotation.clip_id, annotation)
        if other is not annotation:
            raise InputError(
                f"{annotation.clip_id} has two annotations, by {other.author} ({other.source}) and by "
                f"{annotation.author} ({annotation.source}); choose one with `author` (predictions: give "
                "one file for each author), or compare authors with: robogaze agree"
            )
    return by_clip


def _check_same_file(reference: ClipAnnotation, prediction: ClipAnnotation) -> None:
    known = {reference.clip_sha256, prediction.clip_sha256} - {None}
    if len(known) > 1:
        raise InputError(
            f"{reference.clip_id}: {prediction.source} and {reference.source} are about different files or "
            "different parts of a file; score the clip again"
        )


def _check_same_taxonomy(references: Sequence[ClipAnnotation], systems: Sequence[System]) -> None:
    by_taxonomy: dict[str, ClipAnnotation] = {}
    predictions = (prediction for system in systems for prediction in system.annotations.values())
    for annotation in (*references, *predictions):
        if annotation.taxonomy is not None:
            by_taxonomy.setdefault(annotation.taxonomy, annotation)
    if len(by_taxonomy) > 1:
        first, second = list(by_taxonomy.values())[:2]
        raise InputError(
            f"{first.source} and {second.source} use labels from different taxonomies; use `mixed` to compare "
            f"them anyway"
        )
    for system in systems:
        by_fingerprint = {
            prediction.fingerprint: prediction
            for prediction in system.annotations.values()
            if prediction.fingerprint is not None
        }
        if len(by_fingerprint) > 1:
            first, second = list(by_fingerprint.values())[:2]
            raise InputError(
                f"{system.name} is not one system: {first.source} and {second.source} were made with different "
                "versions of the domain's files; use `mixed` to score them anyway"
            )


def _some(names: Mapping[str, ClipAnnotation] | set[str]) -> str:
    shown = sorted(names)[:_MAX_NAMED]
    return ", ".join(shown) + (", ..." if len(names) > _MAX_NAMED else "") if names else "none"
