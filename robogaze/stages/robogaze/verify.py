"""verify: a critic examines every hypothesis and decides (RoboGaze, eq. 6 and A.3.4).

ACCEPT   it can be seen in frames that the critic names, with confidence of at least `min_confidence`
REJECT   normal execution explains it better, or no frame shows it
MERGE    it is the same physical event as another accepted hypothesis, at an overlapping time

All hypotheses go into one request, with close-ups: frames inside the proposed spans that were not shown before. Another
round, up to `max_rounds`, is for hypotheses that are still undecided: those that the critic omitted (requested once
more), those it merged into one that it did not accept, and those whose span it changed so much that the hypothesis is a
new one. A hypothesis is decided when two consecutive spans agree: the specialist's and the critic's, or two spans of
the critic.

With `tools`, the critic may first request closer views (`robogaze.stages.tools.tool_plan`); it is given the results in
every round.

A hypothesis that is never decided stays unverified: it is not accepted, and it is a failure with its reason.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, Self, TypedDict

from pydantic import Field, model_validator

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.report import Failure
from robogaze.core.sampling import close_up
from robogaze.core.time import Span, frame_iou
from robogaze.domains import Domain
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.domains.model import SeverityLevel
from robogaze.errors import FailureKind
from robogaze.stages.answers import SeverityAnswer, ShareAnswer, keyed_answer, narrowed, one_of, span_in
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import templates
from robogaze.stages.tools.tool_plan import ToolPlanner, ToolPlanVariables, ToolResult, ToolResults

_MAX_OMISSIONS = 1
"""How often the critic may omit a hypothesis before it stays unverified."""


class VerifyVariables(TypedDict):
    """The variables of the prompt `verify`: the hypotheses to decide, the accepted ones, tool results, and rules."""

    hypotheses: tuple[Hypothesis, ...]
    accepted: tuple[Hypothesis, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    min_confidence: float
    tool_results: tuple[ToolResult, ...]


class VerifyPlanVariables(ToolPlanVariables):
    """The variables of the prompt `verify_plan`: the hypotheses to decide, and the tools."""

    hypotheses: tuple[Hypothesis, ...]


class DecisionAnswer(Answer):
    """The critic's decision on one hypothesis."""

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


@dataclass
class _VerificationState:
    """The hypotheses by id, the ids that are pending, and the results of tool calls.

    `omissions` counts how often the critic omitted a hypothesis; `reasons` says why one is pending if not for that.
    """

    hypotheses: dict[str, Hypothesis]
    pending: list[str]
    results: ToolResults = field(default_factory=ToolResults)
    omissions: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)

    def may_be_omitted(self, name: str) -> bool:
        """Count an omission; whether the hypothesis is requested again."""
        self.omissions[name] = self.omissions.get(name, 0) + 1
        return self.omissions[name] <= _MAX_OMISSIONS


