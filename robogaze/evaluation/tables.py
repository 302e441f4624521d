"""A system over a corpus: the rows of its clips as tables, in the order of the references."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import ClipAnnotation
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.rows import EMPTY_ROW, Groups, base_row, clip_row, count_clip
from robogaze.judges.base import Judge
from robogaze.judges.similarity import judgements, similarities
from robogaze.matching import Match
from robogaze.metrics.controls import CONTROLS
from robogaze.metrics.errors import ERROR_KINDS
from robogaze.metrics.tally import scored

Matrix = NDArray[np.float64]

CHUNK = 256
"""How many clips are sent to a judge at once."""

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""The thresholds on confidence that are tried (RoboGaze, Table 23)."""


@dataclass(frozen=True)
class SystemTables:
    """The rows of all clips, stacked (see `ClipRows`). Shapes, with n clips:

    base, worst, best (n, columns); by_bonus (bonuses, n, columns); repaired (error kinds, n, 3); errors (error kinds,);
    dimensions and types (groups, n, group columns); confusion (dimensions + 1, dimensions + 1). `unjudged` names the
    clips whose events are excluded because a judgement failed, with the first reason. A clip takes about 3 kB, besides
    its matches.
    """

    base: Matrix
    worst: Matrix
    best: Matrix
    by_bonus: Matrix
    repaired: Matrix
    errors: Matrix
    dimensions: Matrix
    types: Matrix
    confusion: Matrix
    unjudged: tuple[str, ...]
    matches: tuple[tuple[Match, ...], ...]


_STACKED = ("base", "worst", "best", "by_bonus", "repaired", "dimensions", "types")
"""The fields of `ClipRows` that are kept for every clip; the others are summed."""


async def system_tables(
    references: Sequence[ClipAnnotation],
    annotations: Mapping[str, ClipAnnotation],
    judge: Judge,
    config: EvaluationConfig,
    groups: Groups,
) -> SystemTables:
    """Judge, match and count every clip, at least one. A clip without an annotation counts as one without events."""
    stacked: dict[str, Matrix] = {}
    matches: list[tuple[Match, ...]] = []
    unjudged: list[str] = []
    errors, confusion = np.zeros(len(ERROR_KINDS)), np.zeros((len(groups.dimensions) + 1,) * 2)
    for first in range(0, len(references), CHUNK):
        clips = [(reference, annotations.get(reference.clip_id)) for reference in references[first : first + CHUNK]]
        queries = [(reference, prediction.findings if scored(prediction) else ()) for reference, prediction in clips]
        judged = await judgements(queries, judge)
        for number, (clip, (similarity, why)) in enumerate(zip(clips, judged, strict=True), start=first):
            rows = count_clip(*clip, similarity, config, groups)
            for name in _STACKED:
                value = getattr(rows, name)
                stacked.setdefault(name, np.empty((len(references), *value.shape)))[number] = value
            errors += rows.errors
            confusion += rows.confusion
            if not rows.judged:
                unjudged.append(f"{clip[0].clip_id}: {why}")
            matches.append(rows.matches)
    tables = {name: np.moveaxis(table, 0, -2) for name, table in stacked.items()}
    return SystemTables(**tables, errors=errors, confusion=confusion, unjudged=tuple(unjudged), matches=tuple(matches))


async def threshold_tables(
    references: Sequence[ClipAnnotation],
    annotations: Mapping[str, ClipAnnotation],
    judge: Judge,
    config: EvaluationConfig,
) -> Matrix:
    """The rows at every threshold on confidence, shape (THRESHOLDS, n, columns); see `ClipRows.base`."""
    tables = np.zeros((len(THRESHOLDS), len(references), len(EMPTY_ROW)))
    for first in range(0, len(references), CHUNK):
        clips = references[first : first + CHUNK]
        predictions = [annotations.get(clip.clip_id) for clip in clips]
        swept = [
            [None if prediction is None else at_threshold(prediction, threshold) for threshold in THRESHOLDS]
            for prediction in predictions
        ]
        queries = [
            (clip, prediction.findings if scored(prediction) else ())
            for clip, points in zip(clips, swept, strict=True)
            for prediction in points
        ]
        judged = iter(await similarities(queries, judge))
        for number, (clip, points) in enumerate(zip(clips, swept, strict=True), start=first):
            for point, prediction in enumerate(points):
                tables[point, number] = base_row(clip, prediction, next(judged), config)
    return tables


def at_threshold(annotation: ClipAnnotation, threshold: float) -> ClipAnnotation:
    """What a system would have reported at another threshold on confidence (RoboGaze, Table 23).

    A report keeps every hypothesis with its verdict and confidence, so no model is asked again. The events with a
    confidence of at least `threshold`, in [0, 1], are taken from the candidates, or from the events if no candidates
    are stored. An event without a confidence is kept at every threshold, such a candidate at none. An unscored
    annotation stays unscored.

    No threshold need reproduce the annotation's own events: a pipeline may use more than the confidence, and may have
    merged what are several candidates here.
    """
    without_confidence = [event for event in annotation.findings if event.confidence is None]
    pool = annotation.candidates or annotation.findings
    confident = [event for event in pool if event.confidence is not None and event.confidence >= threshold]
    return replace(annotation, findings=(*without_confidence, *confident))


def control_tables(references: Sequence[ClipAnnotation], config: EvaluationConfig) -> Matrix:
    """The rows of every control, shape (CONTROLS, n, columns); zero where a control predicts nothing."""
    tables = np.zeros((len(CONTROLS), len(references), len(EMPTY_ROW)))
    for place, control in enumerate(CONTROLS.values()):
        for number, clip in enumerate(references):
            predicted = control.predict(clip)
            if predicted is not None:
                tables[place, number] = clip_row(clip, predicted.annotation, predicted.similarity, config.weighting)
    return tables


async def floor_table(
    references: Sequence[ClipAnnotation],
    predictions: Mapping[str, ClipAnnotation | None],
    judge: Judge,
    config: EvaluationConfig,
) -> Matrix:
    """The rows (n, columns) of a floor, judged as a system is; zero for clips that are not in `predictions`."""
    table = np.zeros((len(references), len(EMPTY_ROW)))
    for first in range(0, len(references), CHUNK):
        clips = [
            (number, clip, predictions[clip.clip_id])
            for number, clip in enumerate(references[first : first + CHUNK], start=first)
            if clip.clip_id in predictions
        ]
        queries = [(clip, prediction.findings if scored(prediction) else ()) for _, clip, prediction in clips]
        for (number, clip, prediction), similarity in zip(clips, await similarities(queries, judge), strict=True):
            table[number] = base_row(clip, prediction, similarity, config)
    return table
