"""What the pixels pipeline finds of known events: by type, by rule, by clip, and how well its confidence is calibrated.

The folders are those of `robogaze forge simulate` or `forge plant`. Reports come from a run, or are made here from
measured series in a cache (scripts/research/measured_clips.py), where only the places in the descriptions are missing:

    robogaze score held/clips.jsonl --pipeline pixels --out run/
    python scripts/bench/pixels.py held/ --run run/
    python scripts/bench/pixels.py held/ more/ --cache measured/ --picture docs/pictures/pixels-reliability.svg

An event is correct when an annotated event of its type overlaps it, and no other event of the report fits that one
better. Onset error and tIoU (frames) are those of the found events. Shares have Wilson intervals, means and F1
percentile intervals over 2000 resamples of the clips. docs/pixels.md has the tables.
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

sys.path.insert(0, str(Path(__file__).parents[1] / "research"))
from measured_clips import simulated_clips

from robogaze.core.coverage import COVERED
from robogaze.core.estimate import Estimate
from robogaze.core.events import Claim, Hypothesis
from robogaze.core.report import Report
from robogaze.core.time import frame_iou
from robogaze.diagnose import OpenClip, diagnose
from robogaze.domains import load_domain
from robogaze.media.decoded_clip import DecodedClip, PictureSettings
from robogaze.reporting.figures import Point, curve
from robogaze.stages.measure import Measure
from robogaze.stages.pipeline import Pipeline
from robogaze.stats.interval import estimate
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Clusters, Resamples, draw_resamples, mean, mean_rows, ratio

PIPELINE, DOMAIN = "pixels", "robot"
RESAMPLES, SEED = 2000, 0
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)


@dataclass(frozen=True)
class ScoredClip:
    """A clip's known events and its report; None without a report."""

    truth: Report
    report: Report | None

    @property
    def events(self) -> Sequence[Claim]:
        """The events of the report."""
        return self.report.events if self.report is not None else ()


@dataclass(frozen=True)
class FoundEvent:
    """An annotated event that was found: the position of its clip, the onset error, and the temporal IoU."""

    clip: int
    onset_error_s: float
    tiou: float


def from_run(truths: Sequence[Report], run: Path) -> Iterator[ScoredClip]:
    """The clips with the reports of a run."""
    for truth in truths:
        file = run / "reports" / f"{truth.clip.id}.json"
        yield ScoredClip(truth, Report.model_validate_json(file.read_text(encoding="utf-8")) if file.exists() else None)


async def from_cache(folder: Path, cache: Path, pipeline: Pipeline, first: int | None) -> list[ScoredClip]:
    """The clips of a folder, or only the first ones, with reports from measured series."""
    clips = []
    for known in islice(simulated_clips(folder, cache), first):
        assert known.truth is not None, "a simulated clip has its events"
        decoded = DecodedClip(known.truth.clip.layout, PictureSettings())
        opened = OpenClip(known.truth.clip, decoded, known.evidence, {"layout": "given"})
        clips.append(ScoredClip(known.truth, await diagnose(opened, pipeline)))
        decoded.close()
    return clips


def pairs(truth: Report, claims: Sequence[Claim]) -> dict[int, int]:
    """The annotated event of each matched claim, both by position: of one type, one to one, the best tIoU first."""
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


def by_type(clips: Sequence[ScoredClip], resamples: Resamples) -> Iterator[str]:
    """A row for each event type that is annotated or reported."""
    for kind in sorted({event.type for clip in clips for event in (*clip.truth.events, *clip.events)}):
        found, reported = [], 0
        for number, clip in enumerate(clips):
            claims = [event for event in clip.events if event.type == kind]
            reported += len(claims)
            for claim, place in pairs(clip.truth, claims).items():
                event = clip.truth.events[place]
                iou = frame_iou(event.spans, claims[claim].spans, clip.truth.clip.frame_times_s)
                found.append(FoundEvent(number, abs(claims[claim].onset_s - event.onset_s), iou))
        annotated = sum(event.type == kind for clip in clips for event in clip.truth.events)
        onset = over_clips(found, lambda event: event.onset_error_s, resamples)
        tiou = over_clips(found, lambda event: event.tiou, resamples)
        cells = (wilson(len(found), reported), wilson(len(found), annotated), onset, tiou)
        yield f"| {kind} | {annotated} | {reported} | {' | '.join(shown(cell) for cell in cells)} |"


