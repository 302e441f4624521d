"""Weights fitted to labels of people, and tested on prompts that were held out.

The usability is the probability that a clip is usable, so the weights are fitted by maximum likelihood. Each weight is
drawn towards the given one, with a standard deviation of 1 in log odds, so a weight that the labels say nothing about
stays. The precision of fitted weights is only ever measured on prompts that the fit has not seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit, logit

from robogaze.errors import OptionError
from robogaze.ranking.candidates import Candidate, DimensionState
from robogaze.ranking.config import RankingConfig
from robogaze.ranking.labels import Label
from robogaze.ranking.order import PromptRanking
from robogaze.ranking.weights import DimensionWeights, RankingWeights, VerdictWeights

_LEVELS = (1, 2, 3, 4, 5)
_BELIEFS = ("event", "unverified", "rejected")
_STATES: tuple[DimensionState, ...] = ("partial", "not_examined", "undecided")
_LEAST, _DIGITS = 0.001, 4
"""Fitted weights are from _LEAST to 1 - _LEAST, with this many digits."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Table:
    """Labelled candidates as arrays: of every claim its candidate, severity, belief and confidence."""

    usable: Floats
    of: NDArray[np.intp]
    severity: NDArray[np.intp]
    belief: NDArray[np.intp]
    confidence: Floats
    states: Floats

    @classmethod
    def of_candidates(cls, candidates: Sequence[Candidate], labels: Mapping[str, Label]) -> "_Table":
        claims = [(place, claim) for place, candidate in enumerate(candidates) for claim in candidate.claims]
        levels = [len(_LEVELS) if claim.severity is None else claim.severity - 1 for _, claim in claims]
        counts = [[list(candidate.dimensions.values()).count(state) for state in _STATES] for candidate in candidates]
        return cls(
            usable=np.array([labels[candidate.id].usable for candidate in candidates], dtype=np.float64),
            of=np.array([place for place, _ in claims], dtype=np.intp),
            severity=np.array(levels, dtype=np.intp),
            belief=np.array([_BELIEFS.index(claim.belief) for _, claim in claims], dtype=np.intp),
            confidence=np.array([1.0 if claim.confidence is None else claim.confidence for _, claim in claims]),
            states=np.array(counts, dtype=np.float64).reshape(len(candidates), len(_STATES)),
        )

    def loss(self, values: Floats) -> float:
        """The negative log likelihood of the labels under weights in the order of `_values`."""
        severity, belief = values[:6], np.concatenate([[1.0], values[6:8]])
        trusted = 1 - values[8] * (1 - self.confidence)
        risk = severity[self.severity] * belief[self.belief] * trusted
        log_usable = np.bincount(self.of, np.log1p(-risk), len(self.usable)) + self.states @ np.log1p(-values[9:])
        log_not = np.log(np.maximum(-np.expm1(log_usable), 1e-12))
        return -float((self.usable * log_usable + (1 - self.usable) * log_not).sum())


def fitted_weights(
    candidates: Sequence[Candidate], labels: Mapping[str, Label], given: RankingWeights
) -> RankingWeights:
    """The weights fitted to labelled candidates, drawn towards the given ones."""
    table = _Table.of_candidates(candidates, labels)
    start = logit(np.clip(_values(given), _LEAST, 1 - _LEAST))

    def cost(odds: Floats) -> float:
        return table.loss(_in_order(expit(odds))) + float(((odds - start) ** 2).sum()) / 2

    bounds = [(logit(_LEAST), logit(1 - _LEAST))] * len(start)
    found = minimize(cost, start, method="L-BFGS-B", bounds=bounds)
    return _weights(_in_order(expit(found.x)))


def held_out_weights(
    prompts: Sequence[PromptRanking], labels: Mapping[str, Label], given: RankingWeights, config: RankingConfig
) -> tuple[RankingWeights, ...]:
    """For each prompt, weights fitted to prompts of other folds. Raises OptionError for fewer than 2 prompts."""
    if len(prompts) < 2:
        raise OptionError("`calibrate` needs labels for all candidates of at least 2 prompts")
    folds = min(config.folds, len(prompts))
    order = np.random.default_rng(config.seed).permutation(len(prompts))
    fold_of = {int(place): number % folds for number, place in enumerate(order)}
    by_fold = [
        fitted_weights(
            [
                ranked.candidate
                for place, prompt in enumerate(prompts)
                if fold_of[place] != fold
                for ranked in prompt.ranked
            ],
            labels,
            given,
        )
        for fold in range(folds)
    ]
    return tuple(by_fold[fold_of[place]] for place in range(len(prompts)))


def _values(weights: RankingWeights) -> Floats:
    return np.array(
        [
            *(weights.severity[level] for level in _LEVELS),  # type: ignore[index]
            weights.severity_not_given,
            weights.verdict.unverified,
            weights.verdict.rejected,
            weights.confidence,
            *(getattr(weights.dimension, state) for state in _STATES),
        ]
    )


def _in_order(values: Floats) -> Floats:
    """Values in which the weights of severities never decrease."""
    return np.concatenate([np.maximum.accumulate(values[:5]), values[5:]])


def _weights(values: Floats) -> RankingWeights:
    numbers = [round(float(value), _DIGITS) for value in values]
    return RankingWeights(
        schema_version=1,
        id="calibrated",
        severity=dict(zip(_LEVELS, numbers[:5], strict=True)),  # type: ignore[arg-type]
        severity_not_given=numbers[5],
        verdict=VerdictWeights(unverified=numbers[6], rejected=numbers[7]),
        confidence=numbers[8],
        dimension=DimensionWeights(**dict(zip(_STATES, numbers[9:], strict=True))),
    )
