"""The released evaluators on the same annotations, so that published tables can be compared."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.pairing import Pairing, System
from robogaze.errors import InputError
from robogaze.evaluation import CONVENTIONS
from robogaze.judges.base import Judge
from robogaze.judges.similarity import similarities
from robogaze.metrics import released_glide, released_robogaze
from robogaze.metrics.released import ReleasedClip, ReleasedScores
from robogaze.metrics.tally import scored

Taxonomy = Mapping[str, Collection[str]]
"""The types of each dimension."""


@dataclass(frozen=True)
class ReleasedEvaluation:
    """The scores of every system by a released evaluator."""

    convention: str
    judge: Judge
    systems: Mapping[str, ReleasedScores]


@dataclass(frozen=True)
class ReleasedEvaluator:
    """A convention that reproduces a released evaluator; `in_frames` says that it counts in frames."""

    score: Callable[[Sequence[ReleasedClip], Taxonomy], ReleasedScores]
    in_frames: bool


async def evaluate_pairing_as_released(
    pairing: Pairing, judge: Judge, convention: str, taxonomy: Taxonomy
) -> ReleasedEvaluation:
    """Score every system in the same way as a released evaluator.

    Raises InputError for a convention that is not a released evaluator. Also raises InputError for a failed judgement,
    which these evaluators cannot exclude, and for a clip with unknown frames if the evaluator counts in frames.
    """
    evaluator = CONVENTIONS.load(convention)
    if not isinstance(evaluator, ReleasedEvaluator):
        raise InputError(f"the convention {convention} is not a released evaluator")
    systems = {}
    for system in pairing.systems:
        clips = await _judged_clips(pairing.references, system, judge, convention, in_frames=evaluator.in_frames)
        systems[system.name] = evaluator.score(clips, taxonomy)
    return ReleasedEvaluation(convention, judge, systems)


async def _judged_clips(
    references: Sequence[ClipAnnotation], system: System, judge: Judge, convention: str, *, in_frames: bool
) -> list[ReleasedClip]:
    predictions = [system.annotations.get(reference.clip_id) for reference in references]
    events = [prediction.findings if scored(prediction) else None for prediction in predictions]
    queries = [(reference, predicted or ()) for reference, predicted in zip(references, events, strict=True)]
    matrices = await similarities(queries, judge)
    failed = sum(bool(np.isnan(matrix).any()) for matrix in matrices)
    if failed:
        raise InputError(f"{system.name}: judgements failed in {failed} clips, which {convention} cannot exclude")
    if in_frames:
        for reference, predicted in zip(references, events, strict=True):
            _check_frames(reference, predicted)
    return [
        ReleasedClip(reference.clip_id, reference.findings, predicted, similarity, reference.frame_times_s or ())
        for reference, predicted, similarity in zip(references, events, matrices, strict=True)
    ]


ROBOGAZE_RELEASED = ReleasedEvaluator(released_robogaze.score, in_frames=True)
GLIDE_RELEASED = ReleasedEvaluator(lambda clips, _: released_glide.score(clips), in_frames=False)


def _check_frames(reference: ClipAnnotation, predicted: Sequence[AnnotatedEvent] | None) -> None:
    """Raise InputError if a clip's frames are unknown and an event is not written in frames."""
    if reference.frame_times_s is not None or predicted is None:
        return
    if not all(_in_frames(event) for event in (*reference.findings, *predicted)):
        raise InputError(
            f"{reference.clip_id}: {reference.source} does not give the clip's frame times, which this convention needs"
        )


def _in_frames(event: AnnotatedEvent) -> bool:
    return event.written is not None and event.written.unit == "frames"
