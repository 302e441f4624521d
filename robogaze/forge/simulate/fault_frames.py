"""The frames in which a fault shows, and the frames that its annotation covers.

No frame is entered by hand. If an edit makes the fault, the fault shows in the frames that look different with the
edit. A fault of behaviour shows in the phases that the configuration gives for it. If an object is pushed or passed
through, the fault shows while the object is pushed, or while two bodies overlap. The annotation of a behaviour covers
all of these frames; for an edit, the event type decides which of them the annotation covers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from robogaze.errors import InputError
from robogaze.forge.simulate.arm import HAND_PARTS
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.playback import Frame, PlaybackEdit, Renderer, apply_picture_edits
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.simulation_config import FILE, Act

TOLERANCE = 1e-4
"""The least difference of an edited body: metres, or shares of a colour."""
OVERLAP_M = 1e-3
"""The least depth of an overlap when a body passes through another."""
_PUSHED_M_PER_S = 0.01
_SETTLED = 0.95
_BRIEF_S = 1.5
"""The longest time for which the whole of an appearance is annotated."""


@dataclass(frozen=True)
class FaultFrames:
    """The frames of a fault, in order.

    The fault shows in the frames `shown`. The fault develops in the frames `developing`, a part of `shown`; the other
    frames show the result. `bodies` are the bodies that differ in any frame.
    """

    shown: tuple[int, ...]
    developing: tuple[int, ...]
    bodies: frozenset[str]

    @property
    def onset(self) -> int:
        return self.shown[0]

    def covered(self, covers: str, fps: int, frame_count: int, plain_s: float) -> tuple[int, ...]:
        """The frames that the annotation covers; `covers` is the convention of the event type.

        If something appears, the annotation ends `plain_s` after the thing is fully there; an appearance of at most
        _BRIEF_S is annotated as a whole. The annotation of a change, or of an act with a lasting result, ends when the
        change or the act is complete, even if the change is undone later.
        """
        lasting = self.shown[-1] == frame_count - 1
        if covers == "appearance":
            if len(self.shown) <= _BRIEF_S * fps:
                return self.shown
            until = self.developing[-1] + round(plain_s * fps)
            return tuple(number for number in self.shown if number <= until)
        if covers == "change" or (covers == "act" and lasting):
            return self.developing
        if covers == "outcome":
            return tuple(range(self.developing[-1], frame_count))
        return self.shown


def measure(renderer: Renderer, spec: ClipSpec, placed: PlacedFault) -> FaultFrames:
    """The frames in which a fault shows. For an edit of the picture, these are all frames that the edit may change."""
    if placed.edit is None:
        return _of_behaviour(spec, placed)
    if placed.edit.edits_picture:
        frames = tuple(range(*placed.edit.frames))
        return FaultFrames(frames, frames, frozenset())
    return _compared(renderer, spec, placed.edit)


def changes_picture(spec: ClipSpec, edit: PlaybackEdit, number: int, frame: Frame) -> bool:
    """Whether an edit of the picture changes a frame."""
    return not np.array_equal(apply_picture_edits(replace(spec.playback, edits=(edit,)), number, frame), frame)


def _compared(renderer: Renderer, spec: ClipSpec, edit: PlaybackEdit) -> FaultFrames:
    """The frames that are rendered differently with an edit and without."""
    with_edit, without = spec.only(edit), spec.only()
    view = edit.view or spec.playback.first_view
    amounts: dict[int, float] = {}
    bodies: set[str] = set()
    for number in range(spec.playback.frame_count):
        found = renderer.frame_state(with_edit, number, view).differences(renderer.frame_state(without, number, view))
        over = {body: by for body, by in found.items() if by > TOLERANCE}
        if over:
            amounts[number] = max(over.values())
            bodies |= over.keys()
    return FaultFrames(tuple(amounts), _developing(amounts), frozenset(bodies))


def _developing(amounts: Mapping[int, float]) -> tuple[int, ...]:
    """The frames until the difference reaches nearly its maximum."""
    if not amounts:
        return ()
    full = _SETTLED * max(amounts.values())
    reached = next(number for number, amount in amounts.items() if amount >= full)
    return tuple(number for number in amounts if number <= reached)


def _of_behaviour(spec: ClipSpec, placed: PlacedFault) -> FaultFrames:
    recording, count = spec.playback.recording, spec.playback.frame_count
    behaviour = placed.behaviour
    if behaviour is not None and behaviour.passes_through:
        frames = _overlapping(spec, placed.subtask, behaviour.passes_through)
        return FaultFrames(frames, frames, frozenset((behaviour.passes_through,)))
    if behaviour is not None and behaviour.pushes:
        frames = _pushed(recording, behaviour.pushes, count)
        return FaultFrames(frames, frames, frozenset((behaviour.pushes,)))
    if placed.fault.act is None:
        raise InputError(f"{FILE}: the fault {placed.fault.make} is a behaviour and needs 'act'")
    frames = act_frames(recording, placed.fault.act, placed.subtask, count)
    return FaultFrames(frames, frames[:1], frozenset(placed.bodies))


def act_frames(recording: Recording, act: Act, subtask: int, frame_count: int) -> tuple[int, ...]:
    """The frames of an act in a subtask."""
    phases = [phase for phase in recording.phases if phase.subtask == subtask]
    firsts = [phase.first for phase in phases[1:]] + [recording.stage_ends[subtask]]
    spans = {phase.name: (phase.first, end) for phase, end in reversed(list(zip(phases, firsts, strict=True)))}
    if act.since not in spans:
        return ()
    plus = round(act.plus_s * recording.fps)
    first = spans[act.since][int(act.after)] + (plus if not act.until else 0)
    end = frame_count
    if act.until in spans:
        end = min(spans[act.until][0] + plus, frame_count)
    if act.most_s is not None:
        first = max(first, end - round(act.most_s * recording.fps))
    return tuple(range(min(first, end - 1), end))


def _pushed(recording: Recording, obj: str, frame_count: int) -> tuple[int, ...]:
    """The frames from the first to the last frame in which an object moves."""
    start = recording.scene.qpos_start(obj)
    speed = np.linalg.norm(np.diff(recording.states[:frame_count, start : start + 3], axis=0), axis=1) * recording.fps
    moving = np.flatnonzero(speed > _PUSHED_M_PER_S)
    return tuple(range(int(moving[0]), int(moving[-1]) + 2)) if len(moving) else ()


def _overlapping(spec: ClipSpec, number: int, other: str) -> tuple[int, ...]:
    """The frames in which the hand, or the object in the hand, overlaps an intangible object."""
    recording, subtask = spec.playback.recording, spec.played[number]
    model = recording.scene.model
    data = mujoco.MjData(model)
    hand = [f"{subtask.side}{part}" for part in HAND_PARTS]
    movers = [geom for body in (subtask.obj.name, *hand) for geom in _solid(model, body)]
    pairs = [(moving, fixed) for moving in movers for fixed in _solid(model, other)]
    frames = []
    for frame in range(spec.playback.frame_count):
        data.qpos[:] = recording.states[frame]
        mujoco.mj_forward(model, data)
        if any(mujoco.mj_geomDistance(model, data, *pair, 0.05, None) < -OVERLAP_M for pair in pairs):
            frames.append(frame)
    return tuple(frames)


def _solid(model: mujoco.MjModel, body: str) -> list[int]:
    own = np.flatnonzero(model.geom_bodyid == model.body(body).id)
    return [int(geom) for geom in own if model.geom_contype[geom]]
