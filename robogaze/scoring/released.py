"""The released evaluators, on the accounts of an evaluation."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.scores import Estimate
from robogaze.datasets.pairing import Pairing, System
from robogaze.errors import InputError
from robogaze.judges.base import Judge
from robogaze.metrics import released_glide, released_robogaze
from robogaze.metrics.tally import scored
from robogaze.scoring.judging import similarities

Taxonomy = Mapping[str, Collection[str]]
"""The types of each dimension."""

RELEASED = ("robogaze-released", "glide-released")
"""The conventions that reproduce a released evaluator, quirks included."""


@dataclass(frozen=True)
class Released:
    """A system's scores; `dropped` are the clips that the released evaluator leaves out of every mean."""

    name: str
    metrics: Mapping[str, Estimate]
    per_dimension: Mapping[str, Estimate]
    dropped: tuple[str, ...]


async def released(pairing: Pairing, judge: Judge, convention: str, taxonomy: Taxonomy) -> tuple[Released, ...]:
    """Score every system as a released evaluator does.

    Raises InputError when a judgement failed, for these evaluators know no such thing, and when a clip's frames are
    not known where they count in frames.
    """
    return tuple([await _scored(pairing.references, one, judge, convention, taxonomy) for one in pairing.systems])


async def _scored(
    references: Sequence[ClipAnnotation],
    system: System,
    judge: Judge,
    convention: str,
    taxonomy: Taxonomy,
) -> Released:
    accounts = [system.annotations.get(one.clip_id) for one in references]
    findings = [one.findings if scored(one) else None for one in accounts]
    matrices = await similarities([(one, said or ()) for one, said in zip(references, findings, strict=True)], judge)
    failed = sum(bool(np.isnan(one).any()) for one in matrices)
    if failed:
        raise InputError(f"{system.name}: judgements failed in {failed} clips, which {convention} cannot leave out")
    clips = list(zip(references, findings, matrices, strict=True))
    if convention == "glide-released":
        videos = [
            released_glide.Video(one.clip_id, one.findings, said, matrix, _fps(one)) for one, said, matrix in clips
        ]
        glide = released_glide.score(videos)
        return Released(system.name, glide.metrics, {}, glide.dropped)
    samples = [
        released_robogaze.Sample(one.clip_id, one.findings, said, matrix, _frames(one, said))
        for one, said, matrix in clips
    ]
    robogaze = released_robogaze.score(samples, taxonomy)
    return Released(system.name, robogaze.metrics, robogaze.per_dimension, robogaze.dropped)


def _frames(account: ClipAnnotation, predictions: Sequence[AnnotatedEvent] | None) -> Sequence[float]:
    """The clip's frames; empty where they are not known and not needed, for every event is written in frames."""
    if account.frame_times_s is not None:
        return account.frame_times_s
    if predictions is not None and not all(_in_frames(one) for one in (*account.findings, *predictions)):
        raise InputError(
            f"{account.clip_id}: {account.source} does not say the clip's frames, in which this convention counts"
        )
    return ()


def _in_frames(one: AnnotatedEvent) -> bool:
    return one.written is not None and one.written.unit == "frames"


def _fps(account: ClipAnnotation) -> float | None:
    times_s = account.frame_times_s
    return None if times_s is None or len(times_s) < 2 else (len(times_s) - 1) / (times_s[-1] - times_s[0])
