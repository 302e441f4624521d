"""propose: each dimension that a segment was routed to has a specialist that looks for its faults (RoboGaze, eq. 5).

All specialists share one prompt; their checklists come from the taxonomy. A specialist is shown its segments densely,
on contact sheets (`show: segments`), with the first and the last frame of the clip. For some dimensions, it is also
shown strips of the task's objects over time. Long segments are divided into parts, each with its own query
(`robogaze.stages.robogaze.parts`); all queries are sent in parallel. With `show: clip`, a specialist is queried once
and shown the whole clip in the model's regime, as in the first paper. The images and the text that all specialists
share come first in a request, so that a server can cache them.

With `refer`, a specialist may also propose plain faults of the dimensions that the router ruled out for its segments.
The router knows only what the observer saw, and the observer is shown fewer frames a second than a specialist.

With `tools`, each specialist may first request closer views of its segments (`robogaze.stages.tools.tool_plan`).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, TypedDict

from pydantic import Field

from robogaze.core.context import ObjectTrack, Segment
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import evenly
from robogaze.core.time import Span
from robogaze.domains import Dimension, Domain
from robogaze.domains.contract import Answer
from robogaze.domains.model import SeverityLevel
from robogaze.media.object_strip import object_strips
from robogaze.stages.answers import (
    SeverityAnswer,
    ShareAnswer,
    SingleFaultAnswer,
    fault_contract,
    list_answer,
)
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context
from robogaze.stages.fault_place import PlaceAnswer, place_error, place_evidence, placed_contract
from robogaze.stages.robogaze.examined import coverage_of
from robogaze.stages.robogaze.parts import Density, Part
from robogaze.stages.robogaze.route import whole_clip
from robogaze.stages.tools import TOOLS, ToolName
from robogaze.stages.tools.base import templates
from robogaze.stages.tools.tool_plan import ToolPlanner, ToolPlanVariables, ToolResult, ToolResults

_MAX_HYPOTHESES = 6
"""The most hypotheses in the answer to one query."""

_MAX_STRIPS, _STRIP_FRAMES = 4, 12
"""How many objects a specialist is shown strips of at most, and how many frames a strip has."""


class ProposeVariables(TypedDict):
    """The variables of the prompt `propose`: a dimension, its segments, what is shown, and the rules of the answer.

    `referred` are the other dimensions of which plain faults may be proposed. `shown` are the spans that are shown
    densely; it is empty if the whole clip is shown. `strips` are the names of the objects that are shown over time.
    `boxes` says whether the answer gives the place of a fault.
    """

    dimension: Dimension
    referred: tuple[Dimension, ...]
    segments: tuple[Segment, ...]
    shown: tuple[Span, ...]
    strips: tuple[str, ...]
    boxes: bool
    views: tuple[str, ...]
    severity: tuple[SeverityLevel, ...]
    cascade: str
    not_annotated: tuple[str, ...]
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


class PlacedHypothesisAnswer(PlaceAnswer, HypothesisAnswer):
    """A fault as a specialist proposes it, with its place in one of the frames."""


class Propose(Examiner):
    """Writes the hypotheses; hypotheses below `min_confidence` are kept as rejected."""

    prompts: ClassVar[Mapping[str, type]] = {"propose": ProposeVariables}

    show: Literal["segments", "clip"] = "segments"
    """What a specialist is shown: its segments densely, or the whole clip in the model's regime."""
    rate_fps: float = Field(default=2.0, gt=0)
    """How many frames per second of its segments a specialist is shown at least."""
    boxes: bool = True
    """Whether a specialist gives the place of a fault in one of the frames."""
    refer: bool = False
    """Whether a specialist may propose plain faults of dimensions that were ruled out for its segments."""
    min_confidence: float = Field(default=0.30, ge=0, le=1)
    tools: tuple[ToolName, ...] = ()
    max_tool_calls: int = Field(default=2, ge=1)
    """The most tool calls of one specialist."""

    def templates(self) -> Mapping[str, type]:
        if not self.tools:
            return self.prompts
        tools = [TOOLS.load(name)() for name in self.tools]
        return {**self.prompts, "propose_plan": ProposePlanVariables, **templates(tools)}

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Query the specialists in parallel. A dimension that no segment was routed to is ruled out."""
        context = replace(context, segments=context.segments or (whole_clip(context),))
        routed = {name: _routed(name, context) for name in context.dimensions}
        queried = {name: segments for name, segments in routed.items() if segments}
        results = await self._call_tools(queried, context, client)
        parts = [part for name, segments in queried.items() for part in self._parts(name, segments, context, client)]
        frames: list[frozenset[int]] = []
        answers = await client.ask_all(self._queries(parts, results, context, client, frames), context)
        failures = [failure for name in queried for failure in results[name].failures]
        failures += (answer.failure for answer in answers if isinstance(answer, NoAnswer))
        faults = [
            (part.dimension.id, fault)
            for part, answer in zip(parts, answers, strict=True)
            if not isinstance(answer, NoAnswer)
            for fault in answer.hypotheses
        ]
        found = (
            self._hypothesis(f"H{number}", specialist, fault, context)
            for number, (specialist, fault) in enumerate(faults, start=len(context.hypotheses or ()) + 1)
        )
        shown = [
            (part, answer.failure.message if isinstance(answer, NoAnswer) else seen)
            for part, answer, seen in zip(parts, answers, frames, strict=True)
        ]
        coverage = {
            name: coverage_of(name, segments, [found for found in shown if found[0].dimension.id == name], context)
            for name, segments in routed.items()
        }
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

    def _parts(self, name: str, segments: Sequence[Segment], context: Context, client: ModelClient) -> tuple[Part, ...]:
        """What the queries of a dimension's specialist cover."""
        dimension, role = client.domain.dimensions[name], self.role()
        if self.show == "clip":
            return (Part(dimension, tuple(segments), (context.clip.span,), client.frames(role)),)
        strips = len(self._objects(dimension, context))
        room = max(client.model(role).config.max_pictures - 2 - strips, 1)
        density = Density(role, self.rate_fps, room * client.frames_per_sheet)
        return density.parts(dimension, segments, context, client)

    def _objects(self, dimension: Dimension, context: Context) -> Mapping[str, Sequence[ObjectTrack]]:
        """The objects that the specialist is shown over time: the tracks of each, in the order of the boxes."""
        if self.show != "segments" or not dimension.object_strips:
            return {}
        tracks = context.tracks or ()
        names = list(dict.fromkeys(track.name for track in tracks))[:_MAX_STRIPS]
        return {name: [track for track in tracks if track.name == name] for name in names}

    def _queries(
        self,
        parts: Sequence[Part],
        results: Mapping[str, ToolResults],
        context: Context,
        client: ModelClient,
        frames: list[frozenset[int]],
    ) -> Iterator[Query]:
        """The queries about some parts, made as they are sent; the frames that each query shows are added to `frames`.

        Specialists that are shown the same frames share the strips, whose originals are read from the video again.
        """
        strips: dict[tuple[int, ...], tuple[FrameImage, ...]] = {}
        for part in parts:
            query = self._query(part, results[part.dimension.id], strips, context, client)
            shown = (frame for image in (*query.images, *query.extra_images) for frame in image.picture.frames)
            frames.append(frozenset(shown))
            yield query

    def _query(
        self,
        part: Part,
        results: ToolResults,
        strips: dict[tuple[int, ...], tuple[FrameImage, ...]],
        context: Context,
        client: ModelClient,
    ) -> Query:
        dimension, decoded = part.dimension, client.decoded_clip
        referred = _ruled_out(part, context, client.domain) if self.refer else ()
        objects = self._objects(dimension, context)
        extra_images: tuple[FrameImage, ...] = ()
        if self.show == "clip":
            images = client.show(self.role(), part.frames)
        else:
            ends = dict.fromkeys((0, context.clip.frame_count - 1))
            images = tuple(decoded.frame_image(number) for number in ends)
            numbers = tuple(evenly(part.frames, _STRIP_FRAMES))
            if objects and numbers not in strips:
                strips[numbers] = object_strips(decoded, list(objects.values()), numbers)
            extra_images = (*client.sheets(part.frames), *(strips[numbers] if objects else ()))
        room = client.model(self.role()).config.max_pictures - len(images) - len(extra_images)
        extra_images = (*extra_images, *results.images((*images, *extra_images), room))
        shown = sorted({frame for image in (*images, *extra_images) for frame in image.picture.frames})
        return Query(
            stage="propose",
            subject=part.subject,
            role=self.role(),
            prompt="propose",
            variables=ProposeVariables(
                dimension=dimension,
                referred=referred,
                segments=part.segments,
                shown=() if self.show == "clip" else part.spans,
                strips=tuple(objects),
                boxes=self.boxes,
                views=context.clip.layout.active,
                severity=client.domain.taxonomy.severity,
                cascade=client.domain.taxonomy.cascade,
                not_annotated=client.domain.taxonomy.not_annotated,
                min_confidence=self.min_confidence,
                tool_results=results.results,
            ),
            images=images,
            extra_images=extra_images,
            contract=list_answer("hypotheses", self._contract((dimension, *referred), shown, context), _MAX_HYPOTHESES),
            dimension=dimension.id,
            check=lambda answer: (
                _type_fault(answer.hypotheses, client.domain)
                or place_error("hypotheses", answer.hypotheses, context.clip.layout.active)
            ),
        )

    def _contract(self, dimensions: tuple[Dimension, ...], shown: Sequence[int], context: Context) -> type[Answer]:
        clip, frames = context.clip, tuple(shown)
        if not self.boxes:
            return fault_contract(HypothesisAnswer, clip.duration_s, dimensions, frames)
        contract = fault_contract(PlacedHypothesisAnswer, clip.duration_s, dimensions, frames)
        return placed_contract(contract, frames, clip.layout.active)

    def _hypothesis(self, name: str, specialist: str, fault: HypothesisAnswer, context: Context) -> Hypothesis:
        too_low = fault.confidence < self.min_confidence
        reason = (
            f"proposed with confidence {fault.confidence:.2f}, below the minimum of {self.min_confidence:.2f}"
            if too_low
            else ""
        )
        return Hypothesis(
            id=name,
            dimension=fault.dimension,
            type=fault.type,
            spans=(context.clip.clamp(Span(*fault.span_s)),),
            severity=fault.severity_proposal,
            confidence=fault.confidence,
            description=fault.description,
            evidence=(
                Evidence(text=fault.evidence, frames=tuple(sorted(set(fault.frames))), source="propose"),
                *place_evidence(fault, context.clip.layout.active, "propose"),
            ),
            verdict="rejected" if too_low else "unverified",
            reason=reason,
            proposed_by=f"specialist {specialist}",
        )


def _type_fault(faults: Sequence[HypothesisAnswer], domain: Domain) -> str | None:
    """An error for the first fault whose type belongs to another dimension; None without an error."""
    for number, fault in enumerate(faults):
        if domain.dimension_of[fault.type] != fault.dimension:
            return f"hypotheses.{number}: {fault.type} is not a type of {fault.dimension}"
    return None


def _ruled_out(part: Part, context: Context, domain: Domain) -> tuple[Dimension, ...]:
    """The dimensions that a segment of the part was not routed to."""
    names = {segment.id for segment in part.segments}
    routes = [route for route in context.routes or () if route.segment in names]
    return tuple(
        domain.dimensions[name]
        for name in context.dimensions
        if name != part.dimension.id and any(name not in route.dimensions for route in routes)
    )


def _routed(dimension: str, context: Context) -> tuple[Segment, ...]:
    """The segments in which a dimension is examined."""
    segments = context.segments or ()
    if context.routes is None:
        return segments
    wanted = {route.segment for route in context.routes if dimension in route.dimensions}
    return tuple(segment for segment in segments if segment.id in wanted)
