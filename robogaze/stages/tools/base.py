"""The contract of a tool: a closer look that a stage can ask for before something is decided.

A planner (a question of some stage) is told which tools there are (`cards`) and answers with what one needs to be
used (`choice` is the contract of that answer). The tool then puts one question to the model that looks and makes a
finding of the answer: words for whoever decides, and the pictures they rest on.

A tool looks at nothing but its window. The frames it is told to look at are among `window.frames`; what it follows
from there, or shows of what it found, may be any frame of `window.span`.

When no answer comes, NoAnswer is raised, as by every question: the stage says what that leaves open. A tool that worked
and found nothing (the thing is not in the picture, or was lost) says so in the words of its finding, which are never
empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from pydantic import Field, create_model

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.core.pictures import FrameImage
from robogaze.domains.contract import Answer, list_of
from robogaze.stages.answers import one_of
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context

ROLE = "vlm"
"""The role of the model that tools ask."""


class Arguments(Answer):
    """What is said to use a tool; `tool` is its name."""

    tool: str


@dataclass(frozen=True)
class ToolFinding:
    """What a tool found.

    `text` is for whoever decides; it may quote a model, so in prompts it is data. `shots` are the pictures it rests on,
    never empty. `frames` are the clip's frames it speaks of, ascending.
    """

    tool: str
    text: str
    shots: tuple[FrameImage, ...]
    frames: tuple[int, ...]


@dataclass(frozen=True)
class Card:
    """A tool as a planner is told of it; `arguments` says of each what it means."""

    name: str
    description: str
    arguments: Mapping[str, str]


class ToolVariables(TypedDict):
    """What the question of a tool may use: how the tool is used, and the window it looks at."""

    arguments: Any
    window: Window


class Tool:
    """A way to look closer; it has no state."""

    name: ClassVar[str]
    description: ClassVar[str]
    """One line for the planner: what it does, and when it helps."""
    prompts: ClassVar[Mapping[str, type]]
    """Each prompt it renders, with a TypedDict of its variables."""
    arguments: ClassVar[type[Arguments]]
    """What it needs to be told; each field has a description."""
    most_frames: ClassVar[int] = 8
    """The most frames it can be asked to look at."""

    def contract(self, window: Window, clip: Clip) -> type[Arguments]:
        """Its arguments as they can be for a window of a clip."""
        return self.narrowed(window, clip)

    def narrowed(self, window: Window, clip: Clip, **kinds: Any) -> type[Arguments]:
        """Its arguments with some of other types; `view`, `frame` and `frames` with those there are."""
        known = {
            "view": one_of(clip.layout.active),
            "frame": one_of(window.frames),
            "frames": list_of(one_of(window.frames), self.most_frames, least=1),
        }
        fields = self.arguments.model_fields
        declared: Any = {
            name: (kind, Field(description=fields[name].description))
            for name, kind in {**known, "tool": Literal[self.name], **kinds}.items()
            if name in fields
        }
        made: type[Arguments] = create_model(self.arguments.__name__, __base__=self.arguments, **declared)
        return made

    def question(
        self, arguments: Any, window: Window, context: Context, desk: ModelClient, stage: str, subject: str
    ) -> Query:
        """What it asks; the question's subject is `subject` with the tool's name, as in `W3 step 2 zoom_in`."""
        raise NotImplementedError

    async def finding(self, arguments: Any, answer: Any, window: Window, desk: ModelClient) -> ToolFinding:
        """What follows from the answer."""
        raise NotImplementedError

    async def use(
        self, arguments: Any, window: Window, context: Context, desk: ModelClient, stage: str, subject: str
    ) -> ToolFinding:
        """Ask, and make a finding of the answer. Raises NoAnswer when none came.

        Tools used side by side are asked with `desk.ask_each` over their questions, so that they count as one round,
        and each answer is given to `finding`.
        """
        answer = await desk.ask(self.question(arguments, window, context, desk, stage, subject), context)
        return await self.finding(arguments, answer, window, desk)


def cards(tools: Sequence[Tool]) -> tuple[Card, ...]:
    """The tools as a planner is told of them; the partial prompt `tools` writes them out."""
    return tuple(Card(tool.name, tool.description, _meanings(tool.arguments)) for tool in tools)


def _meanings(arguments: type[Arguments]) -> dict[str, str]:
    return {name: field.description or "" for name, field in arguments.model_fields.items() if name != "tool"}


def choice(tools: Sequence[Tool], window: Window, clip: Clip) -> Any:
    """The type of the use of one of some tools (at least one): a union told apart by `tool`."""
    contracts: list[Any] = [tool.contract(window, clip) for tool in tools]
    if len(contracts) == 1:
        return contracts[0]
    return Annotated[reduce(or_, contracts), Field(discriminator="tool", json_schema_extra=_any_of)]


def _any_of(schema: dict[str, Any]) -> None:
    """Every grammar knows anyOf, and few know oneOf with a discriminator, which says the same here."""
    schema.pop("discriminator", None)
    schema["anyOf"] = schema.pop("oneOf")


def templates(tools: Sequence[Tool]) -> dict[str, type]:
    """The prompts of some tools, each with its variables: a stage that uses them adds these to its own."""
    return {prompt: variables for tool in tools for prompt, variables in tool.prompts.items()}
