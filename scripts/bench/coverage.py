"""How often the intervals of `evaluate` contain the true value, on simulated corpora: the table under "Intervals" in
docs/metrics/coverage.md.

    python scripts/bench/coverage.py [--simulations 800] [--units 20 60 120 300] [--seed 0]

A clip has one to three events, or none with probability one third. The probability that an event is found depends on
how easy the clip is; the similarity and the IoU of a found event and the number of false alarms vary. Two systems share
the ease of a clip. Clips are independent, or four share a prompt, which decides three quarters of the ease. The true
value is the mean of 2,000,000 clips. From the rows of counts on, the code is that of `evaluate`.
"""

import argparse
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.estimates import corpus_sums, macro_scores, select_metric
from robogaze.metrics.scores import METRICS, macro
from robogaze.metrics.tally import COLUMNS
from robogaze.stats.paired import pairwise_differences, pairwise_mean_differences, pairwise_share_differences
from robogaze.stats.resample import draw_resamples

SHOWN = ("desc_f1", "miou", "clean_accuracy")
SEEDS = 4
AT = {name: index for index, name in enumerate(COLUMNS)}
SKILL = (0.3, 0.0)
"""How much better than the ease of a clip each system is."""

TRUTH, PART = 2_000_000, 20_000
"""The number of clips for the true value, and how many at a time."""

Matrix = NDArray[np.float64]


def corpus(
    rng: np.random.Generator, clips: int, *, per: int = 1, skills: Sequence[float] = SKILL
) -> tuple[Matrix, list[int]]:
    """Rows (systems, clips, columns), and the prompt of each clip; `per` clips share a prompt."""
    prompts = [clip // per for clip in range(clips)]
    own, shared = rng.normal(size=clips), rng.normal(size=clips)[prompts]
    ease = np.sqrt(0.75) * shared + 0.5 * own if per > 1 else own
    kind = rng.random(clips)[prompts]
    events = np.where(kind < 1 / 3, 0, 1 + rng.integers(0, 3, size=clips))
    rows = np.zeros((len(skills), clips, len(COLUMNS)))
    for system, skill in enumerate(skills):
        chance = 1 / (1 + np.exp(-(ease + skill)))
        found = rng.binomial(events, chance)
        alarms = rng.binomial(2, 0.35 * (1 - chance))
        row = rows[system]
        row[:, AT["clips"]] = 1
        row[:, AT["references"]] = row[:, AT["references_timed"]] = events
        row[:, AT["predictions"]] = row[:, AT["predictions_timed"]] = found + alarms
        row[:, AT["matched"]] = row[:, AT["matched_timed"]] = found
        for number in range(3):
            some = number < found
            row[:, AT["similarity"]] += some * rng.beta(5, 2, size=clips)
            row[:, AT["iou"]] += some * rng.beta(1 + 2 * chance, 1.2)
        row[:, AT["clean"]], row[:, AT["faulty"]] = events == 0, events > 0
        row[:, AT["clean_found"]] = (events == 0) & (alarms == 0)
        row[:, AT["alarms"]] = found + alarms > 0
        row[:, AT["faulty_found"]] = (events > 0) & (found + alarms > 0)
    return rows, prompts


def true_values(rng: np.random.Generator, *, clustered: bool) -> Matrix:
    """The metrics of both systems (systems, metrics). The difference of two means is over the clips that have a value
    for both.
    """
    resamples = draw_resamples([""] * PART, 1, rng)
    sums, apart = [], np.zeros((2, len(SHOWN[:2])))
    for _ in range(TRUTH // PART):
        rows = corpus(rng, PART, per=SEEDS if clustered else 1)[0]
        sums.append(corpus_sums(rows, resamples).total)
        for place, name in enumerate(SHOWN[:2]):
            difference = np.subtract(*METRICS[name].per_clip(rows))
            apart[:, place] += np.nansum(difference), (~np.isnan(difference)).sum()
    truth = macro(np.sum(sums, axis=0))
    for name, difference in zip(SHOWN[:2], apart[0] / apart[1], strict=True):
        place = list(METRICS).index(name)
        truth[1, place] = truth[0, place] - difference
    return truth


def coverage(
    rng: np.random.Generator, simulations: int, clips: int, truth: Matrix, *, clustered: bool
) -> dict[str, float]:
    """The share of simulations in which each interval contains the true value; a missing interval does not."""
    counts = dict.fromkeys((*SHOWN, *(f"{name} difference" for name in SHOWN)), 0)
    config = EvaluationConfig(resamples=1)
    for _ in range(simulations):
        rows, prompts = corpus(rng, clips, per=SEEDS if clustered else 1)
        resamples = draw_resamples([""] * clips, 1, rng, prompts)
        scores = macro_scores(corpus_sums(rows, resamples), config)[0]
        for name in SHOWN:
            place = list(METRICS).index(name)
            counts[name] += scores[name].low <= truth[0, place] <= scores[name].high
            if METRICS[name].level == "events":
                (pair,) = pairwise_mean_differences(METRICS[name].per_clip(rows), resamples)
            elif clustered:
                (pair,) = pairwise_differences(corpus_sums(rows, resamples), select_metric(macro, place), share=True)
            else:
                (pair,) = pairwise_share_differences(rows[:, rows[0, :, AT["clean"]] > 0, AT["clean_found"]] > 0)
            apart = truth[0, place] - truth[1, place]
            counts[f"{name} difference"] += pair.difference.low <= apart <= pair.difference.high
    return {name: count / simulations for name, count in counts.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--simulations", type=int, default=800)
    parser.add_argument("--units", type=int, nargs="+", default=[20, 60, 120, 300], help="Clips, or prompts of four.")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    names = [*SHOWN, *(f"{name} difference" for name in SHOWN)]
    print(f"| clips | units | {' | '.join(names)} | s |\n|{'---|' * (len(names) + 3)}")
    for clustered in (False, True):
        rng = np.random.default_rng(args.seed)
        truth = true_values(rng, clustered=clustered)
        for units in args.units:
            start = time.perf_counter()
            clips = units * SEEDS if clustered else units
            found = coverage(rng, args.simulations, clips, truth, clustered=clustered)
            shares = " | ".join(f"{found[name]:.3f}" for name in names)
            label = f"{clips:,} of {units:,} prompts" if clustered else f"{clips:,}"
            print(f"| {label} | {units:,} | {shares} | {time.perf_counter() - start:.0f} |", flush=True)


if __name__ == "__main__":
    main()
