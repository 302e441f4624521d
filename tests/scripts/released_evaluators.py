"""The two released evaluators a second time, from files to figures, from the facts written down about them.

Nothing here comes from the package: JSON is read as the releases read it, events are tuples in the releases' own units.
Ratings are given as (clip, number of the reference, number of the prediction) to a sum of whole ratings. The assignment
is scipy's with the predictions as rows, as in the releases: that decides between equal sums.
"""

import itertools
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

Ratings = Mapping[tuple[str, int, int], int]
Figures = dict[str, float]


class Event(NamedTuple):
    """An event in whole frames."""

    start: int
    end: int
    dimension: str
    severity: int


class Clip(NamedTuple):
    """A clip that has both files."""

    name: str
    references: list[Event]
    predictions: list[Event]


def robogaze(references: Path, predictions: Path, ratings: Ratings, taxonomy: Mapping[str, Sequence[str]]) -> Figures:
    """Means, the ends of the two intervals (`desc_f1 low`), detection and `dimension NAME`, all to four digits.

    `predictions` holds `<data set>/<video>/report.json`; ratings are sums of three from 0 to 5.
    """
    clips = _clips(references, predictions, {kind: name for name, kinds in taxonomy.items() for kind in kinds})
    rows = [_row(clip, ratings, taxonomy) for clip in clips]
    eventful = [row for clip, row in zip(clips, rows, strict=True) if clip.references]
    found: Figures = {}
    for name in ("desc_f1", "miou", "f1_iou", "severity_within1", "severity_weighted_f1"):
        found[name] = _mean([row[name] for row in eventful])
    for name in ("desc_f1", "f1_iou"):
        found[f"{name} low"], found[f"{name} high"] = _interval([row[name] for row in eventful])
    for name in taxonomy:
        found[f"dimension {name}"] = _mean([row[name] for row in rows if name in row])
    cells = [(bool(clip.references), bool(clip.predictions)) for clip in clips]
    precision = _mean([float(true) for true, alarm in cells if alarm])
    recall = _mean([float(alarm) for true, alarm in cells if true])
    found |= {
        "clean_accuracy": _mean([float(not alarm) for true, alarm in cells if not true]),
        "detection_precision": precision,
        "detection_recall": recall,
        "detection_f1": _harmonic(precision, recall),
    }
    return {name: round(value, 4) for name, value in found.items()}


def _clips(references: Path, predictions: Path, home: Mapping[str, str]) -> list[Clip]:
    said = {}
    for path in predictions.glob("*/*/report.json"):
        said[f"{path.parts[-3]}__{path.parts[-2]}"] = json.loads(path.read_text())
    clips = []
    for path in references.glob("*.json"):
        true = json.loads(path.read_text())
        report = said.get(path.stem)
        if report is not None:
            rate = (report.get("video_meta") or {}).get("fps")
            meant = [_event(glitch, home, None) for glitch in true["glitches"]]
            found = [_event(glitch, home, rate) for glitch in report["glitches"]]
            clips.append(Clip(path.stem, meant, found))
    return sorted(clips, key=lambda clip: [int(part) if part.isdigit() else part for part in _parts(clip.name)])


def _parts(name: str) -> list[str]:
    return re.split(r"(\d+)", name)


def _event(record: Mapping[str, Any], home: Mapping[str, str], rate: float | None) -> Event:
    def frame(name: str) -> int:
        if record.get(f"{name}_frame") is not None:
            return int(record[f"{name}_frame"])
        time_s = record.get(f"{name}_time")
        return 0 if time_s is None or rate is None else round(time_s * rate)

    dimension = record.get("dimension") or home.get(record.get("glitch_type") or "", "unknown")
    return Event(frame("start"), frame("end"), dimension, record.get("severity") or record.get("human_severity") or 0)


