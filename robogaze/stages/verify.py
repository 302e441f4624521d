"""verify: a critic looks again at every hypothesis and decides (RoboGaze, eq. 6 and A.3.4).

ACCEPT   it can be seen in frames the critic names, with confidence of at least `least_confidence`
REJECT   normal execution explains it better, or no frame shows it
MERGE    it is the same physical event as another hypothesis that stands, in overlapping time

All hypotheses go into one call, with close-ups: frames inside the claimed spans that nobody was shown yet. Another
round, up to `rounds`, is for what the last one left open: a hypothesis the critic did not mention or contradicted
itself about (asked once more), and one whose span it moved so far that the claim is a new one. A hypothesis is
settled when two looks in a row agree, the specialist's and the critic's or two of the critic's.

With `tools` the critic may first ask for closer looks at the claims (`robogaze.stages.tool_use`), at most
`at_most_looks` of them; what they find is put before it in every round.

Verification fails closed: what is never decided stays unverified, unverified is not accepted, and each such hypothesis
is a failure with its reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypedDict

from pydantic import Field, model_validator

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.core.sampling import close_up
from robogaze.core.time import Span, frame_iou
from robogaze.domains import Domain
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.domains.model import SeverityLevel
from robogaze.errors import FailureKind
from robogaze.stages.answers import SeverityAnswer, ShareAnswer, keyed, narrowed, one_of, seconds
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.tool_use import Closer, CloserLook, Looks, ToolsVariables
from robogaze.stages.tools import TOOLS, ToolName, templates

_ASKED_AGAIN = 1


class VerifyVariables(TypedDict):
    """The hypotheses to decide, those that already stand, and the rules."""

    hypotheses: tuple[Hypothesis, ...]
    accepted: tuple[Hypothesis, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    least_confidence: float
    looks: tuple[CloserLook, ...]


class VerifyLooksVariables(ToolsVariables):
    """The hypotheses to decide, and the tools to look closer with."""

    hypotheses: tuple[Hypothesis, ...]


class DecisionAnswer(Answer):
    """What the critic says of one hypothesis."""

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
    def _fits_itself(self) -> Self:
        if self.refined_span_s is not None and len(self.refined_span_s) == 2:
            Span(*self.refined_span_s)
        if self.decision == "MERGE" and self.merge_with is None:
            raise ValueError("MERGE needs merge_with: another hypothesis")
        return self


@dataclass
class _Docket:
    """The hypotheses under decision, and the closer looks taken at them.

    How each stands, how often it was left out, and why it is open if not for that.
    """

    standing: dict[str, Hypothesis]
    open: list[str]
    looks: Looks = field(default_factory=Looks)
    left_out: dict[str, int] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)


class Verify(Stage):
    """Decides the unverified hypotheses."""

    prompts: ClassVar[Mapping[str, type]] = {"verify": VerifyVariables}

    least_confidence: float = Field(default=0.50, ge=0, le=1)
    rounds: int = Field(default=3, ge=1)
    same_span_iou: float = Field(default=0.5, gt=0, le=1)
    close_up_frames: int = Field(default=16, ge=0)
    tools: tuple[ToolName, ...] = ()
    at_most_looks: int = Field(default=4, ge=1)

    def reads(self) -> frozenset[Slot]:
        """The hypotheses."""
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        """The hypotheses, decided."""
        return frozenset({"hypotheses", "verdicts"})

    def role(self) -> str:
        """The critic."""
        return "critic"

    def templates(self) -> Mapping[str, type]:
        """Its prompt, with tools that for closer looks and theirs."""
        if not self.tools:
            return self.prompts
        return {
            **self.prompts,
            "verify_looks": VerifyLooksVariables,
            **templates([TOOLS[name]() for name in self.tools]),
        }

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask, round by round, until nothing is open."""
        hypotheses = context.hypotheses or ()
        waiting = [one.id for one in hypotheses if one.verdict == "unverified"]
        docket = _Docket({one.id: one for one in hypotheses}, waiting)
        if docket.open and self.tools:
            docket.looks = await self._look_closer(docket, context, desk)
        ended = docket.looks.failures
        for number in range(1, self.rounds + 1):
            if not docket.open:
                break
            try:
                answer = await desk.ask(self._question(number, docket, context, desk), context)
            except NoAnswer as error:
                ended = (*ended, error.failure)
                docket.why |= dict.fromkeys(docket.open, f"the critic did not answer: {error.failure.message}")
                break
            said = {name: decision for name, decision in answer.decisions if decision is not None}
            self._decide(docket, said, context, last=number == self.rounds)
        closed = tuple(_closed(docket.standing[one.id], docket.why) for one in hypotheses)
        undecided = tuple(_failure(one) for one in closed if one.verdict == "unverified")
        return replace(context, hypotheses=closed, failures=(*context.failures, *undecided, *ended))

    async def _look_closer(self, docket: _Docket, context: Context, desk: ModelClient) -> Looks:
        """The closer looks that the critic asks for before it decides."""
        claims = {name: docket.standing[name] for name in docket.open}
        closer, frames = Closer(self.tools, self.at_most_looks), desk.frames(self.role())
        question = Query(
            stage="verify",
            subject="closer looks",
            role=self.role(),
            prompt="verify_looks",
            variables=VerifyLooksVariables(hypotheses=tuple(claims.values()), **closer.variables()),
            shots=desk.show(self.role(), frames),
            contract=Answer,
        )
        plan = closer.plan(question, list(claims), frames, context.clip)
        (looks,) = await closer.take([(plan, {name: one.spans for name, one in claims.items()})], context, desk)
        return looks

    def _question(self, number: int, docket: _Docket, context: Context, desk: ModelClient) -> Query:
        frames = desk.frames(self.role())
        shots = desk.show(self.role(), frames)
        claims = tuple(docket.standing[name] for name in docket.open)
        spans = [span for one in claims for span in one.spans]
        room = desk.model(self.role()).config.max_pictures - len(frames)
        looked = docket.looks.shots(shots, room)
        close = min(self.close_up_frames, max(room - len(looked), 0))
        closer = close_up(spans, context.clip.frame_times_s, close, frames)
        more = desk.show(self.role(), closer)
        looked = docket.looks.shots((*shots, *more), room - len(more))
        seen = {*frames, *closer, *(frame for shot in looked for frame in shot.picture.frames)}
        accepted = tuple(one for one in docket.standing.values() if one.verdict == "accepted")
        return Query(
            stage="verify",
            subject=f"round {number}",
            role=self.role(),
            prompt="verify",
            variables=VerifyVariables(
                hypotheses=claims,
                accepted=accepted,
                severity=desk.domain.taxonomy.severity,
                cascade=desk.domain.taxonomy.cascade,
                least_confidence=self.least_confidence,
                looks=docket.looks.taken,
            ),
            shots=shots,
            more_shots=(*more, *looked),
            contract=_contract(claims, accepted, context, desk.domain, seen),
            sample=number - 1,
            check=lambda answer: _contradiction(dict(answer.decisions), desk.domain),
        )

    def _decide(self, docket: _Docket, said: Mapping[str, DecisionAnswer], context: Context, *, last: bool) -> None:
        still_open = []
        for name in docket.open:
            decision, claim = said.get(name), docket.standing[name]
            docket.why.pop(name, None)
            if decision is None:
                docket.left_out[name] = docket.left_out.get(name, 0) + 1
                if docket.left_out[name] <= _ASKED_AGAIN:
                    still_open.append(name)
            elif decision.decision == "MERGE":
                docket.standing[name] = claim.with_(
                    verdict="merged", merged_into=decision.merge_with, reason=decision.rationale
                )
            else:
                ruled = self._ruled(claim, decision, context)
                docket.standing[name] = ruled
                agreed = frame_iou(claim.spans, ruled.spans, context.clip.frame_times_s) >= self.same_span_iou
                if ruled.verdict == "accepted" and not agreed and not last:
                    docket.standing[name] = ruled.with_(verdict="unverified")
                    still_open.append(name)
        docket.open = still_open + _resolve_merges(docket, said, still_open)

    def _ruled(self, claim: Hypothesis, decision: DecisionAnswer, context: Context) -> Hypothesis:
        """The hypothesis after ACCEPT or REJECT."""
        verdict, reason = "accepted", decision.rationale
        if decision.decision == "REJECT":
            verdict = "rejected"
        elif decision.confidence < self.least_confidence:
            weak = f"{decision.confidence:.2f}, under {self.least_confidence:.2f}"
            verdict, reason = "rejected", f"accepted with confidence {weak}: {reason}"
        ruled = claim.with_(verdict=verdict, reason=reason, confidence=decision.confidence)
        seen = Evidence(text=decision.verified_evidence, frames=tuple(sorted(set(decision.frames))), source="verify")
        if verdict == "rejected":
            return ruled.with_(evidence=(*claim.evidence, seen))
        span = decision.refined_span_s
        return ruled.with_(
            dimension=decision.primary_dimension or claim.dimension,
            type=decision.type or claim.type,
            spans=claim.spans if span is None else (context.clip.clamp(Span(*span)),),
            severity=decision.severity or claim.severity,
            evidence=(seen, *claim.evidence),
        )


