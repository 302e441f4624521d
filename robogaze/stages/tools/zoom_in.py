"""zoom_in: a question about a part of the picture, magnified, in one frame or several.

The part is a named region (the quarters and halves of the picture, its middle, all of it) or a box. A box is given in
thousandths of the width and the height, [left, top, right, bottom]: what models that point at things mostly speak in.
"""

from typing import Annotated, Self

from pydantic import Field, model_validator

from robogaze.core.clip import Clip
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
"""Parts of a picture by name: nine of half its width and height, and all of it."""

Side = Annotated[float, Field(ge=0, le=1000)]
BoxAnswer = Annotated[list[Side], Field(min_length=4, max_length=4)]
"""The type of a box: [left, top, right, bottom] in thousandths of the picture's width and height."""


def box_of(said: list[float]) -> Box:
    """A box from a model's four numbers. Raises ValueError for one that is empty."""
    left, top, right, bottom = (side / 1000 for side in said)
    return Box(left=left, top=top, right=right, bottom=bottom)


class ZoomArguments(Arguments):
    """Which part of which frames to magnify, and what for."""

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
        """The part as a box."""
        return REGIONS[self.region] if isinstance(self.region, str) else box_of(self.region)


class ZoomIn(Tool):
    """Asks about a part of frames, magnified."""

    name = "zoom_in"
    description = "magnifies a part of one frame or several and asks what can be seen there; for small or local things"
    prompts = {"tool_zoom_in": ToolVariables}
    arguments = ZoomArguments
    most_frames = 9

    def contract(self, window: Window, clip: Clip) -> type[Arguments]:
        """Its arguments, with the regions that have names."""
        return self.narrowed(window, clip, region=one_of(REGIONS) | BoxAnswer)

    def question(
        self, arguments: ZoomArguments, window: Window, context: Context, desk: ModelClient, stage: str, subject: str
    ) -> Query:
        """The question, with the part on one picture."""
        shot = magnified(desk.footage, sorted(set(arguments.frames)), arguments.view, arguments.box)
        return Query(
            stage=stage,
            subject=f"{subject} {self.name}",
            role=ROLE,
            prompt="tool_zoom_in",
            variables=ToolVariables(arguments=arguments, window=window),
            shots=(shot,),
            contract=VqaAnswer,
        )

    async def finding(
        self, arguments: ZoomArguments, answer: VqaAnswer, window: Window, desk: ModelClient
    ) -> ToolFinding:
        """The answer, with the place it speaks of."""
        frames = tuple(sorted(set(arguments.frames)))
        shot = magnified(desk.footage, frames, arguments.view, arguments.box)
        return ToolFinding(self.name, answer.answer, (shot,), frames)
