"""The tools that stages can request closer views with, by name."""

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator

from robogaze.registry import Registry

if TYPE_CHECKING:
    from robogaze.stages.tools.base import Tool

TOOLS: "Registry[type[Tool]]" = Registry(
    "tools",
    {
        "vqa": "robogaze.stages.tools.vqa:Vqa",
        "zoom_in": "robogaze.stages.tools.zoom_in:ZoomIn",
        "object_tracking": "robogaze.stages.tools.object_tracking:ObjectTracking",
    },
)


def _is_known(name: str) -> str:
    if name not in TOOLS:
        raise ValueError(f"there is no tool {name!r}; the tools are: {', '.join(TOOLS.names())}")
    return name


ToolName = Annotated[str, AfterValidator(_is_known)]
"""The name of a tool, for the parameters of a stage."""
