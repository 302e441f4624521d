"""The evaluator released with RoboGaze, reproduced number for number, so that published tables can be compared.

The evaluator is frozen: behaviour that differs from the paper, or that makes no sense, is kept and marked "Quirk" with
its number in docs/metrics/conventions.md. The evaluator was read from scripts/evaluate.py in a public fork of the
release that changes the taxonomy. There may be other differences; this was not verified.

The way in which the release reads its files is not reproduced, because it is not part of scoring. The release uses one
prediction for all clips with the same bare name, ignores broken reference files, and replaces by 0 both frame numbers
that are written as text and judge replies that it cannot read.
"""

import math
import random
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.estimate import Estimate
from robogaze.core.time import RESOLUTION
from robogaze.matching import Match
from robogaze.metrics.released import NOTHING, ReleasedClip, ReleasedScores

UNKNOWN = "unknown"
"""The dimension of an event that names none and whose type is not in the taxonomy."""

MEANS = ("desc_f1", "miou", "f1_iou", "severity_within1", "severity_weighted_f1")
"""What the release averages over clips."""

WITH_INTERVAL = ("desc_f1", "f1_iou")
"""Quirk A6.13: the only two figures with an interval in the release."""

_SMALLEST_WEIGHT = 1e-9
"""A pair must weigh more than this to be matched."""

DIMENSION_BONUS = 0.25
RESAMPLES = 1000


@dataclass(frozen=True, slots=True)
class _Event:
    """An event as the release reads it; a missing severity is 0."""

    start: int
    end: int
    dimension: str
    severity: int


@dataclass(frozen=True, slots=True)
class _ScoredClip:
    """A clip's figures, to four digits as in the release's per_clip.csv and per_dim.csv, 0 if undefined.

    `values` holds MEANS and the precisions and recalls they come from. `per_dimension` has the dimensions of the
    taxonomy that either side names.
    """

    references: int
    predictions: int
    values: Mapping[str, float]
    per_dimension: Mapping[str, float]


def score(clips: Sequence[ReleasedClip], taxonomy: Mapping[str, Collection[str]]) -> ReleasedScores:
    """Score clips as the release does; `taxonomy` maps each dimension to its types.

    Events that are not written in frames (`AnnotatedEvent.written`) are converted to frames with the clip's frame rate.
    Clips without a prediction are left out. The metrics in MEANS are averaged over the clips with a reference event.
    clean_accuracy, detection_precision, detection_recall and detection_f1 are computed over all clips. `per_dimension`
    has a mean for each dimension, over the clips in which either side names the dimension. All scores have four digits.
    """
    ordered = sorted(clips, key=lambda clip: _natural(clip.id))
    # Quirk A6.2: a clip without a prediction leaves every figure, so half a run may look perfect.
    scored = [_score_clip(clip, clip.predictions, taxonomy) for clip in ordered if clip.predictions is not None]
    # Quirk A6.10: a clip without reference findings leaves the means of events, whatever was predicted on it.
    columns = {name: [clip.values[name] for clip in scored if clip.references] for name in MEANS}
    bounds = _bounds([columns[name] for name in WITH_INTERVAL])
    intervals = dict(zip(WITH_INTERVAL, bounds, strict=True))
    # Quirk A6.6: but a false alarm on a clean clip does count in the mean of its dimension, as a 0.
    rows = {name: [clip.per_dimension[name] for clip in scored if name in clip.per_dimension] for name in taxonomy}
    return ReleasedScores(
        metrics={name: _mean(column, *intervals.get(name, ())) for name, column in columns.items()}
        | _detection(scored),
        per_dimension={name: _mean(row) for name, row in rows.items()},
        dropped=tuple(clip.id for clip in ordered if clip.predictions is None),
    )


def _natural(name: str) -> list[int | str]:
    """Sorts clip 9 before clip 10. The order matters: it decides which clips a resample draws."""
    return [int(part) if number % 2 else part for number, part in enumerate(re.split(r"(\d+)", name))]


