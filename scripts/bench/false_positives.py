"""How often a verdict is wrong: systems and checkpoints that are equal called different, and unequal ones called equal.

    python scripts/bench/false_positives.py [--runs 300] [--seed 0] [--rows TEXT]

Corpora are those of scripts/bench/coverage.py; all systems have the same skill. "Some pair different" is counted once a
run, whatever the number of pairs. Checkpoints are compared by `compare` on prompts of several clips (seeds), of which
three quarters of the ease are the checkpoint's and the prompt's. "Equal within" is asked at a margin that is the true
difference, so each yes is wrong. A system that has seen nothing says what it says without regard to the clip.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from coverage import AT, corpus

from robogaze.comparison import ComparisonConfig, Run, compare_runs
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig as EvaluationTerms
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges.base import DescriptionPair as JudgedPair
from robogaze.judges.base import Judgement
from robogaze.metrics.scores import METRICS
from robogaze.stats.paired import pairwise_mean_differences, pairwise_share_differences
from robogaze.stats.resample import draw_resamples

EVENT = AnnotatedEvent("e", (Span(0.0, 1.0),), "made up", "made_up", "made_up", (), 3)
TERMS = ComparisonConfig(resamples=1)
EVALUATION = EvaluationTerms(resamples=1)

Random = np.random.Generator


def five_systems(rng: Random, clips: int, per: int, metric: str) -> bool:
    """Whether some pair of five equal systems is called different."""
    rows, prompts = corpus(rng, clips, per=per, skills=(0.0,) * 5)
    if metric == "clean_accuracy":
        pairs = pairwise_share_differences(rows[:, rows[0, :, AT["clean"]] > 0, AT["clean_found"]] > 0)
    else:
        pairs = pairwise_mean_differences(METRICS[metric].per_clip(rows), draw_resamples([""] * clips, 1, rng, prompts))
    return any(one.significant for one in pairs)


def checkpoints(rng: Random, runs: int, prompts: int, seeds: int) -> list[Run]:
    """Equal checkpoints; clips of one prompt go alike."""
    shared = 0.75 if seeds > 1 else 0.0
    made = []
    for number in range(runs):
        own = rng.normal(size=prompts)
        luck = np.sqrt(shared) * own[:, None] + np.sqrt(1 - shared) * rng.normal(size=(prompts, seeds))
        clips = [clip(f"p{at}", f"p{at}-{seed}", luck[at, seed] < 0) for at in range(prompts) for seed in range(seeds)]
        made.append(Run.of(f"run {'abcdefghij'[number]}", clips))
    return made


def clip(prompt: str, clip_id: str, faulty: bool) -> ClipAnnotation:
    """A clip with one event or none."""
    findings = (EVENT,) if faulty else ()
    return ClipAnnotation(clip_id, "judge", "complete", findings, duration_s=8.0, fields={"prompt_id": prompt})


def some_pair(rng: Random, runs: int, prompts: int, seeds: int) -> bool:
    """Whether some pair of equal checkpoints is called different."""
    return any(one.significant(0.95) for one in compare_runs(checkpoints(rng, runs, prompts, seeds), TERMS).pairs)


def split(rng: Random, runs: int, prompts: int) -> bool:
    """Whether equal checkpoints fall into several bands."""
    return len(compare_runs(checkpoints(rng, runs, prompts, 1), TERMS).bands) > 1


def events(rng: Random, prompts: int, seeds: int) -> bool:
    """Whether two equal checkpoints differ in their events a clip, by p."""
    gap = compare_runs(checkpoints(rng, 2, prompts, seeds), TERMS).pairs[0].differences["events_per_clip"]
    return gap.p < 0.05


def equal_within(rng: Random, clips: int, systems: int) -> bool:
    """Whether some pair of normal values that truly differ by a margin is called equal within it."""
    shift = 0.4 * (np.arange(systems) % 2)
    values = rng.normal(size=(systems, clips)) + shift[:, None]
    pairs = pairwise_mean_differences(values, draw_resamples([""] * clips, 1, rng))
    differ = [(a, b) for a, b in combinations(range(systems), 2) if shift[a] != shift[b]]
    return any(one.most < 0.4 for one in pairs if (one.first, one.second) in differ)


class SameText:
    """A judge for whom the same text is the same event."""

    name, note = "same text", ""
    identity: Mapping[str, Any] = {}

    async def rate(self, pairs: Sequence[JudgedPair]) -> Sequence[Judgement]:
        return [Judgement(float(one.reference == one.prediction)) for one in pairs]


def above_its_floor(rng: Random, clips: int, per: int) -> bool:
    """Whether a system that has seen nothing is called above its floor; both sides have habits, and prompts theirs."""

    def some(text: int) -> tuple[AnnotatedEvent, ...]:
        start = rng.beta(2, 4) * 8
        span = Span(start, start + rng.uniform(0.5, 4.0))
        return (AnnotatedEvent("e", (span,), "abcd"[text], "made_up", "made_up"),) if rng.random() < 0.8 else ()

    sides = [
        [
            ClipAnnotation(
                f"{number:03}",
                "author",
                "complete",
                some(text),
                duration_s=12.0,
                fields={"prompt_id": f"{number // per}"},
            )
            for number, text in enumerate(rng.binomial(3, 0.3, size=clips // per).repeat(per))
        ]
        for _ in range(2)
    ]
    found = asyncio.run(
        evaluate_pairing(pair(sides[0], [System.of("blind", sides[1])]), SameText(), EVALUATION)
    ).systems[0]
    assert found.floor is not None
    return bool(found.floor.above.significant and found.floor.above.difference.value > 0)


def rows() -> Iterator[tuple[str, Callable[[Random], bool]]]:
    """What is tried."""
    for metric in ("desc_f1", "miou", "clean_accuracy"):
        yield f"`evaluate`, five systems, 60 clips, {metric}: some pair different", _five(metric, 60, 1)
    for prompts, seeds in ((50, 4), (25, 8)):
        what = f"{prompts} prompts of {seeds} clips"
        yield (
            f"`evaluate`, five systems, {what}, desc_f1: some pair different",
            _five("desc_f1", prompts * seeds, seeds),
        )
        yield f"`compare`, two runs, {what}: clean rate different", _compared(2, prompts, seeds)
        yield f"`compare`, two runs, {what}: events a clip, p below 0.05", _events(prompts, seeds)
    for runs in (3, 6, 10):
        yield f"`compare`, {runs} runs, 60 prompts: several bands", _split(runs, 60)
    yield "`compare`, five runs, 60 prompts: some pair different", _compared(5, 60, 1)
    for per in (1, 4):
        what = f"{60 // per} prompts of {per} clips" if per > 1 else "60 clips"
        yield f"`evaluate`, a system that has seen nothing, {what}: above its floor", _above(60, per)
    for systems in (2, 5):
        yield f"{systems} systems, 60 clips, true difference 0.4: some pair equal within 0.4", _equal(systems)


def _five(metric: str, clips: int, per: int) -> Callable[[Random], bool]:
    return lambda rng: five_systems(rng, clips, per, metric)


def _compared(runs: int, prompts: int, seeds: int) -> Callable[[Random], bool]:
    return lambda rng: some_pair(rng, runs, prompts, seeds)


def _events(prompts: int, seeds: int) -> Callable[[Random], bool]:
    return lambda rng: events(rng, prompts, seeds)


def _split(runs: int, prompts: int) -> Callable[[Random], bool]:
    return lambda rng: split(rng, runs, prompts)


def _above(clips: int, per: int) -> Callable[[Random], bool]:
    return lambda rng: above_its_floor(rng, clips, per)


def _equal(systems: int) -> Callable[[Random], bool]:
    return lambda rng: equal_within(rng, 60, systems)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", default="", metavar="TEXT", help="Only those that hold this text.")
    given = parser.parse_args()
    print("| equal, and called | share of runs | s |\n|---|---|---|")
    for name, tried in ((name, tried) for name, tried in rows() if given.rows in name):
        start, rng = time.perf_counter(), np.random.default_rng(given.seed)
        wrong = sum(tried(rng) for _ in range(given.runs)) / given.runs
        print(f"| {name} | {wrong:.3f} | {time.perf_counter() - start:.0f} |", flush=True)


if __name__ == "__main__":
    main()
