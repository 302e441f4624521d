"""Fits a classifier to simulated clips, and gives each clip probabilities from weights fitted to other clips.

A class is fitted to the annotated events of one type (`fitted_to`): a region that is replaced in the frame of such an
event's onset belongs to it. The class without a type consists of regions away from any event and in the frames where an
event ends, because what returns or leaves there is not a new fault. Frames in which the rules that use the classes
cannot hold (`unless`, `undecidable_when`) are left out.

Mean and scale of each feature are those of the examples, and a ridge penalty keeps the weights small. Thresholds and
confidence that were counted on the clips of the fit, or on other clips of the same world, would be too good. Therefore
a clip's probabilities come from weights fitted to the clips of other worlds.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from measured_clips import KnownClip
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from robogaze.core.report import Report
from robogaze.evidence import Classifier, with_classes
from robogaze.evidence.classifier import FeatureClass
from robogaze.stages.event_rule import EventRule

INVERSE_PENALTY = 0.2
AWAY_FRAMES = 4
"""A replacement this near to an event belongs to the event."""


@dataclass(frozen=True)
class Examples:
    """Features before scaling, with the class and the position of the clip of each row."""

    features: NDArray[np.float64]
    classes: NDArray[np.str_]
    clips: NDArray[np.int64]


def examples(classifier: Classifier, rules: Sequence[EventRule], clips: Sequence[KnownClip]) -> Examples:
    """The replaced regions of all clips whose class is known."""
    rows = [
        (features, name, place)
        for place, clip in enumerate(clips)
        for view in clip.evidence.views
        for features, name in _in_view(classifier, rules, clip, view)
    ]
    features, names, places = zip(*rows, strict=True)
    return Examples(np.array(features), np.array(names), np.array(places))


def fitted_classifier(classifier: Classifier, known: Examples) -> Classifier:
    """The classifier with weights fitted to examples. Raises ValueError where a class has none."""
    if missing := {feature_class.name for feature_class in classifier.classes} - set(known.classes.tolist()):
        raise ValueError(f"no clip shows {', '.join(sorted(missing))}")
    scaled = tuple(
        feature.with_(mean=_rounded(mean), scale=_rounded(scale) or 1.0)
        for feature, mean, scale in zip(
            classifier.features, known.features.mean(axis=0), known.features.std(axis=0), strict=True
        )
    )
    classifier = classifier.with_(features=scaled)
    model = LogisticRegression(C=INVERSE_PENALTY, max_iter=5000).fit(classifier.scaled(known.features), known.classes)
    weights, constants = model.coef_, model.intercept_
    if len(model.classes_) == 2:  # then only the weights of the second class against the first are given
        weights, constants = np.vstack([0 * weights, weights]), np.array([0.0, constants[0]])
    fitted = {name: (constants[place], weights[place]) for place, name in enumerate(model.classes_)}
    return classifier.with_(
        classes=tuple(_weighted(feature_class, *fitted[feature_class.name]) for feature_class in classifier.classes)
    )


def with_out_of_world_classes(classifier: Classifier, known: Examples, clips: Sequence[KnownClip]) -> list[KnownClip]:
    """The clips with probabilities, those of each world from weights fitted to the other worlds.

    Raises ValueError where only one world shows a class.
    """
    worlds = np.array([clip.world for clip in clips])
    by_world = {}
    for world in np.unique(worlds):
        others = worlds[known.clips] != world
        rest = Examples(known.features[others], known.classes[others], known.clips[others])
        by_world[world] = fitted_classifier(classifier, rest)
    return [replace(clip, evidence=with_classes(clip.evidence, [by_world[clip.world]])) for clip in clips]


def _weighted(feature_class: FeatureClass, constant: float, weights: NDArray[np.float64]) -> FeatureClass:
    return feature_class.with_(constant=_rounded(constant), weights=tuple(_rounded(weight) for weight in weights))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def _in_view(
    classifier: Classifier, rules: Sequence[EventRule], clip: KnownClip, view: str
) -> Iterator[tuple[NDArray[np.float64], str]]:
    """Features and class of the frames of a view in which a region is replaced and its class is known."""
    series = clip.evidence.views[view].series
    features = classifier.feature_values(series)
    usable = (series[classifier.classifies] > 0) & np.isfinite(features).all(axis=1)
    for rule in rules:
        for condition in (*rule.unless, *rule.undecidable_when):
            usable &= ~condition.holds(clip.evidence, view)
    names = _classes(classifier, clip.truth, np.array(clip.evidence.frame_times_s))
    for frame in np.flatnonzero(usable):
        if frame in names:
            yield features[frame], names[frame]


def _classes(classifier: Classifier, truth: Report | None, times_s: NDArray[np.float64]) -> Mapping[int, str]:
    """The class of each frame in which it is known."""
    (no_event,) = (feature_class.name for feature_class in classifier.classes if not feature_class.fitted_to)
    by_type = {feature_class.fitted_to: feature_class.name for feature_class in classifier.classes}
    away = set(range(len(times_s)))
    ends = set()
    onsets = {}
    for event in truth.events if truth is not None else ():
        for span in event.spans:
            first, end = np.searchsorted(times_s, (span.start - 1e-6, span.end - 1e-6))
            away -= set(range(first - AWAY_FRAMES, end + AWAY_FRAMES + 1))
            ends.add(int(end))
        if event.type in by_type:
            onsets[int(np.searchsorted(times_s, event.onset_s - 1e-6))] = by_type[event.type]
    return {**dict.fromkeys(away | ends, no_event), **onsets}
