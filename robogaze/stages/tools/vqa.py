"""vqa: a question about some frames of the window."""

from pydantic import Field

from robogaze.core.context import Window
from robogaze.domains.contract import Answer, Text
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context
from robogaze.stages.tools.base import ROLE, Arguments, Tool, ToolFinding, ToolVariables


class VqaArguments(Arguments):
    """The frames, and a question about them."""

    frames: list[int] = Field(description="the frames to look at, as a list of their numbers")
    question: Text = Field(
        description="what to describe in them, asked neutrally: what is there, where it is, how it moves; never "
        "whether something is wrong"
    )


class VqaAnswer(Answer):
    """What the model says it sees."""

    answer: Text


class Vqa(Tool):
    """Asks a question about frames."""

    name = "vqa"
    description = (
        "shows up to eight frames at full size, also between those shown so far, and asks what can be seen in them"
    )
    prompts = {"vqa": ToolVariables}
    arguments = VqaArguments

    def query(
        self, arguments: VqaArguments, window: Window, context: Context, client: ModelClient, stage: str, subject: str
    ) -> Query:
        return Query(
            stage=stage,
            subject=f"{subject} {self.name}",
            role=ROLE,
            prompt="vqa",
            variables=ToolVariables(arguments=arguments, window=window),
            images=client.show(ROLE, sorted(set(arguments.frames))),
            contract=VqaAnswer,
        )

    async def finding(
        self, arguments: VqaArguments, answer: VqaAnswer, window: Window, client: ModelClient
    ) -> ToolFinding:
        frames = tuple(sorted(set(arguments.frames)))
        return ToolFinding(self.name, answer.answer, client.show(ROLE, frames), frames)
