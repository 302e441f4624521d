"""Similarities of descriptions, from a judge, for many clips at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.judges.base import DescriptionPair, Judge

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]

Query = tuple[ClipAnnotation, Sequence[AnnotatedEvent]]
"""A reference, and the events that are compared with its events."""


async def judgements(
    queries: Sequence[Query], judge: Judge, wanted: Sequence[Flags] | None = None
) -> list[tuple[Matrix, str]]:
    """Return two things for every query: the similarities of its pairs, and the reason why its first unscored pair is
    unscored (empty if all pairs are scored).

    Similarities have shape (reference events, events); they are in [0, 1], NaN for an unscored pair. If `wanted` is
    given, the judge is asked only about the pairs that it marks, and all other pairs are NaN.
    """
    if wanted is None:
        wanted = [np.ones((len(clip.findings), len(events)), np.bool_) for clip, events in queries]
    places = [np.argwhere(asked).tolist() for asked in wanted]
    pairs = [
        _pair(clip, clip.findings[row], events[column])
        for (clip, events), of_clip in zip(queries, places, strict=True)
        for row, column in of_clip
    ]
    judged = iter(await judge.rate(pairs) if pairs else ())
    results = []
    for asked, of_clip in zip(wanted, places, strict=True):
        similarity, why = np.full(asked.shape, np.nan), ""
        for row, column in of_clip:
            answer = next(judged)
            if answer.similarity is None:
                why = why or answer.rationale
            else:
                similarity[row, column] = answer.similarity
        results.append((similarity, why))
    return results


async def similarities(queries: Sequence[Query], judge: Judge, wanted: Sequence[Flags] | None = None) -> list[Matrix]:
    """Only the similarities that `judgements` returns."""
    return [matrix for matrix, _ in await judgements(queries, judge, wanted)]


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
