"""The judge without a model: compares descriptions by their words, concepts and spelling (data in judges/offline/).

On each axis of its rubric the rating is a logistic function of the features of a pair (see `features`). The weights
have fixed signs: agreement never lowers a rating, contradiction never raises one. The weights were fitted on one half
of judges/offline/pairs.jsonl; the judge was measured on the other half, and its note states the result. Descriptions
with the same words, in any form, get the best rating on every axis.

The judge is not symmetric: a vague prediction of a precise reference is rated differently from a precise prediction of
a vague reference.
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
from robogaze.errors import InputError
from robogaze.judges import JudgeSpec
from robogaze.judges.base import DescriptionPair, Judgement
from robogaze.judges.offline.features import Features
from robogaze.judges.offline.words import read_words
from robogaze.judges.rated_pairs import RatedPair, read_rated_pairs
from robogaze.judges.rubric import Rubric, read_rubric

NAME = "offline"

CAUTION = (
    "Warning: if two events have the same type but different objects, the offline judge often rates them as the "
    "same event. It can "
    "therefore reverse the order of two systems. Use a model as the judge for rankings."
)
"""The warning shown wherever systems are ranked by this judge."""

RUBRIC = "robogaze"
"""The rubric whose axes it rates, whatever rubric the domain asks a model to use."""

FIT, HELD_OUT = "fit", "held_out"
"""The halves of the rated pairs, split by event."""

_AT_ONCE = 20_000
"""How many pairs are compared at once, to bound memory."""
_DIGITS = 6


class AxisWeights(Data):
    """The weights of an axis; a feature that is not listed has weight 0."""

    intercept: float
    weights: dict[str, float]


class StoredEstimate(Data):
    """An estimate in fitted.yaml."""

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
    """The correlation with a word list from which the words that only the held-out half uses are removed.

    The pairs and the word list have the same authors, so the plain correlation is too high.
    """
    auc_other_object: StoredEstimate
    """The probability that two descriptions of one event score above two events of the same type on other objects."""


class FittedWeights(Data):
    """fitted.yaml."""

    schema_version: Literal[1]
    axes: dict[str, AxisWeights]
    held_out: HeldOut


@dataclass(frozen=True)
class OfflineJudge:
    rubric: Rubric
    features: Features
    fitted: FittedWeights
    fingerprint: str

    @classmethod
    def read(cls, home: Path | None = None) -> "OfflineJudge":
        """Read words.yaml, fitted.yaml and pairs.jsonl. Raises InputError with file and line for invalid content."""
        home = home or data_folder()
        files = [home / name for name in ("words.yaml", "fitted.yaml", "pairs.jsonl")]
        fitted = read_yaml(files[1]).parse(FittedWeights)
        digest = sha256(b"".join(sha256(path.read_bytes()).digest() for path in files))
        return cls(read_rubric(RUBRIC), read_features(home), fitted, digest.hexdigest())

    @property
    def name(self) -> str:
        return NAME

    @property
    def identity(self) -> Mapping[str, Any]:
        """The hash of the judge's data."""
        return {"judge": NAME, "sha256": self.fingerprint}

    @property
    def note(self) -> str:
        """What the judge compares, and how well it agrees with ratings."""
        found = self.fitted.held_out
        other = found.auc_other_object
        pearson, error, unseen = found.pearson, found.mean_absolute_error, found.pearson_unseen_words
        return (
            "The offline judge gives the similarities; it compares words and asks no model. It was tested on "
            f"{found.pairs} held-out pairs of descriptions, which the project wrote and rated (not a study with "
            f"people). Agreement with these ratings: Pearson {pearson.value:.2f} [{pearson.low:.2f}, "
            f"{pearson.high:.2f}] ({unseen.value:.2f} if the words are new to the judge), mean absolute error "
            f"{error.value:.2f}. Separation of the same event from an event of the same type on another object: AUC "
            f"{other.value:.2f} [{other.low:.2f}, {other.high:.2f}] (1 is perfect, 0.5 is chance)."
        )

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order."""
        parts = (pairs[start : start + _AT_ONCE] for start in range(0, len(pairs), _AT_ONCE))
        return [
            judgement for part in parts for judgement in judge_pairs(part, self.features, self.fitted.axes, self.rubric)
        ]


def open_offline_judge(spec: JudgeSpec) -> OfflineJudge:
    """The offline judge. Raises InputError if the spec has a value, because the offline judge takes none."""
    if spec.value:
        raise InputError(f"the offline judge takes no value; write offline, not offline:{spec.value}")
    return OfflineJudge.read()


def judge_pairs(
    pairs: Sequence[DescriptionPair], features: Features, axes: Mapping[str, AxisWeights], rubric: Rubric
) -> list[Judgement]:
    """Judgements of pairs; see `DescriptionPair.silent` for pairs with an empty description."""
    found, same = features.of(pairs)
    worst, best = rubric.file.scale
    columns = []
    for name in rubric.axes:
        axis = axes[name]
        total = axis.intercept + sum(weight * found[feature] for feature, weight in axis.weights.items())
        rating = worst + (best - worst) / (1 + np.exp(-total))
        columns.append(np.where(same, best, np.round(rating, _DIGITS)).tolist())
    rows = (dict(zip(rubric.axes, ratings, strict=True)) for ratings in zip(*columns, strict=True))
    return [
        pair.silent or Judgement(round(rubric.similarity(rating), _DIGITS), rating)
        for pair, rating in zip(pairs, rows, strict=True)
    ]


def data_folder() -> Path:
    """The folder of the judge's data."""
    return resource_folder("judges") / "offline"


def read_pairs(home: Path, split: str) -> tuple[RatedPair, ...]:
    """One half of the rated pairs."""
    return read_rated_pairs(home / "pairs.jsonl", read_rubric(RUBRIC), split)


def read_features(home: Path) -> Features:
    """The features that use the word list of a folder; word frequencies are counted in the fitting half of the folder's
    pairs.
    """
    corpus = [text for pair in read_pairs(home, FIT) for text in (pair.pair.reference, pair.pair.prediction)]
    return Features(read_words(home / "words.yaml"), corpus)
