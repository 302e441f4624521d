"""The base class of a tool, which gives a closer view that a stage can request before it decides.

The planner is a query of some stage. It is given the descriptions of the tools (`tool_descriptions`) and answers with a
call, whose type is `tool_choice`. The tool then sends one query to the model of the role `vlm` and turns the answer
into a finding. A finding consists of a text for the role that decides, and of the images on which the text is based.

A tool sees only its window. A tool is called with frames that are among `window.frames`. To follow an object, or to
show images in its finding, it may use any frame in `window.span`.

If a query has no answer, NoAnswer is raised, and the stage decides how to continue. A tool that worked but found
nothing (an object is not in the picture, or was lost) states this in the text of its finding; the text is never empty.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Literal, TypedDict

from pydantic import Field

from robogaze.core.clip import Clip
from robogaze.core.context import Window
from robogaze.core.pictures import FrameImage
from robogaze.domains.contract import Answer, list_of
from robogaze.stages.answers import narrowed, one_of
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context

ROLE = "vlm"
"""The role of the model that tools query."""


class Arguments(Answer):
    """The arguments of a tool call; `tool` is the tool's name."""

    tool: str


@dataclass(frozen=True)
class ToolFinding:
    """What a tool found.

    `text` is for the role that decides; it may quote a model, so prompts quote it as data. `images` are the images that
    the finding is based on; there is at least one. `frames` are the frames of the clip that the finding describes, in
    ascending order.
    """

    tool: str
    text: str
    images: tuple[FrameImage, ...]
    frames: tuple[int, ...]


@dataclass(frozen=True)
class ToolDescription:
    """The description of a tool for planners; `arguments` maps each argument to its meaning."""

    name: str
    description: str
    arguments: Mapping[str, str]


class ToolVariables(TypedDict):
    """The variables of a tool's prompt: the arguments of the call, and the window."""

    arguments: Any
    window: Window


class Tool:
    """A closer view; it has no state."""

    name: ClassVar[str]
    description: ClassVar[str]
    """One line for the planner: what the tool does, and when it helps."""
    prompts: ClassVar[Mapping[str, type]]
    """The prompts that the tool renders, each with a TypedDict of its variables."""
    arguments: ClassVar[type[Arguments]]
    """The arguments of a call; each field has a description."""
    kinds: ClassVar[Mapping[str, Any]] = {}
    """The types of arguments that are narrower than in `arguments`, besides `view`, `frame` and `frames`."""
    max_frames: ClassVar[int] = 8
    """How many frames a call may name."""

    def contract(self, window: Window, clip: Clip) -> type[Arguments]:
        """The contract of the arguments of a call, narrowed to a window of a clip."""
        known = {
            "tool": Literal[self.name],
            "view": one_of(clip.layout.active),
            "frame": one_of(window.frames),
            "frames": list_of(one_of(window.frames), self.max_frames, least=1),
        }
        fields = self.arguments.model_fields
        declared = {
            name: Annotated[kind, Field(description=fields[name].description)]
            for name, kind in {**known, **self.kinds}.items()
            if name in fields
        }
        return narrowed(self.arguments, **declared)

    def query(
        self, arguments: Any, window: Window, context: Context, client: ModelClient, stage: str, subject: str
    ) -> Query:
        """The query of a call. Its subject is `subject` followed by the tool's name, as in `H3 step 2 zoom_in`."""
        raise NotImplementedError

    async def finding(self, arguments: Any, answer: Any, window: Window, client: ModelClient) -> ToolFinding:
        """The finding that follows from the answer."""
        raise NotImplementedError


def tool_descriptions(tools: Sequence[Tool]) -> tuple[ToolDescription, ...]:
    """The descriptions of tools; the partial prompt `tool_list` prints them."""
    return tuple(ToolDescription(tool.name, tool.description, _meanings(tool.arguments)) for tool in tools)


def _meanings(arguments: type[Arguments]) -> dict[str, str]:
    return {name: field.description or "" for name, field in arguments.model_fields.items() if name != "tool"}


def tool_choice(tools: Sequence[Tool], window: Window, clip: Clip) -> Any:
    """The type of a call of one of the given tools (at least one): a union with the discriminator `tool`."""
    contracts: list[Any] = [tool.contract(window, clip) for tool in tools]
    if len(contracts) == 1:
        return contracts[0]
    return Annotated[reduce(or_, contracts), Field(discriminator="tool", json_schema_extra=_any_of)]


def _any_of(schema: dict[str, Any]) -> None:
    """Replace oneOf with a discriminator, which few grammars support, by anyOf, which means the same here."""
    schema.pop("discriminator", None)
    schema["anyOf"] = schema.pop("oneOf")


def templates(tools: Sequence[Tool]) -> dict[str, type]:
    """The prompts of some tools, each with its variables; a stage that uses the tools adds them to its own prompts."""
    return {prompt: variables for tool in tools for prompt, variables in tool.prompts.items()}
