"""propose: a specialist looks for the faults of one dimension, for each dimension that a segment was routed to
(RoboGaze, eq. 5).

All specialists share one prompt; their checklists come from the taxonomy. A specialist is queried once for all its
segments and is shown the whole clip: faults extend beyond subtasks, every frame of the regime is examined, and the
images are the same for all specialists, so that a server can cache them.

With `tools`, each specialist may first request closer views of its segments (`robogaze.stages.tools.tool_plan`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypedDict

from pydantic import Field

from robogaze.core.context import Segment
from robogaze.core.coverage import Coverage
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer
from robogaze.domains.model import SeverityLevel
from robogaze.stages.answers import SeverityAnswer, ShareAnswer, SingleFaultAnswer, fault_contract, list_answer
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context
from robogaze.stages.robogaze.route import whole_clip
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import templates
from robogaze.stages.tools.tool_plan import ToolPlanner, ToolPlanVariables, ToolResult, ToolResults


class ProposeVariables(TypedDict):
    """The variables of the prompt `propose`: a dimension, its segments, tool results, and the rules of the answer."""

    dimension: Dimension
    segments: tuple[Segment, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    min_confidence: float
    tool_results: tuple[ToolResult, ...]


class ProposePlanVariables(ToolPlanVariables):
    """The variables of the prompt `propose_plan`: a dimension, its segments, and the tools."""

    dimension: Dimension
    segments: tuple[Segment, ...]


class HypothesisAnswer(SingleFaultAnswer):
    """A fault as a specialist proposes it."""

    severity_proposal: SeverityAnswer
    confidence: ShareAnswer


class Propose(Examiner):
    """Writes the hypotheses; those below `min_confidence` are kept as rejected."""

    prompts: ClassVar[Mapping[str, type]] = {"propose": ProposeVariables}

    min_confidence: float = Field(default=0.30, ge=0, le=1)
    max_hypotheses: int = Field(default=6, ge=1)
    """Per specialist."""
    tools: tuple[ToolName, ...] = ()
    max_tool_calls: int = Field(default=2, ge=1)
    """Per specialist."""

    def templates(self) -> Mapping[str, type]:
        if not self.tools:
            return self.prompts
        tools = [TOOLS.load(name)() for name in self.tools]
        return {**self.prompts, "propose_plan": ProposePlanVariables, **templates(tools)}

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Query the specialists in parallel. A dimension that no segment was routed to is ruled out."""
        segments = context.segments or (whole_clip(context),)
        routed = {name: _routed(name, segments, context) for name in context.dimensions}
        queried = [name for name in context.dimensions if routed[name]]
        results = await self._call_tools({name: routed[name] for name in queried}, context, client)
        queries = [self._query(name, routed[name], results[name], context, client) for name in queried]
        answers = await client.ask_all(queries, context)
        failures = [failure for name in queried for failure in results[name].failures]
        failures += (answer.failure for answer in answers if isinstance(answer, NoAnswer))
        faults = [fault for answer in answers if not isinstance(answer, NoAnswer) for fault in answer.hypotheses]
        first = len(context.hypotheses or ()) + 1
        found = (self._hypothesis(f"H{number}", fault, context) for number, fault in enumerate(faults, start=first))
        coverage = {name: _ruled_out(context) for name in context.dimensions if name not in queried}
        for name, query, answer in zip(queried, queries, answers, strict=True):
            coverage[name] = _covered(query, answer, context)
        return replace(
            context.covering(coverage),
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *failures),
        )

    async def _call_tools(
        self, routed: Mapping[str, Sequence[Segment]], context: Context, client: ModelClient
    ) -> Mapping[str, ToolResults]:
        """The results of the tool calls that each specialist requests; empty without tools."""
        if not self.tools:
            return dict.fromkeys(routed, ToolResults())
        planner, frames = ToolPlanner(self.tools, self.max_tool_calls), client.frames(self.role())
        plans = []
        for name, segments in routed.items():
            dimension = client.domain.dimensions[name]
            query = Query(
                stage="propose",
                subject=f"{name}, tool plan",
                role=self.role(),
                prompt="propose_plan",
                variables=ProposePlanVariables(dimension=dimension, segments=tuple(segments), **planner.variables()),
                images=client.show(self.role(), frames),
                contract=Answer,
                dimension=name,
            )
            spans = {segment.id: (segment.span,) for segment in segments}
            plans.append((planner.plan(query, list(spans), frames, context.clip), spans))
        return dict(zip(routed, await planner.run(plans, context, client), strict=True))

    def _query(
        self, name: str, segments: Sequence[Segment], results: ToolResults, context: Context, client: ModelClient
    ) -> Query:
        dimension, frames = client.domain.dimensions[name], client.frames(self.role())
        images = client.show(self.role(), frames)
        extra_images = results.images(images, client.model(self.role()).config.max_pictures - len(images))
        shown = tuple(sorted({*frames, *(frame for image in extra_images for frame in image.picture.frames)}))
        fault = fault_contract(HypothesisAnswer, context.clip.duration_s, (dimension,), shown)
        return Query(
            stage="propose",
            subject=name,
            role=self.role(),
            prompt="propose",
            variables=ProposeVariables(
                dimension=dimension,
                segments=tuple(segments),
                severity=client.domain.taxonomy.severity,
                cascade=client.domain.taxonomy.cascade,
                min_confidence=self.min_confidence,
                tool_results=results.results,
            ),
            images=images,
            extra_images=extra_images,
            contract=list_answer("hypotheses", fault, self.max_hypotheses),
            dimension=name,
        )

    def _hypothesis(self, name: str, fault: HypothesisAnswer, context: Context) -> Hypothesis:
        weak = fault.confidence < self.min_confidence
        reason = f"proposed with confidence {fault.confidence:.2f}, under {self.min_confidence:.2f}" if weak else ""
        return Hypothesis(
            id=name,
            dimension=fault.dimension,
            type=fault.type,
            spans=(context.clip.clamp(Span(*fault.span_s)),),
            severity=fault.severity_proposal,
            confidence=fault.confidence,
            description=fault.description,
            evidence=(Evidence(text=fault.evidence, frames=tuple(sorted(set(fault.frames))), source="propose"),),
            verdict="rejected" if weak else "unverified",
            reason=reason,
            proposed_by=f"specialist {fault.dimension}",
        )


def _covered(query: Query, answer: Any, context: Context) -> Coverage:
    """The coverage of a specialist's dimension, from its answer or NoAnswer."""
    if isinstance(answer, NoAnswer):
        return Coverage(state="not_examined", reason=f"the specialist gave no answer: {answer.failure.message}")
    frames = {frame for image in (*query.images, *query.extra_images) for frame in image.picture.frames}
    return Coverage(
        state="examined", reason=f"a specialist was shown {len(frames)} of {context.clip.frame_count} frames"
    )


def _ruled_out(context: Context) -> Coverage:
    """The router chose other dimensions for every segment; with its reasons."""
    reasons = dict.fromkeys(route.rationale for route in context.routes or ())
    return Coverage(state="ruled_out", reason=f"the router chose other dimensions: {'; '.join(reasons)}")


def _routed(dimension: str, segments: Sequence[Segment], context: Context) -> tuple[Segment, ...]:
    if context.routes is None:
        return tuple(segments)
    wanted = {route.segment for route in context.routes if dimension in route.dimensions}
    return tuple(segment for segment in segments if segment.id in wanted)
