"""Made-up clips and systems, and a judge that compares words."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.results import Evaluation
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges.base import DescriptionPair, Judgement

TIMES_S = tuple(number / 10 for number in range(100))


class SameWords:
    """Similarity 1 for the same description, `given` for what it knows, 0 for others; None for "?"."""

    name, note = "same-words", "A judge for tests."
    identity: dict[str, Any] = {}

    def __init__(self, **given: float) -> None:
        self.given = given
        self.asked: list[DescriptionPair] = []

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        self.asked += pairs
        return [Judgement(self.similarity(pair), rationale="") for pair in pairs]

    def similarity(self, pair: DescriptionPair) -> float | None:
        if "?" in pair.prediction:
            return None
        return float(pair.reference == pair.prediction) or self.given.get(pair.prediction, 0.0)


def event(start: float, end: float, text: str = "a", dimension: str = "d", **known: Any) -> AnnotatedEvent:
    return replace(AnnotatedEvent(f"{text}{start}", (Span(start, end),), text, dimension, f"{dimension}_t"), **known)


def clip(name: str, *findings: AnnotatedEvent, **known: Any) -> ClipAnnotation:
    plain = ClipAnnotation(name, "someone", "complete", findings, frame_times_s=TIMES_S, duration_s=10.0, source=name)
    return replace(plain, **known)


def run(
    references: Sequence[ClipAnnotation], *systems: Sequence[ClipAnnotation], judge: Any = None, **known: Any
) -> Evaluation:
    by = known.pop("by", ())
    named = [System.of(f"s{number}", annotations) for number, annotations in enumerate(systems)]
    config = EvaluationConfig.of(known.pop("convention", "robogaze"), **{"resamples": 50, **known})
    return asyncio.run(evaluate_pairing(pair(references, named), judge or SameWords(), config, by))