def _contract(
    claims: Sequence[Hypothesis],
    accepted: Sequence[Hypothesis],
    context: Context,
    domain: Domain,
    frames: Collection[int],
) -> type[Answer]:
    item = narrowed(
        DecisionAnswer,
        frames=list_of(one_of(sorted(frames)), 8),
        merge_with=one_of(claim.id for claim in (*claims, *accepted)) | None,
        primary_dimension=one_of(context.dimensions) | None,
        type=one_of(kind for kind, dimension in domain.dimension_of.items() if dimension in context.dimensions) | None,
        refined_span_s=seconds(context.clip.duration_s) | None,
    )
    return keyed("decisions", item, [claim.id for claim in claims], may_miss=True)


def _contradiction(decisions: Mapping[str, DecisionAnswer | None], domain: Domain) -> str | None:
    for name, decision in decisions.items():
        if decision is None:
            continue
        if decision.decision == "ACCEPT" and not decision.frames:
            return f"decisions.{name}: ACCEPT needs frames, those that show the fault"
        if decision.decision == "REJECT" and decision.confidence >= 1:
            return (
                f"decisions.{name}: REJECT says that the fault is not there, and confidence 1 that it certainly is; "
                "confidence is how sure you are that the fault is there"
            )
        if decision.merge_with == name:
            return f"decisions.{name}: a hypothesis cannot be merged with itself"
        if (decision.type is None) != (decision.primary_dimension is None):
            return f"decisions.{name} needs both type and primary_dimension, or neither"
        if decision.type is not None and domain.dimension_of[decision.type] != decision.primary_dimension:
            return f"decisions.{name}: {decision.type} is not a type of {decision.primary_dimension}"
    return None


