"""The released evaluators on the same annotations, so that published tables can be compared."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.estimate import Estimate
from robogaze.datasets.pairing import Pairing, System
from robogaze.errors import InputError
from robogaze.evaluation import CONVENTIONS
from robogaze.judges.base import Judge
from robogaze.judges.similarity import similarities
from robogaze.metrics import released_glide, released_robogaze
from robogaze.metrics.tally import scored

Taxonomy = Mapping[str, Collection[str]]
"""The types of each dimension."""


@dataclass(frozen=True)
class JudgedClip:
    """A reference and the events predicted for its clip, None without a scored prediction.

    `similarity` has shape (reference events, predicted events).
    """

    reference: ClipAnnotation
    events: tuple[AnnotatedEvent, ...] | None
    similarity: NDArray[np.float64]


@dataclass(frozen=True)
class ReleasedScores:
    """A system's scores; `dropped` are the clips that the released evaluator excludes from every mean."""

    name: str
    metrics: Mapping[str, Estimate]
    per_dimension: Mapping[str, Estimate]
    dropped: tuple[str, ...]


@dataclass(frozen=True)
class ReleasedEvaluation:
    """The scores of every system by a released evaluator."""

    convention: str
    judge: Judge
    systems: tuple[ReleasedScores, ...]


@dataclass(frozen=True)
class ReleasedEvaluator:
    """A convention that reproduces a released evaluator: `score` is called with a system's name and its clips."""

    score: Callable[[str, Sequence[JudgedClip], Taxonomy], ReleasedScores]


async def evaluate_pairing_as_released(
    pairing: Pairing, judge: Judge, convention: str, taxonomy: Taxonomy
) -> ReleasedEvaluation:
    """Score every system as a released evaluator does.

    Raises InputError for a convention that is no released evaluator, if a judgement failed, because these evaluators
    cannot exclude one, and if a clip's frames are not known where the evaluator counts in frames.
    """
    evaluator = CONVENTIONS.load(convention)
    if not isinstance(evaluator, ReleasedEvaluator):
        raise InputError(f"the convention {convention} is not a released evaluator")
    systems = [
        evaluator.score(system.name, await _judged_clips(pairing.references, system, judge, convention), taxonomy)
        for system in pairing.systems
    ]
    return ReleasedEvaluation(convention, judge, tuple(systems))


async def _judged_clips(
    references: Sequence[ClipAnnotation], system: System, judge: Judge, convention: str
) -> list[JudgedClip]:
    predictions = [system.annotations.get(reference.clip_id) for reference in references]
    events = [prediction.findings if scored(prediction) else None for prediction in predictions]
    queries = [(reference, predicted or ()) for reference, predicted in zip(references, events, strict=True)]
    matrices = await similarities(queries, judge)
    failed = sum(bool(np.isnan(matrix).any()) for matrix in matrices)
    if failed:
        raise InputError(f"{system.name}: judgements failed in {failed} clips, which {convention} cannot exclude")
    return [JudgedClip(*clip) for clip in zip(references, events, matrices, strict=True)]


def _score_glide(name: str, clips: Sequence[JudgedClip], taxonomy: Taxonomy) -> ReleasedScores:
    videos = [
        released_glide.Video(
            clip.reference.clip_id, clip.reference.findings, clip.events, clip.similarity, _fps(clip.reference)
        )
        for clip in clips
    ]
    scores = released_glide.score(videos)
    return ReleasedScores(name, scores.metrics, {}, scores.dropped)


def _score_robogaze(name: str, clips: Sequence[JudgedClip], taxonomy: Taxonomy) -> ReleasedScores:
    samples = [
        released_robogaze.Sample(
            clip.reference.clip_id, clip.reference.findings, clip.events, clip.similarity, _frame_times_s(clip)
        )
        for clip in clips
    ]
    scores = released_robogaze.score(samples, taxonomy)
    return ReleasedScores(name, scores.metrics, scores.per_dimension, scores.dropped)


ROBOGAZE_RELEASED = ReleasedEvaluator(_score_robogaze)
GLIDE_RELEASED = ReleasedEvaluator(_score_glide)


def _frame_times_s(clip: JudgedClip) -> Sequence[float]:
    """The clip's frames; empty if they are not known and not needed, because every event is written in frames."""
    reference = clip.reference
    if reference.frame_times_s is not None:
        return reference.frame_times_s
    if clip.events is not None and not all(_in_frames(event) for event in (*reference.findings, *clip.events)):
        raise InputError(
            f"{reference.clip_id}: {reference.source} does not give the clip's frame times, which this convention needs"
        )
    return ()


def _in_frames(event: AnnotatedEvent) -> bool:
    return event.written is not None and event.written.unit == "frames"


def _fps(annotation: ClipAnnotation) -> float | None:
    times_s = annotation.frame_times_s
    return None if times_s is None or len(times_s) < 2 else (len(times_s) - 1) / (times_s[-1] - times_s[0])
