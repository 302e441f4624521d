"""The numbers of an agreement once more, from their definitions, in plain Python.

Nothing of `robogaze.agreement` but the annotation set is used, nothing of `robogaze.stats`, `robogaze.matching` and
numpy; kappas and alphas are those of tests/stats/plain.py. Clips last ten seconds, spans end on whole seconds, so sets
of seconds stand for times.
"""

import math
from collections.abc import Sequence
from itertools import combinations, permutations
from typing import Any

from stats import plain

from agreement.annotators import similarity
from robogaze.agreement.annotation_set import AnnotationSet, ClipAnnotations
from robogaze.core.annotation import AnnotatedEvent

SECONDS = 10

Label = Any


def plain_measures(annotation_set: AnnotationSet, dimension: str | None) -> dict[str, float]:
    """Every number by name, NaN where it is undefined."""
    about = [
        clip
        for clip in annotation_set.clips
        if dimension is None or clip.dimensions is None or dimension in clip.dimensions
    ]
    matches = [(clip, *match) for clip in about for match in all_matches(clip)]
    units = [unit for clip in about for unit in units_of(clip, [match[1:] for match in matches if match[0] is clip])]

    def asked(event: AnnotatedEvent) -> bool:
        return dimension is None or event.dimension == dimension

    def label(event: AnnotatedEvent) -> Label:
        return event.dimension if dimension is None or event.dimension is None else event.dimension == dimension

    detection = [
        {annotation.author: any(map(asked, annotation.findings)) for annotation in clip.annotations} for clip in about
    ]
    labels = [
        {who: label(event) for who, event in unit.items() if label(event) is not None}
        for unit in units
        if len(unit) > 1
    ]
    pairs = [(a, b) for _, (_, a), (_, b) in matches if asked(a) or asked(b)]
    severities = [
        [value.severity for value in unit.values() if value.severity is not None]
        for unit in units
        if len(unit) > 1 and any(map(asked, unit.values()))
    ]
    every = [(clip, *two) for clip in about for two in combinations(clip.annotations, 2)]
    events = sum(asked(event) for _, *two in every for annotation in two for event in annotation.findings)
    ends = sum(asked(event) for _, (_, a), (_, b) in matches for event in (a, b))
    cohen_only = len(annotation_set.annotators) == 2
    everyone = whole_panel(annotation_set)
    return {
        "detection_kappa": kappa(detection, cohen_only, sizes([set(clip) for clip in everyone["clips"]])),
        "dimension_kappa": kappa(labels, cohen_only, sizes(everyone["units"])),
        "tiou": mean([overlap(a, b) for a, b in pairs]),
        "severity_alpha": plain.alpha(severities, "ordinal"),
        "description_similarity": mean([similarity(a.description, b.description) for a, b in pairs]),
        "events_matched": ends / events if events else math.nan,
        "timeline_alpha": timeline_alpha(
            [
                [[seconds(event) for event in annotation.findings if asked(event)] for annotation in clip.annotations]
                for clip in about
            ]
        ),
        "detection_cohen": mean_cohen(detection),
        "dimension_cohen": mean_cohen(labels),
    }


def whole_panel(annotation_set: AnnotationSet) -> dict[str, list[set[str]]]:
    """Who rated each clip, and the dimension of each matched event: what the choice of a kappa depends on."""
    clips = [{annotation.author for annotation in clip.annotations} for clip in annotation_set.clips]
    units = [unit for clip in annotation_set.clips for unit in units_of(clip, all_matches(clip))]
    return {"clips": clips, "units": [{who for who, event in unit.items() if event.dimension} for unit in units]}


def sizes(raters: Sequence[set[str]]) -> set[int]:
    return {len(names) for names in raters if len(names) > 1}


def seconds(event: AnnotatedEvent) -> set[int]:
    return {second for span in event.spans for second in range(int(span.start), int(span.end))}


def overlap(one: AnnotatedEvent, other: AnnotatedEvent) -> float:
    return len(seconds(one) & seconds(other)) / len(seconds(one) | seconds(other))


def weight(one: AnnotatedEvent, other: AnnotatedEvent) -> float:
    return overlap(one, other) * similarity(one.description, other.description)


Named = tuple[str, AnnotatedEvent]


def all_matches(clip: ClipAnnotations) -> list[tuple[Named, Named]]:
    """The best assignment for every two annotators, by trying all."""
    found = []
    for one, other in combinations(clip.annotations, 2):
        few, many = sorted((one, other), key=lambda annotation: len(annotation.findings))
        best = max(
            permutations(many.findings, len(few.findings)),
            key=lambda chosen: sum(weight(a, b) for a, b in zip(few.findings, chosen, strict=True)),
        )
        for a, b in zip(few.findings, best, strict=True):
            if weight(a, b) > 0:
                found.append(((few.author, a), (many.author, b)))
    return found


def units_of(clip: ClipAnnotations, matches: Sequence[tuple[Named, Named]]) -> list[dict[str, AnnotatedEvent]]:
    """Matches chained, the heaviest first, without two events of one annotator."""
    units = [{annotation.author: event} for annotation in clip.annotations for event in annotation.findings]
    for (who, match), (whom, other) in sorted(matches, key=lambda match: -weight(match[0][1], match[1][1])):
        first = next(unit for unit in units if unit.get(who) is match)
        second = next(unit for unit in units if unit.get(whom) is other)
        if not first.keys() & second.keys():
            units = [unit for unit in units if unit is not first and unit is not second] + [{**first, **second}]
    return units


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan


def kappa(ratings: Sequence[dict[str, Label]], two: bool, sizes: set[int]) -> float:
    if two:
        return plain.cohen([[rating[who] for who in sorted(rating)] for rating in ratings if len(rating) == 2])
    given = [list(rating.values()) for rating in ratings if len(rating) > 1]
    if len(sizes) > 1 or not given:
        return plain.alpha(given, "nominal")
    return plain.fleiss(given)


def mean_cohen(ratings: Sequence[dict[str, Label]]) -> float:
    names = sorted({who for rating in ratings for who in rating})
    found = [
        plain.cohen([(rating[a], rating[b]) for rating in ratings if a in rating and b in rating])
        for a, b in combinations(names, 2)
    ]
    return mean([value for value in found if not math.isnan(value)])


def timeline_alpha(clips: Sequence[Sequence[Sequence[set[int]]]]) -> float:
    """Alpha for unitizing over clips of observers of events: seconds as places of a continuum."""
    places, squares, apart = [], 0, 0.0
    for observers in clips:
        joined = [runs(events) for events in observers]
        marks = [set().union(*units) for units in joined]
        places += [second in marked for marked in marks for second in range(SECONDS)]
        squares += sum(len(unit) ** 2 for units in joined for unit in units)
        for second in range(SECONDS):
            said = [second in marked for marked in marks]
            apart += sum(a != b for a, b in permutations(said, 2)) / (len(said) - 1)
    total, marked = len(places), sum(places)
    different = 2 * marked * (total - marked)
    return 1 - (apart / total) / (different / (total**2 - squares)) if different else math.nan


def runs(events: Sequence[set[int]]) -> list[set[int]]:
    """Events that overlap, joined."""
    joined: list[set[int]] = []
    for event in events:
        together = [other for other in joined if other & event]
        joined = [other for other in joined if not other & event] + [event.union(*together)]
    return joined
