"""What the pixels pipeline finds of faults of which the truth is known: by type, by clip, and how sure it rightly is.

The clips are folders that `robogaze forge simulate` wrote. What is said of them stands in a run, or is diagnosed here
from measured series that are kept in a cache, each folder's in one of its own name (scripts/measured_clips.py), which
tells all but the places in the text:

    robogaze bench held/clips.jsonl --pipeline pixels --out run/
    python scripts/bench/pixels.py held/ --run run/
    python scripts/bench/pixels.py held/ more/ --cache measured/ --picture docs/pictures/pixels-reliability.svg

An event is right when an annotated event of its type shares time with it, and no other event of the report fits that
one better; what is left over is wrong. Onset error and tIoU (frames) are those of what was found. Shares have Wilson
intervals, means and F1 percentile intervals over 2000 resamples of the clips.

A second table tells what is only told: how many such findings are right in the same sense, and how many of the
annotated events are found by an event of the report or by such a finding. A third tells what becomes of clips: of the
clean ones, of those with a fault that some rule is about, and of the others.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from measured_clips import simulated

from robogaze.core.coverage import COVERED
from robogaze.core.events import Claim, Hypothesis
from robogaze.core.report import Report
from robogaze.core.scores import Estimate
from robogaze.core.time import frame_iou
from robogaze.diagnose import OpenClip, diagnose
from robogaze.domains import load_domain
from robogaze.evidence import METERS
from robogaze.media.decoded_clip import DecodedClip, PictureSettings
from robogaze.reporting.figures import Point, curve
from robogaze.stages.measure import Measure
from robogaze.stages.pipeline import Pipeline
from robogaze.stats.interval import estimate
from robogaze.stats.proportion import wilson
from robogaze.stats.resample import Clusters, Resamples, draw, mean, mean_rows, ratio

PIPELINE, DOMAIN = "pixels", "robot"
RESAMPLES, SEED = 2000, 0
EVIDENCE_ONLY = "evidence only: "
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class Clip:
    """What is true of a clip, and what is said of it; None where there is no report."""

    truth: Report
    said: Report | None


@dataclass(frozen=True)
class Found:
    """An annotated event that was found: in which clip, how far off, and how well the times agree."""

    clip: int
    onset_error_s: float
    tiou: float


def from_run(truths: Sequence[Report], run: Path) -> Iterator[Clip]:
    """What the reports of a run say."""
    for truth in truths:
        file = run / "reports" / f"{truth.clip.id}.json"
        said = Report.model_validate_json(file.read_text(encoding="utf-8")) if file.exists() else None
        yield Clip(truth, said)


async def from_cache(folder: Path, cache: Path, pipeline: Pipeline, first: int | None) -> list[Clip]:
    """What the pipeline says of measured series, of the first so many clips or of all."""
    clips = []
    for known in islice(simulated(folder, cache, list(METERS)), first):
        assert known.truth is not None, "a simulated clip has its truth"
        footage = DecodedClip(known.truth.clip.layout, PictureSettings())
        opened = OpenClip(known.truth.clip, footage, known.evidence, {"layout": "given"})
        clips.append(Clip(known.truth, await diagnose(opened, pipeline)))
        footage.close()
    return clips


def pairs(truth: Report, claims: Sequence[Claim]) -> dict[int, int]:
    """Which claim (by place) is which annotated event: of one type, one to one, the best tIoU first."""
    fits = sorted(
        (
            (frame_iou(event.spans, claim.spans, truth.clip.frame_times_s), number, place)
            for number, claim in enumerate(claims)
            for place, event in enumerate(truth.events)
            if event.type == claim.type
        ),
        key=lambda fit: (-fit[0], fit[1], fit[2]),
    )
    paired: dict[int, int] = {}
    for iou, number, place in fits:
        if iou > 0 and number not in paired and place not in paired.values():
            paired[number] = place
    return paired


def by_type(clips: Sequence[Clip], resamples: Resamples) -> Iterator[str]:
    """A row for each type that occurs on either side."""
    events = [event for one in clips for event in one.truth.events]
    claimed = [event for one in clips if one.said for event in one.said.events]
    for kind in sorted({one.type for one in (*events, *claimed)}):
        found, right, told = [], 0, 0
        for number, one in enumerate(clips):
            claims = [event for event in (one.said.events if one.said else ()) if event.type == kind]
            told += len(claims)
            for claim, place in pairs(one.truth, claims).items():
                event = one.truth.events[place]
                iou = frame_iou(event.spans, claims[claim].spans, one.truth.clip.frame_times_s)
                found.append(Found(number, abs(claims[claim].onset_s - event.onset_s), iou))
                right += 1
        total = sum(event.type == kind for event in events)
        onset = over_clips(found, lambda one: one.onset_error_s, resamples)
        tiou = over_clips(found, lambda one: one.tiou, resamples)
        cells = (wilson(right, told), wilson(right, total), onset, tiou)
        yield f"| {kind} | {total} | {told} | {' | '.join(shown(cell) for cell in cells)} |"


def only_told(clips: Sequence[Clip]) -> Iterator[str]:
    """A row for each type of which something is evidence only."""
    told = [[one for one in clip.said.hypotheses if _is_told(one)] if clip.said else [] for clip in clips]
    for kind in sorted({one.type for claims in told for one in claims}):
        weak = [[one for one in claims if one.type == kind] for claims in told]
        right = sum(bool(pairs(clip.truth, [one])) for clip, claims in zip(clips, weak, strict=True) for one in claims)
        found = sum(
            len(
                pairs(
                    clip.truth, [*claims, *(one for one in clip.said.events if one.type == kind)] if clip.said else []
                )
            )
            for clip, claims in zip(clips, weak, strict=True)
        )
        total = sum(event.type == kind for clip in clips for event in clip.truth.events)
        yield f"| {kind} | {total} | {shown(wilson(right, sum(map(len, weak))))} | {shown(wilson(found, total))} |"


def _is_told(one: Hypothesis) -> bool:
    return one.verdict == "rejected" and (one.reason or "").startswith(EVIDENCE_ONLY)


def outcomes(clips: Sequence[Clip], looked_for: Set[str]) -> Iterator[str]:
    """What becomes of clean clips, of those with a fault of a type that rules are about, and of the others."""
    groups: dict[str, list[Clip]] = {"clean": [], "with a fault that a rule is about": [], "with other faults only": []}
    clean, about, other = groups
    for one in clips:
        types = {event.type for event in one.truth.events}
        groups[about if types & looked_for else other if types else clean].append(one)
    for name, group in groups.items():
        event = sum(one.said is not None and bool(one.said.events) for one in group)
        nothing = sum(one.said is not None and one.said.clean for one in group)
        cells = (event, len(group) - event - nothing, nothing)
        yield f"| {name} | {len(group)} | {' | '.join(shown(wilson(cell, len(group))) for cell in cells)} |"


def over_clips(found: Sequence[Found], value: Callable[[Found], float], resamples: Resamples) -> Estimate:
    """The mean of what was found, resampled by clip."""
    values = np.array([value(one) for one in found])
    if not len(values):
        return wilson(0, 0)
    by = Clusters(resamples, [one.clip for one in found])
    return estimate(float(values.mean()), mean_rows(values), mean, n=len(values), by=by)


def by_clip(clips: Sequence[Clip], resamples: Resamples) -> Mapping[str, Estimate]:
    """Clean clips without an event, wrong claims of nothing found, and clips with a fault of any or a reported type."""
    clean = [one for one in clips if not one.truth.events]
    silent = sum(one.said is not None and not one.said.events for one in clean)
    reported = {event.type for one in clips if one.said for event in one.said.events}
    nothing = [(one.truth, one.said) for one in clips if one.said is not None and one.said.nothing_found]
    wrongly = sum(
        any(said.coverage[event.dimension].state in COVERED for event in truth.events) for truth, said in nothing
    )
    return {
        "clean clips without an event": wilson(silent, len(clean)),
        "clips in which nothing was found that have a fault in a dimension that was examined": wilson(
            wrongly, len(nothing)
        ),
        "clips with a fault, F1": detection(clips, None, resamples),
        "clips with a fault of a reported type, F1": detection(clips, reported, resamples),
    }


def detection(clips: Sequence[Clip], types: set[str] | None, resamples: Resamples) -> Estimate:
    """F1 of "something is wrong", for clips with a fault of these types and clean ones."""
    rows = []
    for one in clips:
        faulty = any(types is None or event.type in types for event in one.truth.events)
        counts = faulty or not one.truth.events
        alarm = one.said is not None and bool(one.said.events)
        rows.append([2.0 * (faulty and alarm), float(faulty) + float(alarm)] if counts else [0.0, 0.0])
    table = np.array(rows)
    by = Clusters(resamples, range(len(clips)))
    value = float(ratio(table[:, 0].sum(), table[:, 1].sum()))
    return estimate(value, table, lambda sums: ratio(sums[..., 0], sums[..., 1]), n=int((table[:, 1] > 0).sum()), by=by)


def reliability(clips: Sequence[Clip]) -> list[tuple[float, Estimate]]:
    """Mean confidence and the share that is right, by bins, of all hypotheses that have one, each for itself."""
    told: list[tuple[float, bool]] = []
    for one in clips:
        claims = [claim for claim in (one.said.hypotheses if one.said else ()) if claim.confidence is not None]
        told += [(claim.confidence or 0.0, bool(pairs(one.truth, [claim]))) for claim in claims]
    rows = []
    for low, high in pairwise(BINS):
        inside = [(sure, right) for sure, right in told if low <= sure < high]
        if inside:
            share = wilson(sum(right for _, right in inside), len(inside))
            rows.append((float(np.mean([sure for sure, _ in inside])), share))
    return rows


def shown(one: Estimate) -> str:
    """A value, its interval and its n."""
    if not one.defined:
        return f"n={one.n}"
    return f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}] n={one.n}"


def tables(clips: Sequence[Clip], looked_for: Set[str]) -> Iterator[str]:
    """All that is printed."""
    resamples = draw([""] * len(clips), RESAMPLES, np.random.default_rng(SEED))
    states = [one.said.status if one.said else "missing" for one in clips]
    yield f"{len(clips)} clips: " + ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    yield from (f"{name}: {shown(one)}" for name, one in by_clip(clips, resamples).items())
    yield "\n| type | annotated | reported | precision | recall | onset error (s) | tIoU |"
    yield "|---|---|---|---|---|---|---|"
    yield from by_type(clips, resamples)
    yield "\n| evidence only | annotated | right of told | found by an event or told |\n|---|---|---|---|"
    yield from only_told(clips)
    yield "\n| clips | n | an event | left open | nothing found |\n|---|---|---|---|---|"
    yield from outcomes(clips, looked_for)
    rows = reliability(clips)
    n = sum(share.n for _, share in rows)
    gap = sum(share.n * abs(share.value - sure) for sure, share in rows) / n if n else float("nan")
    yield f"\nexpected calibration error {gap:.3f}, n={n}\n\n| confidence | right |\n|---|---|"
    yield from (f"| {sure:.2f} | {shown(share)} |" for sure, share in rows)


def main() -> None:
    """Print the tables, and draw the picture if asked to."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folders", type=Path, nargs="+", help="simulated clips")
    source = asked.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", type=Path, help="a run over the manifest of the only folder")
    source.add_argument("--cache", type=Path, help="where measured series are kept")
    asked.add_argument("--first", type=int, help="take only so many clips of each folder, with --cache")
    asked.add_argument("--picture", type=Path, help="where the reliability diagram is drawn, as SVG")
    given = asked.parse_args()
    cv2.setNumThreads(1)
    pipeline = Pipeline.build(load_domain(DOMAIN), PIPELINE)
    clips: list[Clip] = []
    for folder in given.folders:
        if given.run is not None:
            lines = (folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
            clips += from_run([Report.model_validate_json(line) for line in lines], given.run)
        else:
            (given.cache / folder.name).mkdir(parents=True, exist_ok=True)
            clips += asyncio.run(from_cache(folder, given.cache / folder.name, pipeline, given.first))
    rules = [rule for _, stage in pipeline.stages if isinstance(stage, Measure) for rule in stage.rules]
    print("\n".join(tables(clips, {rule.type for rule in rules})))
    if given.picture is not None:
        points = [Point(sure, share.value, f"n={share.n}") for sure, share in reliability(clips)]
        given.picture.parent.mkdir(parents=True, exist_ok=True)
        given.picture.write_text(
            curve(points, "How often confidence is right", "confidence", "right"), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
