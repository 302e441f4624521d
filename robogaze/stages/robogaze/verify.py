"""verify: a critic examines every hypothesis and decides (RoboGaze, eq. 6 and A.3.4).

ACCEPT   frames that the critic cites show the claim
REJECT   normal execution explains the claim better, or no frame shows it
MERGE    another claim is the same: it has the same dimension, thing and fault, at an overlapping time

The critic says what it sees and how sure it is; code applies `min_confidence`. It applies `min_confidence_alone` to
claims that a look at the whole clip does not confirm (`robogaze.stages.robogaze.confirmation`). If the critic accepts a
claim with too little confidence, the claim becomes a rejected hypothesis. It keeps the confidence, so that `evaluate`
can try other thresholds.

Claims are the same if they come from several answers and have the same type, spans with an IoU of at least
`same_claim_iou`, and boxes at the same place. They are decided once, and the decision holds for all of them.

With `claim_sheets`, the critic is shown the first and the last frame and one claim sheet for each claim
(`robogaze.media.claim_sheet`). It is also shown the definitions of the claimed types and of the types that they are
confused with. Claims that need more pictures than the model accepts are split over parallel requests; claims that may
be the same stay together. Without claim sheets, the critic is shown the whole clip, with close-ups: frames inside the
proposed spans.

Hypotheses that are still undecided get another round, up to `max_rounds`. There are three kinds. The first are
hypotheses that the critic omitted; they are requested once more. The second are hypotheses that it merged into a
hypothesis that it did not accept. The third are hypotheses whose span it changed (to an IoU below 0.5), if the claim
sheet did not show the edges of the new span.

With `tools`, the critic may first request closer views (`robogaze.stages.tools.tool_plan`); it is given the results in
every round.

A hypothesis that is never decided stays unverified: it is not accepted, and it is a failure with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypedDict

from pydantic import Field

from robogaze.core.events import Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import close_up
from robogaze.domains import Domain
from robogaze.domains.contract import Answer
from robogaze.domains.model import EventType, SeverityLevel
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.robogaze.claim_sheets import grouped, sheets_of
from robogaze.stages.robogaze.confirmation import reject_unconfirmed, unconfirmed_notes
from robogaze.stages.robogaze.decisions import DecisionRules
from robogaze.stages.robogaze.same_claims import labelled_as_decided, merge_same_claims
from robogaze.stages.robogaze.verdicts import Decided, VerificationState, undecided_failures
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import templates
from robogaze.stages.tools.tool_plan import ToolPlanner, ToolPlanVariables, ToolResult, ToolResults
from robogaze.threads import on_core

SHEET_FRAMES, CLOSE_UP_FRAMES = 16, 16
"""The most frames on a claim sheet, and the most close-ups, which are shown only without claim sheets."""

SAME_SPAN_IOU = 0.5


class VerifyVariables(TypedDict):
    """The variables of the prompt `verify`: the hypotheses to decide, the accepted hypotheses, tool results, and rules.

    `types` are the claimed types and the types that are easily confused with them; it is empty without claim sheets.
    `dimension_of` maps every type to its dimension.
    """

    hypotheses: tuple[Hypothesis, ...]
    accepted: tuple[Hypothesis, ...]
    types: tuple[EventType, ...]
    dimension_of: Mapping[str, str]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    not_annotated: tuple[str, ...]
    claim_sheets: bool
    show_proposals: bool
    merge_across_dimensions: bool
    tool_results: tuple[ToolResult, ...]


class VerifyPlanVariables(ToolPlanVariables):
    """The variables of the prompt `verify_plan`: the hypotheses to decide, and the tools."""

    hypotheses: tuple[Hypothesis, ...]


@dataclass(frozen=True)
class _ClaimPictures:
    """The pictures of one request: of the clip, the claim sheets by claim, and close-ups."""

    clip: tuple[FrameImage, ...]
    sheets: Mapping[str, FrameImage] = field(default_factory=dict)
    close_ups: tuple[FrameImage, ...] = ()

    def all(self) -> tuple[FrameImage, ...]:
        """All pictures, in the order shown."""
        return (*self.clip, *self.sheets.values(), *self.close_ups)

    def sheet(self, claim: str) -> str | None:
        """The picture id of a claim's sheet; None if the claim has no sheet."""
        return self.sheets[claim].picture.id if claim in self.sheets else None

    def frames(self, claim: str) -> tuple[int, ...]:
        """The frames that a claim is decided from: the frames of the clip and the frames of the claim's sheet."""
        sheet = (self.sheets[claim],) if claim in self.sheets else ()
        return tuple(frame for image in (*self.clip, *sheet) for frame in image.picture.frames)


