"""Similarities of descriptions, asked of a judge for many clips at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.judges.base import DescriptionPair, Judge

Matrix = NDArray[np.float64]

Question = tuple[ClipAnnotation, Sequence[AnnotatedEvent]]
"""A reference, and findings of the same clip to compare with its own."""


async def judgements(questions: Sequence[Question], judge: Judge) -> list[tuple[Matrix, str]]:
    """For every question the similarity of every pair, and why the first failed judgement failed (empty for none).

    Similarities are in [0, 1], NaN where the judge gave none; shape (reference findings, findings).
    """
    pairs = [_pair(clip, one, other) for clip, findings in questions for one in clip.findings for other in findings]
    judged = iter(await judge.rate(pairs))
    found = []
    for clip, findings in questions:
        shape = len(clip.findings), len(findings)
        answers = [next(judged) for _ in range(shape[0] * shape[1])]
        values = [np.nan if one.similarity is None else one.similarity for one in answers]
        why = next((one.rationale for one in answers if one.similarity is None), "")
        found.append((np.array(values, dtype=np.float64).reshape(shape), why))
    return found


async def similarities(questions: Sequence[Question], judge: Judge) -> list[Matrix]:
    """The similarities of `judgements` alone."""
    return [matrix for matrix, _ in await judgements(questions, judge)]


def _pair(clip: ClipAnnotation, reference: AnnotatedEvent, prediction: AnnotatedEvent) -> DescriptionPair:
    return DescriptionPair(
        clip_id=clip.clip_id,
        reference_id=reference.id,
        prediction_id=prediction.id,
        reference=reference.description,
        prediction=prediction.description,
        instruction=clip.instruction,
        reference_type=reference.type,
        prediction_type=prediction.type,
    )