class Verify(Stage):
    """Decides the unverified hypotheses."""

    prompts: ClassVar[Mapping[str, type]] = {"verify": VerifyVariables}

    min_confidence: float = Field(default=0.50, ge=0, le=1)
    max_rounds: int = Field(default=3, ge=1)
    same_span_iou: float = Field(default=0.5, gt=0, le=1)
    close_up_frames: int = Field(default=16, ge=0)
    tools: tuple[ToolName, ...] = ()
    max_tool_calls: int = Field(default=4, ge=1)

    def reads(self) -> frozenset[Slot]:
        return frozenset({"hypotheses"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"hypotheses", "verdicts"})

    def role(self) -> str:
        return "critic"

    def templates(self) -> Mapping[str, type]:
        if not self.tools:
            return self.prompts
        tools = [TOOLS.load(name)() for name in self.tools]
        return {**self.prompts, "verify_plan": VerifyPlanVariables, **templates(tools)}

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Query the critic, round by round, until no hypothesis is pending."""
        before = context.hypotheses or ()
        pending = [hypothesis.id for hypothesis in before if hypothesis.verdict == "unverified"]
        state = _VerificationState({hypothesis.id: hypothesis for hypothesis in before}, pending)
        if state.pending and self.tools:
            state.results = await self._call_tools(state, context, client)
        failures = state.results.failures
        for number in range(1, self.max_rounds + 1):
            if not state.pending:
                break
            try:
                answer = await client.ask(self._query(number, state, context, client), context)
            except NoAnswer as error:
                failures = (*failures, error.failure)
                state.reasons |= dict.fromkeys(state.pending, f"the critic did not answer: {error.failure.message}")
                break
            decisions = {name: decision for name, decision in answer.decisions if decision is not None}
            self._decide(state, decisions, context, is_last=number == self.max_rounds)
        after = tuple(_with_reason(state.hypotheses[hypothesis.id], state.reasons) for hypothesis in before)
        undecided = tuple(_failure(hypothesis) for hypothesis in after if hypothesis.verdict == "unverified")
        return replace(context, hypotheses=after, failures=(*context.failures, *undecided, *failures))

    async def _call_tools(self, state: _VerificationState, context: Context, client: ModelClient) -> ToolResults:
        """The results of the tool calls that the critic requests before it decides."""
        hypotheses = {name: state.hypotheses[name] for name in state.pending}
        planner, frames = ToolPlanner(self.tools, self.max_tool_calls), client.frames(self.role())
        query = Query(
            stage="verify",
            subject="tool plan",
            role=self.role(),
            prompt="verify_plan",
            variables=VerifyPlanVariables(hypotheses=tuple(hypotheses.values()), **planner.variables()),
            images=client.show(self.role(), frames),
            contract=Answer,
        )
        plan = planner.plan(query, list(hypotheses), frames, context.clip)
        spans = {name: hypothesis.spans for name, hypothesis in hypotheses.items()}
        (results,) = await planner.run([(plan, spans)], context, client)
        return results

    def _query(self, number: int, state: _VerificationState, context: Context, client: ModelClient) -> Query:
        frames = client.frames(self.role())
        images = client.show(self.role(), frames)
        hypotheses = tuple(state.hypotheses[name] for name in state.pending)
        spans = [span for hypothesis in hypotheses for span in hypothesis.spans]
        room = client.model(self.role()).config.max_pictures - len(frames)
        close_up_count = min(self.close_up_frames, max(room - len(state.results.images(images, room)), 0))
        close_up_frames = close_up(spans, context.clip.frame_times_s, close_up_count, frames)
        close_ups = client.show(self.role(), close_up_frames)
        tool_images = state.results.images((*images, *close_ups), room - len(close_ups))
        shown = {*frames, *close_up_frames, *(frame for image in tool_images for frame in image.picture.frames)}
        accepted = tuple(other for other in state.hypotheses.values() if other.verdict == "accepted")
        return Query(
            stage="verify",
            subject=f"round {number}",
            role=self.role(),
            prompt="verify",
            variables=VerifyVariables(
                hypotheses=hypotheses,
                accepted=accepted,
                severity=client.domain.taxonomy.severity,
                cascade=client.domain.taxonomy.cascade,
                min_confidence=self.min_confidence,
                tool_results=state.results.results,
            ),
            images=images,
            extra_images=(*close_ups, *tool_images),
            contract=_contract(hypotheses, accepted, context, client.domain, shown),
            sample=number - 1,
            check=lambda answer: _contradiction(dict(answer.decisions), client.domain),
        )

    def _decide(
        self, state: _VerificationState, decisions: Mapping[str, DecisionAnswer], context: Context, *, is_last: bool
    ) -> None:
        still_pending = []
        for name in state.pending:
            decision, hypothesis = decisions.get(name), state.hypotheses[name]
            state.reasons.pop(name, None)
            if decision is None:
                if state.may_be_omitted(name):
                    still_pending.append(name)
            elif decision.decision == "MERGE":
                state.hypotheses[name] = hypothesis.with_(
                    verdict="merged", merged_into=decision.merge_with, reason=decision.rationale
                )
            else:
                decided = self._decided(hypothesis, decision, context)
                state.hypotheses[name] = decided
                iou = frame_iou(hypothesis.spans, decided.spans, context.clip.frame_times_s)
                if decided.verdict == "accepted" and iou < self.same_span_iou and not is_last:
                    state.hypotheses[name] = decided.with_(verdict="unverified")
                    still_pending.append(name)
        state.pending = still_pending + _resolve_merges(state, decisions, still_pending)

    def _decided(self, hypothesis: Hypothesis, decision: DecisionAnswer, context: Context) -> Hypothesis:
        """The hypothesis after ACCEPT or REJECT."""
        verdict, reason = "accepted", decision.rationale
        if decision.decision == "REJECT":
            verdict = "rejected"
        elif decision.confidence < self.min_confidence:
            weak = f"{decision.confidence:.2f}, under {self.min_confidence:.2f}"
            verdict, reason = "rejected", f"accepted with confidence {weak}: {reason}"
        decided = hypothesis.with_(verdict=verdict, reason=reason, confidence=decision.confidence)
        seen = Evidence(text=decision.verified_evidence, frames=tuple(sorted(set(decision.frames))), source="verify")
        if verdict == "rejected":
            return decided.with_(evidence=(*hypothesis.evidence, seen))
        span = decision.refined_span_s
        return decided.with_(
            dimension=decision.primary_dimension or hypothesis.dimension,
            type=decision.type or hypothesis.type,
            spans=hypothesis.spans if span is None else (context.clip.clamp(Span(*span)),),
            severity=decision.severity or hypothesis.severity,
            evidence=(seen, *hypothesis.evidence),
        )


def _contract(
    hypotheses: Sequence[Hypothesis],
    accepted: Sequence[Hypothesis],
    context: Context,
    domain: Domain,
    frames: Collection[int],
) -> type[Answer]:
    types = [kind for kind, dimension in domain.dimension_of.items() if dimension in context.dimensions]
    decision = narrowed(
        DecisionAnswer,
        frames=list_of(one_of(sorted(frames)), 8),
        merge_with=one_of(other.id for other in (*hypotheses, *accepted)) | None,
        primary_dimension=one_of(context.dimensions) | None,
        type=one_of(types) | None,
        refined_span_s=span_in(context.clip.duration_s) | None,
    )
    return keyed_answer("decisions", decision, [hypothesis.id for hypothesis in hypotheses], may_miss=True)


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


def _resolve_merges(
    state: _VerificationState, decisions: Mapping[str, DecisionAnswer], still_pending: Sequence[str]
) -> list[str]:
    """Follow every merge of this round to an accepted hypothesis; the ids of merges without one, to request again.

    A merge fails if its chain ends at a hypothesis that was not accepted or returns to itself, or if both never overlap
    in time. A merge into a pending hypothesis waits for it and is not an omission.
    """
    reopened = []
    merged = [name for name in state.pending if name in decisions and state.hypotheses[name].verdict == "merged"]
    for name in merged:
        hypothesis, target = state.hypotheses[name], _root(name, state.hypotheses)
        if target is not None and target.verdict == "accepted" and _overlap(hypothesis, target):
            state.hypotheses[name] = hypothesis.with_(merged_into=target.id)
            continue
        state.reasons[name] = (
            f"the critic merged it into {hypothesis.merged_into}, which is not accepted at an overlapping time"
        )
        state.hypotheses[name] = hypothesis.with_(verdict="unverified", merged_into=None)
        waits = target is not None and target.id in still_pending
        if (waits and state.omissions.get(name, 0) <= _MAX_OMISSIONS) or (not waits and state.may_be_omitted(name)):
            reopened.append(name)
    return reopened


def _root(name: str, hypotheses: Mapping[str, Hypothesis]) -> Hypothesis | None:
    """The hypothesis at the end of a chain of merges; None if the chain is a circle."""
    seen = {name}
    hypothesis = hypotheses[name]
    while hypothesis.merged_into is not None:
        if hypothesis.merged_into in seen:
            return None
        seen.add(hypothesis.merged_into)
        hypothesis = hypotheses[hypothesis.merged_into]
    return hypothesis


def _overlap(a: Hypothesis, b: Hypothesis) -> bool:
    return any(x.overlap(y) > 0 for x in a.spans for y in b.spans)


def _with_reason(hypothesis: Hypothesis, reasons: Mapping[str, str]) -> Hypothesis:
    """The hypothesis, with the reason if it is undecided."""
    if hypothesis.verdict == "unverified":
        return hypothesis.with_(reason=reasons.get(hypothesis.id, "the critic gave no decision on it"))
    return hypothesis


def _failure(hypothesis: Hypothesis) -> Failure:
    message = f"{hypothesis.id} ({hypothesis.type}) is undecided: {hypothesis.reason}"
    return Failure(stage="verify", dimension=hypothesis.dimension, kind=FailureKind.UNDECIDED, message=message)