@dataclass(frozen=True)
class _ClaimRequest:
    """The claims of one request, with their pictures and the query."""

    claims: tuple[Hypothesis, ...]
    pictures: _ClaimPictures
    query: Query


class Verify(Stage):
    """Decides the unverified hypotheses."""

    prompts: ClassVar[Mapping[str, type]] = {"verify": VerifyVariables}

    min_confidence: float = Field(default=0.50, ge=0, le=1)
    min_confidence_alone: float | None = Field(default=None, ge=0, le=1)
    """The minimum confidence of a claim that the look at the whole clip was shown and did not report; None for none."""
    max_rounds: int = Field(default=2, ge=1)
    same_claim_iou: float | None = Field(default=0.5, gt=0, le=1)
    """From which overlap two hypotheses of one type are the same claim; None leaves all of them to the critic."""
    claim_sheets: bool = True
    show_proposals: bool = False
    """Show the specialists' confidence and evidence, and what the observations found suspicious."""
    merge_across_dimensions: bool = False
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
        proposed = context.hypotheses or ()
        if self.same_claim_iou is not None:
            proposed = merge_same_claims(proposed, context.clip.frame_times_s, self.same_claim_iou)
        hypotheses = {hypothesis.id: hypothesis for hypothesis in proposed}
        state = VerificationState(context.clip, hypotheses, self.min_confidence)
        results = await self._call_tools(state, context, client) if state.pending and self.tools else ToolResults()
        failures = list(results.failures)
        for number in range(1, self.max_rounds + 1):
            if not state.pending:
                break
            requests = await on_core(self._requests, number, state, results, context, client)
            answers = await client.ask_all([request.query for request in requests], context)
            decisions: dict[str, Decided] = {}
            for request, answer in zip(requests, answers, strict=True):
                if isinstance(answer, NoAnswer):
                    failures.append(answer.failure)
                    names = [claim.id for claim in request.claims]
                    state.give_up(names, f"the critic did not answer: {answer.failure.message}")
                else:
                    decisions |= _decisions(answer, request.pictures)
            state.decide(decisions, SAME_SPAN_IOU if number < self.max_rounds else None)
        after = labelled_as_decided(proposed, state.result())
        notes: tuple[str, ...] = ()
        if self.min_confidence_alone is not None:
            decided = {hypothesis.id for hypothesis in proposed if hypothesis.verdict == "unverified"}
            needed = max(self.min_confidence_alone, self.min_confidence)
            before, after = after, reject_unconfirmed(after, decided, context.clip, context.whole_clip_frames, needed)
            notes = unconfirmed_notes(before, after, needed)
        failures = [*undecided_failures(after), *failures]
        return replace(
            context,
            hypotheses=after,
            failures=(*context.failures, *failures),
            notes=(*context.notes, *notes),
        )

    async def _call_tools(self, state: VerificationState, context: Context, client: ModelClient) -> ToolResults:
        """The results of the tool calls that the critic requests before it decides."""
        planner, frames = ToolPlanner(self.tools, self.max_tool_calls), client.frames(self.role())
        query = Query(
            stage="verify",
            subject="tool plan",
            role=self.role(),
            prompt="verify_plan",
            variables=VerifyPlanVariables(hypotheses=state.claims, **planner.variables()),
            images=client.show(self.role(), frames),
            contract=Answer,
            hide_suspicions=not self.show_proposals,
        )
        plan = planner.plan(query, state.pending, frames, context.clip)
        spans = {claim.id: claim.spans for claim in state.claims}
        (results,) = await planner.run([(plan, spans)], context, client)
        return results

    def _requests(
        self, number: int, state: VerificationState, results: ToolResults, context: Context, client: ModelClient
    ) -> tuple[_ClaimRequest, ...]:
        """The requests of a round: one, unless the claim sheets need more pictures than the model accepts."""
        if not self.claim_sheets:
            pictures = self._with_close_ups(state.claims, results, context, client)
            query = self._query(f"round {number}", number, state.claims, pictures, state, results, context, client)
            return (_ClaimRequest(state.claims, pictures, query),)
        most = client.model(self.role()).config.max_pictures
        ends = client.show(self.role(), sorted({0, context.clip.frame_count - 1}))[: most - 1]
        groups = grouped(state.claims, most - len(ends))
        requests = []
        for part, claims in enumerate(groups, start=1):
            tracks, decoded = context.tracks or (), client.decoded_clip
            pictures = _ClaimPictures(ends, sheets_of(claims, tracks, context.clip, decoded, SHEET_FRAMES))
            subject = f"round {number}" if len(groups) == 1 else f"round {number}, part {part} of {len(groups)}"
            query = self._query(subject, number, claims, pictures, state, results, context, client)
            requests.append(_ClaimRequest(claims, pictures, query))
        return tuple(requests)

    def _with_close_ups(
        self, claims: tuple[Hypothesis, ...], results: ToolResults, context: Context, client: ModelClient
    ) -> _ClaimPictures:
        """The frames of the clip, and frames inside the spans of the claims if the tools leave room for them."""
        frames = client.frames(self.role())
        images = client.show(self.role(), frames)
        room = client.model(self.role()).config.max_pictures - len(frames)
        count = min(CLOSE_UP_FRAMES, max(room - len(results.images(images, room)), 0))
        spans = [span for claim in claims for span in claim.spans]
        numbers = close_up(spans, context.clip.frame_times_s, count, frames)
        return _ClaimPictures(images, close_ups=client.show(self.role(), numbers))

    def _query(
        self,
        subject: str,
        number: int,
        claims: tuple[Hypothesis, ...],
        pictures: _ClaimPictures,
        state: VerificationState,
        results: ToolResults,
        context: Context,
        client: ModelClient,
    ) -> Query:
        domain, names = client.domain, {claim.id for claim in claims}
        found = replace(results, results=tuple(result for result in results.results if result.about in names))
        room = client.model(self.role()).config.max_pictures - len(pictures.all())
        tool_images = found.images(pictures.all(), room)
        shown = {frame for image in (*pictures.all(), *tool_images) for frame in image.picture.frames}
        rules = DecisionRules(
            clip=context.clip,
            shown=frozenset(shown),
            claims=claims,
            accepted=state.accepted,
            dimensions=context.dimensions,
            domain=domain,
            span_required=self.claim_sheets,
            across_dimensions=self.merge_across_dimensions,
        )
        return Query(
            stage="verify",
            subject=subject,
            role=self.role(),
            prompt="verify",
            variables=VerifyVariables(
                hypotheses=claims,
                accepted=state.accepted,
                types=_types(claims, domain) if self.claim_sheets else (),
                dimension_of=domain.dimension_of,
                severity=domain.taxonomy.severity,
                cascade=domain.taxonomy.cascade,
                not_annotated=domain.taxonomy.not_annotated,
                claim_sheets=self.claim_sheets,
                show_proposals=self.show_proposals,
                merge_across_dimensions=self.merge_across_dimensions,
                tool_results=found.results,
            ),
            images=pictures.clip,
            extra_images=(*pictures.sheets.values(), *pictures.close_ups, *tool_images),
            contract=rules.contract(),
            sample=number - 1,
            check=lambda answer: rules.error(dict(answer.decisions)),
            hide_suspicions=not self.show_proposals,
        )


def _decisions(answer: Any, pictures: _ClaimPictures) -> dict[str, Decided]:
    """The decisions in an answer, by claim."""
    return {
        name: Decided(decision, pictures.sheet(name), pictures.frames(name))
        for name, decision in answer.decisions
        if decision is not None
    }


def _types(claims: tuple[Hypothesis, ...], domain: Domain) -> tuple[EventType, ...]:
    """The claimed types and the types that they are confused with, in the taxonomy's order."""
    claimed = [domain.types[claim.type] for claim in claims]
    wanted = {name for kind in claimed for name in (kind.id, *(confusion.type for confusion in kind.confused_with))}
    return tuple(kind for name, kind in domain.types.items() if name in wanted)
