"""Checks that decide whether a clip is accepted: grasps hold, bodies do not overlap, the label is right, the fault is
visible.

Each check returns the reason for rejecting the clip, or None. Reasons are counted. A rejected clip is drawn again with
the same fault.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.forge.simulate.arm import FINGERS
from robogaze.forge.simulate.clip_spec import ClipSpec, PlacedFault
from robogaze.forge.simulate.fault_frames import FaultFrames
from robogaze.forge.simulate.playback import Renderer
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.scene_sampler import TaskSetup
from robogaze.forge.simulate.tasks import Subtask, is_done

DEEPEST_M = 0.0025
"""The deepest overlap of two solid bodies."""
FASTEST_M_PER_S = 1.92
"""The fastest an object may move from frame to frame: a fall from 15 cm, or twice the fastest carry."""
LONGEST_UNHELD_S = 0.13
"""The longest time an object may touch nothing without falling."""
SLIP_M = 0.012
"""How far an object may move in the hand that holds it."""
MOVED_M = 0.008
"""The largest movement of a bystander that nothing should touch."""
LEAST_SHARE = 0.0012
"""The least share of the picture that the affected bodies fill at the onset."""
HIDDEN_SHARE = 0.25
"""The largest share, of the bodies that an edit should hide, that may remain visible."""
LEAST_FACING_COSINE = 0.2
"""The least cosine of the angle between the direction a front faces and the direction to the camera."""
APART_M = 0.04
"""The least final distance between a body in the clip and in the twin, for a fault of behaviour."""
_VISIBLE_LEVELS, _VISIBLE_PIXELS = 12, 20
_LEAST_FRAMES = 2
_DEVELOPS = 0.75
"""The share of a ramp after which most of the difference is there."""


@dataclass(frozen=True)
class Audit:
    """The deepest overlap, the longest step between frames, and the most frames without support in a recording."""

    penetration_m: float
    step_m: float
    unheld_frames: int
    fps: int

    @property
    def findings(self) -> tuple[str, ...]:
        """The names of the values that exceed their limits."""
        limits = (
            (self.penetration_m, DEEPEST_M, "penetration"),
            (self.step_m * self.fps, FASTEST_M_PER_S, "jump"),
            (self.unheld_frames / self.fps, LONGEST_UNHELD_S, "without support"),
        )
        return tuple(name for value, limit, name in limits if value > limit)


def audit(recording: Recording, setup: TaskSetup) -> Audit:
    loose = [obj.name for obj in setup.objects if obj.movable and not obj.hidden]
    return Audit(
        penetration_m=float(recording.penetration_m.max()),
        step_m=max((_step(recording, name) for name in loose), default=0.0),
        unheld_frames=max((_unheld(recording, name) for name in loose), default=0),
        fps=recording.fps,
    )


def _places(recording: Recording, obj: str) -> np.ndarray:
    start = recording.scene.qpos_start(obj)
    return recording.states[:, start : start + 3]


def _step(recording: Recording, obj: str) -> float:
    return float(np.linalg.norm(np.diff(_places(recording, obj), axis=0), axis=1).max())


def _unheld(recording: Recording, obj: str) -> int:
    """The longest run of frames in which an object touches nothing and does not fall."""
    # The least fall within a frame, of an object that has been falling for a quarter of a frame.
    falls = np.diff(_places(recording, obj)[:, 2]) < -0.25 * 9.81 / recording.fps**2
    longest = run = 0
    for number, falling in enumerate(falls):
        alone = not any(obj in pair for pair in recording.touching_sometime[number])
        run = run + 1 if alone and not falling else 0
        longest = max(longest, run)
    return longest


def motion_problem(spec: ClipSpec) -> str | None:
    """The reason for rejecting the recordings, or None."""
    checks = (_fronts, _outcome, _penetration, _grasps, _bystanders, _audited)
    return next((reason for check in checks if (reason := check(spec))), None)


def visibility_problem(
    spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames
) -> str | None:
    """The reason for rejecting a clip because of how one of its faults is visible, or None."""
    checks = (_differs, _far_apart, _visible, _hidden, _exact, _hard_enough)
    return next((reason for check in checks if (reason := check(spec, placed, renderer, fault_frames))), None)


def unusual_problem(spec: ClipSpec, renderer: Renderer) -> str | None:
    """The reason for rejecting a clip because the hand does not hide an object as the behaviour demands, or None."""
    for (_, end), behaviour in zip(spec.sampled.parts, spec.behaviours, strict=True):
        if behaviour.hides and not _gets_hidden(spec, renderer, behaviour.hides, end - 1):
            return "the hand hides nothing"
    return None


def _gets_hidden(spec: ClipSpec, renderer: Renderer, obj: str, subtask: int) -> bool:
    """Whether an object is hidden at some moment of a carry."""
    view = spec.playback.first_view
    first, end = (spec.playback.recording.first_frame(phase, subtask) for phase in ("carry", "release"))
    assert first is not None
    assert end is not None
    before = renderer.visible_share(spec.playback, 0, view, (obj,))
    return before > 0 and any(
        renderer.visible_share(spec.playback, number, view, (obj,)) <= HIDDEN_SHARE * before
        for number in range(first, end, 3)
    )


def _penetration(spec: ClipSpec) -> str | None:
    depth = max(spec.playback.recording.penetration_m.max(), spec.twin.recording.penetration_m.max())
    return "penetration" if depth > DEEPEST_M else None


def _outcome(spec: ClipSpec) -> str | None:
    """Every task is done in the twin, and done or not done in the clip, as the label says."""
    wanted: dict[int, bool | None] = {
        placed.subtask: placed.fault.task_done for placed in spec.faults if placed.edit is None
    }
    since = 0
    for number, subtask in enumerate(spec.subtasks):
        end = spec.twin.recording.stage_ends[number]
        if not is_done(spec.twin.recording, subtask, end - 1, since):
            return "the task is not done in the twin"
        since = end
    for first, end in spec.sampled.parts:
        since = spec.playback.recording.stage_ends[first - 1] if first else 0
        last = min(spec.playback.recording.stage_ends[end - 1], spec.playback.frame_count) - 1
        asked = spec.subtasks[first:end]
        label = next((wanted[number] for number in range(first, end) if number in wanted), True)
        done = all(is_done(spec.playback.recording, subtask, last, since) for subtask in asked)
        if label is not None and done != label:
            return "the result does not match the label"
    return None


def _fronts(spec: ClipSpec) -> str | None:
    """A front that is opened or closed is not turned away from the camera."""
    turn = np.radians(spec.first_camera.azimuth)
    to_camera = -np.array([np.cos(turn), np.sin(turn)])
    for obj in (subtask.obj for subtask in spec.subtasks if subtask.obj.has_front):
        if to_camera @ [np.cos(obj.yaw), np.sin(obj.yaw)] < LEAST_FACING_COSINE:
            return f"a {obj.shape.form} is turned away from the camera"
    return None


def _grasps(spec: ClipSpec) -> str | None:
    keeps = [behaviour.keeps_grasp for behaviour in spec.behaviours for _ in behaviour.subtasks]
    held = [(spec.playback.recording, subtask) for subtask, kept in zip(spec.played, keeps, strict=True) if kept]
    if spec.twin.recording is not spec.playback.recording:
        held += [(spec.twin.recording, subtask) for subtask in spec.subtasks]
    return None if all(stays_in_hand(recording, subtask) for recording, subtask in held) else "a grasp does not hold"


def stays_in_hand(recording: Recording, subtask: Subtask) -> bool:
    """Whether an object stays in the hand that carries it: both fingers touch the object in every frame, and it does
    not shift.

    True if the object is never picked up.
    """
    number = subtask.number
    first = recording.first_frame("carry", number) or recording.first_frame("hold", number)
    if subtask.action != "place" or first is None:
        return True
    frames = range(first + 2, (recording.first_frame("release", number) or recording.stage_ends[number]) - 1)
    pairs = {frozenset((subtask.obj.name, f"{subtask.side}{finger}")) for finger in FINGERS}
    if not all(pairs <= recording.touching_sometime[frame] for frame in frames):
        return False
    places = np.array([_in_hand(recording, subtask, frame) for frame in frames])
    return bool(np.ptp(places, axis=0).max() <= SLIP_M)


def _in_hand(recording: Recording, subtask: Subtask, number: int) -> np.ndarray:
    """An object's height below the tool and its distance from the tool sideways (m); the hand always points down."""
    model = recording.scene.model
    data = mujoco.MjData(model)
    data.qpos[:] = recording.states[number]
    mujoco.mj_kinematics(model, data)
    tool, obj = data.site(f"{subtask.side}tool").xpos, recording.pose(number, subtask.obj.name)[:3]
    return np.array([tool[2] - obj[2], np.linalg.norm(tool[:2] - obj[:2])])


