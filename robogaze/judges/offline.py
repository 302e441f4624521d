"""The judge without a model: compares descriptions by their words, concepts and spelling (see judges/offline/).

On each axis of its rubric the rating is a logistic function of the features of a pair (`robogaze.judges.features`),
with weights that only work in their feature's sense: what agrees never lowers a rating, what contradicts never raises
one. They were fitted on one half of judges/offline/pairs.jsonl (scripts/research/fit_offline_judge.py). What the judge
is worth was measured on the other half and stands in its note. The same words, in whatever form, rate the best on every
axis.

It is not symmetric: a vague prediction of a precise reference is not a precise prediction of a vague one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import numpy as np

from robogaze.core.data import Data
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.judges.base import DescriptionPair, Judgement
from robogaze.judges.features import Features
from robogaze.judges.rated import Rated, read_rated
from robogaze.judges.rubric import Rubric, read_rubric
from robogaze.judges.words import read_words

NAME = "offline"

CAUTION = (
    "Warning: the offline judge often takes an event of the same type on another object for the same event, so it can "
    "reverse the order of two systems; rank with a model as the judge."
)
"""What must be said wherever systems are ranked by it."""

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


class StoredEstimate(Data):
    """An estimate as it is stored."""

    value: float
    low: float
    high: float


class HeldOut(Data):
    """How far the judge agrees with the ratings of the held-out half."""

    pairs: int
    events: int
    pearson: StoredEstimate
    spearman: StoredEstimate
    mean_absolute_error: StoredEstimate
    pearson_unseen_words: StoredEstimate
    """The same without the words that only the held-out half has: those who wrote the pairs wrote the word list."""
    auc_other_object: StoredEstimate
    """How often one event in other words is rated above the same type of event on another object."""


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
        return NAME

    @property
    def identity(self) -> Mapping[str, Any]:
        """The content of its data."""
        return {"judge": NAME, "sha256": self.fingerprint}

    @property
    def note(self) -> str:
        """What it is and how well it was measured to do."""
        found = self.fitted.held_out
        other = found.auc_other_object
        pearson, error, unseen = found.pearson, found.mean_absolute_error, found.pearson_unseen_words
        return (
            "Similarities are by the offline judge, which compares words and asks no model: on "
            f"{found.pairs} held-out pairs of descriptions, written and rated by the project and not by a study with "
            f"people, it agrees with the ratings at Pearson {pearson.value:.2f} [{pearson.low:.2f}, "
            f"{pearson.high:.2f}] ({unseen.value:.2f} where the words are new to it), mean absolute error "
            f"{error.value:.2f}. It tells one event from the same type of event on another object at AUC "
            f"{other.value:.2f} [{other.low:.2f}, {other.high:.2f}] (1 is always, 0.5 is chance)."
        )

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order."""
        parts = (pairs[start : start + _AT_ONCE] for start in range(0, len(pairs), _AT_ONCE))
        return [one for part in parts for one in judge_pairs(part, self.features, self.fitted.axes, self.rubric)]


def judge_pairs(
    pairs: Sequence[DescriptionPair], features: Features, axes: Mapping[str, AxisWeights], rubric: Rubric
) -> list[Judgement]:
    """Judgements of pairs; see `DescriptionPair.silent` for those that say nothing."""
    found, same = features.of(pairs)
    worst, best = rubric.file.scale
    columns = []
    for name in rubric.axes:
        axis = axes[name]
        total = axis.intercept + sum(weight * found[one] for one, weight in axis.weights.items())
        rating = worst + (best - worst) / (1 + np.exp(-total))
        columns.append(np.where(same, best, np.round(rating, _DIGITS)).tolist())
    rows = (dict(zip(rubric.axes, ratings, strict=True)) for ratings in zip(*columns, strict=True))
    return [
        pair.silent or Judgement(round(rubric.similarity(rating), _DIGITS), rating)
        for pair, rating in zip(pairs, rows, strict=True)
    ]


def data_folder() -> Path:
    """Where the judge's data stands."""
    return resource_folder("judges") / "offline"


def read_pairs(home: Path, split: str) -> tuple[Rated, ...]:
    """One half of the rated pairs."""
    return read_rated(home / "pairs.jsonl", read_rubric(RUBRIC), split)


def read_features(home: Path) -> Features:
    """The features by the word list of a folder; how rare words are is counted in the half of its pairs for fitting."""
    corpus = [text for one in read_pairs(home, FIT) for text in (one.pair.reference, one.pair.prediction)]
    return Features(read_words(home / "words.yaml"), corpus)
