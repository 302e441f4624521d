"""Classifiers: several signals weighed together, where no single one decides which of several things happened.

Multinomial logistic regression: each class has a constant and a weight for every feature and for some products of two;
its share is exp(sum) / the sum over all classes. Rules know a class by its name, like any signal. The weights are
stated in the pipeline and fitted to clips of which the truth is known, as thresholds are; what a share is worth is
counted there, too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator
from scipy.special import softmax

from robogaze.core.data import Data
from robogaze.errors import InputError
from robogaze.evidence.base import ClipSignals, Series, Signal, ViewSignals

MOST = 3.0
"""How far from its mean a feature counts, in its scales, so that no single signal decides."""


class Feature(Data):
    """A signal or, with `log`, the natural logarithm of it plus `log`: how many `scale` it is above its `mean`."""

    signal: str
    log: float | None = Field(default=None, gt=0)
    mean: float = 0.0
    scale: float = Field(default=1.0, gt=0)

    def of(self, measured: Mapping[str, Series]) -> Series:
        """The signal or its logarithm in every frame of a view."""
        series = measured[self.signal]
        return series if self.log is None else np.asarray(np.log(series + self.log), dtype=np.float64)


class Class(Data):
    """One of the things that may have happened: its name, what it is, its constant, and its weights.

    They are those of the features, in their order, and then those of the products.
    """

    name: str
    description: str
    constant: float
    weights: tuple[float, ...]


class Classifier(Data):
    """Which of its classes what a signal, `of`, found in a frame is most like.

    `products` names pairs of features by their signals; what the two make, multiplied, counts besides: colours that
    are found around a region mean one thing where it is set off and another where it is not. A share is 0 where that
    signal is 0, for then nothing happened, and NaN where it or a feature is missing.
    """

    of: str
    features: tuple[Feature, ...] = Field(min_length=1)
    products: tuple[tuple[str, str], ...] = ()
    classes: tuple[Class, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _one_weight_each(self) -> Self:
        for one in self.classes:
            if len(one.weights) != len(self.features) + len(self.products):
                raise ValueError(
                    f"{one.name!r} has {len(one.weights)} weights for {len(self.features)} features and "
                    f"{len(self.products)} products"
                )
        named = {feature.signal for feature in self.features}
        for pair in self.products:
            for name in set(pair) - named:
                raise ValueError(f"a product names {name!r}, which is no feature")
        return self

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals it reads."""
        return (self.of, *(feature.signal for feature in self.features))

    def features_of(self, measured: Mapping[str, Series]) -> NDArray[np.float64]:
        """Its features in every frame of a view, not yet brought to scale; shape (frames, features)."""
        return np.column_stack([feature.of(measured) for feature in self.features])

    def weighed(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """What weights are for: features from -MOST to MOST, and products; shape (frames, features + products)."""
        means, scales = ([getattr(one, key) for one in self.features] for key in ("mean", "scale"))
        scaled = np.clip((features - means) / scales, -MOST, MOST)
        place = {feature.signal: column for column, feature in enumerate(self.features)}
        return np.column_stack([scaled, *(scaled[:, place[one]] * scaled[:, place[two]] for one, two in self.products)])

    def shares(self, measured: Mapping[str, Series]) -> Mapping[str, Series]:
        """The share of each class in every frame of a view, from 0 to 1."""
        weights = np.array([one.weights for one in self.classes])
        sums = self.weighed(self.features_of(measured)) @ weights.T + np.array([one.constant for one in self.classes])
        shares = np.where((measured[self.of] == 0)[:, None], 0.0, softmax(sums, axis=1))
        return {one.name: shares[:, place] for place, one in enumerate(self.classes)}


def class_signals(classifiers: Sequence[Classifier], known: Mapping[str, Signal]) -> Mapping[str, Signal]:
    """The known signals, and the classes as signals. Raises InputError where a classifier reads what is not known."""
    made = dict(known)
    for classifier in classifiers:
        for name in classifier.signals:
            if name not in known:
                raise InputError(f"the classifier of {classifier.of!r} reads {name!r}, which is no signal")
        place = known[classifier.of]
        for one in classifier.classes:
            made[one.name] = place.with_(name=one.name, unit="of 1", description=one.description, of=place.name)
    return made


def classified(evidence: ClipSignals, classifiers: Sequence[Classifier]) -> ClipSignals:
    """The evidence with the classes among its signals; a class has the boxes of the signal it is about."""
    views = {name: _classified(measured, classifiers) for name, measured in evidence.views.items()}
    return replace(evidence, signals=class_signals(classifiers, evidence.signals), views=views)


def _classified(measured: ViewSignals, classifiers: Sequence[Classifier]) -> ViewSignals:
    series, boxes = dict(measured.series), dict(measured.boxes)
    for one in classifiers:
        shares = one.shares(measured.series)
        series.update(shares)
        boxes.update(dict.fromkeys(shares, measured.boxes.get(one.of, {})))
    return ViewSignals(series, boxes)
