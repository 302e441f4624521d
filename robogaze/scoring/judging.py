"""Similarities of descriptions, asked of a judge for many clips at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from robogaze.judges.base import Judge, Pair

from robogaze.core.account import Account, Finding

Matrix = NDArray[np.float64]

Question = tuple[Account, Sequence[Finding]]
"""A reference, and findings of the same clip to compare with its own."""


async def similarities(questions: Sequence[Question], judge: Judge) -> list[Matrix]:
    """The similarity of every pair, in [0, 1], NaN where the judge gave none; shape (reference findings, findings)."""
    pairs = [_pair(clip, one, other) for clip, findings in questions for one in clip.findings for other in findings]
    judged = iter(await judge.rate(pairs))
    matrices = []
    for clip, findings in questions:
        shape = len(clip.findings), len(findings)
        values = [next(judged).similarity for _ in range(shape[0] * shape[1])]
        matrices.append(np.array([np.nan if one is None else one for one in values], dtype=np.float64).reshape(shape))
    return matrices


def _pair(clip: Account, reference: Finding, prediction: Finding) -> Pair:
    return Pair(
        clip_id=clip.clip_id,
        reference_id=reference.id,
        prediction_id=prediction.id,
        reference=reference.description,
        prediction=prediction.description,
        instruction=clip.instruction,
        reference_type=reference.type,
        prediction_type=prediction.type,
    )
