"""Recording the motion: scripts of moves for the arms, and the physics that follows from them.

The joints of the arms are set and follow their scripts exactly. Everything else is physics: fingers close with a
limited force; objects are held by friction, fall, slide and roll. Nothing is attached to a hand.
"""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.arm import FINGERS, OPEN_M, STEP_S, Arm, Pose, Vector
from robogaze.forge.simulate.scene import CompiledScene

FPS = 16
"""The frame rate of a clip unless another is asked for."""
_STEPS_PER_POSE = 4
_STEPS_PER_S = round(1 / STEP_S)
_SETTLE_S = 0.3
_SLIPPERY = (0.012, 0.0001, 0.0001)

States = NDArray[np.float64]
Pairs = frozenset[frozenset[str]]
"""Pairs of bodies in contact, by name."""


_BROKEN_DOWN = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)
# MuJoCo would write warnings to stdout. The warnings are still counted in the data.
mujoco.set_mju_user_warning(lambda text: None)


class UnstableSimulation(Exception):
    """The simulation diverged; the clip is drawn again."""


@dataclass(frozen=True)
class Move:
    """A move of the tool to a place (m); the tool is at rest before and after it.

    `lift` raises the path between its ends (m): the tool goes up first and comes down last. `gap` is the opening of the
    fingers at the end (m) and `yaw` the rotation of the hand (radians); None keeps the current value. `around` bends
    the path around a place on the table, by less than half a turn. `phase` names the phase that starts with the move.
    """

    seconds: float
    to: tuple[float, float, float] | None = None
    lift: float = 0.0
    gap: float | None = None
    yaw: float | None = None
    around: tuple[float, float] | None = None
    phase: str = ""


@dataclass(frozen=True)
class Phase:
    """A part of a recording, from frame `first` on: the action of one arm, with its object and goal.

    `subtask` is the number of the subtask to which the phase belongs.
    """

    name: str
    first: int
    side: str
    obj: str
    goal: str
    subtask: int = 0


@dataclass(frozen=True)
class ArmStage:
    """What one arm does next. `moves` are planned when the stage begins, from the state at that moment.

    `about` has the names of the object and the goal. `slippery` fingers have almost no friction.
    """

    side: str
    moves: Callable[["CompiledScene", Vector], Sequence[Move]]
    about: tuple[str, str] = ("", "")
    subtask: int = 0
    slippery: bool = False


@dataclass(frozen=True)
class Recording:
    """The state at every frame, the phases, and the contacts.

    `stage_ends` has one number for each stage: the frame after the last frame of the stage. The last three fields have
    one entry for each frame. `touching_throughout` has the pairs of bodies that are in contact in every simulation step
    of the frame, and `touching_sometime` the pairs that are in contact in at least one step. `penetration_m` has the
    deepest overlap of two solid bodies.
    """

    scene: CompiledScene
    fps: int
    states: States
    phases: tuple[Phase, ...]
    stage_ends: tuple[int, ...]
    touching_throughout: tuple[Pairs, ...]
    touching_sometime: tuple[Pairs, ...]
    penetration_m: NDArray[np.float64]

    def phase_at(self, frame: int) -> Phase:
        return [phase for phase in self.phases if phase.first <= frame][-1]

    def first_frame(self, phase: str, subtask: int) -> int | None:
        """The first frame of a phase of a subtask, None if the subtask does not have this phase."""
        for known in self.phases:
            if (known.name, known.subtask) == (phase, subtask):
                return known.first
        return None

    def pose(self, frame: int, obj: str) -> Vector:
        """Place and quaternion of a movable object at a frame."""
        start = self.scene.qpos_start(obj)
        return self.states[frame, start : start + 7].copy()

    def offsets_m(self, obj: str) -> Vector:
        """The offset of a fixture's moving part at every frame."""
        return np.asarray(self.states[:, self.scene.qpos_start(obj)] * self.scene.objects[obj].lever_m)

    def moved_m(self, obj: str) -> Vector:
        """The distance of an object, or of a fixture's moving part, from its first place, at every frame."""
        if self.scene.objects[obj].is_fixture:
            return np.asarray(np.abs(self.offsets_m(obj) - self.offsets_m(obj)[0]))
        start = self.scene.qpos_start(obj)
        places = self.states[:, start : start + 3]
        return np.asarray(np.linalg.norm(places - places[0], axis=1))


def record(
    scene: CompiledScene, stages: Sequence[ArmStage], *, intangible: Sequence[str] = (), fps: int = FPS
) -> Recording:
    """Simulate stages one after another, with a state every 1 / `fps` seconds.

    `intangible` objects collide with the table only. Raises OutOfReach and UnstableSimulation.
    """
    model = copy(scene.model)
    for name in intangible:
        own, table = model.geom_bodyid == model.body(name).id, model.geom("table").id
        for layer in (model.geom_contype, model.geom_conaffinity):
            layer[own], layer[table] = 2, 3
    return _Take(scene, model, fps).play(stages)


