"""The released evaluators, on the accounts of an evaluation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.scores import Estimate
from robogaze.datasets.pairing import Pairing, System
from robogaze.errors import InputError
from robogaze.judges.base import Judge
from robogaze.judges.similarity import similarities
from robogaze.metrics import released_glide, released_robogaze
from robogaze.metrics.tally import scored

Taxonomy = Mapping[str, Collection[str]]
"""The types of each dimension."""

RELEASED = ("robogaze-released", "glide-released")
"""The conventions that reproduce a released evaluator, quirks included."""


@dataclass(frozen=True)
class ReleasedScores:
    """A system's scores; `dropped` are the clips that the released evaluator leaves out of every mean."""

    name: str
    metrics: Mapping[str, Estimate]
    per_dimension: Mapping[str, Estimate]
    dropped: tuple[str, ...]


async def released(pairing: Pairing, judge: Judge, convention: str, taxonomy: Taxonomy) -> tuple[ReleasedScores, ...]:
    """Score every system as a released evaluator does.

    Raises InputError when a judgement failed, for these evaluators know no such thing, and when a clip's frames are
    not known where they count in frames.
    """
    return tuple([await _scored(pairing.references, system, judge, convention, taxonomy) for system in pairing.systems])


async def _scored(
    references: Sequence[ClipAnnotation],
    system: System,
    judge: Judge,
    convention: str,
    taxonomy: Taxonomy,
) -> ReleasedScores:
    annotations = [system.accounts.get(reference.clip_id) for reference in references]
    findings = [annotation.findings if scored(annotation) else None for annotation in annotations]
    matrices = await similarities(
        [(reference, said or ()) for reference, said in zip(references, findings, strict=True)], judge
    )
    failed = sum(bool(np.isnan(matrix).any()) for matrix in matrices)
    if failed:
        raise InputError(f"{system.name}: judgements failed in {failed} clips, which {convention} cannot leave out")
    clips = list(zip(references, findings, matrices, strict=True))
    if convention == "glide-released":
        videos = [
            released_glide.Video(clip.clip_id, clip.findings, said, matrix, _fps(clip)) for clip, said, matrix in clips
        ]
        glide = released_glide.score(videos)
        return ReleasedScores(system.name, glide.metrics, {}, glide.dropped)
    samples = [
        released_robogaze.Sample(clip.clip_id, clip.findings, said, matrix, _frames(clip, said))
        for clip, said, matrix in clips
    ]
    robogaze = released_robogaze.score(samples, taxonomy)
    return ReleasedScores(system.name, robogaze.metrics, robogaze.per_dimension, robogaze.dropped)


def _frames(annotation: ClipAnnotation, predictions: Sequence[AnnotatedEvent] | None) -> Sequence[float]:
    """The clip's frames; empty where they are not known and not needed, for every event is written in frames."""
    if annotation.frame_times_s is not None:
        return annotation.frame_times_s
    if predictions is not None and not all(_in_frames(event) for event in (*annotation.findings, *predictions)):
        raise InputError(
            f"{annotation.clip_id}: {annotation.source} does not say the clip's frames, in which this convention counts"
        )
    return ()


def _in_frames(event: AnnotatedEvent) -> bool:
    return event.written is not None and event.written.unit == "frames"


def _fps(annotation: ClipAnnotation) -> float | None:
    times_s = annotation.frame_times_s
    return None if times_s is None or len(times_s) < 2 else (len(times_s) - 1) / (times_s[-1] - times_s[0])
