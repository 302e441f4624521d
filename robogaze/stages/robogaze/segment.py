"""segment: which part of the clip belongs to which subtask (RoboGaze, eq. 3). With `route`, the same request also gives
the dimensions for which each part is examined (eq. 4), without an extra round.

The segments cover the clip without gaps or overlaps. A subtask that is repeated has a segment for each repetition. If
the answer has no segment for some part of the clip, this part becomes a segment without a subtask. A long clip is
divided into stretches of equal length. Each stretch has its own request, and the requests are sent in parallel.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Self, TypedDict

from pydantic import Field, model_validator

from robogaze.core.context import Segment
from robogaze.core.sampling import equal_parts, evenly
from robogaze.core.time import Span, frames_in
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Phrase
from robogaze.stages.answers import list_answer, narrowed, one_of
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.robogaze.route import Ratings, Router, always_examined, rated_dimensions, ratings_contract

_TOLERANCE_S = 0.25
"""Gaps and overlaps of segments up to this length are closed."""

_MOST_SEGMENTS = 24

_REQUEST_S = 60.0
"""The longest stretch that one request divides, in seconds."""

_MOST_FRAMES = 36
"""How many frames a request shows at most on contact sheets."""


class SegmentVariables(TypedDict):
    """The variables of the prompt `segment`.

    `stretch` is the part of the clip to divide. `subtasks` is None without a task memory. `dimensions` are the
    dimensions to rate, and `always` are the names of the dimensions that are always examined; both are empty without
    routing.
    """

    stretch: Span
    subtasks: tuple[str, ...] | None
    dimensions: tuple[Dimension, ...]
    always: tuple[str, ...]


class SegmentAnswer(Answer):
    """When a subtask takes place, and how it departs from the plan. `subtask` is null if no subtask takes place."""

    subtask: Phrase | None
    span_s: list[float]
    departure: Phrase | None

    @model_validator(mode="after")
    def _span_is_in_order(self) -> Self:
        if len(self.span_s) == 2:
            Span(*self.span_s)
        return self


class RoutedSegmentAnswer(SegmentAnswer):
    """A segment with the relevance of each dimension to it."""

    dimensions: Answer


class SegmentStage(Router):
    """Writes the segments, and with `route` their routes. Raises NoAnswer if any stretch has no answer."""

    prompts: ClassVar[Mapping[str, type]] = {"segment": SegmentVariables}

    route: bool = False
    sheets: bool = True
    """Whether frames are shown on contact sheets."""

    def reads(self) -> frozenset[Slot]:
        return frozenset({"observations"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"segments", "routes"} if self.route else {"segments"})

    def role(self) -> str:
        return "vlm" if self.route else "llm"

    async def run(self, context: Context, client: ModelClient) -> Context:
        stretches = equal_parts(context.clip.duration_s, _REQUEST_S)
        queries = (self._query(number, stretches, context, client) for number in range(len(stretches)))
        answers = await client.ask_all(queries, context)
        if missed := [answer for answer in answers if isinstance(answer, NoAnswer)]:
            raise missed[0]
        covered = [
            part for stretch, answer in zip(stretches, answers, strict=True) for part in cover(stretch, answer.segments)
        ]
        segments = tuple(_segment(number, span, claim) for number, (span, claim) in enumerate(covered, start=1))
        context = replace(context, segments=segments)
        if not self.route:
            return context
        rated = zip(segments, _ratings([claim for _, claim in covered]), strict=True)
        return replace(context, routes=self.routes(list(rated), context, client.domain))

    def _query(self, number: int, stretches: Sequence[Span], context: Context, client: ModelClient) -> Query:
        stretch, domain = stretches[number], client.domain
        subtasks = None if context.task is None else tuple(subtask["name"] for subtask in context.task["subtasks"])
        return Query(
            stage="segment",
            subject="clip" if len(stretches) == 1 else f"part {number + 1} of {len(stretches)}",
            role=self.role(),
            prompt="segment",
            variables=SegmentVariables(
                stretch=stretch,
                subtasks=subtasks,
                dimensions=rated_dimensions(context, domain) if self.route else (),
                always=tuple(domain.dimensions[name].name for name in always_examined(context, domain))
                if self.route
                else (),
            ),
            images=self._images(stretch, client) if self.route else (),
            contract=self._contract(stretch, subtasks, context, client),
            check=lambda answer: _fault(answer.segments),
        )

    def _images(self, stretch: Span, client: ModelClient) -> Any:
        if self.sheets:
            return client.sheets(evenly(client.frames_within("vlm", [stretch], 1.0), _MOST_FRAMES))
        inside = frames_in([stretch], client.clip.frame_times_s)
        return client.show("vlm", [frame for frame in client.frames("vlm") if frame in inside])

    def _contract(
        self, stretch: Span, subtasks: Sequence[str] | None, context: Context, client: ModelClient
    ) -> type[Answer]:
        end_s = max(stretch.end, round(stretch.end, 2))  # the prompt gives two decimals
        time = Annotated[float, Field(ge=stretch.start, le=end_s)]
        fields: dict[str, Any] = {"span_s": Annotated[list[time], Field(min_length=2, max_length=2)]}
        if subtasks:
            fields["subtask"] = one_of(dict.fromkeys(subtasks)) | None
        if self.route:
            fields["dimensions"] = ratings_contract(context, client.domain)
        base = RoutedSegmentAnswer if self.route else SegmentAnswer
        return list_answer("segments", narrowed(base, **fields), _MOST_SEGMENTS, least=1)


def _segment(number: int, span: Span, claim: SegmentAnswer | None) -> Segment:
    if claim is None:
        return Segment(id=f"S{number}", subtask=None, span=span)
    return Segment(id=f"S{number}", subtask=claim.subtask, span=span, departure=claim.departure)


def _fault(segments: Sequence[SegmentAnswer]) -> str | None:
    """The first error in the times of segments; None without an error."""
    before: SegmentAnswer | None = None
    for segment in sorted(segments, key=lambda segment: segment.span_s):
        if before is not None and segment.span_s[0] < before.span_s[1] - _TOLERANCE_S:
            return f"segments: {segment.span_s} begins before {before.span_s} ends; segments do not overlap"
        before = segment
    return None


def cover(stretch: Span, claims: Sequence[SegmentAnswer]) -> tuple[tuple[Span, SegmentAnswer | None], ...]:
    """The stretch, divided into adjoining spans. Each span is paired with the claim that covers it, or with None.

    A gap of up to _TOLERANCE_S belongs to the claim after it or, at the end of the stretch, to the claim before it. An
    overlap of up to _TOLERANCE_S belongs to the earlier claim.
    """
    parts: list[tuple[Span, SegmentAnswer | None]] = []
    at = stretch.start
    for claim in sorted(claims, key=lambda claim: claim.span_s):
        start, end = claim.span_s
        if start - at > _TOLERANCE_S:
            parts.append((Span(at, start), None))
            at = start
        if min(end, stretch.end) > at:
            parts.append((Span(at, min(end, stretch.end)), claim))
            at = min(end, stretch.end)
    if stretch.end - at > _TOLERANCE_S or not parts:
        parts.append((Span(at, stretch.end), None))
    elif at < stretch.end:
        parts[-1] = (Span(parts[-1][0].start, stretch.end), parts[-1][1])
    return tuple(parts)


def _ratings(claims: Sequence[SegmentAnswer | None]) -> list[Ratings]:
    """The ratings of each segment; a segment without ratings gets the ratings of the nearest segment before it or, if
    there is none, after it.
    """
    found: list[Ratings | None] = [
        dict(claim.dimensions) if isinstance(claim, RoutedSegmentAnswer) else None for claim in claims
    ]
    rated: list[Ratings] = []
    for number, ratings in enumerate(found):
        nearest = [*found[number::-1], *found[number:]]
        rated.append(next(ratings for ratings in nearest if ratings is not None))
    return rated
