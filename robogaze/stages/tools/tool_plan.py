"""Closer looks before an answer: whoever is to answer says first which tools to use, and they are used side by side.

That is two rounds more: one for the plans of all that are asked side by side, one for the tools. A plan may be empty. A
plan or a tool without an answer is a failure of the stage, which goes on with the looks it has.
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
from robogaze.stages.tools.base import Card, Tool, ToolFinding, cards, choice

_AROUND_S = 1.0
"""What a look is about is looked at with so much before and after it."""


@dataclass(frozen=True)
class CloserLook:
    """What a closer look at something found; `about` is its id."""

    about: str
    finding: ToolFinding


@dataclass(frozen=True)
class Looks:
    """The closer looks taken for one question."""

    taken: tuple[CloserLook, ...] = ()
    failures: tuple[Failure, ...] = ()

    def shots(self, besides: Sequence[FrameImage], room: int) -> tuple[FrameImage, ...]:
        """The pictures they rest on, each once, without those that are shown anyway.

        At most `room` of them: where a model takes no more pictures, a look is told in words alone.
        """
        known = {shot.picture.id for shot in besides}
        shown = {shot.picture.id: shot for look in self.taken for shot in look.finding.shots}
        return tuple(shot for name, shot in shown.items() if name not in known)[: max(room, 0)]


class ToolsVariables(TypedDict):
    """What the partial prompt `looks` may use: the tools, and how many looks may be asked for."""

    tools: tuple[Card, ...]
    at_most: int


@dataclass(frozen=True)
class Closer:
    """The tools of a stage, and how often they may be used for one question."""

    names: tuple[str, ...]
    at_most: int

    def variables(self) -> ToolsVariables:
        """For the prompt of a plan."""
        return ToolsVariables(tools=cards([TOOLS.load(name)() for name in self.names]), at_most=self.at_most)

    def plan(self, question: Query, about: Sequence[str], frames: Sequence[int], clip: Clip) -> Query:
        """A question for a plan: its contract is a list of looks, each about one of some things, at frames shown."""
        window = Window(id=0, span=clip.span, frames=tuple(frames))
        use = choice([TOOLS.load(name)() for name in self.names], window, clip)
        fields: Any = {"about": (one_of(about), ...), "use": (use, ...)}
        look = create_model("LookAnswer", __base__=Answer, **fields)
        fields = {"looks": (list_of(look, self.at_most), ...)}
        return replace(
            question, contract=create_model("Looks", __base__=Answer, **fields), check=lambda said: self._too_many(said)
        )

    def _too_many(self, said: Any) -> str | None:
        return f"looks: at most {self.at_most}, not {len(said.looks)}" if len(said.looks) > self.at_most else None

    async def take(
        self, plans: Sequence[tuple[Query, Mapping[str, Sequence[Span]]]], context: Context, desk: ModelClient
    ) -> tuple[Looks, ...]:
        """Ask for the plans and take the looks; each plan comes with the spans of what it may be about."""
        answers = await desk.ask_each([question for question, _ in plans], context)
        looks = [Looks(failures=(one.failure,) if isinstance(one, NoAnswer) else ()) for one in answers]
        wanted = [
            _Wanted(number, said.about, said.use, _window(said.use, spans[said.about], context.clip))
            for number, (answer, (_, spans)) in enumerate(zip(answers, plans, strict=True))
            if not isinstance(answer, NoAnswer)
            for said in answer.looks
        ]
        questions = [one.question(plans[one.plan][0], context, desk) for one in wanted]
        for one, said in zip(wanted, await desk.ask_each(questions, context), strict=True):
            before = looks[one.plan]
            if isinstance(said, NoAnswer):
                looks[one.plan] = replace(before, failures=(*before.failures, said.failure))
            else:
                finding = await one.tool.finding(one.use, said, one.window, desk)
                looks[one.plan] = replace(before, taken=(*before.taken, CloserLook(one.about, finding)))
        return tuple(looks)


@dataclass(frozen=True)
class _Wanted:
    """A look that a plan asks for, with the place of that plan among the others."""

    plan: int
    about: str
    use: Any
    window: Window

    @property
    def tool(self) -> Tool:
        return TOOLS.load(self.use.tool)()

    def question(self, plan: Query, context: Context, desk: ModelClient) -> Query:
        return self.tool.question(self.use, self.window, context, desk, plan.stage, f"{plan.subject}, {self.about}")


def _window(use: Any, spans: Sequence[Span], clip: Clip) -> Window:
    """Where a tool looks: at some spans with a second around them, and as far as the frames it was told of lie."""
    frames = (use.frame,) if hasattr(use, "frame") else tuple(sorted(set(use.frames)))
    held = [clip.frame_span(frame) for frame in frames]
    start = min(*(span.start - _AROUND_S for span in spans), *(span.start for span in held))
    end = max(*(span.end + _AROUND_S for span in spans), *(span.end for span in held))
    return Window(id=0, span=clip.clamp(Span(start, end)), frames=frames)
