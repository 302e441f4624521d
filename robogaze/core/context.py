"""What is known about a clip before anyone looks for faults: memories, observations, segments, routes.

The content of memories and observations is written by a model to a contract that the domain's prompts declare;
code carries it and reads only what is named here.
"""

from collections.abc import Mapping
from typing import Any

from robogaze.core.data import Data
from robogaze.core.events import Name
from robogaze.core.time import Span

Memory = Mapping[str, Any]
"""A model's structured notes; its keys are the domain's."""


class Window(Data):
    """A fixed-length piece of the clip (RoboGaze, eq. 2); `frames` are the ones a model is shown of it."""

    id: int
    span: Span
    frames: tuple[int, ...]


class Observation(Data):
    """What a model saw in one window."""

    window: Window
    notes: Memory


class Segment(Data):
    """A stretch of the clip that belongs to one subtask, or to none (RoboGaze, eq. 3)."""

    id: str
    subtask: str | None
    span: Span
    windows: tuple[int, ...] = ()


class Route(Data):
    """The dimensions a segment should be examined for (RoboGaze, eq. 4)."""

    segment: str
    dimensions: tuple[Name, ...]
    rationale: str
