"""object_tracking: where an object is in every frame of the window, how it moves, and what is unusual about its motion.

The model is queried once, for a box around the object in one frame. From this frame on, the object is followed through
every frame of the window's span, not only through the shown frames. It is followed by measurement
(`robogaze.evidence.tracker.tracking`), or by the tracker that the models file names. A wrong box is followed as well.
The finding therefore quotes what the model says is in the box, and shows that frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self, TypedDict

import numpy as np
from pydantic import Field, model_validator

from robogaze.core.context import Window
from robogaze.core.sampling import evenly
from robogaze.core.time import frames_in
from robogaze.domains.contract import Answer, Phrase, Text
from robogaze.evidence.tracker import movement, tracking
from robogaze.evidence.tracker.movement import Movement
from robogaze.evidence.tracker.tracking import TooSmall, TrackedObject
from robogaze.media import DecodedClip
from robogaze.media.crop import view_image, view_in
from robogaze.media.decode import Image
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context
from robogaze.stages.tools.base import ROLE, Arguments, Tool, ToolFinding, ToolVariables
from robogaze.stages.tools.zoom_in import BoxAnswer, box_of
from robogaze.stages.track import learned_follower
from robogaze.threads import on_core

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
"""The thresholds of the flags, for prompts; see `robogaze.evidence.movement`."""


class TrackingArguments(Arguments):
    """The object to follow, and a frame that shows it."""

    object_description: Phrase = Field(
        description="a short visual description of one thing, such as 'the red car'; never of what is wrong with it"
    )
    frame: int = Field(description="the number of a frame in which all of it can be seen")
    view: str = Field(description="which view of it; 'main' where there is but one")


class LocatedAnswer(Answer):
    """What the model says it found, and the box around it; None if it found nothing."""

    seen: Text
    box: BoxAnswer | None

    @model_validator(mode="after")
    def _box_is_not_empty(self) -> Self:
        if self.box is not None:
            box_of(self.box)
        return self


@dataclass(frozen=True)
class TrackedPosition:
    """The object in one frame: its box in thousandths, and its speed up to the next frame (None in the last frame)."""

    time_s: float
    box: tuple[int, ...]
    speed: float | None


@dataclass(frozen=True)
class FrameRange:
    """Frames from the first to the last, inclusive, with their times."""

    first: int
    last: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class MotionFlag:
    """A flag that marks unusual motion, and the frames that it marks. `value` is in the unit of the flag's kind."""

    kind: str
    value: float
    frames: FrameRange


class TrackedVariables(TypedDict):
    """The variables of the prompt `object_tracking_result`; `seen` is what the model says it drew the box around.

    The object was found in `found` of `count` frames. `compensated` is the share of steps from frame to frame for which
    the camera motion was subtracted; it is NaN if no camera motion was estimated.
    """

    arguments: TrackingArguments
    seen: str
    all: FrameRange
    found: int
    count: int
    rows: tuple[TrackedPosition, ...]
    missing: tuple[FrameRange, ...]
    rests: tuple[FrameRange, ...]
    flags: tuple[MotionFlag, ...]
    compensated: float
    limits: dict[str, float]


class NotTrackedVariables(TypedDict):
    """The variables of the prompt `object_tracking_no_result`; `small` means that the object is too small to follow."""

    arguments: TrackingArguments
    seen: str
    small: bool


class ObjectTracking(Tool):
    """Locates an object and follows it."""

    name = "object_tracking"
    description = (
        "finds a described thing in one frame and follows it through all frames of the window: its place, its speed, "
        "and whether it jumps, stops dead and goes on, bursts into motion or shakes"
    )
    arguments = TrackingArguments
    prompts: ClassVar = {
        "object_tracking": ToolVariables,
        "object_tracking_result": TrackedVariables,
        "object_tracking_no_result": NotTrackedVariables,
    }

    def query(
        self,
        arguments: TrackingArguments,
        window: Window,
        context: Context,
        client: ModelClient,
        stage: str,
        subject: str,
    ) -> Query:
        return Query(
            stage=stage,
            subject=f"{subject} {self.name}",
            role=ROLE,
            prompt="object_tracking",
            variables=ToolVariables(arguments=arguments, window=window),
            images=(view_image(client.decoded_clip, arguments.frame, arguments.view),),
            contract=LocatedAnswer,
        )

    async def finding(
        self, arguments: TrackingArguments, answer: LocatedAnswer, window: Window, client: ModelClient
    ) -> ToolFinding:
        if answer.box is None:
            return self._no_result(arguments, answer, client, small=False)
        numbers = sorted(frames_in([window.span], client.clip.frame_times_s) | {arguments.frame})
        start = numbers.index(arguments.frame)
        try:
            pictures = partial(_view, client.decoded_clip, numbers, arguments.view)
            start_follower = learned_follower(client.models)
            track = await on_core(tracking.follow, pictures, len(numbers), start, box_of(answer.box), start_follower)
        except TooSmall:
            return self._no_result(arguments, answer, client, small=True)
        times_s = [client.clip.frame_times_s[number] for number in numbers]
        variables = _variables(arguments, answer, track, numbers, times_s)
        flagged = [frame for flag in variables["flags"] for frame in (flag.frames.first, flag.frames.last)]
        frames = tuple(sorted(dict.fromkeys([arguments.frame, *flagged][:_FRAMES_SHOWN])))
        text = client.domain.prompts.render("object_tracking_result", variables)
        return ToolFinding(self.name, text, client.show(ROLE, frames), frames)

    def _no_result(
        self, arguments: TrackingArguments, answer: LocatedAnswer, client: ModelClient, *, small: bool
    ) -> ToolFinding:
        variables = NotTrackedVariables(arguments=arguments, seen=answer.seen, small=small)
        text = client.domain.prompts.render("object_tracking_no_result", variables)
        image = view_image(client.decoded_clip, arguments.frame, arguments.view)
        return ToolFinding(self.name, text, (image,), (arguments.frame,))


def _view(clip: DecodedClip, numbers: Sequence[int], view: str, index: int) -> Image:
    return view_in(clip, numbers[index], view)


def _variables(
    arguments: TrackingArguments,
    answer: LocatedAnswer,
    track: TrackedObject,
    numbers: Sequence[int],
    times_s: Sequence[float],
) -> TrackedVariables:
    """The variables of a track's finding; `numbers` are its frames in the clip, at `times_s`."""
    moves = movement.movement(track, np.array(times_s))

    def frames(first: int, last: int) -> FrameRange:
        return FrameRange(numbers[first], numbers[last], times_s[first], times_s[last])

    return TrackedVariables(
        arguments=arguments,
        seen=answer.seen,
        all=frames(0, len(numbers) - 1),
        found=len(moves.frames),
        count=len(numbers),
        rows=_rows(track, moves, times_s),
        missing=tuple(frames(first, end - 1) for first, end in moves.missing),
        rests=tuple(frames(first, end - 1) for first, end in moves.rests),
        flags=tuple(MotionFlag(flag.kind, flag.value, frames(flag.first, flag.last)) for flag in moves.flags),
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
