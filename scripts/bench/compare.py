"""Whether the paired difference of two checkpoints is right, on checkpoints with a known difference: the table under
"How often it is right" in docs/compare.md.

Both checkpoints share the ease of a prompt; a clip is clean if its ease and its own luck exceed what the checkpoint
needs, so the two are correlated. A faulty clip has one to four events. Each repetition draws new prompts and clips. The
true value is the difference of the checkpoints' rates, not of the drawn ones.

    python scripts/bench/compare.py [--repetitions 200] [--prompts 300] [--seed 0]
"""

import argparse
import time
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy.special import ndtri

from robogaze.comparison import ComparisonConfig, Run, compare_runs
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span

KIND = AnnotatedEvent("e", (Span(0.0, 1.0),), "made up", "made_up", "made_up", (), 3)
EXTRA = 0.8
"""The mean number of events of a faulty clip beyond the first."""


@dataclass(frozen=True)
class Results:
    """The results for one pair of checkpoints, as shares of the repetitions."""

    covered: float
    covered_events: float
    different: float


def checkpoint(name: str, rate: float, ease: np.ndarray, shared: float, rng: np.random.Generator) -> Run:
    """A checkpoint with this true clean rate; `shared` is the prompt's part of the variance."""
    luck = sqrt(shared) * ease + sqrt(1 - shared) * rng.normal(size=ease.size)
    events = np.where(luck < ndtri(rate), 0, 1 + np.minimum(rng.poisson(EXTRA, size=ease.size), 3))
    return Run.of(name, [clip(f"{name}-{at}", int(number)) for at, number in enumerate(events)])


def clip(clip_id: str, events: int) -> ClipAnnotation:
    """The annotation of a clip with this many events; its instruction is its number."""
    found = tuple(replace(KIND, id=f"e{number}") for number in range(events))
    return ClipAnnotation(clip_id, "judge", "complete", found, duration_s=8.0, instruction=clip_id.partition("-")[2])


def events_of_a_faulty_clip() -> float:
    """The mean of what `checkpoint` draws."""
    chances = [np.exp(-EXTRA) * EXTRA**number / max(1, number) for number in range(3)]
    return float(1 + chances[1] + 2 * chances[2] + 3 * (1 - sum(chances)))


def simulate(rates: tuple[float, float], shared: float, repetitions: int, prompts: int, seed: int) -> Results:
    """How often the intervals contain the true value, and how often the two are called different."""
    rng = np.random.default_rng(seed)
    truth = rates[1] - rates[0]
    counts = np.zeros(3)
    for repetition in range(repetitions):
        ease = rng.normal(size=prompts)
        runs = [checkpoint(name, rate, ease, shared, rng) for name, rate in zip("ab", rates, strict=True)]
        pair = compare_runs(runs, ComparisonConfig(seed=repetition)).pairs[0]
        clean, events = pair.clean.difference, pair.differences["events_per_clip"].difference
        of_events = -truth * events_of_a_faulty_clip()
        counts += (clean.low <= truth <= clean.high, events.low <= of_events <= events.high, pair.significant)
    return Results(*(counts / repetitions))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--prompts", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    error = sqrt(0.95 * 0.05 / args.repetitions)
    print(f"{args.repetitions} repetitions of {args.prompts} prompts; the standard error of a share is {error:.3f}\n")
    print("| clean rates | shared variance | interval holds: clean rate | events a clip | called different | s |")
    print("|---|---|---|---|---|---|")
    for rates in ((0.5, 0.6), (0.8, 0.85), (0.5, 0.5), (0.85, 0.85)):
        for shared in (0.3, 0.7):
            start = time.perf_counter()
            found = simulate(rates, shared, args.repetitions, args.prompts, args.seed)
            shares = f"{found.covered:.1%} | {found.covered_events:.1%} | {found.different:.1%}"
            print(f"| {rates[0]}, {rates[1]} | {shared} | {shares} | {time.perf_counter() - start:.0f} |", flush=True)


if __name__ == "__main__":
    main()
