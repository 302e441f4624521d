"""Controls and floors over a corpus, as tables of rows in the order of the references."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import ClipAnnotation
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.rows import NOTHING, base_row, row
from robogaze.evaluation.tables import CHUNK
from robogaze.judges.base import Judge
from robogaze.judges.similarity import similarities
from robogaze.metrics.controls import CONTROLS
from robogaze.metrics.tally import scored

Matrix = NDArray[np.float64]


def control_tables(references: Sequence[ClipAnnotation], terms: EvaluationConfig) -> Matrix:
    """The rows of every control, shape (CONTROLS, n, columns); zero where a control has no guess."""
    tables = np.zeros((len(CONTROLS), len(references), len(NOTHING)))
    for place, control in enumerate(CONTROLS.values()):
        for number, clip in enumerate(references):
            guess = control.guess(clip)
            if guess is not None:
                tables[place, number] = row(clip, guess.account, guess.similarity, terms.weighting)
    return tables


async def floor_table(
    references: Sequence[ClipAnnotation],
    said: Mapping[str, ClipAnnotation | None],
    judge: Judge,
    terms: EvaluationConfig,
) -> Matrix:
    """The rows (n, columns) of a floor, judged as a system is; zero for clips without an entry."""
    table = np.zeros((len(references), len(NOTHING)))
    for first in range(0, len(references), CHUNK):
        clips = [
            (number, clip, said[clip.clip_id])
            for number, clip in enumerate(references[first : first + CHUNK], start=first)
            if clip.clip_id in said
        ]
        questions = [(clip, one.findings if scored(one) else ()) for _, clip, one in clips]
        for (number, clip, one), similarity in zip(clips, await similarities(questions, judge), strict=True):
            table[number] = base_row(clip, one, similarity, terms)
    return table
