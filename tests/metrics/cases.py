"""Made-up accounts, and corpora of random ones that hold every odd case."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

import numpy as np
from numpy.typing import NDArray

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState
from robogaze.core.report import Status
from robogaze.core.time import Span
from robogaze.matching import Match, Weighting, iou_matrix, match_events
from robogaze.metrics.tally import judgeable, tally

Matrix = NDArray[np.float64]

DIMENSIONS = ("a", "b", "c")
FRAMES = tuple(round(number / 10, 6) for number in range(100))
"""Ten seconds at ten frames a second."""


def finding(
    *spans: tuple[float, float],
    name: str = "e",
    text: str = "",
    dimension: str | None = "a",
    kind: str | None = None,
    severity: int | None = 3,
    confidence: float | None = None,
    secondary: tuple[str, ...] = (),
) -> AnnotatedEvent:
    timed = tuple(Span(*span) for span in spans)
    return AnnotatedEvent(name, timed, text, dimension, kind, secondary, severity, confidence)


def annotation(
    *findings: AnnotatedEvent,
    clip_id: str = "clip",
    status: Status = "complete",
    covered: Sequence[str] | None = None,
    partial: Sequence[str] = (),
    candidates: tuple[AnnotatedEvent, ...] = (),
) -> ClipAnnotation:
    coverage: dict[str, CoverageState] | None = None
    if covered is not None:
        coverage = {**dict.fromkeys(DIMENSIONS, "not_examined"), **dict.fromkeys(partial, "partial")}
        coverage |= dict.fromkeys(covered, "examined")
    return ClipAnnotation(clip_id, "someone", status, findings, coverage, candidates, FRAMES, 10.0)


@dataclass(frozen=True)
class Pair:
    """Two accounts of a clip and the similarities of their findings."""

    reference: ClipAnnotation
    prediction: ClipAnnotation | None
    similarity: Matrix

    @property
    def predicted(self) -> tuple[AnnotatedEvent, ...]:
        return self.prediction.findings if self.prediction else ()

    @property
    def iou(self) -> Matrix:
        return iou_matrix(self.reference.findings, self.predicted, self.reference.frame_times_s)

    @property
    def judged(self) -> Matrix:
        """The similarities, 0 for what the reference cannot speak for."""
        scored = self.prediction is not None and self.prediction.status != "unscored"
        return np.where(judgeable(self.reference, self.prediction), self.similarity, 0.0) if scored else self.similarity

    def reordered(self, rows: Sequence[int], columns: Sequence[int]) -> "Pair":
        """The same clip with the findings in another order."""
        prediction = self.prediction and _taken(self.prediction, columns)
        return Pair(_taken(self.reference, rows), prediction, self.similarity[np.ix_(rows, columns)])

    def matched(self, weighting: Weighting | None = None) -> tuple[Match, ...]:
        if self.prediction is None or self.prediction.status == "unscored":
            return ()
        findings = self.reference.findings, self.prediction.findings
        return match_events(*findings, self.judged, self.iou, weighting or Weighting())

    def row(self, weighting: Weighting | None = None) -> Matrix:
        return tally(self.reference, self.prediction, self.matched(weighting), self.iou)


def _taken(clip: ClipAnnotation, order: Sequence[int]) -> ClipAnnotation:
    return replace(clip, findings=tuple(clip.findings[index] for index in order))


def pair(reference: ClipAnnotation, prediction: ClipAnnotation | None, *rows: Sequence[float]) -> Pair:
    """`rows` are the similarities of each reference; all 1 where they are not given."""
    shape = len(reference.findings), len(prediction.findings) if prediction else 0
    similarity = np.array(rows, dtype=np.float64).reshape(shape) if rows else np.ones(shape)
    return Pair(reference, prediction, similarity)


THREE_OF_ONE = pair(
    annotation(*(finding((start, start + 1), severity=1) for start in (0, 2, 4))),
    annotation(*(finding((start, start + 1), severity=1) for start in (0, 2, 4))),
    [0.1, 0.0, 0.0],
    [0.0, 0.2, 0.0],
    [0.0, 0.0, 0.3],
)
"""Three matches of one dimension and severity, whose similarities have two sums in binary."""


def corpus(seed: int, clips: int, *, tied: bool) -> list[Pair]:
    """Random clips with up to four events a side; `tied` draws similarities and times from a few values."""
    rng = Random(seed)
    return [_random_pair(rng, number, tied) for number in range(clips)]


def _random_pair(rng: Random, number: int, tied: bool) -> Pair:
    reference = _random_account(rng, f"clip {number}", "complete", tied)
    prediction = _random_account(
        rng, f"clip {number}", rng.choice(("complete", "complete", "complete", "partial", "unscored")), tied
    )
    shape = len(reference.findings), len(prediction.findings)
    values = [
        rng.choice((0, 0.2, 0.6, 1)) if tied else rng.choice((0.0, rng.random())) for _ in range(shape[0] * shape[1])
    ]
    if rng.random() < 0.1:
        return Pair(reference, None, np.zeros((shape[0], 0)))
    return Pair(reference, prediction, np.array(values, dtype=np.float64).reshape(shape))


def _random_account(rng: Random, clip_id: str, status: Status, tied: bool) -> ClipAnnotation:
    count = 0 if status == "unscored" else rng.choice((0, 1, 2, 3, 4))
    findings = [_random_finding(rng, f"e{number}", tied) for number in range(count)]
    if rng.random() < 0.1:
        findings = [replace(event, severity=None) for event in findings]
    covered = rng.choice((None, None, ("a", "b")))
    return annotation(*findings, clip_id=clip_id, status=status, covered=covered)


def _random_finding(rng: Random, name: str, tied: bool) -> AnnotatedEvent:
    step_s, steps = (1.0, 10) if tied else (0.1, 99)
    ends = sorted(rng.sample(range(steps), 2 * rng.choice((0, 1, 1, 1, 2))))
    # Some start a little after a frame, and so those of one step hold none.
    late_s = rng.choice((0, 0, 0.03))
    return finding(
        *((start * step_s + late_s, end * step_s) for start, end in zip(ends[::2], ends[1::2], strict=True)),
        name=name,
        text=rng.choice(("falls", "melts")) if tied else str(rng.random()),
        dimension=rng.choice(("a", "b", "c", None)),
        kind=rng.choice(("x", "y", None)),
        severity=rng.choice((None, 1, 2, 3, 4, 5)),
        secondary=rng.choice(((), (), ("a",))),
    )