class _Take:
    """The simulation of one recording."""

    def __init__(self, scene: CompiledScene, model: mujoco.MjModel, fps: int) -> None:
        self._scene, self._model, self._fps = scene, model, fps
        self._data = mujoco.MjData(model)
        self._arms = [Arm(model, side, base) for side, base in zip(scene.sides, scene.bases, strict=True)]
        self._poses = {arm.side: Pose(arm.rest, 0.0, OPEN_M) for arm in self._arms}
        self._log = _ContactLog(model)
        self._steps = 0
        self._phases: list[Phase] = []
        fingers = [model.body(f"{side}{name}").id for side in scene.sides for name in FINGERS]
        self._pads = np.isin(model.geom_bodyid, fingers)
        self._grip = model.geom_friction[self._pads].copy(), model.geom_priority[self._pads].copy()

    def play(self, stages: Sequence[ArmStage]) -> Recording:
        for arm in self._arms:
            arm.reset(self._data)
        for _ in range(round(_SETTLE_S / STEP_S)):
            _step(self._model, self._data, [(arm, arm.angles, OPEN_M) for arm in self._arms])
        ends = []
        for stage in stages:
            self._refuse_unstable()
            self._perform(stage)
            ends.append(len(self._log.states))
        self._refuse_unstable()
        return Recording(
            scene=self._scene,
            fps=self._fps,
            states=np.array(self._log.states),
            phases=tuple(self._phases),
            stage_ends=tuple(ends),
            touching_throughout=self._log.named(self._log.throughout),
            touching_sometime=self._log.named(self._log.sometime),
            penetration_m=np.array(self._log.depths),
        )

    def _refuse_unstable(self) -> None:
        if any(self._data.warning[int(kind)].number for kind in _BROKEN_DOWN):
            raise UnstableSimulation

    def _perform(self, stage: ArmStage) -> None:
        friction, priority = (_SLIPPERY, 2) if stage.slippery else self._grip
        self._model.geom_friction[self._pads], self._model.geom_priority[self._pads] = friction, priority
        for move in stage.moves(self._scene, self._data.qpos):
            if move.phase:
                first = -(-self._steps * self._fps // _STEPS_PER_S)
                self._phases.append(Phase(move.phase, first, stage.side, *stage.about, stage.subtask))
            start = self._poses[stage.side]
            count = round(move.seconds / STEP_S / _STEPS_PER_POSE)
            for number in range(count):
                self._poses[stage.side] = _between(start, move, (number + 1) / count)
                self._pose()

    def _pose(self) -> None:
        """Bring the arms to their poses within a few steps."""
        poses = [self._poses[arm.side] for arm in self._arms]
        aims = [
            (arm, arm.angles.copy(), arm.solve(pose), pose.gap) for arm, pose in zip(self._arms, poses, strict=True)
        ]
        for part in range(_STEPS_PER_POSE):
            # The first step at or after the time of a frame.
            if self._steps * self._fps // _STEPS_PER_S >= len(self._log.states):
                self._log.frame(self._data)
            share = (part + 1) / _STEPS_PER_POSE
            _step(self._model, self._data, [(arm, start + (aim - start) * share, gap) for arm, start, aim, gap in aims])
            self._log.step(self._data)
            self._steps += 1


def _step(model: mujoco.MjModel, data: mujoco.MjData, moves: Sequence[tuple[Arm, Vector, float]]) -> None:
    """One step of physics; after the step, the joints of each arm are at the commanded angles."""
    for arm, angles, gap in moves:
        arm.command(data, angles, gap)
    mujoco.mj_step(model, data)
    for arm, angles, _ in moves:
        arm.settle(data, angles)


class _ContactLog:
    """States and contacts of a simulation, frame by frame."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._body_of = model.geom_bodyid
        self._names = [model.body(number).name for number in range(model.nbody)]
        self.states: list[Vector] = []
        self.depths: list[float] = []
        self.throughout: list[set[tuple[int, int]]] = []
        self.sometime: list[set[tuple[int, int]]] = []
        self._begun = False

    def frame(self, data: mujoco.MjData) -> None:
        """Start a frame."""
        self.states.append(data.qpos.copy())
        self.depths.append(0.0)
        self.throughout.append(set())
        self.sometime.append(set())
        self._begun = True

    def step(self, data: mujoco.MjData) -> None:
        """Record the contacts of a step."""
        bodies = np.sort(self._body_of[data.contact.geom], axis=1)
        pairs: set[tuple[int, int]] = set(map(tuple, bodies.tolist()))
        self.throughout[-1] = pairs if self._begun else self.throughout[-1] & pairs
        self.sometime[-1] |= pairs
        self._begun = False
        if data.ncon:
            self.depths[-1] = max(self.depths[-1], float(-data.contact.dist.min()))

    def named(self, frames: Sequence[set[tuple[int, int]]]) -> tuple[Pairs, ...]:
        """Pairs of bodies by name."""
        names = self._names
        return tuple(frozenset(frozenset((names[a], names[b])) for a, b in pairs) for pairs in frames)


def _between(start: Pose, move: Move, share: float) -> Pose:
    """The pose after a share of a move."""
    target = start.place if move.to is None else np.array(move.to)
    gap = start.gap if move.gap is None else move.gap
    yaw = start.yaw if move.yaw is None else move.yaw
    # A lifted path goes up, then sideways until it is over the goal, then down.
    over = _ease((share - 0.12) / 0.70) if move.lift else _ease(share)
    place = start.place + (target - start.place) * over
    if move.around is not None:
        place[:2] = _on_arc(start.place[:2], target[:2], np.array(move.around), over)
    place[2] += move.lift * (_ease(share / 0.45) - _ease((share - 0.55) / 0.45))
    return Pose(place, start.yaw + (yaw - start.yaw) * _ease(share), start.gap + (gap - start.gap) * _ease(share))


def _on_arc(start: Vector, end: Vector, middle: Vector, share: float) -> Vector:
    """The place after a share of the shorter way around `middle`; the radius changes linearly."""
    (x, y), (a, b) = start - middle, end - middle
    near, far = np.hypot(x, y), np.hypot(a, b)
    angle = np.arctan2(y, x) + share * np.arctan2(x * b - y * a, x * a + y * b)
    return np.asarray(middle + (near + (far - near) * share) * np.array([np.cos(angle), np.sin(angle)]))


def _ease(share: float) -> float:
    """A smooth step from 0 to 1 without speed or acceleration at either end."""
    s = min(max(share, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)
