"""What stages find out about a clip before they look for faults: memories, observations, segments, routes, tracks.

A model writes memories and observations according to a contract in the domain's prompts. Code passes them on and reads
only the fields in this module.
"""

from collections.abc import Mapping
from typing import Any

from robogaze.core.data import Data
from robogaze.core.events import Box, Name
from robogaze.core.time import Span

Memory = Mapping[str, Any]
"""Structured notes of a model; the domain defines the keys."""


class Window(Data):
    """A fixed-length part of the clip (RoboGaze, eq. 2). `frames` are the numbers of the frames shown to a model."""

    id: int
    span: Span
    frames: tuple[int, ...]


class WindowObservation(Data):
    """A model's description of one window.

    `suspicions` lists what looks wrong; `notes` lists what is only observed. `busy` are the spans, in seconds, around
    the starts and ends of actions and around suspicions.
    """

    window: Window
    notes: Memory
    suspicions: tuple[str, ...] = ()
    busy: tuple[Span, ...] = ()


class Segment(Data):
    """A part of the clip with one subtask; the subtask is None if there is none (RoboGaze, eq. 3).

    `departure` says how the subtask differs from the plan ("attempted with another object"). It is None if the subtask
    does not differ.
    """

    id: str
    subtask: str | None
    span: Span
    departure: str | None = None


class Route(Data):
    """The dimensions in which a segment is examined (RoboGaze, eq. 4), and the reason for each, kept or ruled out."""

    segment: str
    dimensions: tuple[Name, ...]
    reasons: Mapping[Name, str]


class ObjectTrack(Data):
    """Where an object is in one view: its box by frame number. A frame without a box means that the object was not
    found in this frame.

    If only frame 0 has a box, the object was located but not followed.
    """

    name: str
    view: str
    boxes: Mapping[int, Box]
