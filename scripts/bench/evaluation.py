"""How long an evaluation takes, beside the same protocol in plain Python, and how much memory a large corpus takes.

The corpus is made up: clips of 8.69 s at 16 frames a second, three splits, three in ten clean, the others with one to
five events; a system repeats six in ten of them and adds up to two of its own. Similarities come from a table.

The plain version computes the scores over clips with their intervals and all paired differences, clip by clip and
resample by resample; it does a part of the resamples, and its time is scaled to all. It computes 8 metrics; the
evaluation 19, over clips and over the corpus, with the cost of every kind of error and the sweeps.

    python scripts/bench/evaluation.py [--clips 382] [--systems 24] [--resamples 1000] [--plain 20]
    python scripts/bench/evaluation.py --clips 100000 --systems 1 --plain 0
"""

import argparse
import asyncio
import random
import resource
import time
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from scipy.optimize import linear_sum_assignment

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span, frame_iou
from robogaze.datasets.pairing import System, pair
from robogaze.evaluation.config import EvaluationConfig
from robogaze.evaluation.systems import evaluate_pairing
from robogaze.judges.base import DescriptionPair, Judgement

FRAMES, FPS = 139, 16
TIMES_S = tuple(number / FPS for number in range(FRAMES))
DIMENSIONS = tuple(f"dimension_{number}" for number in range(6))


def similarity(reference: str, prediction: str) -> float:
    """A made-up similarity that depends on the two texts alone."""
    return 1.0 if reference == prediction else (7 * len(reference) + 3 * len(prediction)) % 10 / 10


class Table:
    """A judge that answers at once."""

    name, note = "table", "Made up."
    identity: dict[str, Any] = {}

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """The made-up similarities."""
        return [Judgement(similarity(one.reference, one.prediction)) for one in pairs]


def events(rng: random.Random, count: int, name: str) -> tuple[AnnotatedEvent, ...]:
    """Some events of a clip."""
    found = []
    for number in range(count):
        start = rng.uniform(0, 6)
        span = Span(start, start + rng.uniform(0.1, 2.5))
        text, dimension = "x" * rng.randrange(20, 90), rng.choice(DIMENSIONS)
        kind = f"{dimension}_{rng.randrange(5)}"
        found.append(AnnotatedEvent(f"{name}{number}", (span,), text, dimension, kind, (), rng.randrange(1, 6)))
    return tuple(found)


def annotation(clip_id: str, findings: tuple[AnnotatedEvent, ...], split: str) -> ClipAnnotation:
    """An account of a made-up clip."""
    return ClipAnnotation(
        clip_id,
        "someone",
        "complete",
        findings,
        frame_times_s=TIMES_S,
        duration_s=FRAMES / FPS,
        fields={"split": split},
    )


def corpus(clips: int, systems: int, rng: random.Random) -> tuple[list[ClipAnnotation], list[System]]:
    """References and systems."""
    references = [
        annotation(
            f"c{number:06}", events(rng, 0 if rng.random() < 0.3 else rng.randrange(1, 6), "r"), "abc"[number % 3]
        )
        for number in range(clips)
    ]
    said = [
        [
            annotation(
                one.clip_id,
                tuple(found for found in one.findings if rng.random() < 0.6) + events(rng, rng.randrange(3), "p"),
                one.fields["split"],
            )
            for one in references
        ]
        for _ in range(systems)
    ]
    return references, [System.of(f"s{number}", annotations) for number, annotations in enumerate(said)]


PlainScores = dict[str, float | None]


def plain_clip(reference: ClipAnnotation, prediction: ClipAnnotation) -> PlainScores:
    """The scores of one clip, written down as the definition reads."""
    rows, columns = reference.findings, prediction.findings
    overlap = [[frame_iou(one.spans, other.spans, TIMES_S) for other in columns] for one in rows]
    alike = [[similarity(one.description, other.description) for other in columns] for one in rows]
    weight = [
        [
            alike[i][j] * overlap[i][j] * (1.25 if one.dimension == other.dimension else 1)
            for j, other in enumerate(columns)
        ]
        for i, one in enumerate(rows)
    ]
    pairs = []
    if rows and columns:
        pairs = [(i, j) for i, j in zip(*linear_sum_assignment(weight, maximize=True), strict=True) if weight[i][j] > 0]
    total = len(rows) + len(columns)
    summed = sum(alike[i][j] for i, j in pairs)
    apart = [abs((rows[i].severity or 0) - (columns[j].severity or 0)) for i, j in pairs]
    return {
        "desc_precision": summed / len(columns) if rows and columns else None,
        "desc_recall": summed / len(rows) if rows else None,
        "desc_f1": 2 * summed / total if rows else None,
        "f1_iou": 2 * sum(alike[i][j] * overlap[i][j] for i, j in pairs) / total if rows else None,
        "miou": sum(overlap[i][j] for i, j in pairs) / len(pairs) if pairs else None,
        "severity_exact": sum(one == 0 for one in apart) / len(apart) if apart else None,
        "severity_within1": sum(one <= 1 for one in apart) / len(apart) if apart else None,
        "clean_accuracy": None if rows else float(not columns),
    }


def plain(
    references: Sequence[ClipAnnotation], systems: Sequence[System], resamples: int, rng: random.Random
) -> tuple[dict[str, float], float, float]:
    """The first system's means over clips; the seconds that scoring took, and those of intervals and differences."""
    started = time.perf_counter()
    scores = [[plain_clip(one, system.annotations[one.clip_id]) for one in references] for system in systems]
    scored = time.perf_counter()
    strata = [[number for number, one in enumerate(references) if one.fields["split"] == name] for name in "abc"]
    drawn = []
    for _ in range(resamples):
        chosen = [number for members in strata for number in rng.choices(members, k=len(members))]
        drawn.append([plain_means([clips[number] for number in chosen]) for clips in scores])
    for first, second in combinations(range(len(systems)), 2):
        for name in scores[0][0]:
            sorted(one[first][name] - one[second][name] for one in drawn)
    return plain_means(scores[0]), scored - started, time.perf_counter() - scored


def plain_means(clips: Sequence[PlainScores]) -> dict[str, float]:
    """The mean of each score over the clips that have it."""
    known = {name: [value for one in clips if (value := one[name]) is not None] for name in clips[0]}
    return {name: sum(values) / len(values) for name, values in known.items()}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=382)
    parser.add_argument("--systems", type=int, default=24)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--plain", type=int, default=20, help="resamples of the plain version; 0 leaves it out")
    options = parser.parse_args()
    references, systems = corpus(options.clips, options.systems, random.Random(0))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    started = time.perf_counter()
    result = asyncio.run(
        evaluate_pairing(
            pair(references, systems), Table(), EvaluationConfig.of("robogaze", resamples=options.resamples)
        )
    )
    took = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    pairs = len(result.comparisons["desc_f1"].pairs) if result.comparisons else 0
    print(f"{options.clips:,} clips x {options.systems} systems, {options.resamples:,} resamples, {pairs} pairs")
    print(f"evaluate {took:.1f} s; peak memory {peak:,.0f} MiB, of which the corpus itself {before:,.0f} MiB")
    if not options.plain:
        return
    means, scoring, resampling = plain(references, systems, options.plain, random.Random(0))
    scaled = scoring + resampling * options.resamples / options.plain
    same = max(abs(means[name] - result.systems[0].macro[name].value) for name in means)
    print(f"plain Python {scaled:.0f} s (scaled from {options.plain} resamples): {scaled / took:.1f} x as long")
    print(f"largest difference of the first system's scores: {same:.1e}")


if __name__ == "__main__":
    main()
