"""Classifiers: several signals weighed together, where no single one decides which of several things happened.

Multinomial logistic regression: each class has a constant and a weight for every feature; its share is
exp(sum) / the sum over all classes. Rules know a class by its name, like any signal. The weights are stated in the
pipeline and fitted to clips of which the truth is known, as thresholds are; what a share is worth is counted there,
too.
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
from robogaze.evidence.base import Evidence, Measured, Series, Signal


class Feature(Data):
    """A signal or, with `log`, the natural logarithm of it plus `log`."""

    signal: str
    log: float | None = Field(default=None, gt=0)

    def values(self, measured: Mapping[str, Series]) -> Series:
        """Its value in every frame of a view."""
        series = measured[self.signal]
        return series if self.log is None else np.asarray(np.log(series + self.log), dtype=np.float64)


class Class(Data):
    """One of the things that may have happened: its name, what it is, and its constant and weights, by feature."""

    name: str
    description: str
    constant: float
    weights: tuple[float, ...]


class Classifier(Data):
    """Which of its classes what a signal, `of`, found in a frame is most like.

    A share is 0 where that signal is 0, for then nothing happened, and NaN where it or a feature is missing.
    """

    of: str
    features: tuple[Feature, ...] = Field(min_length=1)
    classes: tuple[Class, ...] = Field(min_length=2)

    @model_validator(mode="after")
    def _one_weight_each(self) -> Self:
        for one in self.classes:
            if len(one.weights) != len(self.features):
                raise ValueError(f"{one.name!r} has {len(one.weights)} weights for {len(self.features)} features")
        return self

    @property
    def signals(self) -> tuple[str, ...]:
        """The names of all signals it reads."""
        return (self.of, *(feature.signal for feature in self.features))

    def inputs(self, measured: Mapping[str, Series]) -> NDArray[np.float64]:
        """Its features in every frame of a view, shape (frames, features)."""
        return np.column_stack([feature.values(measured) for feature in self.features])

    def shares(self, measured: Mapping[str, Series]) -> Mapping[str, Series]:
        """The share of each class in every frame of a view, from 0 to 1."""
        weights = np.array([one.weights for one in self.classes])
        sums = self.inputs(measured) @ weights.T + np.array([one.constant for one in self.classes])
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


def classified(evidence: Evidence, classifiers: Sequence[Classifier]) -> Evidence:
    """The evidence with the classes among its signals; a class has the boxes of the signal it is about."""
    views = {name: _classified(measured, classifiers) for name, measured in evidence.views.items()}
    return replace(evidence, signals=class_signals(classifiers, evidence.signals), views=views)


def _classified(measured: Measured, classifiers: Sequence[Classifier]) -> Measured:
    series, boxes = dict(measured.series), dict(measured.boxes)
    for one in classifiers:
        shares = one.shares(measured.series)
        series.update(shares)
        boxes.update(dict.fromkeys(shares, measured.boxes.get(one.of, {})))
    return Measured(series, boxes)