def _resolve_merges(docket: _Docket, said: Mapping[str, Any], still_open: Sequence[str]) -> list[str]:
    """Follow every merge of this round to a hypothesis that stands; open again what leads nowhere.

    A merge leads nowhere when its chain ends at a hypothesis that was rejected or comes back to itself, or when
    both never overlap in time. A merge into one that is still open waits with it.
    """
    reopened = []
    for name in [one for one in docket.open if one in said and docket.standing[one].verdict == "merged"]:
        claim, target = docket.standing[name], _root(name, docket.standing)
        stands = target is not None and target.verdict == "accepted" and _overlap(claim, target)
        if stands and target is not None:
            docket.standing[name] = claim.with_(merged_into=target.id)
            continue
        docket.why[name] = f"the critic merged it into {claim.merged_into}, which does not stand at that time"
        docket.standing[name] = claim.with_(verdict="unverified", merged_into=None)
        waits = target is not None and target.id in still_open
        docket.left_out[name] = docket.left_out.get(name, 0) + (0 if waits else 1)
        if docket.left_out[name] <= _ASKED_AGAIN:
            reopened.append(name)
    return reopened


def _root(name: str, standing: Mapping[str, Hypothesis]) -> Hypothesis | None:
    """The hypothesis at the end of a chain of merges; None for a circle."""
    seen = {name}
    claim = standing[name]
    while claim.merged_into is not None:
        if claim.merged_into in seen:
            return None
        seen.add(claim.merged_into)
        claim = standing[claim.merged_into]
    return claim


def _overlap(a: Hypothesis, b: Hypothesis) -> bool:
    return any(x.overlap(y) > 0 for x in a.spans for y in b.spans)


def _closed(claim: Hypothesis, why: Mapping[str, str]) -> Hypothesis:
    """The hypothesis as verification leaves it; what is undecided says so."""
    if claim.verdict == "unverified":
        return claim.with_(reason=why.get(claim.id, "the critic gave no decision on it"))
    return claim


def _failure(claim: Hypothesis) -> Failure:
    message = f"{claim.id} ({claim.type}) is undecided: {claim.reason}"
    return Failure(stage="verify", dimension=claim.dimension, kind=FailureKind.UNDECIDED, message=message)
