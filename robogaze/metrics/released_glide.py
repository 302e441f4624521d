"""The evaluator released with GLIDE, reproduced number for number, so that published tables can be compared.

The evaluator is frozen: behaviour that differs from the paper, or that makes no sense, is kept and marked "Quirk" with
its number in docs/metrics/conventions.md. The evaluator was read from a copy of the release's evaluation/evaluator.py.
It was not verified that the paper's tables were made by this version.

What the release does before scoring is not reproduced: a judge that fails rates 0, ratings are cut to whole numbers,
and the release's own report writer cuts the ends of intervals to whole seconds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.estimate import Estimate
from robogaze.core.time import RESOLUTION, Span, iou
from robogaze.metrics.released import NOTHING, ReleasedClip, ReleasedScores

BEST_RATING = 5
"""The release's judge rates a pair from 0 to 5; a similarity of 1 is this rating."""


@dataclass(frozen=True, slots=True)
class _ScoredVideo:
    """What a video adds to the sums: its numbers of events, and the similarity and IoU of each matched pair."""

    references: int
    predictions: int
    matches: tuple[tuple[float, float], ...]


def score(clips: Sequence[ReleasedClip]) -> ReleasedScores:
    """Score videos as the release does. The release has no scores by dimension.

    All metrics are computed over all videos together. desc_precision, desc_recall, desc_f1, iou_precision, iou_recall,
    f1_iou and miou are in [0, 1]; mean_rating is in 0..BEST_RATING. Raises ValueError if two videos have the same name
    and the later one has no report. The release would then compare the reference of one video with the report of the
    other.
    """
    named: dict[str, ReleasedClip] = {}
    for clip in clips:
        # Quirk A'7: of several videos with one name only the last counts, and ".mp4" is no part of a name.
        name = clip.id.replace(".mp4", "")
        if clip.predictions is None and name in named and named[name].predictions is not None:
            raise ValueError(
                f"{name}: two videos have this name, and the second video has no prediction; rename one of them"
            )
        named[name] = clip
    # Quirk A'7: a video without a report leaves every sum, its references with it.
    scored = [
        _ScoredVideo(len(clip.references), len(clip.predictions), _match(clip, clip.predictions))
        for _, clip in sorted(named.items())
        if clip.predictions is not None
    ]
    dropped = tuple(name for name, clip in sorted(named.items()) if clip.predictions is None)
    return ReleasedScores(_metrics(scored), {}, dropped)


def _match(clip: ReleasedClip, predictions: Sequence[AnnotatedEvent]) -> tuple[tuple[float, float], ...]:
    """The one-to-one matching with the largest sum of ratings. Rows are predictions, which decides how ties are
    broken.
    """
    if not clip.references or not predictions:
        return ()
    fps = _fps(clip.frame_times_s)
    # Quirk A'1: the overlap in time takes no part, though the paper's weight is rating x IoU. No pair is dropped, so as
    # many are matched as there can be: those rated 0, too, whose overlap then enters the mean. Ratings are not clamped.
    # Whole ratings, not fifths: where sums tie, the rounding of fifths would choose other pairs.
    rows, columns = linear_sum_assignment(-BEST_RATING * clip.similarity.T)
    return tuple(
        (float(clip.similarity[column, row]), _iou(clip.references[column], predictions[row], fps))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True)
    )


def _fps(frame_times_s: Sequence[float]) -> float | None:
    """The frame rate; None if it is not known."""
    steps = len(frame_times_s) - 1
    return steps / (frame_times_s[-1] - frame_times_s[0]) if steps > 0 else None


def _iou(a: AnnotatedEvent, b: AnnotatedEvent, fps: float | None) -> float:
    """Overlap in seconds.

    Quirk A'7: 1 for two events without duration, even if they do not touch: both without intervals, or both with
    moments only.
    """
    (some, long_a), (others, long_b) = _intervals(a, fps), _intervals(b, fps)
    if some != others:
        return 0.0
    return iou(long_a, long_b) if long_a or long_b else 1.0


def _intervals(finding: AnnotatedEvent, fps: float | None) -> tuple[bool, list[Span]]:
    """Whether an event has intervals, and its intervals that have a length.

    Seconds in a file are used unchanged. Otherwise, a moment is a span of one frame here, while it has no length in the
    release. A span no longer than a frame therefore counts as a moment.
    """
    if finding.written is not None and finding.written.unit == "seconds":
        intervals = finding.written.intervals
        return bool(intervals), [Span(start, end) for start, end in intervals if start < end]
    moment_s = 1 / fps + 2 * RESOLUTION if fps else 0.0
    return bool(finding.spans), [span for span in finding.spans if span.length > moment_s]


def _metrics(videos: Sequence[_ScoredVideo]) -> dict[str, Estimate]:
    matches = [match for video in videos for match in video.matches]
    # Over all findings of all videos, not a mean over videos: a false alarm on a clean video costs precision.
    n, m = sum(video.predictions for video in videos), sum(video.references for video in videos)
    ratings = [BEST_RATING * similarity for similarity, _ in matches]
    overlaps = [overlap for _, overlap in matches]
    placed = [rating * overlap for rating, overlap in zip(ratings, overlaps, strict=True)]
    return {
        **_joint("desc_precision", "desc_recall", "desc_f1", sum(ratings), n, m),
        **_joint("iou_precision", "iou_recall", "f1_iou", sum(placed), n, m),
        "miou": _estimate(float(np.mean(overlaps)) if overlaps else 0.0, len(overlaps)),
        "mean_rating": _estimate(float(np.mean(ratings)) if ratings else 0.0, len(ratings)),
    }


def _joint(precision: str, recall: str, f1: str, earned: float, n: int, m: int) -> dict[str, Estimate]:
    """Precision over `n` predictions, recall over `m` references, and their harmonic mean."""
    p = earned / (BEST_RATING * n) if n else 0.0
    r = earned / (BEST_RATING * m) if m else 0.0
    both = 2 * p * r / (p + r) if p + r > 0 else 0.0
    return {precision: _estimate(p, n), recall: _estimate(r, m), f1: _estimate(both, n + m)}


def _estimate(value: float, n: int) -> Estimate:
    return Estimate(value, n=n, why="" if n else NOTHING)
