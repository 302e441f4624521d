"""zoom_in: a question about a magnified region of one or several frames.

The region has a name (nine regions of half the width and half the height, or the whole picture), or it is a box [left,
top, right, bottom] in thousandths of width and height. Most models that can point at objects use this format.
"""

from typing import Annotated, ClassVar, Self

from pydantic import Field, model_validator

from robogaze.core.context import Window
from robogaze.core.events import Box
from robogaze.domains.contract import Text
from robogaze.media.crop import magnified
from robogaze.stages.answers import one_of
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context
from robogaze.stages.tools.base import ROLE, Arguments, Tool, ToolFinding, ToolVariables
from robogaze.stages.tools.vqa import VqaAnswer

REGIONS = {
    f"{row}_{column}" if (row, column) != ("middle", "centre") else "centre": Box(
        left=left, top=top, right=left + 0.5, bottom=top + 0.5
    )
    for row, top in (("top", 0.0), ("middle", 0.25), ("bottom", 0.5))
    for column, left in (("left", 0.0), ("centre", 0.25), ("right", 0.5))
} | {"whole": Box(left=0, top=0, right=1, bottom=1)}
"""Regions of a picture by name: nine of half its width and half its height, and the whole picture."""

Side = Annotated[float, Field(ge=0, le=1000)]
BoxAnswer = Annotated[list[Side], Field(min_length=4, max_length=4)]
"""The type of a box: [left, top, right, bottom] in thousandths of the picture's width and height."""


def box_of(sides: list[float]) -> Box:
    """A box from a model's four numbers, in thousandths. Raises ValueError for an empty box."""
    left, top, right, bottom = (side / 1000 for side in sides)
    return Box(left=left, top=top, right=right, bottom=bottom)


class ZoomArguments(Arguments):
    """The frames, the region to magnify, and a question about it."""

    frames: list[int] = Field(description="the frames to look at, one or up to nine, as a list of their numbers")
    view: str = Field(description="which view of them; 'main' where there is but one")
    region: str | BoxAnswer = Field(
        description=f"the part to magnify: one of {', '.join(REGIONS)}; or a box [left, top, right, bottom] in "
        "thousandths of the view's width and height, counted from its top left corner"
    )
    question: Text = Field(description="what to describe in it, asked neutrally; never whether something is wrong")

    @model_validator(mode="after")
    def _box_is_not_empty(self) -> Self:
        if not isinstance(self.region, str):
            box_of(self.region)
        return self

    @property
    def box(self) -> Box:
        """The region as a box."""
        return REGIONS[self.region] if isinstance(self.region, str) else box_of(self.region)


class ZoomIn(Tool):
    """Asks a question about a magnified region."""

    name = "zoom_in"
    description = "magnifies a part of one frame or several and asks what can be seen there; for small or local things"
    prompts = {"zoom_in": ToolVariables}
    arguments = ZoomArguments
    kinds: ClassVar = {"region": one_of(REGIONS) | BoxAnswer}
    max_frames = 9

    def query(
        self, arguments: ZoomArguments, window: Window, context: Context, client: ModelClient, stage: str, subject: str
    ) -> Query:
        image = magnified(client.decoded_clip, sorted(set(arguments.frames)), arguments.view, arguments.box)
        return Query(
            stage=stage,
            subject=f"{subject} {self.name}",
            role=ROLE,
            prompt="zoom_in",
            variables=ToolVariables(arguments=arguments, window=window),
            images=(image,),
            contract=VqaAnswer,
        )

    async def finding(
        self, arguments: ZoomArguments, answer: VqaAnswer, window: Window, client: ModelClient
    ) -> ToolFinding:
        frames = tuple(sorted(set(arguments.frames)))
        image = magnified(client.decoded_clip, frames, arguments.view, arguments.box)
        return ToolFinding(self.name, answer.answer, (image,), frames)
