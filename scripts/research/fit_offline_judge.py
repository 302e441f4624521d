"""Fits the offline judge and measures it: writes judges/offline/fitted.yaml.

The weights come from the pairs of the split `fit`, the measurements from those of the split `held_out`, by which
nothing is chosen. The sign of a weight is fixed by its feature. Run it after a change of the words, the features or the
pairs; a test compares its result with the stored one.

    python scripts/research/fit_offline_judge.py
"""

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from scipy.optimize import minimize

from robogaze.core.estimate import Estimate
from robogaze.judges.judge_check import JudgeAgreement, judge_agreement, same_event_auc
from robogaze.judges.offline import (
    FIT,
    HELD_OUT,
    RUBRIC,
    AxisWeights,
    data_folder,
    judge_pairs,
    read_features,
    read_pairs,
)
from robogaze.judges.offline.concepts import Floats
from robogaze.judges.offline.words import Phrases, Stems, read_words
from robogaze.judges.rated_pairs import RatedPair
from robogaze.judges.rubric import read_rubric

SHRINKAGE, LEAST_SPREAD = 10.0, 0.3
"""The penalty on squared weights of features over their spread, or over the least one, so that no rare feature weighs
much; both chosen by cross-validation over the events of the half for fitting."""
AGAINST = (".apart", ".against", ".other")
"""The suffixes of features that can only lower a rating."""
DIGITS, FIGURES = 3, 4
_HEADER = "# Made by scripts/research/fit_offline_judge.py from pairs.jsonl and words.yaml; do not edit.\n"


def fitted(home: Path) -> dict[str, AxisWeights]:
    """The weights of every axis, fitted on the half for fitting."""
    rated = read_pairs(home, FIT)
    features, _ = read_features(home).of([example.pair for example in rated])
    rubric = read_rubric(RUBRIC)
    worst, best = rubric.file.scale
    shares = {
        axis: np.array([(example.axes[axis] - worst) / (best - worst) for example in rated]) for axis in rubric.axes
    }
    return {axis: _axis(features, share) for axis, share in shares.items()}


def _axis(features: Mapping[str, Floats], share: Floats) -> AxisWeights:
    names = [name for name, values in features.items() if np.ptp(values) > 0]
    columns = np.column_stack([features[name] for name in names])
    middle, spread = columns.mean(axis=0), np.maximum(columns.std(axis=0), LEAST_SPREAD)
    bounds = [(None, 0.0) if name.endswith(AGAINST) else (0.0, None) for name in names]
    found = _logistic((columns - middle) / spread, share, [*bounds, (None, None)])
    weights = found[:-1] / spread
    rounded = {name: round(float(weight), DIGITS) for name, weight in zip(names, weights, strict=True)}
    kept = {name: weight for name, weight in rounded.items() if weight != 0}
    return AxisWeights(intercept=round(float(found[-1] - weights @ middle), DIGITS), weights=kept)


def _logistic(columns: Floats, share: Floats, bounds: list[Any]) -> Floats:
    """The weights, and last the intercept, of a logistic regression on shares in [0, 1]."""
    design = np.column_stack([columns, np.ones(len(columns))])
    penalty = np.array([SHRINKAGE] * columns.shape[1] + [0.0])

    def loss(weights: Floats) -> tuple[float, NDArray[np.float64]]:
        total = design @ weights
        value = (np.logaddexp(0, total) - share * total).sum() + (penalty * weights**2).sum() / 2
        return float(value), design.T @ (1 / (1 + np.exp(-total)) - share) + penalty * weights

    options = {"ftol": 1e-14, "gtol": 1e-9, "maxiter": 10_000}
    start = np.zeros(design.shape[1])
    solved: Floats = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options).x
    return solved


def similarities(home: Path, rated: Sequence[RatedPair], axes: Mapping[str, AxisWeights]) -> Floats:
    """Similarities of the judge with the words in a folder and the given weights."""
    judged = judge_pairs([example.pair for example in rated], read_features(home), axes, read_rubric(RUBRIC))
    return np.array([judgement.similarity for judgement in judged])


def measured(similarities: Floats, rated: Sequence[RatedPair]) -> JudgeAgreement:
    """Agreement of similarities with ratings, with intervals over events; deterministic."""
    return judge_agreement(similarities, rated, np.random.default_rng(0))


def texts(rated: Sequence[RatedPair]) -> list[str]:
    """All descriptions."""
    return [text for example in rated for text in (example.pair.reference, example.pair.prediction)]


def without_unseen_words(home: Path, folder: Path) -> int:
    """Copy the judge's data without the phrases that only the held-out half has; returns the number removed.

    The word list and the pairs have the same authors, so the list may contain words of the held-out half for that
    reason.
    """
    stemmer = read_words(home / "words.yaml").stemmer
    seen = [stemmer.stems(text) for text in texts(read_pairs(home, FIT))]
    held_out = [stemmer.stems(text) for text in texts(read_pairs(home, HELD_OUT))]
    content = yaml.safe_load((home / "words.yaml").read_text(encoding="utf-8"))
    gone = 0
    for concepts in content["concepts"].values():
        for concept, forms in concepts.items():
            kept = []
            for form in (part.strip() for part in forms.split(",")):
                phrase = Phrases({stemmer.stems(form): form})
                unseen = _occurs(phrase, held_out) and not _occurs(phrase, seen)
                gone += unseen
                kept += [] if unseen else [form]
            concepts[concept] = ", ".join(kept)
    (folder / "words.yaml").write_text(yaml.safe_dump(content, sort_keys=False, width=10_000), encoding="utf-8")
    shutil.copy(home / "pairs.jsonl", folder)
    return gone


def _occurs(phrase: Phrases[str], read: Sequence[Stems]) -> bool:
    return any(True for stems in read for _ in phrase.find(stems))


def refit(home: Path) -> dict[str, Any]:
    """The contents of fitted.yaml."""
    rated = read_pairs(home, HELD_OUT)
    axes = fitted(home)
    judged = similarities(home, rated, axes)
    found = measured(judged, rated)
    with tempfile.TemporaryDirectory() as folder:
        without_unseen_words(home, Path(folder))
        struck = measured(similarities(Path(folder), rated, fitted(Path(folder))), rated)
    return {
        "schema_version": 1,
        "axes": {name: axis.model_dump() for name, axis in axes.items()},
        "held_out": {
            "pairs": len(rated),
            "events": len({example.unit for example in rated}),
            "pearson": _stored(found.pearson),
            "spearman": _stored(found.spearman),
            "mean_absolute_error": _stored(found.mean_absolute_error),
            "pearson_unseen_words": _stored(struck.pearson),
            "auc_other_object": _stored(_known(same_event_auc(judged, rated, np.random.default_rng(0)))),
        },
    }


def _known(estimate: Estimate | None) -> Estimate:
    assert estimate is not None, "the held-out half has pairs of both kinds"
    return estimate


def _stored(estimate: Estimate) -> dict[str, float]:
    return {name: round(getattr(estimate, name), FIGURES) for name in ("value", "low", "high")}


def main() -> None:
    home = data_folder()
    content = yaml.safe_dump(refit(home), sort_keys=False, width=120)
    (home / "fitted.yaml").write_text(_HEADER + content, encoding="utf-8")
    print(f"wrote {home / 'fitted.yaml'}")


if __name__ == "__main__":
    main()
