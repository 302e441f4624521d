"""Classifiers that weigh several signals together, for cases that no single signal decides.

Multinomial logistic regression: each class has a constant and a weight for every feature and for some products of two
features. The probability of a class is exp(sum) of the class, divided by the sum of exp(sum) over all classes. Rules
use a class by its name, like a signal. The weights are fitted to clips with known events.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.errors import InputError
from robogaze.evidence.base import ClipSignals, Series, Signal, ViewSignals

MOST_SCALES = 3.0
"""Features are limited to this distance from their mean, in scales, so that no single signal decides."""


class Feature(Data):
    """A scaled signal: `mean` is subtracted, and the result is divided by `scale`. If `log` is given, the natural
    logarithm of (signal + `log`) is scaled instead of the signal.
    """

    signal: str
    log: float | None = Field(default=None, gt=0)
    mean: float = 0.0
    scale: float = Field(default=1.0, gt=0)

    def values(self, measured: Mapping[str, Series]) -> Series:
        """The signal or its logarithm in every frame of a view, before scaling."""
        series = measured[self.signal]
        return series if self.log is None else np.asarray(np.log(series + self.log), dtype=np.float64)


class FeatureClass(Data):
    """A class: one of the possible explanations.

    `weights` has the weights of the features, in the order of the features, followed by the weights of the products.
    The class was fitted to the first frames of annotated events; `fitted_to` is the type of these events. It is empty
    for the class of frames without an event.
    """

    name: str
    description: str
    fitted_to: str = ""
    constant: float
    weights: tuple[float, ...]


class Classifier(Data):
    """Computes a probability per class for each frame in which the signal `classifies` is above 0.

    `products` are pairs of features that are multiplied with each other; a feature is given by the name of its signal.
    A probability is 0 where the classified signal is 0, because nothing happened there. A probability is NaN where the
    classified signal or a feature is undefined.
    """

    classifies: str
    features: tuple[Feature, ...] = Field(min_length=1)
    products: tuple[tuple[str, str], ...] = ()
    classes: tuple[FeatureClass, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _one_weight_each(self) -> Self:
        for feature_class in self.classes:
            weights, features, products = len(feature_class.weights), len(self.features), len(self.products)
            if weights != features + products:
                raise ValueError(
                    f"{feature_class.name!r} has {weights} weights for {features} features and {products} products"
                )
        names = {feature.signal for feature in self.features}
        for pair in self.products:
            for name in set(pair) - names:
                raise ValueError(f"a product names {name!r}, which is not a feature")
        return self

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals that the classifier reads."""
        return (self.classifies, *(feature.signal for feature in self.features))

    def feature_values(self, measured: Mapping[str, Series]) -> NDArray[np.float64]:
        """The features in every frame of a view before scaling, shape (frames, features)."""
        return np.column_stack([feature.values(measured) for feature in self.features])

    def scaled(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scaled and limited features, and their products, shape (frames, features + products)."""
        means, scales = ([getattr(feature, key) for feature in self.features] for key in ("mean", "scale"))
        scaled = np.clip((features - means) / scales, -MOST_SCALES, MOST_SCALES)
        column = {feature.signal: place for place, feature in enumerate(self.features)}
        products = (scaled[:, column[first]] * scaled[:, column[second]] for first, second in self.products)
        return np.column_stack([scaled, *products])

    def probabilities(self, measured: Mapping[str, Series]) -> Mapping[str, Series]:
        """The probability of each class in every frame of a view."""
        weights = np.array([feature_class.weights for feature_class in self.classes])
        constants = np.array([feature_class.constant for feature_class in self.classes])
        sums = self.scaled(self.feature_values(measured)) @ weights.T + constants
        probabilities = np.where((measured[self.classifies] == 0)[:, None], 0.0, _softmax(sums))
        return {feature_class.name: probabilities[:, place] for place, feature_class in enumerate(self.classes)}


def _softmax(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The shares of each row; scipy's function is not used, because its import takes longer than measuring ten
    frames.
    """
    raised = np.exp(sums - np.max(sums, axis=1, keepdims=True))
    return np.asarray(raised / np.sum(raised, axis=1, keepdims=True), dtype=np.float64)


def class_signals(classifiers: Sequence[Classifier], known: Mapping[str, Signal]) -> Mapping[str, Signal]:
    """The known signals, and the classes as additional signals. Raises InputError if a classifier reads an unknown
    signal.
    """
    signals = dict(known)
    for classifier in classifiers:
        for name in classifier.signals:
            if name not in known:
                raise InputError(f"the classifier of {classifier.classifies!r} reads {name!r}, which is not a signal")
        classified = known[classifier.classifies]
        for feature_class in classifier.classes:
            signals[feature_class.name] = classified.with_(
                name=feature_class.name,
                unit="of 1",
                description=feature_class.description,
                part_of=classified.name,
            )
    return signals


def with_classes(evidence: ClipSignals, classifiers: Sequence[Classifier]) -> ClipSignals:
    """The evidence with the classes as additional signals, which have the boxes of the classified signal."""
    views = {name: _view_with_classes(measured, classifiers) for name, measured in evidence.views.items()}
    return replace(evidence, signals=class_signals(classifiers, evidence.signals), views=views)


def _view_with_classes(measured: ViewSignals, classifiers: Sequence[Classifier]) -> ViewSignals:
    series, boxes = dict(measured.series), dict(measured.boxes)
    for classifier in classifiers:
        probabilities = classifier.probabilities(measured.series)
        series.update(probabilities)
        boxes.update(dict.fromkeys(probabilities, measured.boxes.get(classifier.classifies, {})))
    return ViewSignals(series, boxes)
