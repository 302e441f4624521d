"""The judge without a model: compares descriptions by their words, concepts and spelling (see judges/offline/).

On each axis of its rubric the rating is a logistic function of the features of a pair (`robogaze.judges.features`),
with weights that only work in their feature's sense: what agrees never lowers a rating, what contradicts never raises
one. They were fitted on one half of judges/offline/pairs.jsonl (scripts/fit_offline_judge.py). What the judge is worth
was measured on the other half and stands in its note. The same words, in whatever form, rate the best on every axis.

It is not symmetric: a vague prediction of a precise reference is not a precise prediction of a vague one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np

from robogaze.core.data import Data
from robogaze.domains.shelves import shelf
from robogaze.domains.yaml_files import read_yaml
from robogaze.judges.base import EMPTY, Judgement, Pair
from robogaze.judges.features import Features, Floats
from robogaze.judges.rated import Rated, read_rated
from robogaze.judges.rubric import Rubric, read_rubric
from robogaze.judges.words import read_words

RUBRIC = "robogaze"
"""The rubric whose axes it rates, whichever one the domain asks a model to use."""

FIT, HELD_OUT = "fit", "held_out"
"""The halves of the rated pairs, split by event."""

_AT_ONCE = 20_000
"""Pairs that are compared at once, for memory."""
_DIGITS = 6


class AxisWeights(Data):
    """The function of one axis; a feature that is not listed has no weight."""

    intercept: float
    weights: dict[str, float]


class Measured(Data):
    """An estimate as it is stored."""

    value: float
    low: float
    high: float


class HeldOut(Data):
    """How far the judge agrees with the ratings of the held-out half."""

    pairs: int
    events: int
    pearson: Measured
    spearman: Measured
    mean_absolute_error: Measured


class Fitted(Data):
    """fitted.yaml."""

    schema_version: Literal[1]
    axes: dict[str, AxisWeights]
    held_out: HeldOut


@dataclass(frozen=True)
class OfflineJudge:
    """Compares descriptions without a model."""

    rubric: Rubric
    features: Features
    fitted: Fitted
    fingerprint: str

    @classmethod
    def read(cls, home: Path | None = None) -> "OfflineJudge":
        """Read the judge's data: words.yaml, fitted.yaml and pairs.jsonl. Raises InputError for what does not fit."""
        home = home or data_folder()
        files = [home / name for name in ("words.yaml", "fitted.yaml", "pairs.jsonl")]
        fitted = read_yaml(files[1]).parse(Fitted)
        digest = sha256(b"".join(sha256(path.read_bytes()).digest() for path in files))
        return cls(read_rubric(RUBRIC), read_features(home), fitted, digest.hexdigest())

    @property
    def name(self) -> str:
        """What tables call it."""
        return "offline"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The content of its data."""
        return {"judge": "offline", "sha256": self.fingerprint}

    @property
    def note(self) -> str:
        """What it is and how well it was measured to do."""
        found = self.fitted.held_out
        pearson, error = found.pearson, found.mean_absolute_error
        return (
            "Similarities are by the offline judge, which compares words and asks no model; on "
            f"{found.pairs} held-out pairs of descriptions, written and rated by the project and not by a study with "
            f"people, it correlates with the ratings at Pearson {pearson.value:.2f} [{pearson.low:.2f}, "
            f"{pearson.high:.2f}] with a mean absolute error of {error.value:.2f}."
        )

    async def rate(self, pairs: Sequence[Pair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order."""
        starts = range(0, len(pairs), _AT_ONCE)
        return [judgement for start in starts for judgement in self._rate(pairs[start : start + _AT_ONCE])]

    def _rate(self, pairs: Sequence[Pair]) -> list[Judgement]:
        features, same = self.features.of(pairs)
        best = self.rubric.file.scale[1]
        rated = rate_axes(self.fitted.axes, features, self.rubric)
        columns = {axis: np.where(same, best, np.round(values, _DIGITS)).tolist() for axis, values in rated.items()}
        rows = (dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))
        return [
            EMPTY if pair.empty else Judgement(round(self.rubric.similarity(axes), _DIGITS), axes)
            for pair, axes in zip(pairs, rows, strict=True)
        ]


def data_folder() -> Path:
    """Where the judge's data stands."""
    return shelf("judges") / "offline"


def read_pairs(home: Path, split: str) -> tuple[Rated, ...]:
    """One half of the rated pairs."""
    return read_rated(home / "pairs.jsonl", read_rubric(RUBRIC), split)


def read_features(home: Path) -> Features:
    """The features by the word list of a folder; how rare words are is counted in the half of its pairs for fitting."""
    corpus = [text for one in read_pairs(home, FIT) for text in (one.pair.reference, one.pair.prediction)]
    return Features(read_words(home / "words.yaml"), corpus)


def rate_axes(
    axes: Mapping[str, AxisWeights], features: Mapping[str, Floats], rubric: Rubric
) -> Mapping[str, Floats]:
    """Ratings on every axis, within the rubric's scale."""
    worst, best = rubric.file.scale
    found = {}
    for name in rubric.axes:
        axis = axes[name]
        total = axis.intercept + sum(weight * features[one] for one, weight in axis.weights.items())
        found[name] = worst + (best - worst) / (1 + np.exp(-total))
    return found
