"""Classifiers, which weigh several signals together."""

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from robogaze.core.events import Box
from robogaze.errors import InputError
from robogaze.evidence import (
    Classifier,
    ClipSignals,
    Signal,
    SignalRule,
    ViewSignals,
    class_signals,
    find,
    with_classes,
)
from robogaze.evidence.classifier import Feature, FeatureClass

NAN = math.nan
BOX = Box(left=0.1, top=0.1, right=0.2, bottom=0.2)
CLASSIFIER = Classifier(
    classifies="place",
    features=(Feature(signal="size"), Feature(signal="strength", log=1.0)),
    classes=(
        FeatureClass(name="nothing", description="Nothing.", constant=0.0, weights=(0.0, 0.0)),
        FeatureClass(name="gone", description="Something is gone.", constant=-1.0, weights=(2.0, 0.5)),
    ),
)
SIGNALS = {
    name: Signal(name=name, unit="units", description="A signal.", gap="too dark" if name == "place" else "")
    for name in ("place", "size", "strength")
}


def evidence(**series: list[float]) -> ClipSignals:
    measured = ViewSignals({name: np.array(values, float) for name, values in series.items()}, {"place": {1: BOX}})
    frames = len(series["place"])
    return ClipSignals(SIGNALS, {"main": measured}, tuple(range(frames)), float(frames))


def probabilities(**series: list[float]) -> np.ndarray:
    return with_classes(evidence(**series), [CLASSIFIER]).views["main"].series["gone"]


def test_a_probability_is_the_softmax_of_weighted_sums() -> None:
    # Sums of the class: -1 + 2 * size + 0.5 * ln(strength + 1); that of the other is 0.
    found = probabilities(place=[1, 1], size=[0.5, 1], strength=[0, math.e - 1])
    assert found == pytest.approx([0.5, math.exp(1.5) / (1 + math.exp(1.5))])


def test_a_probability_is_zero_where_the_classified_signal_is_zero() -> None:
    assert probabilities(place=[0], size=[NAN], strength=[NAN]) == pytest.approx([0])


def test_a_probability_is_undefined_where_the_classified_signal_is() -> None:
    assert np.isnan(probabilities(place=[NAN], size=[NAN], strength=[NAN])[0])
    assert class_signals([CLASSIFIER], SIGNALS)["gone"].gap == "too dark"


def test_a_rule_on_a_class_finds_the_box_of_the_classified_signal() -> None:
    found = with_classes(evidence(place=[0, 7], size=[NAN, 3], strength=[NAN, 0]), [CLASSIFIER])
    (finding,) = find(SignalRule(signal="gone", above=0.5, reported_signal="place"), found)
    assert (finding.amount, finding.unit, finding.box) == (7, "units", BOX)
    assert finding.peak > 0.99


def test_a_classifier_that_reads_an_unknown_signal_is_refused() -> None:
    with pytest.raises(InputError, match="the classifier of 'place' reads 'size', which is not a signal"):
        class_signals([CLASSIFIER], {"place": SIGNALS["place"]})


def one_feature(**changes: Any) -> Classifier:
    """A classifier with one feature of mean 4 and scale 2."""
    feature = Feature(signal="size", mean=4.0, scale=2.0)
    classes = [
        feature_class.with_(constant=0.0, weights=(place,)) for place, feature_class in enumerate(CLASSIFIER.classes)
    ]
    return Classifier(classifies="place", **{"features": (feature,), "classes": tuple(classes), **changes})


def odds(classifier: Classifier, size: float) -> float:
    """The logarithm of the odds of "gone", which is the weighted sum."""
    series = with_classes(evidence(place=[1], size=[size], strength=[0]), [classifier]).views["main"].series
    return math.log(series["gone"][0] / series["nothing"][0])


def test_a_feature_counts_in_scales_from_its_mean() -> None:
    assert [odds(one_feature(), size) for size in (4, 6, 1)] == pytest.approx([0, 1, -1.5])


def test_a_feature_is_limited_to_three_scales_from_its_mean() -> None:
    assert [odds(one_feature(), size) for size in (10, 100, -100)] == pytest.approx([3, 3, -3])


def test_a_product_multiplies_two_scaled_features() -> None:
    features = (*one_feature().features, Feature(signal="strength", mean=1.0))
    classes = tuple(
        feature_class.with_(weights=(0.0, 0.0, place)) for place, feature_class in enumerate(one_feature().classes)
    )
    pair = one_feature(features=features, products=(("size", "strength"),), classes=classes)
    series = with_classes(evidence(place=[1, 1], size=[8, 100], strength=[3, 3]), [pair]).views["main"].series
    assert np.log(series["gone"] / series["nothing"]) == pytest.approx([2 * 2, 3 * 2])


def test_a_product_names_features() -> None:
    with pytest.raises(ValidationError, match="a product names 'colour', which is not a feature"):
        CLASSIFIER.with_(
            products=(("size", "colour"),),
            classes=tuple(feature_class.with_(weights=(0.0,) * 3) for feature_class in CLASSIFIER.classes),
        )


def test_a_class_needs_a_weight_for_each_feature_and_product() -> None:
    with pytest.raises(ValidationError, match="'gone' has 1 weights for 2 features and 0 products"):
        CLASSIFIER.with_(classes=(*CLASSIFIER.classes[:1], CLASSIFIER.classes[1].with_(weights=(1.0,))))
