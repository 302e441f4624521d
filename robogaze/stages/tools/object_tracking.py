"""object_tracking: where a described thing is in every frame of the window, how it moves, and what is odd about that.

The model that looks is asked for one thing: a box around it in one frame. From there it is followed by measurement
(`robogaze.evidence.tracker.tracking`), or by the tracker that the models' file names, through every frame of the
window's span and not only those that were shown. A wrong box is followed as faithfully as a right one, so the finding
repeats what the model says it drew the box around and shows that frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self, TypedDict

import numpy as np
from pydantic import Field, model_validator

from robogaze.backends import Models
from robogaze.core.context import Window
from robogaze.core.events import Box
from robogaze.core.pictures import FrameImage
from robogaze.core.sampling import evenly
from robogaze.core.time import frames_in
from robogaze.domains.contract import Answer, Phrase, Text
from robogaze.evidence.tracker import movement, tracking
from robogaze.evidence.tracker.mask_tracking import ByMask
from robogaze.evidence.tracker.movement import Movement
from robogaze.evidence.tracker.tracking import BeginChase, TooSmall, TrackedObject
from robogaze.media.crop import alone, view_in
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context
from robogaze.stages.tools.base import ROLE, Arguments, Tool, ToolFinding, ToolVariables
from robogaze.stages.tools.zoom_in import BoxAnswer, box_of
from robogaze.threads import in_thread

_ROWS = 12
_FRAMES_SHOWN = 4

LIMITS = {
    "jump": movement.JUMP,
    "moving": movement.MOVING,
    "still_s": movement.STILL_S,
    "burst": movement.BURST,
    "shake": movement.SHAKE,
    "shake_s": movement.SHAKE_S,
}
"""What is flagged from where on, for prompts."""


class TrackingArguments(Arguments):
    """What to follow, and where it can be seen."""

    object_description: Phrase = Field(
        description="a short visual description of one thing, such as 'the red car'; never of what is wrong with it"
    )
    frame: int = Field(description="the number of a frame in which all of it can be seen")
    view: str = Field(description="which view of it; 'main' where there is but one")


class Located(Answer):
    """What the model that looks says of the place."""

    seen: Text
    box: BoxAnswer | None

    @model_validator(mode="after")
    def _box_is_not_empty(self) -> Self:
        if self.box is not None:
            box_of(self.box)
        return self


@dataclass(frozen=True)
class TrackedPosition:
    """Where the thing is in one frame: its box in thousandths, and its speed from there (None in the last)."""

    time_s: float
    box: tuple[int, ...]
    speed: float | None


@dataclass(frozen=True)
class Stretch:
    """Some frames, from the first to the last one, with their times."""

    first: int
    last: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Odd:
    """A flag, with the frames of the clip."""

    kind: str
    value: float
    where: Stretch


class TrackedVariables(TypedDict):
    """What the words of a finding may use; `where` is None where it was not found at all."""

    arguments: TrackingArguments
    seen: str
    all: Stretch
    found: int
    count: int
    rows: tuple[TrackedPosition, ...]
    missing: tuple[Stretch, ...]
    rests: tuple[Stretch, ...]
    flags: tuple[Odd, ...]
    compensated: float
    limits: dict[str, float]


class NotTrackedVariables(TypedDict):
    """What the words of a finding without a track may use; `small` says that there was a box, too small to follow."""

    arguments: TrackingArguments
    seen: str
    small: bool


class ObjectTracking(Tool):
    """Locates a thing and follows it."""

    name = "object_tracking"
    description = (
        "finds a described thing in one frame and follows it through all frames of the window: its place, its speed, "
        "and whether it jumps, stops dead and goes on, bursts into motion or shakes"
    )
    arguments = TrackingArguments
    prompts: ClassVar = {
        "tool_object_tracking": ToolVariables,
        "tool_tracked": TrackedVariables,
        "tool_not_tracked": NotTrackedVariables,
    }

    def question(
        self,
        arguments: TrackingArguments,
        window: Window,
        context: Context,
        desk: ModelClient,
        stage: str,
        subject: str,
    ) -> Query:
        """Where the thing is in the frame."""
        return Query(
            stage=stage,
            subject=f"{subject} {self.name}",
            role=ROLE,
            prompt="tool_object_tracking",
            variables=ToolVariables(arguments=arguments, window=window),
            shots=(alone(desk.footage, arguments.frame, arguments.view),),
            contract=Located,
        )

    async def finding(
        self, arguments: TrackingArguments, answer: Located, window: Window, desk: ModelClient
    ) -> ToolFinding:
        """Where it goes from there."""
        if answer.box is None:
            return self._without(arguments, answer, desk, small=False)
        numbers = sorted(frames_in([window.span], desk.clip.frame_times_s) | {arguments.frame})
        shots = [desk.footage.shot(number) for number in numbers]
        start = numbers.index(arguments.frame)
        try:
            chase = _chase(desk.models)
            track = await in_thread(_track, shots, arguments.view, start, box_of(answer.box), chase)
        except TooSmall:
            return self._without(arguments, answer, desk, small=True)
        times_s = [desk.clip.frame_times_s[number] for number in numbers]
        told = _told(arguments, answer, track, numbers, times_s)
        odd = [frame for flag in told["flags"] for frame in (flag.where.first, flag.where.last)]
        frames = tuple(sorted(dict.fromkeys([arguments.frame, *odd][:_FRAMES_SHOWN])))
        return ToolFinding(self.name, desk.domain.prompts.render("tool_tracked", told), desk.show(ROLE, frames), frames)

    def _without(self, arguments: TrackingArguments, answer: Located, desk: ModelClient, *, small: bool) -> ToolFinding:
        told = NotTrackedVariables(arguments=arguments, seen=answer.seen, small=small)
        text = desk.domain.prompts.render("tool_not_tracked", told)
        return ToolFinding(self.name, text, (alone(desk.footage, arguments.frame, arguments.view),), (arguments.frame,))


def _chase(models: Models | None) -> BeginChase | None:
    """How a thing is followed: by the masks of the tracker that was named, None where none was."""
    if models is None or models.tracker is None:
        return None
    return partial(ByMask, models.tracker.masks)


def _track(shots: Sequence[FrameImage], view: str, start: int, box: Box, chase: BeginChase | None) -> TrackedObject:
    return tracking.follow(lambda place: view_in(shots[place], view), len(shots), start, box, chase)


def _told(
    arguments: TrackingArguments,
    answer: Located,
    track: TrackedObject,
    numbers: Sequence[int],
    times_s: Sequence[float],
) -> TrackedVariables:
    """What is said of a track; `numbers` are its frames in the clip."""
    moves = movement.movement(track, np.array(times_s))

    def stretch(first: int, last: int) -> Stretch:
        return Stretch(numbers[first], numbers[last], times_s[first], times_s[last])

    return TrackedVariables(
        arguments=arguments,
        seen=answer.seen,
        all=stretch(0, len(numbers) - 1),
        found=len(moves.frames),
        count=len(numbers),
        rows=_rows(track, moves, times_s),
        missing=tuple(stretch(first, end - 1) for first, end in moves.missing),
        rests=tuple(stretch(first, end - 1) for first, end in moves.rests),
        flags=tuple(Odd(flag.kind, flag.value, stretch(flag.first, flag.last)) for flag in moves.flags),
        compensated=moves.compensated,
        limits=LIMITS,
    )


def _rows(track: TrackedObject, moves: Movement, times_s: Sequence[float]) -> tuple[TrackedPosition, ...]:
    speeds = dict(zip(moves.frames, moves.speeds, strict=False))
    rows = []
    for frame in evenly(moves.frames, _ROWS):
        place = track.places[frame]
        assert place is not None, "it was found in these frames"
        box = place.box
        sides = tuple(round(1000 * side) for side in (box.left, box.top, box.right, box.bottom))
        rows.append(TrackedPosition(times_s[frame], sides, speeds.get(frame)))
    return tuple(rows)
