"""propose: specialists look for faults, one for each dimension that a segment was routed to (RoboGaze, eq. 5).

All specialists share one prompt; their checklists come from the taxonomy. A specialist is asked once for all its
segments and is shown the whole clip: faults do not keep to subtask borders, nothing of the clip stays dark, and the
pictures are the same for all specialists, so that a server can reuse them.

With `tools` each specialist may first ask for closer looks at its segments (`robogaze.stages.tools.tool_plan`), at most
`at_most_looks` of them.
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
from robogaze.stages.answers import ClaimAnswer, SeverityAnswer, ShareAnswer, claim, wrapped
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context
from robogaze.stages.robogaze.route import whole_clip
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import templates
from robogaze.stages.tools.tool_plan import Closer, CloserLook, Looks, ToolsVariables


class ProposeVariables(TypedDict):
    """A specialist's dimension, the segments routed to it, and the rules of the answer."""

    dimension: Dimension
    segments: tuple[Segment, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    least_confidence: float
    looks: tuple[CloserLook, ...]


class ProposeLooksVariables(ToolsVariables):
    """A specialist's dimension, the segments routed to it, and the tools to look closer with."""

    dimension: Dimension
    segments: tuple[Segment, ...]


class HypothesisAnswer(ClaimAnswer):
    """A fault as a specialist proposes it."""

    severity_proposal: SeverityAnswer
    confidence: ShareAnswer


class Propose(Examiner):
    """Writes the hypotheses; those below `least_confidence` are kept, as rejected."""

    prompts: ClassVar[Mapping[str, type]] = {"propose": ProposeVariables}

    least_confidence: float = Field(default=0.30, ge=0, le=1)
    at_most: int = Field(default=6, ge=1)
    """The most hypotheses of one specialist."""
    tools: tuple[ToolName, ...] = ()
    at_most_looks: int = Field(default=2, ge=1)

    def templates(self) -> Mapping[str, type]:
        """Its prompt, with tools that for closer looks and theirs."""
        if not self.tools:
            return self.prompts
        return {
            **self.prompts,
            "propose_looks": ProposeLooksVariables,
            **templates([TOOLS.load(name)() for name in self.tools]),
        }

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask the specialists side by side. A dimension that no segment was routed to is ruled out."""
        segments = context.segments or (whole_clip(context),)
        routed = {name: _routed(name, segments, context) for name in context.dimensions}
        asked = [name for name in context.dimensions if routed[name]]
        looks = await self._look_closer({name: routed[name] for name in asked}, context, desk)
        questions = [self._question(name, routed[name], looks[name], context, desk) for name in asked]
        answers = await desk.ask_each(questions, context)
        failures = tuple(answer.failure for answer in answers if isinstance(answer, NoAnswer))
        claims = [one for answer in answers if not isinstance(answer, NoAnswer) for one in answer.hypotheses]
        first = len(context.hypotheses or ()) + 1
        found = (self._hypothesis(f"H{number}", one, context) for number, one in enumerate(claims, start=first))
        coverage = {name: _ruled_out(context) for name in context.dimensions if name not in asked}
        for name, question, answer in zip(asked, questions, answers, strict=True):
            coverage[name] = _covered(question, answer, context)
        return replace(
            context.covering(coverage),
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *(one for name in asked for one in looks[name].failures), *failures),
        )

    async def _look_closer(
        self, routed: Mapping[str, Sequence[Segment]], context: Context, desk: ModelClient
    ) -> Mapping[str, Looks]:
        """The closer looks that each specialist asks for; none without tools."""
        if not self.tools:
            return dict.fromkeys(routed, Looks())
        closer, frames = Closer(self.tools, self.at_most_looks), desk.frames(self.role())
        plans = []
        for name, segments in routed.items():
            dimension = desk.domain.dimensions[name]
            question = Query(
                stage="propose",
                subject=f"{name}, closer looks",
                role=self.role(),
                prompt="propose_looks",
                variables=ProposeLooksVariables(dimension=dimension, segments=tuple(segments), **closer.variables()),
                shots=desk.show(self.role(), frames),
                contract=Answer,
                dimension=name,
            )
            about = {segment.id: (segment.span,) for segment in segments}
            plans.append((closer.plan(question, list(about), frames, context.clip), about))
        return dict(zip(routed, await closer.take(plans, context, desk), strict=True))

    def _question(
        self, name: str, segments: Sequence[Segment], looks: Looks, context: Context, desk: ModelClient
    ) -> Query:
        dimension, frames = desk.domain.dimensions[name], desk.frames(self.role())
        shots = desk.show(self.role(), frames)
        looked = looks.shots(shots, desk.model(self.role()).config.max_pictures - len(shots))
        seen = tuple(sorted({*frames, *(frame for shot in looked for frame in shot.picture.frames)}))
        return Query(
            stage="propose",
            subject=name,
            role=self.role(),
            prompt="propose",
            variables=ProposeVariables(
                dimension=dimension,
                segments=tuple(segments),
                severity=desk.domain.taxonomy.severity,
                cascade=desk.domain.taxonomy.cascade,
                least_confidence=self.least_confidence,
                looks=looks.taken,
            ),
            shots=shots,
            more_shots=looked,
            contract=wrapped(
                "hypotheses", claim(HypothesisAnswer, context.clip.duration_s, (dimension,), seen), self.at_most
            ),
            dimension=name,
        )

    def _hypothesis(self, name: str, said: HypothesisAnswer, context: Context) -> Hypothesis:
        weak = said.confidence < self.least_confidence
        reason = f"proposed with confidence {said.confidence:.2f}, under {self.least_confidence:.2f}" if weak else ""
        return Hypothesis(
            id=name,
            dimension=said.dimension,
            type=said.type,
            spans=(context.clip.clamp(Span(*said.span_s)),),
            severity=said.severity_proposal,
            confidence=said.confidence,
            description=said.description,
            evidence=(Evidence(text=said.evidence, frames=tuple(sorted(set(said.frames))), source="propose"),),
            verdict="rejected" if weak else "unverified",
            reason=reason,
            proposed_by=f"specialist {said.dimension}",
        )


def _covered(question: Query, answer: Any, context: Context) -> Coverage:
    """What a specialist's answer, or the lack of an answer, says of its dimension."""
    if isinstance(answer, NoAnswer):
        return Coverage(state="not_examined", reason=f"the specialist gave no answer: {answer.failure.message}")
    frames = {frame for shot in (*question.shots, *question.more_shots) for frame in shot.picture.frames}
    return Coverage(
        state="examined", reason=f"a specialist was shown {len(frames)} of {context.clip.frame_count} frames"
    )


def _ruled_out(context: Context) -> Coverage:
    """The router chose other dimensions for every segment; its words for each."""
    words = dict.fromkeys(route.rationale for route in context.routes or ())
    return Coverage(state="ruled_out", reason=f"the router chose other dimensions: {'; '.join(words)}")


def _routed(dimension: str, segments: Sequence[Segment], context: Context) -> tuple[Segment, ...]:
    if context.routes is None:
        return tuple(segments)
    wanted = {route.segment for route in context.routes if dimension in route.dimensions}
    return tuple(segment for segment in segments if segment.id in wanted)
