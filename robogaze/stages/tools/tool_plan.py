"""Tool calls before an answer: a model first says which tools it needs, and the calls run in parallel.

Tool calls take two more rounds. In the first round, models plan the tool calls of all queries; in the second round, the
tools run. The calls of a round run in parallel. A plan may be empty. If a plan or a tool call gets no answer, the
report lists a failure, and the stage continues with the results it has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypedDict

from pydantic import create_model

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.core.pictures import FrameImage
from robogaze.core.report import Failure
from robogaze.core.time import Span
from robogaze.domains.contract import Answer, list_of
from robogaze.stages.answers import one_of
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context
from robogaze.stages.tools import TOOLS
from robogaze.stages.tools.base import Tool, ToolDescription, ToolFinding, tool_choice, tool_descriptions

_MARGIN_S = 1.0
"""A tool sees this much before and after the spans it was called about."""


@dataclass(frozen=True)
class ToolResult:
    """The finding of one tool call; `about` is the id of the hypothesis or segment that the call was about."""

    about: str
    finding: ToolFinding


@dataclass(frozen=True)
class ToolResults:
    """The results of the tool calls that one query requested."""

    results: tuple[ToolResult, ...] = ()
    failures: tuple[Failure, ...] = ()

    def images(self, shown: Sequence[FrameImage], room: int) -> tuple[FrameImage, ...]:
        """At most `room` images of the findings, without duplicates and without the images in `shown`.

        If a model accepts no more images, a result is given as text only.
        """
        known = {image.picture.id for image in shown}
        images = {image.picture.id: image for result in self.results for image in result.finding.images}
        return tuple(image for name, image in images.items() if name not in known)[: max(room, 0)]


class ToolPlanVariables(TypedDict):
    """The variables of the partial prompt `tool_plan`: the tools, and the maximum number of calls."""

    tools: tuple[ToolDescription, ...]
    max_calls: int


@dataclass(frozen=True)
class ToolPlanner:
    """The tools of a stage, and how many calls one query may request."""

    names: tuple[str, ...]
    max_calls: int

    def variables(self) -> ToolPlanVariables:
        """The variables of a plan's prompt."""
        return ToolPlanVariables(tools=tool_descriptions(self._tools()), max_calls=self.max_calls)

    def plan(self, query: Query, about: Sequence[str], frames: Sequence[int], clip: Clip) -> Query:
        """The query, changed to ask for a plan. Each tool call in the plan is about one of the ids in `about` and uses
        some of the given `frames`.
        """
        window = Window(id=0, span=clip.span, frames=tuple(frames))
        use = tool_choice(self._tools(), window, clip)
        call_fields: Any = {"about": (one_of(about), ...), "use": (use, ...)}
        call = create_model("LookAnswer", __base__=Answer, **call_fields)
        fields: Any = {"looks": (list_of(call, self.max_calls), ...)}
        contract = create_model("Looks", __base__=Answer, **fields)
        return replace(query, contract=contract, check=self._check_count)

    def _check_count(self, plan: Any) -> str | None:
        number = len(plan.looks)
        return f"looks: at most {self.max_calls}, not {number}" if number > self.max_calls else None

    def _tools(self) -> list[Tool]:
        return [TOOLS.load(name)() for name in self.names]

    async def run(
        self, plans: Sequence[tuple[Query, Mapping[str, Sequence[Span]]]], context: Context, client: ModelClient
    ) -> tuple[ToolResults, ...]:
        """Ask for the plans and run the tool calls that they request. `plans` pairs each query with the ids that its
        tool calls may be about, mapped to their spans.
        """
        answers = await client.ask_all([query for query, _ in plans], context)
        failures = [[answer.failure] if isinstance(answer, NoAnswer) else [] for answer in answers]
        results: list[list[ToolResult]] = [[] for _ in plans]
        calls = [
            _ToolCall(number, call.about, call.use, _window(call.use, spans[call.about], context.clip))
            for number, (answer, (_, spans)) in enumerate(zip(answers, plans, strict=True))
            if not isinstance(answer, NoAnswer)
            for call in answer.looks
        ]
        queries = [call.query(plans[call.plan][0], context, client) for call in calls]
        for call, answer in zip(calls, await client.ask_all(queries, context), strict=True):
            if isinstance(answer, NoAnswer):
                failures[call.plan].append(answer.failure)
            else:
                finding = await call.tool.finding(call.use, answer, call.window, client)
                results[call.plan].append(ToolResult(call.about, finding))
        return tuple(ToolResults(tuple(found), tuple(failed)) for found, failed in zip(results, failures, strict=True))


@dataclass(frozen=True)
class _ToolCall:
    """A call that a plan requests; `plan` is the index of that plan."""

    plan: int
    about: str
    use: Any
    window: Window

    @property
    def tool(self) -> Tool:
        return TOOLS.load(self.use.tool)()

    def query(self, plan: Query, context: Context, client: ModelClient) -> Query:
        subject = f"{plan.subject}, {self.about}"
        return self.tool.query(self.use, self.window, context, client, plan.stage, subject)


def _window(use: Any, spans: Sequence[Span], clip: Clip) -> Window:
    """What a tool sees: the spans with a margin, extended to the frames it was called with."""
    frames = (use.frame,) if hasattr(use, "frame") else tuple(sorted(set(use.frames)))
    frame_spans = [clip.frame_span(frame) for frame in frames]
    start = min(*(span.start - _MARGIN_S for span in spans), *(span.start for span in frame_spans))
    end = max(*(span.end + _MARGIN_S for span in spans), *(span.end for span in frame_spans))
    return Window(id=0, span=clip.clamp(Span(start, end)), frames=frames)
