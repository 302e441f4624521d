"""route: which dimensions to examine each segment for (RoboGaze, eq. 4), in one request for all segments.

Without a segmentation the clip is one segment.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict

from robogaze.core.context import Route, Segment
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.stages.answers import keyed_answer, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot


class RouteVariables(TypedDict):
    """The variables of the prompt `route`: the segments to route, and the dimensions to choose from."""

    segments: tuple[Segment, ...]
    dimensions: tuple[Dimension, ...]


class RouteAnswer(Answer):
    """The dimensions of a segment."""

    candidate_dimensions: list[str]
    rationale: Text


class RouteStage(Stage):
    """Writes the routes; without a segmentation also the clip as one segment."""

    prompts: ClassVar[Mapping[str, type]] = {"route": RouteVariables}

    def writes(self) -> frozenset[Slot]:
        return frozenset({"routes"})

    def role(self) -> str:
        return "vlm"

    async def run(self, context: Context, client: ModelClient) -> Context:
        segments = context.segments or (whole_clip(context),)
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions)
        listed = list_of(one_of(context.dimensions), len(context.dimensions))
        item = narrowed(RouteAnswer, candidate_dimensions=listed)
        query = Query(
            stage="route",
            subject="clip",
            role=self.role(),
            prompt="route",
            variables=RouteVariables(segments=segments, dimensions=dimensions),
            images=client.show(self.role(), client.frames(self.role())),
            contract=keyed_answer("routes", item, [segment.id for segment in segments]),
        )
        answer = await client.ask(query, context)
        routes = tuple(_route(segment, route, context) for segment, route in answer.routes)
        return replace(context, segments=segments, routes=routes)


def whole_clip(context: Context) -> Segment:
    """The clip as one segment without a subtask."""
    return Segment(id="S1", subtask=None, span=context.clip.span)


def _route(segment: str, answer: RouteAnswer, context: Context) -> Route:
    dimensions = tuple(name for name in context.dimensions if name in answer.candidate_dimensions)
    return Route(segment=segment, dimensions=dimensions, rationale=answer.rationale)