def _bystanders(spec: ClipSpec) -> str | None:
    """Only bodies that the label names move."""
    twin, playback = spec.twin.recording, spec.playback.recording
    setup, named = spec.sampled.setup, {body for placed in spec.faults for body in placed.bodies}
    for obj in (*setup.bystanders, *(goal for goal in setup.unused_goals if goal.is_fixture)):
        if _has_moved(twin, obj.name) or (obj.name not in named and _has_moved(playback, obj.name)):
            return "a bystander is touched"
    return None


def _has_moved(recording: Recording, obj: str) -> bool:
    return bool(recording.moved_m(obj).max() > MOVED_M)


def _audited(spec: ClipSpec) -> str | None:
    findings = audit(spec.twin.recording, spec.sampled.setup).findings
    return f"audit: {findings[0]}" if findings else None


def _differs(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> str | None:
    if len(fault_frames.shown) < _LEAST_FRAMES:
        return "no difference from the twin"
    if placed.edit is not None and placed.edit.bodies and not fault_frames.bodies <= set(placed.edit.bodies):
        return "bodies that the edit does not name differ from the twin"
    return None


def _far_apart(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> str | None:
    """A fault of behaviour ends visibly different from the twin."""
    behaviour = placed.behaviour
    if behaviour is None or behaviour.cut_in or behaviour.passes_through or placed.fault.task_done:
        return None  # if the results are alike, the motion differs
    if spec.subtasks[placed.subtask].obj.is_fixture:
        return None  # the joint shows whether the task is done, and the label is checked against the twin
    recording, twin = spec.playback.recording, spec.twin.recording
    last, twin_last = (known.stage_ends[placed.subtask] - 1 for known in (recording, twin))
    for obj in {*placed.bodies} & {known.name for known in spec.sampled.setup.objects if known.movable}:
        if np.linalg.norm(recording.pose(last, obj)[:3] - twin.pose(twin_last, obj)[:3]) > APART_M:
            return None
    return "the clip differs too little from the twin"


def _visible(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> str | None:
    """Affected bodies are visible at the onset and once the fault is developed, with the fault or without it."""
    if not placed.bodies:
        return None
    for number in (fault_frames.onset, fault_frames.developing[-1]):
        if _shown_share(spec, placed, renderer, number) < LEAST_SHARE:
            return "the affected bodies are out of sight at the onset"
    return None


def _shown_share(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, number: int) -> float:
    """The larger of two shares of the picture: the share that the affected bodies fill with a fault, and the share that
    they fill without it.
    """
    edits = () if placed.edit is None else (placed.edit,)
    view = (placed.edit and placed.edit.view) or spec.playback.first_view
    playbacks = [spec.only(*edits), spec.only()] if edits else [spec.playback]
    return max(renderer.visible_share(playback, number, view, placed.bodies) for playback in playbacks)


def _hidden(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> str | None:
    """The bodies that an edit should hide are hidden at the middle of the edit, or at the end of the clip."""
    edit = placed.edit
    if edit is None or not edit.hides:
        return None
    lasting = fault_frames.shown[-1] == spec.playback.frame_count - 1
    number = fault_frames.shown[-1] if lasting else fault_frames.shown[len(fault_frames.shown) // 2]
    before, after = (
        renderer.visible_share(playback, number, spec.playback.first_view, edit.hides)
        for playback in (spec.only(), spec.only(edit))
    )
    if before < LEAST_SHARE or after > HIDDEN_SHARE * before or (lasting and after > 0):
        return "a body that should be hidden is visible"
    return None


def _exact(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> str | None:
    """The frame before the onset is equal, pixel for pixel, to the twin's frame, and the event differs visibly from the
    twin.
    """
    if placed.edit is None or not placed.edit.bodies:
        return None
    if fault_frames.onset < 1:
        return "the fault begins before the clip"
    before, at = (
        [renderer.frame(playback, number) for playback in (spec.only(placed.edit), spec.only())]
        for number in (fault_frames.onset - 1, fault_frames.developing[-1])
    )
    if not np.array_equal(before[0], before[1]):
        return "the clip differs from the twin before the onset"
    change = np.abs(at[0].astype(np.int16) - at[1]).max(axis=2)
    visible = int((change > _VISIBLE_LEVELS).sum()) >= _VISIBLE_PIXELS
    return None if visible else "the event shows no visible difference from the twin"


def _hard_enough(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> str | None:
    """A fault stays within the limits of the ways in which the fault should be hard to see."""
    hard, fps = spec.request.difficulty, spec.playback.recording.fps
    if hard is None:
        return None
    if "small" in placed.ways and _filled_share(spec, placed, renderer, fault_frames) > hard.largest_share:
        return "the fault is not small"
    if "short" in placed.ways and len(fault_frames.shown) / fps > hard.longest_s:
        return "the fault is not short"
    if "gradual" in placed.ways and len(fault_frames.developing) / fps < _DEVELOPS * hard.gradual_s[0]:
        return "the fault is not gradual"
    return None


def _filled_share(spec: ClipSpec, placed: PlacedFault, renderer: Renderer, fault_frames: FaultFrames) -> float:
    """The share of a view that a developed fault changes."""
    if placed.edit is not None and placed.edit.edits_picture:
        return placed.edit.part_share
    return _shown_share(spec, placed, renderer, fault_frames.developing[-1])
