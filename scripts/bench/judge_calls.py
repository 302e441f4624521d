"""How many pairs of descriptions a judge is asked about by `evaluate`, before and after a change: a table of
docs/judges.md.

    python scripts/bench/judge_calls.py [--before OTHER_CHECKOUT] [--clips 200] [--seed 0]

Clips have none to four events. A system finds each with probability 0.6, half of them at another time or for another
length, and reports false alarms and rejected hypotheses. No two descriptions are equal, so each pair is a request to a
model. The scores of both states are compared, to the last digit.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypedDict

import numpy as np

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges.base import DescriptionPair, Judgement
from robogaze.reporting.serialize import evaluation_json

HERE = Path(__file__).parents[2]
LENGTH_S, FPS = 8.0, 16


class Figures(TypedDict):
    """The number of pairs for each part of an evaluation, and all scores as text."""

    asked: dict[str, int]
    scores: str


class CountingJudge:
    """Gives 0.8 to what describes the same event, 0.6 to some others, and keeps which pairs it was asked about."""

    name, note = "counting", ""
    identity: dict[str, str] = {}

    def __init__(self) -> None:
        self.asked: set[tuple[str, str, str]] = set()

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        self.asked.update((pair.clip_id, pair.reference, pair.prediction) for pair in pairs)
        return [Judgement(self.similarity(pair.reference, pair.prediction)) for pair in pairs]

    def similarity(self, reference: str, prediction: str) -> float:
        return (
            0.8 if prediction.startswith(f"{reference} again") else 0.6 if len(reference + prediction) % 5 == 0 else 0.1
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="another checkout, for comparison")
    parser.add_argument("--clips", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options.clips, options.seed)))
        return
    states = {"after": HERE} if options.before is None else {"before": options.before, "after": HERE}
    found = {name: in_own_process(options, source) for name, source in states.items()}
    for part in ("scores", "scores and floors", "scores, floors and thresholds"):
        print(f"{part}: " + ", ".join(f"{name} {figures['asked'][part]}" for name, figures in found.items()))
    if len(found) > 1:
        print(
            "the scores are equal" if len({figures["scores"] for figures in found.values()}) == 1 else "SCORES DIFFER"
        )


def in_own_process(options: argparse.Namespace, source: Path) -> Figures:
    """Evaluate with one state of the source."""
    command = [sys.executable, __file__, "--measure", f"--clips={options.clips}", f"--seed={options.seed}"]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=source)
    figures: Figures = json.loads(printed.stdout.splitlines()[-1])
    return figures


def measured(clips: int, seed: int) -> Figures:
    """The number of pairs with the floors and the sweep of thresholds, and without; and all scores."""
    rng = np.random.default_rng(seed)
    references = [reference(rng, number) for number in range(clips)]
    pairing = pair(references, [System.of("system", [system(rng, clip) for clip in references])])
    asked, scores = {}, ""
    configs = {
        "scores": EvaluationConfig(resamples=200, floors=False, sweep=False),
        "scores and floors": EvaluationConfig(resamples=200, sweep=False),
        "scores, floors and thresholds": EvaluationConfig(resamples=200),
    }
    for name, config in configs.items():
        judge = CountingJudge()
        result = asyncio.run(evaluate_pairing(pairing, judge, config))
        asked[name], scores = len(judge.asked), json.dumps(evaluation_json(result), sort_keys=True)
    return {"asked": asked, "scores": scores}


def reference(rng: np.random.Generator, number: int) -> ClipAnnotation:
    """A clip with up to four events."""
    events = [event(rng, f"event {number}.{place}", "d") for place in range(rng.integers(0, 5))]
    times_s = tuple(frame / FPS for frame in range(int(LENGTH_S * FPS)))
    return ClipAnnotation(
        f"c{number}",
        "people",
        "complete",
        tuple(events),
        frame_times_s=times_s,
        duration_s=LENGTH_S,
        source="simulated",
    )


def system(rng: np.random.Generator, clip: ClipAnnotation) -> ClipAnnotation:
    """What a system reports of a clip."""
    found = [
        replace(
            known if rng.random() < 0.5 else event(rng, "", "d"),
            id=f"p{known.id}",
            description=f"{known.description} again {rng.integers(1000)}",
            confidence=float(rng.random()),
        )
        for known in clip.findings
        if rng.random() < 0.6
    ]
    alarms = [
        event(rng, f"alarm {clip.clip_id}.{place} {rng.integers(1000)}", "e", confidence=float(rng.random()))
        for place in range(rng.poisson(0.8))
    ]
    rejected = [
        event(rng, f"rejected {clip.clip_id}.{place}", "e", confidence=float(rng.random()))
        for place in range(rng.poisson(2.0))
    ]
    reported = (*found, *alarms)
    return replace(clip, author="system", findings=reported, candidates=(*reported, *rejected))


def event(rng: np.random.Generator, text: str, dimension: str, confidence: float | None = None) -> AnnotatedEvent:
    """An event somewhere in a clip, of 0.3 to 4 s."""
    length_s = float(rng.uniform(0.3, 4.0))
    start_s = float(rng.uniform(0, LENGTH_S - length_s))
    return AnnotatedEvent(
        text, (Span(start_s, start_s + length_s),), text, dimension, f"{dimension}_t", severity=3, confidence=confidence
    )


if __name__ == "__main__":
    main()
