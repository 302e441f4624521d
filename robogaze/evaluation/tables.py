"""The tables of a system: rows of counts for the clips of a corpus, in the order of the references."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import ClipAnnotation
from robogaze.evaluation.clip_rows import EMPTY_ROW, ClipRows, Groups, base_row, count_clip, matchable
from robogaze.evaluation.config import EvaluationConfig
from robogaze.judges.base import Judge
from robogaze.judges.similarity import judgements, similarities
from robogaze.matching import Match
from robogaze.metrics.controls import CONTROLS
from robogaze.metrics.errors import ERROR_KINDS
from robogaze.metrics.tally import scored

Matrix = NDArray[np.float64]

CHUNK = 256
"""How many pairs of a reference and a prediction are sent to a judge at once."""

THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)
"""The thresholds on confidence that are tried (RoboGaze, Table 23)."""


@dataclass(frozen=True)
class SystemTables:
    """The rows of all clips, stacked (see `ClipRows`). Shapes, with n clips:

    base, worst, best (n, columns); by_bonus (bonuses, n, columns); repaired (error kinds, n, 3); errors (error kinds,);
    dimensions and types (groups, n, group columns); confusion (dimensions + 1, dimensions + 1). `unjudged` lists the
    clips whose events are excluded because a judgement failed, each with the reason of the first failure. A clip takes
    about 3 kB, not counting its matches.
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
    """Judge, match and count every clip; there must be at least one clip. A clip without an annotation counts as a clip
    without events.

    The judge is asked about pairs that can be matched, and then about other pairs that the analysis of errors needs.
    """
    stacked: dict[str, Matrix] = {}
    matches: list[tuple[Match, ...]] = []
    unjudged: list[str] = []
    errors, confusion = np.zeros(len(ERROR_KINDS)), np.zeros((len(groups.dimensions) + 1,) * 2)
    for first in range(0, len(references), CHUNK):
        clips = [(reference, annotations.get(reference.clip_id)) for reference in references[first : first + CHUNK]]
        counted = await _counted(clips, judge, config, groups)
        for number, (clip, (rows, why)) in enumerate(zip(clips, counted, strict=True), start=first):
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


async def _counted(
    clips: Sequence[tuple[ClipAnnotation, ClipAnnotation | None]],
    judge: Judge,
    config: EvaluationConfig,
    groups: Groups,
) -> list[tuple[ClipRows, str]]:
    """The rows of each clip, with the reason of the first judgement that failed."""
    queries = [(reference, prediction.findings if scored(prediction) else ()) for reference, prediction in clips]
    wanted = [matchable(*clip, config.weighting) for clip in clips]
    asked = [np.zeros_like(pairs) for pairs in wanted]
    similarity = [np.full(pairs.shape, np.nan) for pairs in wanted]
    rows: dict[int, ClipRows] = {}
    reasons = [""] * len(clips)
    waiting = list(range(len(clips)))
    while waiting:
        judged = await judgements([queries[place] for place in waiting], judge, [wanted[place] for place in waiting])
        for place, (found, why) in zip(waiting, judged, strict=True):
            similarity[place] = np.where(wanted[place], found, similarity[place])
            asked[place] |= wanted[place]
            rows[place] = count_clip(*clips[place], similarity[place], config, groups)
            reasons[place] = reasons[place] or why
            wanted[place] = rows[place].unknown & ~asked[place] & rows[place].judged
        waiting = [place for place in waiting if wanted[place].any()]
    return [(rows[place], reason) for place, reason in enumerate(reasons)]


async def threshold_tables(
    references: Sequence[ClipAnnotation],
    annotations: Mapping[str, ClipAnnotation],
    judge: Judge,
    config: EvaluationConfig,
) -> Matrix:
    """The rows at every threshold on confidence, shape (THRESHOLDS, n, columns); see `ClipRows.base`."""
    predictions = [(clip, annotations.get(clip.clip_id)) for clip in references]
    pairs = [
        (clip, None if prediction is None else at_threshold(prediction, threshold))
        for clip, prediction in predictions
        for threshold in THRESHOLDS
    ]
    rows = await _judged_rows(pairs, judge, config)
    return np.moveaxis(rows.reshape(len(references), len(THRESHOLDS), -1), 1, 0)


def at_threshold(annotation: ClipAnnotation, threshold: float) -> ClipAnnotation:
    """What a system would have reported at another threshold on confidence (RoboGaze, Table 23).

    A report keeps every hypothesis with its verdict and confidence, so no model is asked again. The result has the
    candidates with a confidence of at least `threshold`, in [0, 1]. If no candidates are stored, it has the events with
    this confidence. An event without a confidence is kept at every threshold; a candidate without a confidence is not
    kept at any threshold. An unscored annotation stays unscored.

    A pipeline may use more than the confidence and may merge candidates. Therefore, it is
    possible that no threshold gives exactly the events of the annotation.
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
                tables[place, number] = base_row(clip, predicted.annotation, predicted.similarity, config)
    return tables


async def floor_table(
    references: Sequence[ClipAnnotation],
    predictions: Mapping[str, ClipAnnotation | None],
    judge: Judge,
    config: EvaluationConfig,
) -> Matrix:
    """The rows (n, columns) of a floor, judged in the same way as a system; zero for clips that are not in
    `predictions`.
    """
    table = np.zeros((len(references), len(EMPTY_ROW)))
    places = [place for place, clip in enumerate(references) if clip.clip_id in predictions]
    pairs = [(references[place], predictions[references[place].clip_id]) for place in places]
    table[places] = await _judged_rows(pairs, judge, config)
    return table


async def _judged_rows(
    pairs: Sequence[tuple[ClipAnnotation, ClipAnnotation | None]], judge: Judge, config: EvaluationConfig
) -> Matrix:
    """The row of each pair of a reference and a prediction, shape (pairs, columns); see `ClipRows.base`."""
    rows = np.zeros((len(pairs), len(EMPTY_ROW)))
    for first in range(0, len(pairs), CHUNK):
        chunk = pairs[first : first + CHUNK]
        queries = [(clip, prediction.findings if scored(prediction) else ()) for clip, prediction in chunk]
        wanted = [matchable(clip, prediction, config.weighting) for clip, prediction in chunk]
        judged = await similarities(queries, judge, wanted)
        for place, ((clip, prediction), similarity) in enumerate(zip(chunk, judged, strict=True), start=first):
            rows[place] = base_row(clip, prediction, similarity, config)
    return rows
