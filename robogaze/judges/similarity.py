"""Similarities of descriptions, from a judge, for many clips at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.judges.base import DescriptionPair, Judge

Matrix = NDArray[np.float64]

Query = tuple[ClipAnnotation, Sequence[AnnotatedEvent]]
"""A reference, and the events that are compared with its events."""


async def judgements(queries: Sequence[Query], judge: Judge) -> list[tuple[Matrix, str]]:
    """For every query the similarities of its pairs, and the reason of the first unscored pair (empty without one).

    Similarities have shape (reference events, events); they are in [0, 1], NaN for an unscored pair.
    """
    pairs = [
        _pair(clip, reference, event) for clip, events in queries for reference in clip.findings for event in events
    ]
    judged = iter(await judge.rate(pairs))
    results = []
    for clip, events in queries:
        shape = len(clip.findings), len(events)
        answers = [next(judged) for _ in range(shape[0] * shape[1])]
        values = [np.nan if answer.similarity is None else answer.similarity for answer in answers]
        why = next((answer.rationale for answer in answers if answer.similarity is None), "")
        results.append((np.array(values, dtype=np.float64).reshape(shape), why))
    return results


async def similarities(queries: Sequence[Query], judge: Judge) -> list[Matrix]:
    """The similarities of `judgements` alone."""
    return [matrix for matrix, _ in await judgements(queries, judge)]


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
        reference_steps=reference.reproduction,
        prediction_steps=prediction.reproduction,
    )
