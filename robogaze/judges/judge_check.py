"""How far a judge agrees with ratings, and how stable its similarities are.

Pairs that were rated together (about the same event, or in the same clip) are not independent, so intervals resample
them together. Unscored pairs are counted and excluded.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robogaze.core.estimate import Estimate
from robogaze.judges.base import Judgement
from robogaze.judges.rated_pairs import RatedPair
from robogaze.stats.correlation import auc, mean_absolute_error, mean_difference, pearson, spearman
from robogaze.stats.proportions import wilson
from robogaze.stats.resample import Clusters, draw_resamples

Floats = NDArray[np.float64]

_RESAMPLES = 1000


@dataclass(frozen=True)
class JudgeAgreement:
    """The judge's similarities compared with the ratings; the difference is the judge's value minus the rating.

    `auc_other_object` is the probability that two descriptions of one event get a higher similarity than descriptions
    of two events of the same type on different objects. It is None unless there are pairs of both kinds.
    """

    pearson: Estimate
    spearman: Estimate
    mean_difference: Estimate
    mean_absolute_error: Estimate
    auc_other_object: Estimate | None


@dataclass(frozen=True)
class Stability:
    """How much similarities change if the same pairs are judged again.

    `changed` is the share of pairs whose similarity differs between repeats. `spread` is the standard deviation over
    repeats, averaged over pairs. Both measures include only the pairs that every repeat scored.
    """

    repeats: int
    changed: Estimate
    spread: Estimate


@dataclass(frozen=True)
class JudgeCheck:
    """The measurements of a judge.

    `kinds` maps each kind of pair to the number of pairs, their mean rating, and the judge's mean similarity.
    """

    pairs: int
    units: int
    unscored: int
    agreement: JudgeAgreement
    kinds: Mapping[str, tuple[int, float, float]]
    stability: Stability | None


def judge_agreement(judged: Floats, rated: Sequence[RatedPair], rng: np.random.Generator) -> JudgeAgreement:
    """The judge's similarities compared with the ratings of the same pairs."""
    human, by = np.array([pair.similarity for pair in rated]), _units(rated, rng)
    return JudgeAgreement(
        pearson=pearson(judged, human, by=by),
        spearman=spearman(judged, human, by=by),
        mean_difference=mean_difference(judged, human, by=by),
        mean_absolute_error=mean_absolute_error(judged, human, by=by),
        auc_other_object=same_event_auc(judged, rated, rng),
    )


SAME, OTHER = ("paraphrase", "vaguer"), ("same fault elsewhere", "other object")
"""Kinds of pairs: two descriptions of one event, and two events of the same type on different objects."""


def same_event_auc(judged: Floats, rated: Sequence[RatedPair], rng: np.random.Generator) -> Estimate | None:
    """The probability that two descriptions of one event get a higher similarity than descriptions of two events of the
    same type on different objects.

    None unless there are pairs of both kinds.
    """
    kinds = {pair.kind for pair in rated}
    if kinds.isdisjoint(SAME) or kinds.isdisjoint(OTHER):
        return None
    kept = np.array([pair.kind in (*SAME, *OTHER) for pair in rated])
    pairs = [pair for pair, is_kept in zip(rated, kept, strict=True) if is_kept]
    same = np.array([pair.kind in SAME for pair in pairs], dtype=np.bool_)
    return auc(judged[kept], same, by=_units(pairs, rng))


def _units(rated: Sequence[RatedPair], rng: np.random.Generator) -> Clusters:
    """Resamples of the pairs; pairs that were rated together stay together."""
    places = {unit: place for place, unit in enumerate(sorted({pair.unit for pair in rated}))}
    return Clusters(draw_resamples([""] * len(places), _RESAMPLES, rng), [places[pair.unit] for pair in rated])


def check_judge(
    rated: Sequence[RatedPair], runs: Sequence[Sequence[Judgement]], rng: np.random.Generator
) -> JudgeCheck:
    """Compare several runs of a judge over the same rated pairs. The agreement with the ratings is computed from the
    first run, and the stability from all runs.
    """
    scores = np.array([[_number(judgement) for judgement in run] for run in runs])
    scored = ~np.isnan(scores[0])
    kept = [pair for pair, is_scored in zip(rated, scored, strict=True) if is_scored]
    first = scores[0][scored]
    return JudgeCheck(
        pairs=len(rated),
        units=len({pair.unit for pair in kept}),
        unscored=int((~scored).sum()),
        agreement=judge_agreement(first, kept, rng),
        kinds=_by_kind(first, kept),
        stability=_stability(scores) if len(runs) > 1 else None,
    )


def _number(judgement: Judgement) -> float:
    return np.nan if judgement.similarity is None else judgement.similarity


def _by_kind(judged: Floats, rated: Sequence[RatedPair]) -> Mapping[str, tuple[int, float, float]]:
    found = {}
    for kind in sorted({pair.kind for pair in rated if pair.kind}):
        inside = np.array([pair.kind == kind for pair in rated])
        human = np.array([pair.similarity for pair in rated])[inside]
        found[kind] = len(human), float(human.mean()), float(judged[inside].mean())
    return found


def _stability(scores: Floats) -> Stability:
    always = scores[:, ~np.isnan(scores).any(axis=0)]
    count = always.shape[1]
    changed = int((np.ptp(always, axis=0) > 0).sum()) if count else 0
    spread = Estimate(float(always.std(axis=0, ddof=1).mean()) if count else np.nan, n=count)
    return Stability(repeats=len(scores), changed=wilson(changed, count), spread=spread)
