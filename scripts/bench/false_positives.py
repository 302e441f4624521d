"""How often a comparison is wrong: equal systems or checkpoints reported as different, unequal ones as equivalent.

    python scripts/bench/false_positives.py [--runs 300] [--seed 0] [--rows TEXT]

Corpora are those of scripts/bench/coverage.py; all systems have the same skill. "Some pair different" counts at most
once per run, whatever the number of pairs. Checkpoints are compared by `compare` on prompts of several clips (seeds);
three quarters of the variance of a clip's difficulty belong to checkpoint and prompt. "Equal within" uses the true
difference as its margin, so each equivalence is wrong. A blind system predicts without regard to the clip.
docs/metrics/coverage.md has the table.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from coverage import AT, corpus

from robogaze.comparison import ComparisonConfig, Run, compare_runs
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges.base import DescriptionPair, Judgement
from robogaze.metrics.scores import METRICS
from robogaze.stats.paired import pairwise_mean_differences, pairwise_share_differences
from robogaze.stats.resample import draw_resamples

EVENT = AnnotatedEvent("e", (Span(0.0, 1.0),), "made up", "made_up", "made_up", (), 3)
COMPARISON = ComparisonConfig(resamples=1)
EVALUATION = EvaluationConfig(resamples=1)

Random = np.random.Generator


def five_systems(rng: Random, clips: int, per: int, metric: str) -> bool:
    """Whether some pair of five equal systems is reported as different."""
    rows, prompts = corpus(rng, clips, per=per, skills=(0.0,) * 5)
    if metric == "clean_accuracy":
        pairs = pairwise_share_differences(rows[:, rows[0, :, AT["clean"]] > 0, AT["clean_found"]] > 0)
    else:
        pairs = pairwise_mean_differences(METRICS[metric].per_clip(rows), draw_resamples([""] * clips, 1, rng, prompts))
    return any(pair.significant for pair in pairs)


def checkpoints(rng: Random, runs: int, prompts: int, seeds: int) -> list[Run]:
    """Equal checkpoints; the clips of a prompt have similar difficulty."""
    shared = 0.75 if seeds > 1 else 0.0
    made = []
    for number in range(runs):
        own = rng.normal(size=prompts)
        difficulty = np.sqrt(shared) * own[:, None] + np.sqrt(1 - shared) * rng.normal(size=(prompts, seeds))
        clips = [
            clip(f"p{at}", f"p{at}-{seed}", difficulty[at, seed] < 0) for at in range(prompts) for seed in range(seeds)
        ]
        made.append(Run.of(f"run {'abcdefghij'[number]}", clips))
    return made


def clip(prompt: str, clip_id: str, faulty: bool) -> ClipAnnotation:
    """A clip with one event or none."""
    findings = (EVENT,) if faulty else ()
    return ClipAnnotation(clip_id, "judge", "complete", findings, duration_s=8.0, fields={"prompt_id": prompt})


def some_pair(rng: Random, runs: int, prompts: int, seeds: int) -> bool:
    """Whether some pair of equal checkpoints is reported as different."""
    return any(pair.significant for pair in compare_runs(checkpoints(rng, runs, prompts, seeds), COMPARISON).pairs)


def split(rng: Random, runs: int, prompts: int) -> bool:
    """Whether equal checkpoints are in several bands."""
    return len(compare_runs(checkpoints(rng, runs, prompts, 1), COMPARISON).bands) > 1


def events(rng: Random, prompts: int, seeds: int) -> bool:
    """Whether two equal checkpoints differ in their events per clip, with p below 0.05."""
    gap = compare_runs(checkpoints(rng, 2, prompts, seeds), COMPARISON).pairs[0].differences["events_per_clip"]
    return gap.p < 0.05


def equal_within(rng: Random, clips: int, systems: int) -> bool:
    """Whether some pair of normal values whose true difference is the margin is reported as equal within it."""
    shift = 0.4 * (np.arange(systems) % 2)
    values = rng.normal(size=(systems, clips)) + shift[:, None]
    pairs = pairwise_mean_differences(values, draw_resamples([""] * clips, 1, rng))
    differ = [(a, b) for a, b in combinations(range(systems), 2) if shift[a] != shift[b]]
    return any(pair.equivalence_bound < 0.4 for pair in pairs if (pair.first, pair.second) in differ)


class SameText:
    """A judge for which equal texts are the same event."""

    name, note = "same text", ""
    identity: Mapping[str, Any] = {}

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        return [Judgement(float(pair.reference == pair.prediction)) for pair in pairs]


def above_its_floor(rng: Random, clips: int, per: int) -> bool:
    """Whether a blind system is reported above its chance level; texts depend on the prompt, on both sides."""

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
    """The names of the table's rows, with one trial each."""
    for metric in ("desc_f1", "miou", "clean_accuracy"):
        yield (
            f"`evaluate`, five systems, 60 clips, {metric}: some pair different",
            partial(five_systems, clips=60, per=1, metric=metric),
        )
    for prompts, seeds in ((50, 4), (25, 8)):
        what = f"{prompts} prompts of {seeds} clips"
        yield (
            f"`evaluate`, five systems, {what}, desc_f1: some pair different",
            partial(five_systems, clips=prompts * seeds, per=seeds, metric="desc_f1"),
        )
        yield (
            f"`compare`, two runs, {what}: clean rate different",
            partial(some_pair, runs=2, prompts=prompts, seeds=seeds),
        )
        yield f"`compare`, two runs, {what}: events a clip, p below 0.05", partial(events, prompts=prompts, seeds=seeds)
    for runs in (3, 6, 10):
        yield f"`compare`, {runs} runs, 60 prompts: several bands", partial(split, runs=runs, prompts=60)
    yield "`compare`, five runs, 60 prompts: some pair different", partial(some_pair, runs=5, prompts=60, seeds=1)
    for per in (1, 4):
        what = f"{60 // per} prompts of {per} clips" if per > 1 else "60 clips"
        yield (
            f"`evaluate`, a system that has seen nothing, {what}: above its floor",
            partial(above_its_floor, clips=60, per=per),
        )
    for systems in (2, 5):
        yield (
            f"{systems} systems, 60 clips, true difference 0.4: some pair equal within 0.4",
            partial(equal_within, clips=60, systems=systems),
        )


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", default="", metavar="TEXT", help="Only rows with this text.")
    given = parser.parse_args()
    print("| comparison | share of wrong runs | s |\n|---|---|---|")
    for name, tried in ((name, tried) for name, tried in rows() if given.rows in name):
        start, rng = time.perf_counter(), np.random.default_rng(given.seed)
        wrong = sum(tried(rng) for _ in range(given.runs)) / given.runs
        print(f"| {name} | {wrong:.3f} | {time.perf_counter() - start:.0f} |", flush=True)


if __name__ == "__main__":
    main()
