"""A system over a corpus, as tables of rows in the order of the references."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import ClipAnnotation
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.rows import NOTHING, Groups, base_row, count
from robogaze.judges.base import Judge
from robogaze.judges.similarity import judgements, similarities
from robogaze.matching import Match
from robogaze.metrics.errors import KINDS
from robogaze.metrics.operating import THRESHOLDS, at_threshold
from robogaze.metrics.tally import scored

Matrix = NDArray[np.float64]

CHUNK = 256
"""How many clips a judge is asked about at once."""


@dataclass(frozen=True)
class Tables:
    """The rows of all clips, stacked; see `Rows` for what each holds. Shapes, with n clips:

    base, worst, best (n, columns); lambdas (LAMBDAS, n, columns); repaired (KINDS, n, 3); faults (KINDS,);
    dimensions and types (groups, n, group columns); confusion (dimensions + 1, dimensions + 1). `unjudged` names the
    clips whose events left the estimates because a judgement failed, with the first reason. A clip takes about 3 kB,
    besides its matches.
    """

    base: Matrix
    worst: Matrix
    best: Matrix
    lambdas: Matrix
    repaired: Matrix
    faults: Matrix
    dimensions: Matrix
    types: Matrix
    confusion: Matrix
    unjudged: tuple[str, ...]
    matches: tuple[tuple[Match, ...], ...]


_STACKED = ("base", "worst", "best", "lambdas", "repaired", "dimensions", "types")
"""What stands in a table for every clip; the rest is added up."""


async def system_tables(
    references: Sequence[ClipAnnotation],
    accounts: Mapping[str, ClipAnnotation],
    judge: Judge,
    terms: EvaluationConfig,
    groups: Groups,
) -> Tables:
    """Judge, match and count every clip, at least one; one without an account counts as if nothing was reported."""
    stacked: dict[str, Matrix] = {}
    matches: list[tuple[Match, ...]] = []
    unjudged: list[str] = []
    faults, confusion = np.zeros(len(KINDS)), np.zeros((len(groups.dimensions) + 1,) * 2)
    for first in range(0, len(references), CHUNK):
        clips = [(one, accounts.get(one.clip_id)) for one in references[first : first + CHUNK]]
        judged = await judgements([(one, other.findings if scored(other) else ()) for one, other in clips], judge)
        for number, (clip, (similarity, why)) in enumerate(zip(clips, judged, strict=True), start=first):
            rows = count(*clip, similarity, terms, groups)
            for name in _STACKED:
                value = getattr(rows, name)
                stacked.setdefault(name, np.empty((len(references), *value.shape)))[number] = value
            faults += rows.faults
            confusion += rows.confusion
            if not rows.judged:
                unjudged.append(f"{clip[0].clip_id}: {why}")
            matches.append(rows.matches)
    tables = {name: np.moveaxis(one, 0, -2) for name, one in stacked.items()}
    return Tables(**tables, faults=faults, confusion=confusion, unjudged=tuple(unjudged), matches=tuple(matches))


async def threshold_tables(
    references: Sequence[ClipAnnotation], accounts: Mapping[str, ClipAnnotation], judge: Judge, terms: EvaluationConfig
) -> Matrix:
    """The rows at every operating point, shape (THRESHOLDS, n, columns); see `Rows.base` for failed judgements."""
    tables = np.zeros((len(THRESHOLDS), len(references), len(NOTHING)))
    for first in range(0, len(references), CHUNK):
        clips = references[first : first + CHUNK]
        swept = [
            [None if one is None else at_threshold(one, least) for least in THRESHOLDS]
            for one in (accounts.get(clip.clip_id) for clip in clips)
        ]
        questions = [
            (clip, one.findings if scored(one) else ())
            for clip, points in zip(clips, swept, strict=True)
            for one in points
        ]
        judged = iter(await similarities(questions, judge))
        for number, (clip, points) in enumerate(zip(clips, swept, strict=True), start=first):
            for point, account in enumerate(points):
                tables[point, number] = base_row(clip, account, next(judged), terms)
    return tables
