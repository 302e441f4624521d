"""Closer looks that stages can ask for; a pipeline chooses them by name."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator

from robogaze.stages.tools.base import Arguments, Card, Tool, ToolFinding, cards, choice, templates
from robogaze.stages.tools.object_tracking import ObjectTracking
from robogaze.stages.tools.vqa import Vqa
from robogaze.stages.tools.zoom_in import ZoomIn

TOOLS: Mapping[str, type[Tool]] = {tool.name: tool for tool in (Vqa, ZoomIn, ObjectTracking)}
"""Every tool by name."""


def _is_known(name: str) -> str:
    if name not in TOOLS:
        raise ValueError(f"there is no tool {name!r}; there is: {', '.join(TOOLS)}")
    return name


ToolName = Annotated[str, AfterValidator(_is_known)]
"""The name of a tool, for the parameters of a stage."""

__all__ = ["TOOLS", "Arguments", "Card", "Tool", "ToolFinding", "ToolName", "cards", "choice", "templates"]