def _score_clip(
    clip: ReleasedClip, predicted: Sequence[AnnotatedEvent], taxonomy: Mapping[str, Collection[str]]
) -> _ScoredClip:
    fps = _rate(clip.frame_times_s)
    references = [_event(reference, fps, taxonomy) for reference in clip.references]
    predictions = [_event(prediction, fps, taxonomy) for prediction in predicted]
    matches = _match(clip, references, predictions)
    return _ScoredClip(
        references=len(references),
        predictions=len(predictions),
        values={name: round(value, 4) for name, value in _values(references, predictions, matches).items()},
        per_dimension=_per_dimension(references, predictions, matches, taxonomy),
    )


def _event(finding: AnnotatedEvent, fps: float, taxonomy: Mapping[str, Collection[str]]) -> _Event:
    start, end = _frames(finding, fps)
    # Quirk A6.7: UNKNOWN is like any other dimension in matching and in the means over clips; it has no row of its own.
    named = finding.dimension or next((name for name, types in taxonomy.items() if finding.type in types), UNKNOWN)
    # Quirk A6.9: a missing severity is 0: no weight, and an error as large as the other side's severity.
    return _Event(start, end, named, finding.severity or 0)


def _rate(frame_times_s: Sequence[float]) -> float:
    """The frame rate, the only timing information in the release; 0 for a clip of a single frame."""
    steps = len(frame_times_s) - 1
    return round(steps / (frame_times_s[-1] - frame_times_s[0]), 6) if steps > 0 else 0.0


def _frames(finding: AnnotatedEvent, fps: float) -> tuple[int, int]:
    """The frames nearest to the start and end of an event; (0, 0), as in the release, if it has no time.

    In the release, an event has one interval, from the start of its first span to the end of its last span. Frames in a
    file are used unchanged. Otherwise, a moment (a span of one frame here) is treated as written with start = end: a
    span no longer than a frame has no length.
    """
    if finding.written is not None and finding.written.unit == "frames":
        starts, ends = zip(*finding.written.intervals, strict=True)
        return int(min(starts)), int(max(ends))
    if not finding.spans or not fps:
        return 0, 0
    start_s, end_s = finding.spans[0].start, finding.spans[-1].end
    moment = end_s - start_s <= 1 / fps + 2 * RESOLUTION
    return round(start_s * fps), round((start_s if moment else end_s) * fps)


def _iou(a: _Event, b: _Event) -> float:
    """Overlap of two events in frames, end exclusive.

    Quirk A6.1: a single-frame event overlaps with nothing, not even with itself.
    """
    shared = max(0, min(a.end, b.end) - max(a.start, b.start))
    total = max(a.end, b.end) - min(a.start, b.start)
    return shared / total if total > 0 else 0.0


def _match(clip: ReleasedClip, references: Sequence[_Event], predictions: Sequence[_Event]) -> tuple[Match, ...]:
    """Maximum-weight matching. Rows are predictions, as in the release, which decides how ties are broken."""
    if not references or not predictions:
        return ()
    similarity = clip.similarity
    overlap = np.array([[_iou(prediction, other) for other in references] for prediction in predictions])
    same = np.array([[prediction.dimension == other.dimension for other in references] for prediction in predictions])
    weight = similarity.T * overlap * (1.0 + DIMENSION_BONUS * same)
    rows, columns = linear_sum_assignment(weight, maximize=True)
    return tuple(
        Match(column, row, float(similarity[column, row]), float(overlap[row, column]), float(weight[row, column]))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
        if weight[row, column] > _SMALLEST_WEIGHT
    )


