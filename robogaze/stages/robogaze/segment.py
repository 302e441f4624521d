"""segment: which part of the clip belongs to which subtask (RoboGaze, eq. 3), and with `route` also which dimensions
to examine each part for (eq. 4), in the same request and so without an extra round.

The segments cover the clip without gaps or overlaps. A window extends to the start of the next window, an interrupted
subtask gives several segments, and windows that belong to no subtask form segments without one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, ClassVar, TypedDict

from robogaze.core.context import Route, Segment, Window
from robogaze.core.time import Span
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Phrase, Text, list_of
from robogaze.stages.answers import list_answer, narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot


class SegmentVariables(TypedDict):
    """The variables of the prompt `segment`; `subtasks` is None without a task memory."""

    windows: tuple[Window, ...]
    subtasks: tuple[str, ...] | None
    dimensions: tuple[Dimension, ...]


class SegmentAnswer(Answer):
    """A subtask (null for none) and its windows."""

    subtask: Phrase | None
    window_ids: list[int]


class RoutedSegmentAnswer(SegmentAnswer):
    """A subtask, its windows, and the dimensions to examine them for."""

    candidate_dimensions: list[str]
    rationale: Text


class SegmentStage(Stage):
    """Writes the segments, and with `route` their routes."""

    prompts: ClassVar[Mapping[str, type]] = {"segment": SegmentVariables}

    route: bool = False

    def reads(self) -> frozenset[Slot]:
        return frozenset({"observations"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"segments", "routes"} if self.route else {"segments"})

    def role(self) -> str:
        return "vlm" if self.route else "llm"

    async def run(self, context: Context, client: ModelClient) -> Context:
        assert context.observations is not None, "the pipeline's order is checked"
        windows = tuple(observation.window for observation in context.observations)
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions) if self.route else ()
        subtasks = None if context.task is None else tuple(subtask["name"] for subtask in context.task["subtasks"])
        query = Query(
            stage="segment",
            subject="clip",
            role=self.role(),
            prompt="segment",
            variables=SegmentVariables(windows=windows, subtasks=subtasks, dimensions=dimensions),
            images=client.show("vlm", client.frames("vlm")) if self.route else (),
            contract=_contract(windows, subtasks, context.dimensions, self.route),
            check=lambda answer: _claimed_twice(answer.segments),
        )
        answer = await client.ask(query, context)
        segments = cover(windows, [(segment.subtask, segment.window_ids) for segment in answer.segments])
        context = replace(context, segments=segments)
        return replace(context, routes=_routes(segments, answer.segments, context)) if self.route else context


def _contract(
    windows: Sequence[Window], subtasks: Sequence[str] | None, dimensions: Sequence[str], route: bool
) -> type[Answer]:
    fields: dict[str, Any] = {"window_ids": list_of(one_of(window.id for window in windows), len(windows))}
    if subtasks:
        fields["subtask"] = one_of(dict.fromkeys(subtasks)) | None
    if route:
        fields["candidate_dimensions"] = list_of(one_of(dimensions), len(dimensions))
    return list_answer("segments", narrowed(RoutedSegmentAnswer if route else SegmentAnswer, **fields), len(windows))


def _claimed_twice(segments: Sequence[SegmentAnswer]) -> str | None:
    claimed = [window for segment in segments for window in segment.window_ids]
    twice = sorted({window for window in claimed if claimed.count(window) > 1})
    return f"segments: a window belongs to one segment only; these are in several: {twice}" if twice else None


def cover(windows: Sequence[Window], claims: Sequence[tuple[str | None, Sequence[int]]]) -> tuple[Segment, ...]:
    """Segments that cover all windows, from subtasks and the ids of their windows.

    A segment is a run of neighbouring windows of one subtask, or of none.
    """
    owner = {window: index for index, (_, claimed) in enumerate(claims) for window in claimed}
    end = windows[-1].span.end
    ends = {window.id: later.span.start for window, later in pairwise(windows)}
    segments: list[Segment] = []
    for index, run in groupby(windows, key=lambda window: owner.get(window.id)):
        members = tuple(run)
        span = Span(members[0].span.start, ends.get(members[-1].id, end))
        subtask = None if index is None else claims[index][0]
        ids = tuple(window.id for window in members)
        segments.append(Segment(id=f"S{len(segments) + 1}", subtask=subtask, span=span, windows=ids))
    return tuple(segments)


def _routes(segments: Sequence[Segment], answers: Sequence[Any], context: Context) -> tuple[Route, ...]:
    """The route of each segment; a segment that the answer leaves out is examined for every dimension."""
    by_window = {window: answer for answer in answers for window in answer.window_ids}
    routes = []
    for segment in segments:
        answer = by_window.get(segment.windows[0])
        if answer is None:
            dimensions, rationale = context.dimensions, "the answer has no segment for this part of the clip"
        else:
            dimensions = tuple(name for name in context.dimensions if name in answer.candidate_dimensions)
            rationale = answer.rationale
        routes.append(Route(segment=segment.id, dimensions=dimensions, rationale=rationale))
    return tuple(routes)
