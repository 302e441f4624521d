"""segment: which stretch of the clip belongs to which subtask (RoboGaze, eq. 3), and with `route` also which
dimensions each stretch should be examined for (eq. 4), in the same call and so without a round of its own.

The segments cover the clip without gap or overlap: a window stands for the stretch up to the next window's start,
subtasks that are interrupted give several segments, and what no subtask claims is a segment of its own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Any, ClassVar, TypedDict

from robogaze.core.context import Route, Segment, Window
from robogaze.core.time import Span
from robogaze.domains import Dimension
from robogaze.domains.contract import Answer, Phrase, Text, list_of
from robogaze.stages.answers import narrowed, one_of, wrapped
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot


class SegmentVariables(TypedDict):
    """`subtasks` are None without a task memory; `dimensions` are empty when no routing is asked for."""

    windows: tuple[Window, ...]
    subtasks: tuple[str, ...] | None
    dimensions: tuple[Dimension, ...]


class SegmentAnswer(Answer):
    """A subtask (null for none) with its windows."""

    subtask: Phrase | None
    window_ids: list[int]


class RoutedSegmentAnswer(SegmentAnswer):
    """... and with the dimensions it should be examined for."""

    candidate_dimensions: list[str]
    rationale: Text


class SegmentStage(Stage):
    """Writes the segments, and with `route` their routes."""

    prompts: ClassVar[Mapping[str, type]] = {"segment": SegmentVariables}

    route: bool = False

    def reads(self) -> frozenset[Slot]:
        """The observations."""
        return frozenset({"observations"})

    def writes(self) -> frozenset[Slot]:
        """The segments, and the routes if asked for."""
        return frozenset({"segments", "routes"} if self.route else {"segments"})

    def role(self) -> str:
        """A model that looks when it also routes, else one that reads."""
        return "vlm" if self.route else "llm"

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask once about the whole clip."""
        assert context.observations is not None, "the pipeline's order is checked"
        windows = tuple(observation.window for observation in context.observations)
        dimensions = tuple(desk.domain.dimensions[name] for name in context.dimensions) if self.route else ()
        subtasks = None if context.task is None else tuple(one["name"] for one in context.task["subtasks"])
        question = Query(
            stage="segment",
            subject="clip",
            role=self.role(),
            prompt="segment",
            variables=SegmentVariables(windows=windows, subtasks=subtasks, dimensions=dimensions),
            shots=desk.show("vlm", desk.frames("vlm")) if self.route else (),
            contract=_contract(windows, subtasks, context.dimensions, self.route),
            check=lambda answer: _claimed_twice(answer.segments),
        )
        answer = await desk.ask(question, context)
        segments = cover(windows, [(one.subtask, one.window_ids) for one in answer.segments])
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
    return wrapped("segments", narrowed(RoutedSegmentAnswer if route else SegmentAnswer, **fields), len(windows))


def _claimed_twice(segments: Sequence[SegmentAnswer]) -> str | None:
    claimed = [window for segment in segments for window in segment.window_ids]
    twice = sorted({window for window in claimed if claimed.count(window) > 1})
    return f"segments: a window belongs to one segment only; these stand in several: {twice}" if twice else None


def cover(windows: Sequence[Window], claims: Sequence[tuple[str | None, Sequence[int]]]) -> tuple[Segment, ...]:
    """Segments that cover the windows' whole stretch, from subtasks with the windows they claim.

    A segment is a run of neighbouring windows of one claim; windows that nothing claims form runs of their own.
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
    """What was routed for the windows of each segment; a stretch nothing claimed is examined for everything."""
    by_window = {window: answer for answer in answers for window in answer.window_ids}
    routes = []
    for segment in segments:
        answer = by_window.get(segment.windows[0])
        if answer is None:
            dimensions, rationale = context.dimensions, "no segment of the answer holds this stretch"
        else:
            dimensions = tuple(name for name in context.dimensions if name in answer.candidate_dimensions)
            rationale = answer.rationale
        routes.append(Route(segment=segment.id, dimensions=dimensions, rationale=rationale))
    return tuple(routes)
