"""The two released evaluators and the protocol of the GLIDE paper, written a second time from the facts about them.

Plain Python that shares nothing with the package: events are dictionaries in the releases' own terms (frames with an
exclusive end, whole seconds), time is a set of frame or second numbers, and every assignment is tried. Only for small
cases.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

Event = Mapping[str, Any]
Pair = tuple[int, int]
Figures = dict[str, float]


def assignments(rows: int, columns: int) -> Iterator[list[Pair]]:
    """Every way of giving each row, or each column where these are fewer, one of the other side."""
    if rows <= columns:
        for chosen in permutations(range(columns), rows):
            yield list(enumerate(chosen))
    else:
        for chosen in permutations(range(rows), columns):
            yield [(row, column) for column, row in enumerate(chosen)]


def heaviest(weights: Sequence[Sequence[float]], rows: int, columns: int) -> list[list[Pair]]:
    """All assignments whose weight is within rounding of the largest."""
    weighed = [(sum(weights[r][c] for r, c in pairs), pairs) for pairs in assignments(rows, columns)]
    top = max(weight for weight, _ in weighed)
    return [pairs for weight, pairs in weighed if weight > top - 1e-12]


def shared_part(a: set[int], b: set[int]) -> float:
    return len(a & b) / len(a | b) if a | b else 0.0


def harmonic(p: float, r: float) -> float:
    return 2 / (1 / p + 1 / r) if p and r else 0.0


# RoboGaze: a clip is {id, references, predictions or None, similarity[reference][prediction]}, an event {type,
# dimension or None, start, end, severity or None}.


def robogaze(clips: Sequence[Mapping[str, Any]], taxonomy: Mapping[str, Sequence[str]], bonus: float) -> dict[str, Any]:
    """metrics, intervals and per_dimension of the released evaluator; its first best assignment where several tie."""
    present = [clip for clip in clips if clip["predictions"] is not None]
    present.sort(key=lambda clip: [(0, int(x)) if x.isdigit() else (1, x) for x in re.findall(r"\d+|\D+", clip["id"])])
    scored = [robogaze_clip(clip, taxonomy, bonus) for clip in present]
    eventful = [figures for clip, (figures, _) in zip(present, scored, strict=True) if clip["references"]]
    names = ["desc_f1", "miou", "f1_iou", "severity_within1", "severity_weighted_f1"]
    columns = {name: [figures[name] for figures in eventful] for name in names}
    rows = {d: [dimensions[d] for _, dimensions in scored if d in dimensions] for d in taxonomy}
    return {
        "metrics": {name: round(average(column), 4) for name, column in columns.items()} | detection(present),
        "intervals": {name: resampled(columns[name]) for name in ("desc_f1", "f1_iou")},
        "per_dimension": {d: round(average(row), 4) for d, row in rows.items()},
    }


def robogaze_clip(
    clip: Mapping[str, Any], taxonomy: Mapping[str, Sequence[str]], bonus: float
) -> tuple[Figures, Figures]:
    references, predictions, s = clip["references"], clip["predictions"], clip["similarity"]
    n, m = len(predictions), len(references)
    home = {kind: d for d, kinds in taxonomy.items() for kind in kinds}

    def dimension(event: Event) -> str:
        return str(event["dimension"] or home.get(event["type"], "unknown"))

    def severity(event: Event) -> int:
        return int(event["severity"] or 0)

    overlap = [
        [shared_part(set(range(r["start"], r["end"])), set(range(p["start"], p["end"]))) for p in predictions]
        for r in references
    ]
    pairs: list[Pair] = []
    if n and m:
        weights = [
            [
                s[r][p] * overlap[r][p] * (1 + bonus * (dimension(references[r]) == dimension(predictions[p])))
                for p in range(n)
            ]
            for r in range(m)
        ]
        pairs = [(r, p) for r, p in heaviest(weights, m, n)[0] if weights[r][p] > 1e-9]
    likeness = sum(s[r][p] for r, p in pairs)
    located = sum(s[r][p] * overlap[r][p] for r, p in pairs)
    all_meant, all_found = sum(map(severity, predictions)), sum(map(severity, references))
    meant = sum(s[r][p] * severity(predictions[p]) for r, p in pairs)
    found = sum(s[r][p] * severity(references[r]) for r, p in pairs)
    near = [abs(severity(references[r]) - severity(predictions[p])) < 2 for r, p in pairs]
    figures = {
        "desc_f1": 2 * likeness / (n + m) if n + m else 0.0,  # what the harmonic mean comes to
        "f1_iou": 2 * located / (n + m) if n + m else 0.0,
        "miou": average([overlap[r][p] for r, p in pairs]),
        "severity_within1": average(near),
        "severity_weighted_f1": harmonic(
            meant / all_meant if all_meant else 0.0, found / all_found if all_found else 0.0
        ),
    }
    dimensions = {}
    for d in taxonomy:
        sides = sum(dimension(event) == d for event in [*references, *predictions])
        if sides:
            own = [s[r][p] for r, p in pairs if dimension(references[r]) == dimension(predictions[p]) == d]
            dimensions[d] = round(2 * sum(own) / sides, 4)
    return {name: round(value, 4) for name, value in figures.items()}, dimensions


def average(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def resampled(values: Sequence[float]) -> tuple[float, float]:
    if not values:
        return 0.0, 0.0
    dice = random.Random(0)
    means = sorted(average([values[dice.randrange(len(values))] for _ in values]) for _ in range(1000))
    return round(means[25], 4), round(means[975], 4)


def detection(clips: Sequence[Mapping[str, Any]]) -> Figures:
    cells = [(bool(clip["references"]), bool(clip["predictions"])) for clip in clips]
    said = [truth for truth, alarm in cells if alarm]
    precision = average(said)
    recall = average([alarm for truth, alarm in cells if truth])
    quiet = average([not alarm for truth, alarm in cells if not truth])
    figures = {"clean_accuracy": quiet, "detection_precision": precision, "detection_recall": recall}
    return {name: round(value, 4) for name, value in (figures | {"detection_f1": harmonic(precision, recall)}).items()}


# GLIDE: a video is {name, references, predictions or None, ratings[reference][prediction]}, an event a list of [start,
# end] in whole seconds.


def glide(videos: Sequence[Mapping[str, Any]]) -> list[Figures]:
    """What the released evaluator may print: one set of figures for each choice among equally good assignments."""
    last = {video["name"].removesuffix(".mp4"): video for video in videos}
    present = [last[name] for name in sorted(last) if last[name]["predictions"] is not None]
    options = [[]]
    for video in present:
        m, n = len(video["references"]), len(video["predictions"])
        best = heaviest(video["ratings"], m, n) if m and n else [[]]
        taken = [[pair_facts(video, r, p) for r, p in pairs] for pairs in best]
        options = [before + now for before in options for now in taken]
    n = sum(len(video["predictions"]) for video in present)
    m = sum(len(video["references"]) for video in present)
    return [glide_figures(facts, n, m) for facts in options]


def seconds(event: Sequence[Sequence[int]]) -> set[int]:
    return {second for start, end in event for second in range(start, end)}


def pair_facts(video: Mapping[str, Any], r: int, p: int) -> tuple[float, float]:
    reference, prediction = video["references"][r], video["predictions"][p]
    a, b = seconds(reference), seconds(prediction)
    timeless = not a and not b and bool(reference) == bool(prediction)
    return video["ratings"][r][p], 1.0 if timeless else shared_part(a, b)


def glide_figures(facts: Sequence[tuple[float, float]], n: int, m: int) -> Figures:
    figures: Figures = {"miou": average([o for _, o in facts]), "mean_rating": average([rating for rating, _ in facts])}
    earned = {"desc": sum(rating for rating, _ in facts) / 5, "iou": sum(rating * o for rating, o in facts) / 5}
    for kind, f1 in (("desc", "desc_f1"), ("iou", "f1_iou")):
        figures[f"{kind}_precision"] = earned[kind] / n if n else 0.0
        figures[f"{kind}_recall"] = earned[kind] / m if m else 0.0
        figures[f1] = 2 * earned[kind] / (n + m) if n + m else 0.0
    return figures


def glide_paper(videos: Sequence[Mapping[str, Any]]) -> Figures:
    """The paper's protocol over a corpus: pairs weighed by rating x IoU, those without weight not matched."""
    facts = []
    for video in videos:
        m, n = len(video["references"]), len(video["predictions"] or [])
        if m and n:
            known = [[pair_facts(video, r, p) for p in range(n)] for r in range(m)]
            weights = [[rating * o for rating, o in row] for row in known]
            facts += [known[r][p] for r, p in heaviest(weights, m, n)[0] if weights[r][p] > 0]
    n = sum(len(video["predictions"] or []) for video in videos)
    m = sum(len(video["references"]) for video in videos)
    return glide_figures(facts, n, m)
