"""The critic's answer to a request: its contract (one decision for each claim) and the errors that are sent back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import model_validator

from robogaze.core.clip import Clip
from robogaze.core.events import Hypothesis
from robogaze.core.time import Span, frames_in
from robogaze.domains import Domain
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.stages.answers import SeverityAnswer, ShareAnswer, keyed_answer, narrowed, one_of, span_in


class DecisionAnswer(Answer):
    """The critic's decision on one hypothesis. `confidence` is how sure the critic is that the fault is there."""

    verified_evidence: Text
    frames: list[int]
    rationale: Text
    decision: Literal["ACCEPT", "REJECT", "MERGE"]
    merge_with: str | None
    primary_dimension: str | None
    type: str | None
    refined_span_s: list[float] | None
    severity: SeverityAnswer | None
    confidence: ShareAnswer

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.refined_span_s is not None and len(self.refined_span_s) == 2:
            Span(*self.refined_span_s)
        if self.decision == "MERGE" and self.merge_with is None:
            raise ValueError("MERGE needs merge_with: another hypothesis")
        return self


@dataclass(frozen=True)
class DecisionRules:
    """The rules for the answer to one request about a clip; only the frames `shown` may be cited.

    `claims` are the hypotheses to decide; `accepted` are the accepted hypotheses that a claim may also be merged into.
    With `span_required` every decision has a refined span. MERGE is possible only within one dimension, unless
    `across_dimensions` is set.
    """

    clip: Clip
    shown: frozenset[int]
    claims: tuple[Hypothesis, ...]
    accepted: tuple[Hypothesis, ...]
    dimensions: tuple[str, ...]
    domain: Domain
    span_required: bool
    across_dimensions: bool

    def contract(self) -> type[Answer]:
        """The type of the answer."""
        types = [kind for kind, dimension in self.domain.dimension_of.items() if dimension in self.dimensions]
        span = span_in(self.clip.duration_s)
        decision = narrowed(
            DecisionAnswer,
            frames=list_of(one_of(sorted(self.shown)), 8),
            merge_with=one_of(other.id for other in (*self.claims, *self.accepted)) | None,
            primary_dimension=one_of(self.dimensions) | None,
            type=one_of(types) | None,
            refined_span_s=span if self.span_required else span | None,
        )
        return keyed_answer("decisions", decision, [claim.id for claim in self.claims], may_miss=True)

    def error(self, decisions: Mapping[str, DecisionAnswer | None]) -> str | None:
        """The first error that the contract cannot express; None without an error."""
        given = {name: decision for name, decision in decisions.items() if decision is not None}
        errors = (self._error_of(name, decision) or self._merge_error(name, given) for name, decision in given.items())
        return next((f"decisions.{name}: {error}" for name, error in zip(given, errors, strict=True) if error), None)

    def _error_of(self, name: str, decision: DecisionAnswer) -> str | None:
        if decision.decision == "ACCEPT" and not decision.frames:
            return "ACCEPT needs frames, those that show the fault"
        if decision.decision == "ACCEPT" and (error := self._span_error(decision)):
            return error
        if decision.decision == "REJECT" and decision.confidence >= 0.5:
            return (
                f"REJECT says that the fault is not there, and confidence {decision.confidence:g} that it is; "
                "confidence is how sure you are that the fault is there"
            )
        if (decision.type is None) != (decision.primary_dimension is None):
            return "needs both type and primary_dimension, or neither"
        if decision.type is not None and self.domain.dimension_of[decision.type] != decision.primary_dimension:
            return f"{decision.type} is not a type of {decision.primary_dimension}"
        return None

    def _span_error(self, decision: DecisionAnswer) -> str | None:
        """An error if a span contains none of the cited frames; None if a span contains no shown frame."""
        if decision.refined_span_s is None:
            return None
        span, times_s = Span(*decision.refined_span_s), self.clip.frame_times_s
        inside = (frames_in([span], times_s) or {self.clip.frame_at(span.start)}) & self.shown
        if not inside or not inside.isdisjoint(decision.frames):
            return None
        cited = ", ".join(f"{frame} ({times_s[frame]:.2f} s)" for frame in sorted(set(decision.frames)))
        return (
            f"none of the cited frames, {cited}, lies within refined_span_s {decision.refined_span_s}; the span goes "
            "from the first frame that belongs to the fault to the first that no longer does"
        )

    def _merge_error(self, name: str, decisions: Mapping[str, DecisionAnswer]) -> str | None:
        decision = decisions[name]
        if decision.decision != "MERGE" or decision.merge_with is None:
            return None
        if decision.merge_with == name:
            return "a hypothesis cannot be merged with itself"
        own, other = (self._dimension(which, decisions) for which in (name, decision.merge_with))
        if own != other and not self.across_dimensions:
            return (
                f"{name} is of {own} and {decision.merge_with} of {other}: claims of different dimensions are never "
                "merged; ACCEPT or REJECT each on its own"
            )
        claim, target = self._claim(name), self._claim(decision.merge_with)
        refined = getattr(decisions.get(target.id), "refined_span_s", None)
        spans = target.spans if refined is None else (*target.spans, Span(*refined))
        if not share_time(claim.spans, spans):
            return f"{name} and {target.id} share no time, so they are not the same claim made twice"
        return None

    def _dimension(self, name: str, decisions: Mapping[str, DecisionAnswer]) -> str:
        moved = getattr(decisions.get(name), "primary_dimension", None)
        return moved or self._claim(name).dimension

    def _claim(self, name: str) -> Hypothesis:
        return next(claim for claim in (*self.claims, *self.accepted) if claim.id == name)


def share_time(a: Sequence[Span], b: Sequence[Span]) -> bool:
    """Whether two unions of spans overlap or touch. If a fault was divided into two parts, the parts only touch."""
    return any(x.start <= y.end and y.start <= x.end for x in a for y in b)