def _values(references: Sequence[_Event], predictions: Sequence[_Event], matches: Sequence[Match]) -> dict[str, float]:
    """The MEANS of one clip and the values that they come from, not rounded."""
    n, m = len(predictions), len(references)
    # Quirk A6.8, A5: the weight only chooses the pairs. Descriptions then count in full however small the overlap, and
    # the bonus, unlike in the paper's table of its sizes, enters no figure.
    similarity_sum = sum(pair.similarity for pair in matches)
    placed = sum(pair.similarity * pair.iou for pair in matches)
    found = sum(pair.similarity * references[pair.reference].severity for pair in matches)
    meant = sum(pair.similarity * predictions[pair.prediction].severity for pair in matches)
    near = sum(abs(predictions[p.prediction].severity - references[p.reference].severity) <= 1 for p in matches)
    values = {
        "desc_precision": _ratio(similarity_sum, n),
        "desc_recall": _ratio(similarity_sum, m),
        "iou_precision": _ratio(placed, n),
        "iou_recall": _ratio(placed, m),
        "severity_weighted_precision": _ratio(meant, sum(prediction.severity for prediction in predictions)),
        "severity_weighted_recall": _ratio(found, sum(reference.severity for reference in references)),
        # Quirk A5: 0, not undefined, where nothing was matched: misses pull down the means of place and severity, too.
        "miou": _ratio(sum(pair.iou for pair in matches), len(matches)),
        "severity_within1": _ratio(near, len(matches)),
    }
    for joint, parts in (("desc_f1", "desc"), ("f1_iou", "iou"), ("severity_weighted_f1", "severity_weighted")):
        values[joint] = _f1(values[f"{parts}_precision"], values[f"{parts}_recall"])
    return values


def _per_dimension(
    references: Sequence[_Event],
    predictions: Sequence[_Event],
    matches: Sequence[Match],
    taxonomy: Mapping[str, Collection[str]],
) -> dict[str, float]:
    """F1 of descriptions within each dimension of the taxonomy that either side names.

    Quirk A6.7: a match across dimensions counts in full for the clip and as a miss in both dimensions.
    """
    found = {}
    for name in taxonomy:
        n = sum(prediction.dimension == name for prediction in predictions)
        m = sum(reference.dimension == name for reference in references)
        similarity_sum = sum(
            pair.similarity
            for pair in matches
            if predictions[pair.prediction].dimension == name == references[pair.reference].dimension
        )
        if n or m:
            found[name] = round(_f1(_ratio(similarity_sum, n), _ratio(similarity_sum, m)), 4)
    return found


def _detection(clips: Sequence[_ScoredClip]) -> dict[str, Estimate]:
    """Whether anything is wrong with a clip, over the clips with a prediction; a clip counts once."""
    hits = sum(bool(clip.references and clip.predictions) for clip in clips)
    alarms = sum(bool(not clip.references and clip.predictions) for clip in clips)
    misses = sum(bool(clip.references and not clip.predictions) for clip in clips)
    clean = len(clips) - hits - misses
    precision, recall = _ratio(hits, hits + alarms), _ratio(hits, hits + misses)
    return {
        "clean_accuracy": _estimate(_ratio(clean - alarms, clean), clean),
        "detection_precision": _estimate(precision, hits + alarms),
        "detection_recall": _estimate(recall, hits + misses),
        "detection_f1": _estimate(_f1(precision, recall), len(clips)),
    }


def _mean(values: Sequence[float], low: float = math.nan, high: float = math.nan) -> Estimate:
    return _estimate(_ratio(sum(values), len(values)), len(values), low, high)


def _estimate(value: float, n: int, low: float = math.nan, high: float = math.nan) -> Estimate:
    return Estimate(round(value, 4), low, high, n, "" if n else NOTHING)


def _bounds(columns: Sequence[Sequence[float]]) -> list[tuple[float, float]]:
    """The 26th and the 976th of a thousand resampled means, for each column of values over the same clips.

    Quirk A5: clips are drawn from all data sets together. The release restarts the generator for each figure, so one
    draw serves all figures.
    """
    count = len(columns[0])
    if not count:
        return [(0.0, 0.0) for _ in columns]
    rng = random.Random(0)
    means: list[list[float]] = [[] for _ in columns]
    for _ in range(RESAMPLES):
        drawn = [rng.randrange(count) for _ in range(count)]
        for column, found in zip(columns, means, strict=True):
            found.append(sum(column[number] for number in drawn) / count)
    low, high = int(0.025 * RESAMPLES), int(0.975 * RESAMPLES)
    return [(round(ordered[low], 4), round(ordered[high], 4)) for ordered in map(sorted, means)]


def _ratio(part: float, whole: float) -> float:
    """The ratio; 0 if it is undefined, as everywhere in the release."""
    return part / whole if whole else 0.0


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0
