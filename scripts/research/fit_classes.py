"""Fits a classifier of a pipeline to simulated clips, and says what it makes of clips that it was not fitted to.

What a class stands for is said by the rule that goes by it: at the onset of an event of that rule's type, what was
found in the frame is of that class. The one class without a rule is what is found in frames away from any event, and
where an event is over: what then comes back or goes away is no new fault. Frames in which the rule may not hold
(`unless`, `blind`) are left out.

Mean and scale of each feature are those of the examples, and a ridge penalty keeps the weights small. Counted on the
very clips that the weights were fitted to, thresholds and confidence would be too good, and on others of the same world
still so: a clip gets its shares from weights fitted to clips of other worlds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from measured_clips import Known
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from robogaze.core.report import Report
from robogaze.evidence.classifier import Class, Classifier, classified
from robogaze.stages.event_rule import EventRule

INVERSE_PENALTY = 0.2
AWAY_FRAMES = 4
"""What is found so near to an event belongs to it."""


@dataclass(frozen=True)
class Examples:
    """Features, not yet brought to scale, with the class of each and the place of its clip."""

    features: NDArray[np.float64]
    classes: NDArray[np.str_]
    clips: NDArray[np.int64]


def examples(classifier: Classifier, rules: Sequence[EventRule], clips: Sequence[Known]) -> Examples:
    """What was found in all clips where the truth says what it is."""
    told = [
        (row, name, place)
        for place, one in enumerate(clips)
        for view in one.evidence.views
        for row, name in _in_view(classifier, rules, one, view)
    ]
    rows, names, places = zip(*told, strict=True)
    return Examples(np.array(rows), np.array(names), np.array(places))


def fitted_classes(classifier: Classifier, of: Examples) -> Classifier:
    """The classifier with weights fitted to examples. Raises ValueError where a class has none."""
    if missing := {one.name for one in classifier.classes} - set(of.classes.tolist()):
        raise ValueError(f"no clip shows {', '.join(sorted(missing))}")
    scaled = tuple(
        feature.with_(mean=_rounded(mean), scale=_rounded(scale) or 1.0)
        for feature, mean, scale in zip(
            classifier.features, of.features.mean(axis=0), of.features.std(axis=0), strict=True
        )
    )
    classifier = classifier.with_(features=scaled)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000).fit(classifier.weighed(of.features), of.classes)
    weights, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # then only the weights of the second against the first are given
        weights, constants = np.vstack([0 * weights, weights]), np.array([0.0, constants[0]])
    made = {name: (constants[place], weights[place]) for place, name in enumerate(model.classes_)}
    return classifier.with_(classes=tuple(_weighted(one, *made[one.name]) for one in classifier.classes))


def out_of_world(classifier: Classifier, of: Examples, clips: Sequence[Known]) -> list[Known]:
    """The clips with their shares, those of each world by weights fitted to the others.

    Raises ValueError where some class is shown in one world only.
    """
    worlds = np.array([one.world for one in clips])
    by_world = {}
    for world in np.unique(worlds):
        others = worlds[of.clips] != world
        by_world[world] = fitted_classes(
            classifier, Examples(of.features[others], of.classes[others], of.clips[others])
        )
    return [replace(one, evidence=classified(one.evidence, [by_world[one.world]])) for one in clips]


def _weighted(one: Class, constant: float, weights: NDArray[np.float64]) -> Class:
    return one.with_(constant=_rounded(constant), weights=tuple(_rounded(weight) for weight in weights))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _in_view(
    classifier: Classifier, rules: Sequence[EventRule], clip: Known, view: str
) -> Iterator[tuple[NDArray[np.float64], str]]:
    """Features and classes of the frames of a view in which something was found and it is known what."""
    series = clip.evidence.views[view].series
    features = classifier.features_of(series)
    there = (series[classifier.of] > 0) & np.isfinite(features).all(axis=1)
    for rule in rules:
        for condition in (*rule.unless, *rule.blind):
            there &= ~condition.holds(clip.evidence, view)
    names = _classes(classifier, rules, clip.truth, np.array(clip.evidence.frame_times_s))
    for frame in np.flatnonzero(there):
        if frame in names:
            yield features[frame], names[frame]


def _classes(
    classifier: Classifier, rules: Sequence[EventRule], truth: Report | None, times_s: NDArray[np.float64]
) -> Mapping[int, str]:
    """The class of each frame of which it is known."""
    (usual,) = {one.name for one in classifier.classes} - {rule.signal for rule in rules}
    by_type = {rule.type: rule.signal for rule in rules}
    events = truth.events if truth is not None else ()
    away = set(range(len(times_s)))
    ends = set()
    onsets = {}
    for event in events:
        for span in event.spans:
            first, end = np.searchsorted(times_s, (span.start - 1e-6, span.end - 1e-6))
            away -= set(range(first - AWAY_FRAMES, end + AWAY_FRAMES + 1))
            ends.add(int(end))
        if event.type in by_type:
            onsets[int(np.searchsorted(times_s, event.onset_s - 1e-6))] = by_type[event.type]
    return {**dict.fromkeys(away | ends, usual), **onsets}