def by_rule(clips: Sequence[ScoredClip]) -> Iterator[str]:
    """A row for each signal and event type of the accepted hypotheses: correct of findings, and events found."""
    accepted = [_accepted(clip) for clip in clips]
    for kind, source in sorted({(claim.type, _source(claim)) for claims in accepted for claim in claims}):
        correct, total, found = 0, 0, set()
        for number, (clip, claims) in enumerate(zip(clips, accepted, strict=True)):
            for claim in (claim for claim in claims if (claim.type, _source(claim)) == (kind, source)):
                matched = pairs(clip.truth, [claim])
                total, correct = total + 1, correct + bool(matched)
                found |= {(number, place) for place in matched.values()}
        annotated = sum(event.type == kind for clip in clips for event in clip.truth.events)
        yield f"| {kind} | `{source}` | {shown(wilson(correct, total))} | {shown(wilson(len(found), annotated))} |"


def _accepted(clip: ScoredClip) -> list[Hypothesis]:
    hypotheses = clip.report.hypotheses if clip.report is not None else ()
    return [hypothesis for hypothesis in hypotheses if hypothesis.verdict != "rejected"]


def _source(claim: Claim) -> str:
    """The signal of a hypothesis."""
    return claim.evidence[0].source.removeprefix("signal ")


def by_outcome(clips: Sequence[ScoredClip], with_rule: Set[str]) -> Iterator[str]:
    """A row for clean clips, those with a fault of a type that has a rule, and those with other faults only."""
    groups: dict[str, list[ScoredClip]] = {
        "clean": [],
        "with a fault that has a rule": [],
        "with other faults only": [],
    }
    clean, ruled, other = groups.values()
    for clip in clips:
        types = {event.type for event in clip.truth.events}
        (ruled if types & with_rule else other if types else clean).append(clip)
    for name, group in groups.items():
        with_event = sum(bool(clip.events) for clip in group)
        nothing = sum(clip.report is not None and clip.report.nothing_found for clip in group)
        cells = (with_event, len(group) - with_event - nothing, nothing)
        yield f"| {name} | {len(group)} | {' | '.join(shown(wilson(cell, len(group))) for cell in cells)} |"


def over_clips(found: Sequence[FoundEvent], value: Callable[[FoundEvent], float], resamples: Resamples) -> Estimate:
    """The mean over the found events, resampled by clip."""
    values = np.array([value(event) for event in found])
    if not len(values):
        return wilson(0, 0)
    by = Clusters(resamples, [event.clip for event in found])
    return estimate(float(values.mean()), mean_rows(values), mean, n=len(values), by=by)


def by_clip(clips: Sequence[ScoredClip], resamples: Resamples) -> Mapping[str, Estimate]:
    """Clean clips without an event, missed faults of examined dimensions, and F1 of clips with a fault."""
    clean = [clip for clip in clips if not clip.truth.events]
    silent = sum(clip.report is not None and not clip.events for clip in clean)
    reported = {event.type for clip in clips for event in clip.events}
    nothing = [(clip.truth, clip.report) for clip in clips if clip.report is not None and clip.report.nothing_found]
    missed = sum(
        any(report.coverage[event.dimension].state in COVERED for event in truth.events) for truth, report in nothing
    )
    return {
        "clean clips without an event": wilson(silent, len(clean)),
        "clips without a finding that have a fault in an examined dimension": wilson(missed, len(nothing)),
        "clips with a fault, F1": detection(clips, None, resamples),
        "clips with a fault of a reported type, F1": detection(clips, reported, resamples),
    }


