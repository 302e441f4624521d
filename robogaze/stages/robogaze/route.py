"""route: selects the dimensions for which each segment is examined (RoboGaze, eq. 4). One request covers all segments.

The model rates every dimension for every segment and gives a reason. Code keeps the dimensions that are always
examined, and the most relevant of the other dimensions. Without a segmentation the clip is one segment.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, TypedDict

from pydantic import Field, create_model

from robogaze.core.context import Route, Segment
from robogaze.domains import Dimension, Domain
from robogaze.domains.contract import Answer, Phrase
from robogaze.stages.answers import keyed_answer
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot

CALLED_FOR = 5
"""The relevance from which a dimension is examined if no number of dimensions is to be kept."""

BUDGET_S = 17.5
"""The length of clip that `keep_in_all` is for, in seconds: the longest kind of clip of the first benchmark."""


class RouteVariables(TypedDict):
    """The variables of the prompt `route`: the segments to route, and the dimensions to rate."""

    segments: tuple[Segment, ...]
    dimensions: tuple[Dimension, ...]


class RelevanceAnswer(Answer):
    """How relevant a dimension is to a segment."""

    reason: Phrase
    relevance: Annotated[int, Field(ge=0, le=10)]


Ratings = Mapping[str, RelevanceAnswer]
"""The ratings of a segment, by dimension."""


class Router(Stage):
    """The base class of the stages that write routes."""

    keep: int | None = Field(default=None, ge=1)
    """How many dimensions to keep for a segment, those that are always examined included.

    None keeps those with a relevance of at least CALLED_FOR.
    """
    keep_in_all: int | None = Field(default=None, ge=1)
    """How many dimensions to keep for all segments together, those that are always examined included.

    The upper limit is this number times the length of the clip in units of BUDGET_S, rounded up. The lower limit is
    this number: if the segments keep fewer, the next most relevant dimensions are examined in the whole clip. Only a
    specialist can find a fault that is too short or too slow for the observer to notice.
    """

    def routes(self, rated: Sequence[tuple[Segment, Ratings]], context: Context, domain: Domain) -> tuple[Route, ...]:
        """The route of each segment."""
        always = always_examined(context, domain)
        kept = {segment.id: (*always, *self._kept(ratings, len(always))) for segment, ratings in rated}
        weights = {name: 0.0 for names in kept.values() for name in names if name not in always}
        for segment, ratings in rated:
            for name in set(kept[segment.id]) - set(always):
                weights[name] += segment.span.length * ratings[name].relevance
        allowed = None if self.keep_in_all is None else self.keep_in_all * math.ceil(context.clip.duration_s / BUDGET_S)
        ranked = sorted(weights, key=lambda name: -weights[name])
        dropped = set() if allowed is None else set(ranked[max(allowed - len(always), 0) :])
        added = self._added(rated, (*always, *ranked))
        routes = []
        for segment, ratings in rated:
            reasons = dict.fromkeys(always, "this dimension is always examined")
            for name, rating in ratings.items():
                over = name in dropped and name in kept[segment.id]
                reasons[name] = (
                    f"not among the {allowed} most relevant dimensions of the clip; {rating.reason}"
                    if over
                    else rating.reason
                )
            examined = {*kept[segment.id], *added} - dropped
            names = tuple(name for name in context.dimensions if name in examined)
            routes.append(Route(segment=segment.id, dimensions=names, reasons=reasons))
        return tuple(routes)

    def _added(self, rated: Sequence[tuple[Segment, Ratings]], kept: Sequence[str]) -> tuple[str, ...]:
        """The dimensions that are examined in the whole clip because its segments keep too few dimensions."""
        missing = max((self.keep_in_all or 0) - len(kept), 0)
        weights = {
            name: sum(segment.span.length * ratings[name].relevance for segment, ratings in rated)
            for name in rated[0][1]
            if name not in kept
        }
        return tuple(sorted(weights, key=lambda name: -weights[name])[:missing])

    def _kept(self, ratings: Ratings, always: int) -> tuple[str, ...]:
        if self.keep is None:
            return tuple(name for name, rating in ratings.items() if rating.relevance >= CALLED_FOR)
        return tuple(sorted(ratings, key=lambda name: -ratings[name].relevance)[: max(self.keep - always, 0)])


class RouteStage(Router):
    """Writes the routes; without a segmentation, it also writes the clip as one segment.

    With `examine: all`, no model is asked, and every segment is examined for every dimension.
    """

    prompts: ClassVar[Mapping[str, type]] = {"route": RouteVariables}

    examine: Literal["relevant", "all"] = "relevant"

    def writes(self) -> frozenset[Slot]:
        return frozenset({"routes"})

    def role(self) -> str | None:
        return "vlm" if self.examine == "relevant" else None

    def templates(self) -> Mapping[str, type]:
        return self.prompts if self.examine == "relevant" else {}

    async def run(self, context: Context, client: ModelClient) -> Context:
        segments = context.segments or (whole_clip(context),)
        if self.examine == "all":
            reasons = dict.fromkeys(context.dimensions, "every segment is examined for every dimension")
            routes = tuple(
                Route(segment=segment.id, dimensions=context.dimensions, reasons=reasons) for segment in segments
            )
            return replace(context, segments=segments, routes=routes)
        frames, domain = client.frames("vlm"), client.domain
        query = Query(
            stage="route",
            subject="clip",
            role="vlm",
            prompt="route",
            variables=RouteVariables(segments=segments, dimensions=rated_dimensions(context, domain)),
            images=client.sheets(frames),
            contract=keyed_answer("routes", ratings_contract(context, domain), [segment.id for segment in segments]),
        )
        answer = await client.ask(query, context)
        rated = [(segment, dict(ratings)) for segment, (_, ratings) in zip(segments, answer.routes, strict=True)]
        return replace(context, segments=segments, routes=self.routes(rated, context, domain))


def whole_clip(context: Context) -> Segment:
    """The clip as one segment without a subtask."""
    return Segment(id="S1", subtask=None, span=context.clip.span)


def always_examined(context: Context, domain: Domain) -> tuple[str, ...]:
    """The dimensions of the clip that are never ruled out."""
    return tuple(name for name in context.dimensions if domain.dimensions[name].always)


def rated_dimensions(context: Context, domain: Domain) -> tuple[Dimension, ...]:
    """The dimensions of the clip whose relevance is rated, because they may be ruled out."""
    always = always_examined(context, domain)
    return tuple(domain.dimensions[name] for name in context.dimensions if name not in always)


def ratings_contract(context: Context, domain: Domain) -> type[Answer]:
    """The contract of the ratings of a segment: a record with every dimension that may be ruled out."""
    names = dict.fromkeys((dimension.id for dimension in rated_dimensions(context, domain)), (RelevanceAnswer, ...))
    made: type[Answer] = create_model("Ratings", __base__=Answer, **names)  # type: ignore[call-overload]
    return made
