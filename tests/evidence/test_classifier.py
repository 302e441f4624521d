"""Classifiers: signals weighed together."""

import math
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from robogaze.core.events import Box
from robogaze.errors import InputError
from robogaze.evidence import Classifier, ClipSignals, Signal, SignalRule, ViewSignals, class_signals, classified, find
from robogaze.evidence.classifier import Class, Feature

NAN = math.nan
BOX = Box(left=0.1, top=0.1, right=0.2, bottom=0.2)
CLASSIFIER = Classifier(
    of="place",
    features=(Feature(signal="size"), Feature(signal="strength", log=1.0)),
    classes=(
        Class(name="nothing", description="Nothing.", constant=0.0, weights=(0.0, 0.0)),
        Class(name="gone", description="Something is gone.", constant=-1.0, weights=(2.0, 0.5)),
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


def shares(**series: list[float]) -> np.ndarray:
    return classified(evidence(**series), [CLASSIFIER]).views["main"].series["gone"]


def test_a_share_is_that_of_the_exponential_of_a_weighted_sum() -> None:
    # Sums of the class: -1 + 2 * size + 0.5 * ln(strength + 1); that of the other is 0.
    told = shares(place=[1, 1], size=[0.5, 1], strength=[0, math.e - 1])
    assert told == pytest.approx([0.5, math.exp(1.5) / (1 + math.exp(1.5))])


def test_the_shares_of_all_classes_are_one() -> None:
    series = classified(evidence(place=[1], size=[0.3], strength=[2]), [CLASSIFIER]).views["main"].series
    assert series["nothing"] + series["gone"] == pytest.approx(1)


def test_where_nothing_was_found_no_class_has_a_share() -> None:
    assert shares(place=[0], size=[NAN], strength=[NAN]) == pytest.approx([0])


def test_where_its_signal_could_not_be_measured_a_share_is_missing_for_the_same_reason() -> None:
    assert np.isnan(shares(place=[NAN], size=[NAN], strength=[NAN])[0])
    assert class_signals([CLASSIFIER], SIGNALS)["gone"].gap == "too dark"


def test_a_rule_goes_by_a_class_and_finds_the_place_of_its_signal() -> None:
    told = classified(evidence(place=[0, 7], size=[NAN, 3], strength=[NAN, 0]), [CLASSIFIER])
    (found,) = find(SignalRule(signal="gone", above=0.5, shows="place"), told)
    assert (found.amount, found.unit, found.box) == (7, "units", BOX)
    assert found.peak > 0.99


def test_a_classifier_of_what_no_meter_measures_is_refused() -> None:
    with pytest.raises(InputError, match="the classifier of 'place' reads 'size', which is no signal"):
        class_signals([CLASSIFIER], {"place": SIGNALS["place"]})


def scaled(**of: Any) -> Classifier:
    """A classifier by one feature whose mean is 4 and whose scale is 2."""
    feature = Feature(signal="size", mean=4.0, scale=2.0)
    classes = [one.with_(constant=0.0, weights=(place,)) for place, one in enumerate(CLASSIFIER.classes)]
    return Classifier(of="place", **{"features": (feature,), "classes": tuple(classes), **of})


def odds(classifier: Classifier, size: float) -> float:
    """The logarithm of the share of what is gone over that of nothing, which is the weighted sum."""
    series = classified(evidence(place=[1], size=[size], strength=[0]), [classifier]).views["main"].series
    return math.log(series["gone"][0] / series["nothing"][0])


def test_a_feature_counts_by_how_many_scales_it_is_above_its_mean() -> None:
    assert [odds(scaled(), size) for size in (4, 6, 1)] == pytest.approx([0, 1, -1.5])


def test_a_feature_counts_no_further_than_three_scales_from_its_mean() -> None:
    assert [odds(scaled(), size) for size in (10, 100, -100)] == pytest.approx([3, 3, -3])


def test_a_product_is_that_of_two_features_as_they_count() -> None:
    features = (*scaled().features, Feature(signal="strength", mean=1.0))
    classes = tuple(one.with_(weights=(0.0, 0.0, place)) for place, one in enumerate(scaled().classes))
    pair = scaled(features=features, products=(("size", "strength"),), classes=classes)
    series = classified(evidence(place=[1, 1], size=[8, 100], strength=[3, 3]), [pair]).views["main"].series
    assert np.log(series["gone"] / series["nothing"]) == pytest.approx([2 * 2, 3 * 2])


def test_a_product_names_features() -> None:
    with pytest.raises(ValidationError, match="a product names 'colour', which is no feature"):
        CLASSIFIER.with_(
            products=(("size", "colour"),), classes=tuple(one.with_(weights=(0.0,) * 3) for one in CLASSIFIER.classes)
        )


def test_a_class_has_a_weight_for_each_feature_and_product() -> None:
    with pytest.raises(ValidationError, match="'gone' has 1 weights for 2 features and 0 products"):
        CLASSIFIER.with_(classes=(*CLASSIFIER.classes[:1], CLASSIFIER.classes[1].with_(weights=(1.0,))))