def detection(clips: Sequence[ScoredClip], types: set[str] | None, resamples: Resamples) -> Estimate:
    """F1 of faulty against clean clips, for faults of these types."""
    rows = []
    for clip in clips:
        faulty = any(types is None or event.type in types for event in clip.truth.events)
        counts = faulty or not clip.truth.events
        alarm = bool(clip.events)
        rows.append([2.0 * (faulty and alarm), float(faulty) + float(alarm)] if counts else [0.0, 0.0])
    table = np.array(rows)
    by = Clusters(resamples, range(len(clips)))
    value = float(ratio(table[:, 0].sum(), table[:, 1].sum()))
    return estimate(value, table, lambda sums: ratio(sums[..., 0], sums[..., 1]), n=int((table[:, 1] > 0).sum()), by=by)


def reliability(clips: Sequence[ScoredClip]) -> list[tuple[float, Estimate]]:
    """Mean confidence and share of correct hypotheses, by bins of confidence."""
    pairs_of: list[tuple[float, bool]] = []
    for clip in clips:
        hypotheses = clip.report.hypotheses if clip.report is not None else ()
        pairs_of += [
            (claim.confidence, bool(pairs(clip.truth, [claim]))) for claim in hypotheses if claim.confidence is not None
        ]
    rows = []
    for low, high in pairwise(BINS):
        inside = [(confidence, correct) for confidence, correct in pairs_of if low <= confidence < high]
        if inside:
            share = wilson(sum(correct for _, correct in inside), len(inside))
            rows.append((float(np.mean([confidence for confidence, _ in inside])), share))
    return rows


def shown(value: Estimate) -> str:
    """A value, its interval and its n."""
    if not value.defined:
        return f"n={value.n}"
    return f"{value.value:.3f} [{value.low:.3f}, {value.high:.3f}] n={value.n}"


def tables(clips: Sequence[ScoredClip], with_rule: Set[str]) -> Iterator[str]:
    """The lines that are printed."""
    resamples = draw_resamples([""] * len(clips), RESAMPLES, np.random.default_rng(SEED))
    states = [clip.report.status if clip.report else "missing" for clip in clips]
    yield f"{len(clips)} clips: " + ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    yield from (f"{name}: {shown(value)}" for name, value in by_clip(clips, resamples).items())
    yield "\n| type | annotated | reported | precision | recall | onset error (s) | tIoU |"
    yield "|---|---|---|---|---|---|---|"
    yield from by_type(clips, resamples)
    yield "\n| type | signal | correct of findings | found of annotated |\n|---|---|---|---|"
    yield from by_rule(clips)
    yield "\n| clips | n | an event | undecided | nothing found |\n|---|---|---|---|---|"
    yield from by_outcome(clips, with_rule)
    rows = reliability(clips)
    n = sum(share.n for _, share in rows)
    error = sum(share.n * abs(share.value - confidence) for confidence, share in rows) / n if n else float("nan")
    yield f"\nexpected calibration error {error:.3f}, n={n}\n\n| confidence | correct |\n|---|---|"
    yield from (f"| {confidence:.2f} | {shown(share)} |" for confidence, share in rows)


def main() -> None:
    """Print the tables, and draw the picture if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", type=Path, nargs="+", help="simulated clips")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--run", type=Path, help="a run over the manifest of a single folder")
    source.add_argument("--cache", type=Path, help="where measured series are kept")
    parser.add_argument("--first", type=int, help="take only this many clips of each folder, with --cache")
    parser.add_argument("--picture", type=Path, help="where the reliability diagram is drawn, as SVG")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    pipeline = Pipeline.build(load_domain(DOMAIN), PIPELINE)
    clips: list[ScoredClip] = []
    for folder in options.folders:
        if options.run is not None:
            lines = (folder / "annotations.jsonl").read_text(encoding="utf-8").splitlines()
            clips += from_run([Report.model_validate_json(line) for line in lines], options.run)
        else:
            clips += asyncio.run(from_cache(folder, options.cache, pipeline, options.first))
    rules = [rule for _, stage in pipeline.stages if isinstance(stage, Measure) for rule in stage.rules]
    print("\n".join(tables(clips, {rule.type for rule in rules})))
    if options.picture is not None:
        points = [Point(confidence, share.value, f"n={share.n}") for confidence, share in reliability(clips)]
        options.picture.parent.mkdir(parents=True, exist_ok=True)
        options.picture.write_text(
            curve(points, "How often confidence is right", "confidence", "correct"), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
