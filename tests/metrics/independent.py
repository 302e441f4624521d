"""Matching and every metric once more, from their definitions, in plain Python: no arrays, no columns, no solver."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span

NAN = math.nan


def frames_of(spans: Sequence[Span], times_s: Sequence[float]) -> set[int]:
    """The frames within the spans; for a span without any, the last frame that has begun."""
    frames: set[int] = set()
    for span in spans:
        within = {number for number, time in enumerate(times_s) if span.start - 1e-6 <= time < span.end - 1e-6}
        begun = [number for number, time in enumerate(times_s) if time < span.start - 1e-6]
        frames |= within or {begun[-1] if begun else 0}
    return frames


def iou_of(a: AnnotatedEvent, b: AnnotatedEvent, times_s: Sequence[float]) -> float:
    left, right = frames_of(a.spans, times_s), frames_of(b.spans, times_s)
    return len(left & right) / len(left | right) if left and right else NAN


def assignments(rows: int, columns: int) -> Iterator[list[tuple[int, int]]]:
    """All ways to give every row of the shorter side another column."""
    if rows <= columns:
        yield from (list(enumerate(chosen)) for chosen in permutations(range(columns), rows))
    else:
        yield from (
            [(row, column) for column, row in enumerate(chosen)] for chosen in permutations(range(rows), columns)
        )


def best_assignment(rows: int, columns: int, weight: Callable[[int, int], float]) -> list[tuple[int, int]]:
    """The assignment with the largest sum, without the pairs that weigh nothing."""
    best = max(assignments(rows, columns), key=lambda pairs: sum(weight(*pair) for pair in pairs))
    return [pair for pair in best if weight(*pair) > 0]


@dataclass
class Clip:
    """What the metrics are computed from: the events of both sides that count, and the matched ones among them."""

    references: list[AnnotatedEvent]
    predictions: list[AnnotatedEvent]
    pairs: list[tuple[AnnotatedEvent, AnnotatedEvent, float]]
    times_s: Sequence[float]
    said_clean: bool
    ious: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.ious = [iou_of(pair, other, self.times_s) for pair, other, _ in self.pairs]


def clip_of(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, pairs: Sequence[tuple[int, int, float]]
) -> Clip:
    """`pairs` holds indices into the findings of the two accounts, and S."""
    times_s = reference.frame_times_s or ()
    if prediction is None or prediction.status == "unscored":
        return Clip(list(reference.findings), [], [], times_s, False)
    predictions = [event for event in prediction.findings if can_judge(reference, event)]
    events = [(reference.findings[row], prediction.findings[column], s) for row, column, s in pairs]
    return Clip(list(reference.findings), predictions, events, times_s, said_clean(reference, prediction))


def said_clean(reference: ClipAnnotation, prediction: ClipAnnotation) -> bool:
    """Whether the prediction is complete and covers what the reference speaks for."""
    if prediction.status != "complete" or prediction.coverage is None:
        return prediction.status == "complete"
    wanted = prediction.coverage if reference.coverage is None else reference.coverage
    asked = [name for name, state in wanted.items() if reference.coverage is None or state in ("examined", "ruled_out")]
    return all(prediction.coverage.get(name) in ("examined", "ruled_out") for name in asked)


def can_judge(reference: ClipAnnotation, one: AnnotatedEvent) -> bool:
    if reference.coverage is None or one.dimension is None:
        return True
    covered = {name for name, state in reference.coverage.items() if state in ("examined", "ruled_out")}
    known = covered | {other.dimension for other in reference.findings}
    return bool(known & {one.dimension, *one.secondary})


def full(
    reference: ClipAnnotation, prediction: ClipAnnotation | None, similarity: Sequence[Sequence[float]], bonus: float
) -> Clip:
    """A clip matched by trying everything."""
    findings = prediction.findings if prediction and prediction.status != "unscored" else ()

    def weight(row: int, column: int) -> float:
        one, other = reference.findings[row], findings[column]
        overlap = iou_of(one, other, reference.frame_times_s or ())
        if math.isnan(overlap) or not can_judge(reference, other):
            return 0.0
        same = one.dimension is not None and one.dimension == other.dimension
        return similarity[row][column] * overlap * (1 + bonus if same else 1)

    found = best_assignment(len(reference.findings), len(findings), weight)
    return clip_of(reference, prediction, [(row, column, similarity[row][column]) for row, column in found])


def ratio(top: float, bottom: float) -> float:
    return top / bottom if bottom else NAN


def _over(clips: Sequence[Clip], count: Callable[[Clip], float]) -> float:
    return sum(count(clip) for clip in clips)


def precision(clips: Sequence[Clip]) -> float:
    return ratio(sum(s for clip in clips for *_, s in clip.pairs), _over(clips, lambda clip: len(clip.predictions)))


def recall(clips: Sequence[Clip]) -> float:
    return ratio(sum(s for clip in clips for *_, s in clip.pairs), _over(clips, lambda clip: len(clip.references)))


def f1(clips: Sequence[Clip]) -> float:
    events = _over(clips, lambda clip: len(clip.predictions) + len(clip.references))
    return ratio(2 * sum(s for clip in clips for *_, s in clip.pairs), events)


def _overlapping(clip: Clip, side: Sequence[AnnotatedEvent], other: Sequence[AnnotatedEvent]) -> int:
    return sum(any(iou_of(event, two, clip.times_s) > 0 for two in other) for event in side)


def _strict(clips: Sequence[Clip], predictions: bool, references: bool) -> float:
    events = 0
    for clip in clips:
        events += _overlapping(clip, clip.predictions, clip.references) if predictions else 0
        events += _overlapping(clip, clip.references, clip.predictions) if references else 0
    shared = sum(s for clip in clips for (*_, s), iou in zip(clip.pairs, clip.ious, strict=True) if iou > 0)
    return ratio((predictions + references) * shared, events)


def asked(clips: Sequence[Clip], has: Callable[[AnnotatedEvent], bool]) -> float:
    """The events that a field is asked of: NaN, which no ratio survives, where no reference has it."""
    if any(clip.references for clip in clips) and not any(
        has(reference) for clip in clips for reference in clip.references
    ):
        return NAN
    events = 0
    for clip in clips:
        if not clip.references or any(has(reference) for reference in clip.references):
            excused = [other for pair, other, _ in clip.pairs if not has(pair)]
            events += sum(map(has, clip.references)) + len(clip.predictions) - len(excused)
    return events


def _timed(clips: Sequence[Clip]) -> float:
    return asked(clips, lambda event: bool(event.spans))


def _ious(clips: Sequence[Clip]) -> list[float]:
    return [
        0.0 if math.isnan(iou) else iou
        for clip in clips
        for (pair, *_), iou in zip(clip.pairs, clip.ious, strict=True)
        if pair.spans
    ]


def miou(clips: Sequence[Clip]) -> float:
    return ratio(sum(_ious(clips)), len(_ious(clips)))


def f1_iou(clips: Sequence[Clip]) -> float:
    joint = [s * iou for clip in clips for (*_, s), iou in zip(clip.pairs, clip.ious, strict=True) if iou > 0]
    return ratio(2 * sum(joint), _timed(clips))


def tiou_f1(clips: Sequence[Clip], least: float) -> float:
    return ratio(2 * sum(iou >= least for iou in _ious(clips)), _timed(clips))


def severity_within(clips: Sequence[Clip], most: int) -> float:
    apart = [
        99 if other.severity is None else abs(pair.severity - other.severity)
        for clip in clips
        for pair, other, _ in clip.pairs
        if pair.severity is not None
    ]
    return ratio(sum(steps <= most for steps in apart), len(apart))


def severity_weighted_f1(clips: Sequence[Clip]) -> float:
    references = [reference for clip in clips for reference in clip.references]
    predictions = [prediction for clip in clips for prediction in clip.predictions]
    if not references and not predictions:
        return NAN
    if references and all(reference.severity is None for reference in references):
        return NAN
    if not references or not predictions:
        return 0.0
    pairs = [pair for clip in clips for pair in clip.pairs]
    right = sum(s * (other.severity or 0) for _, other, s in pairs) / sum(
        prediction.severity or 5 for prediction in predictions
    )
    found = sum(s * (pair.severity or 0) for pair, _, s in pairs) / sum(
        reference.severity or 0 for reference in references
    )
    return 2 * right * found / (right + found) if right and found else 0.0


def severe_recall(clips: Sequence[Clip]) -> float:
    events = found = 0
    for clip in clips:
        severe = [event for event in clip.references if event.spans and (event.severity or 0) >= 4]
        events += len(severe)
        found += max(
            (
                sum(_recovers(severe[row], clip.predictions[column], clip.times_s) for row, column in pairs)
                for pairs in assignments(len(severe), len(clip.predictions))
            ),
            default=0,
        )
    return ratio(found, events)


def _recovers(reference: AnnotatedEvent, prediction: AnnotatedEvent, times_s: Sequence[float]) -> bool:
    same = reference.dimension is None or reference.dimension == prediction.dimension
    return same and iou_of(reference, prediction, times_s) > 0


def f1_dimension(clips: Sequence[Clip]) -> float:
    same = [
        s for clip in clips for pair, other, s in clip.pairs if pair.dimension and pair.dimension == other.dimension
    ]
    return ratio(2 * sum(same), asked(clips, lambda event: event.dimension is not None))


def clean_accuracy(clips: Sequence[Clip]) -> float:
    clean = [clip for clip in clips if not clip.references]
    return ratio(sum(clip.said_clean and not clip.predictions for clip in clean), len(clean))


def detection(clips: Sequence[Clip]) -> tuple[float, float, float]:
    faulty = sum(bool(clip.references) for clip in clips)
    alarms = sum(bool(clip.predictions) for clip in clips)
    both = sum(bool(clip.references and clip.predictions) for clip in clips)
    return ratio(both, alarms), ratio(both, faulty), ratio(2 * both, alarms + faulty)


OF_EVENTS: dict[str, Callable[[Sequence[Clip]], float]] = {
    "desc_precision": precision,
    "desc_recall": recall,
    "desc_f1": f1,
    "miou": miou,
    "f1_iou": f1_iou,
    "severity_exact": lambda clips: severity_within(clips, 0),
    "severity_within1": lambda clips: severity_within(clips, 1),
    "severity_weighted_f1": severity_weighted_f1,
    "tiou_f1_30": lambda clips: tiou_f1(clips, 0.3),
    "tiou_f1_50": lambda clips: tiou_f1(clips, 0.5),
    "tiou_f1_70": lambda clips: tiou_f1(clips, 0.7),
    "desc_precision_strict": lambda clips: _strict(clips, True, False),
    "desc_recall_strict": lambda clips: _strict(clips, False, True),
    "desc_f1_strict": lambda clips: _strict(clips, True, True),
    "desc_f1_dimension": f1_dimension,
}

OF_CORPUS: dict[str, Callable[[Sequence[Clip]], float]] = {
    "severe_recall": severe_recall,
    "clean_accuracy": clean_accuracy,
    "detection_precision": lambda clips: detection(clips)[0],
    "detection_recall": lambda clips: detection(clips)[1],
    "detection_f1": lambda clips: detection(clips)[2],
}


def micro(name: str, clips: Sequence[Clip]) -> float:
    return {**OF_EVENTS, **OF_CORPUS}[name](clips)


def macro(name: str, clips: Sequence[Clip]) -> float:
    if name in OF_CORPUS:
        return OF_CORPUS[name](clips)
    values = [OF_EVENTS[name]([clip]) for clip in clips if clip.references]
    defined = [value for value in values if not math.isnan(value)]
    return ratio(sum(defined), len(defined))
