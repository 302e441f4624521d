"""route: which dimensions each segment should be examined for (RoboGaze, eq. 4), in one call for all segments.

Without a segmentation the clip is one segment.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict

from robogaze.core.context import Route, Segment
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.stages.answers import keyed, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot


class RouteVariables(TypedDict):
    """The segments to route and the dimensions to choose from."""

    segments: tuple[Segment, ...]
    dimensions: tuple[Dimension, ...]


class RouteAnswer(Answer):
    """A segment's dimensions."""

    candidate_dimensions: list[str]
    rationale: Text


class RouteStage(Stage):
    """Writes the routes."""

    prompts: ClassVar[Mapping[str, type]] = {"route": RouteVariables}

    def writes(self) -> frozenset[Slot]:
        """The routes, and the clip as one segment when there are none."""
        return frozenset({"routes"})

    def role(self) -> str:
        """The model that looks."""
        return "vlm"

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask once about the whole clip."""
        segments = context.segments or (whole_clip(context),)
        dimensions = tuple(desk.domain.dimensions[name] for name in context.dimensions)
        listed = list_of(one_of(context.dimensions), len(context.dimensions))
        item = narrowed(RouteAnswer, candidate_dimensions=listed)
        question = Query(
            stage="route",
            subject="clip",
            role=self.role(),
            prompt="route",
            variables=RouteVariables(segments=segments, dimensions=dimensions),
            shots=desk.show(self.role(), desk.frames(self.role())),
            contract=keyed("routes", item, [segment.id for segment in segments]),
        )
        answer = await desk.ask(question, context)
        routes = tuple(_route(segment, said, context) for segment, said in answer.routes)
        return replace(context, segments=segments, routes=routes)


def whole_clip(context: Context) -> Segment:
    """The clip as one segment of no subtask."""
    return Segment(id="S1", subtask=None, span=context.clip.span)


def _route(segment: str, said: RouteAnswer, context: Context) -> Route:
    dimensions = tuple(name for name in context.dimensions if name in said.candidate_dimensions)
    return Route(segment=segment, dimensions=dimensions, rationale=said.rationale)
