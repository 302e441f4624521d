"""The rule: how usable a candidate is, the order of a prompt's candidates, and which of them are kept.

A claim makes a clip unusable with the probability

    r = severity weight x verdict weight x (1 - k (1 - confidence))

Here, k is the weight of confidences. An event has the verdict weight 1. For a claim without a confidence, the last
factor is 1. If a dimension was not fully judged, the weight of its state is the probability that it makes the clip
unusable. Nothing else counts, and all claims and dimensions are treated as independent:

    usability = product of (1 - r) over claims and dimensions

Equal usabilities are ties. Fewer events come first, then the shorter total time of the events, then the clip id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod
from typing import Literal

from robogaze.ranking.candidates import Candidate, DimensionState, JudgedClaim
from robogaze.ranking.weights import RankingWeights

Tiebreak = Literal["", "events", "faulty time", "clip id"]

_DIGITS = 9
"""Usabilities that differ after these digits are equal."""


@dataclass(frozen=True, slots=True)
class Risk:
    """What can make a clip unusable, and with which probability. `count` dimensions in the same state are combined into
    one risk.
    """

    kind: str
    type: str
    severity: int | None
    confidence: float | None
    count: int
    probability: float


@dataclass(frozen=True)
class RankedCandidate:
    """A candidate with its rank, 1 for the best.

    `risks` are sorted from the largest to the smallest. `tied` are the ids of other candidates with the same usability.
    `tiebreak` says why this candidate comes after the previous candidate with the same usability. For the first
    candidate of a tie, it says why the next one comes after it. It is empty if there is no tie.
    """

    rank: int
    candidate: Candidate
    usability: float
    risks: tuple[Risk, ...]
    tied: tuple[str, ...]
    tiebreak: Tiebreak
    kept: bool


@dataclass(frozen=True)
class Unranked:
    """A clip that cannot be ranked and is never kept; `prompt` is None if it is not known."""

    id: str
    run: str
    prompt: str | None
    reason: str


@dataclass(frozen=True)
class PromptRanking:
    """The candidates of a prompt, best first, and the candidates without a rank. `wanted` is the number of candidates
    to keep; candidates without a rank count when it is computed.
    """

    prompt: str
    ranked: tuple[RankedCandidate, ...]
    unranked: tuple[Unranked, ...]
    wanted: int

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all candidates; candidates without a rank are last."""
        return (*(ranked.candidate.id for ranked in self.ranked), *(clip.id for clip in self.unranked))

    @property
    def decided_by_id(self) -> bool:
        """Whether only the clip ids decide that the last kept candidate comes before the first that is not kept."""
        if not 0 < self.wanted < len(self.ranked):
            return False
        last, first = self.ranked[self.wanted - 1], self.ranked[self.wanted]
        return first.tiebreak == "clip id" and last.candidate.id in first.tied


def risk_of(claim: JudgedClaim, weights: RankingWeights) -> float:
    """The probability that a claim makes a clip unusable."""
    severity = weights.severity_not_given if claim.severity is None else weights.severity[claim.severity]  # type: ignore[index]
    verdict = 1.0 if claim.belief == "event" else getattr(weights.verdict, claim.belief)
    confidence = 1.0 if claim.confidence is None else claim.confidence
    return float(severity * verdict * (1 - weights.confidence * (1 - confidence)))


def dimension_risk(state: DimensionState, weights: RankingWeights) -> float:
    """The probability that a dimension in a state hides a fault for which the clip cannot be used."""
    return float(getattr(weights.dimension, state, 0.0))


def usability(candidate: Candidate, weights: RankingWeights) -> float:
    """The usability of a candidate, in [0, 1]."""
    claims = prod(1 - risk_of(claim, weights) for claim in candidate.claims)
    return claims * prod(1 - dimension_risk(state, weights) for state in candidate.dimensions.values())


def risks(candidate: Candidate, weights: RankingWeights) -> tuple[Risk, ...]:
    """What lowers the usability, from the largest risk to the smallest. Dimensions in the same state are combined."""
    found = [
        Risk(claim.belief, claim.type, claim.severity, claim.confidence, 1, risk_of(claim, weights))
        for claim in candidate.claims
    ]
    states = list(candidate.dimensions.values())
    for state in dict.fromkeys(states):
        if (risk := dimension_risk(state, weights)) > 0:
            found.append(Risk(state, "", None, None, states.count(state), 1 - (1 - risk) ** states.count(state)))
    return tuple(sorted((risk for risk in found if risk.probability > 0), key=lambda risk: -risk.probability))


def tie_key(candidate: Candidate, weights: RankingWeights) -> tuple[float, int, float]:
    """The sort key of a candidate, without the clip id, which decides last. Smaller is better."""
    return (
        -round(usability(candidate, weights), _DIGITS),
        len(candidate.events),
        round(candidate.faulty_s, _DIGITS),
    )


def rank_prompt(
    prompt: str, candidates: Sequence[Candidate], unranked: Sequence[Unranked], wanted: int, weights: RankingWeights
) -> PromptRanking:
    """The ranking of a prompt's candidates."""
    keys = {candidate.id: (*tie_key(candidate, weights), candidate.id) for candidate in candidates}
    ordered = sorted(candidates, key=lambda candidate: keys[candidate.id])
    ranked: list[RankedCandidate] = []
    for _, group in groupby(ordered, key=lambda candidate: keys[candidate.id][0]):
        ties = list(group)
        for place, candidate in enumerate(ties):
            ranked.append(
                RankedCandidate(
                    rank=len(ranked) + 1,
                    candidate=candidate,
                    usability=usability(candidate, weights),
                    risks=risks(candidate, weights),
                    tied=tuple(other.id for other in ties if other is not candidate),
                    tiebreak=_tiebreak([keys[other.id] for other in ties], place),
                    kept=len(ranked) < wanted,
                )
            )
    return PromptRanking(prompt, tuple(ranked), tuple(unranked), wanted)


def _tiebreak(keys: Sequence[tuple[object, ...]], place: int) -> Tiebreak:
    if len(keys) < 2:
        return ""
    before, after = keys[max(place, 1) - 1], keys[max(place, 1)]
    names: tuple[Tiebreak, ...] = ("events", "faulty time", "clip id")
    return next(name for name, first, second in zip(names, before[1:], after[1:], strict=True) if first != second)