def _row(clip: Clip, ratings: Ratings, taxonomy: Mapping[str, Sequence[str]]) -> Figures:
    true, said = clip.references, clip.predictions
    pairs: list[tuple[int, int, float, float]] = []
    if true and said:
        weights = np.zeros((len(said), len(true)))
        for p, one in enumerate(said):
            for r, other in enumerate(true):
                alike = ratings[clip.name, r, p] / 15
                weights[p, r] = alike * _frame_overlap(one, other) * (1 + 0.25 * (one.dimension == other.dimension))
        for p, r in zip(*linear_sum_assignment(weights, maximize=True), strict=True):
            if weights[p, r] > 1e-9:
                pairs.append((p, r, ratings[clip.name, r, p] / 15, _frame_overlap(said[p], true[r])))
    n, m = len(said), len(true)
    likeness, placed = sum(s for _, _, s, _ in pairs), sum(s * o for _, _, s, o in pairs)
    meant = sum(s * said[p].severity for p, _, s, _ in pairs)
    due = sum(s * true[r].severity for _, r, s, _ in pairs)
    values = {
        "desc_f1": _harmonic(_share(likeness, n), _share(likeness, m)),
        "f1_iou": _harmonic(_share(placed, n), _share(placed, m)),
        "miou": _mean([o for _, _, _, o in pairs]),
        "severity_within1": _mean([float(abs(said[p].severity - true[r].severity) < 2) for p, r, _, _ in pairs]),
        "severity_weighted_f1": _harmonic(
            _share(meant, sum(event.severity for event in said)), _share(due, sum(event.severity for event in true))
        ),
    }
    for name in taxonomy:
        sides = [sum(event.dimension == name for event in side) for side in (said, true)]
        if any(sides):
            own = sum(s for p, r, s, _ in pairs if said[p].dimension == name == true[r].dimension)
            values[name] = _harmonic(_share(own, sides[0]), _share(own, sides[1]))
    return {name: round(value, 4) for name, value in values.items()}


def _frame_overlap(one: Event, other: Event) -> float:
    """Overlap in frames, end exclusive; reversed and empty events overlap with nothing."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    whole = max(one.end, other.end) - min(one.start, other.start)
    return shared / whole if shared > 0 and whole > 0 else 0.0


def _interval(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 0.0
    dice = random.Random(0)
    means = sorted(_mean([values[dice.randrange(len(values))] for _ in values]) for _ in range(1000))
    return means[25], means[975]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other > 0 else 0.0


def glide(references: Path, predictions: Path, ratings: Ratings) -> Figures:
    """Figures over all videos together; both files are lists of records. Ratings are whole numbers from 0 to 5."""
    true, said = (
        {video["video_name"]: video for video in json.loads(path.read_text())} for path in (references, predictions)
    )
    pairs: list[tuple[int, float]] = []
    n = m = 0
    for name in sorted(true.keys() & said.keys()):
        meant, found = true[name]["time_nodes"], said[name]["time_nodes"]
        n, m = n + len(found), m + len(meant)
        if meant and found:
            cost = -np.array([[ratings[name, r, p] for r in range(len(meant))] for p in range(len(found))], dtype=float)
            for p, r in zip(*linear_sum_assignment(cost), strict=True):
                pairs.append((ratings[name, int(r), int(p)], _second_overlap(meant[r], found[p])))
    earned, placed = sum(rating for rating, _ in pairs), sum(rating * overlap for rating, overlap in pairs)
    figures = {"miou": _mean([overlap for _, overlap in pairs]), "mean_rating": _mean([rating for rating, _ in pairs])}
    for sum_of, precision, recall, f1 in (
        (earned, "desc_precision", "desc_recall", "desc_f1"),
        (placed, "iou_precision", "iou_recall", "f1_iou"),
    ):
        figures[precision], figures[recall] = _share(sum_of, 5 * n), _share(sum_of, 5 * m)
        figures[f1] = _harmonic(figures[precision], figures[recall])
    return figures


def _second_overlap(one: Sequence[Sequence[float]], other: Sequence[Sequence[float]]) -> float:
    """Overlap of unions of intervals; 1 for two that take no time, 0 where one side alone has no intervals."""
    if not one or not other:
        return float(not one and not other)
    edges = sorted({edge for interval in (*one, *other) for edge in interval})
    cells = list(itertools.pairwise(edges))
    inside = [[any(s <= a and b <= e for s, e in side) for a, b in cells] for side in (one, other)]
    shared = math.fsum(b - a for (a, b), x, y in zip(cells, *inside, strict=True) if x and y)
    whole = math.fsum(b - a for (a, b), x, y in zip(cells, *inside, strict=True) if x or y)
    return shared / whole if whole else 1.0
