"""Moving the arm: a script of moves, inverse kinematics, and the physics they cause, recorded once.

The arm's joints follow the script exactly (they are set, not driven); everything else is physics: the fingers
close with a bounded force, things are held by friction, fall, slide and roll.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from render_demo.arm import ELBOW_UP, FINGERS, JOINTS, OPEN_M, TOOL_AT_REST
from render_demo.stage import STEP_S, Scene
from render_demo.things import GRASP_HEIGHT_M, Thing

FPS = 16
_STEPS_PER_FRAME = round(1 / FPS / STEP_S)
_STEPS_PER_POSE = 4
_SETTLE_S = 0.3
_LET_GO_M = 0.068
_SLIPPERY = (0.012, 0.0001, 0.0001)
_DOWN = np.diag([-1.0, 1.0, -1.0])
"""The hand's axes in the world when it looks down and is not turned."""

Place = tuple[float, float, float]


@dataclass(frozen=True)
class Move:
    """The tool goes to a place (m) in some seconds, starting and ending at rest.

    `lift` raises the path by that much between its ends, up first and down last. `gap` is the opening (m) the
    fingers have at the end of the move, `yaw` the hand's turn (radians); what is None stays as it was. `phase`
    names the frame at which the move starts.
    """

    seconds: float
    to: Place | None = None
    lift: float = 0.0
    gap: float | None = None
    yaw: float | None = None
    phase: str = ""


@dataclass(frozen=True)
class Take:
    """A recording: the state at every frame, and the frame at which each named phase starts."""

    scene: Scene
    states: NDArray[np.float64]
    phases: dict[str, int]


@dataclass(frozen=True)
class Pose:
    """Where the tool is at a moment."""

    place: NDArray[np.float64]
    yaw: float
    gap: float


AT_REST = Pose(TOOL_AT_REST, 0.0, OPEN_M)


def pick_and_place(thing: Thing, at: tuple[float, float], *, drop: float = 0.012, carry_s: float = 1.6) -> list[Move]:
    """Take a thing from where it stands to another place: six moves, 4.3 s when carrying it takes 1.6 s.

    The fingers open `drop` above the height at which they closed, so that the thing falls that far.
    """
    height = GRASP_HEIGHT_M[thing.kind]
    x, y = thing.at
    yaw = (thing.yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4
    return [
        Move(0.75, (x, y, height + 0.10), gap=OPEN_M, yaw=yaw, phase="approach"),
        Move(0.5, (x, y, height), phase="descend"),
        Move(0.3, gap=0.0, phase="grasp"),
        Move(carry_s, (*at, height + drop), lift=0.17, yaw=0.0, phase="carry"),
        Move(0.3, gap=_LET_GO_M, phase="release"),
        Move(0.85, (at[0] - 0.06, at[1] * 0.7, 0.30), phase="retreat"),
    ]


def record(scene: Scene, plan: Sequence[Move], *, ghost: str | None = None, slippery: bool = False) -> Take:
    """Play a plan with physics.

    A `ghost` is a thing that touches the table and nothing else; `slippery` fingers have almost no friction.
    """
    model = copy(scene.model)
    if ghost is not None:
        own, table = model.geom_bodyid == model.body(ghost).id, model.geom("table").id
        for layer in (model.geom_contype, model.geom_conaffinity):
            layer[own], layer[table] = 2, 3
    if slippery:
        pads = np.isin(model.geom_bodyid, [model.body(name).id for name in FINGERS])
        model.geom_friction[pads] = _SLIPPERY
        model.geom_priority[pads] = 1
    states, phases = _play(model, plan)
    return Take(scene, states, phases)


def _play(model: mujoco.MjModel, plan: Sequence[Move]) -> tuple[NDArray[np.float64], dict[str, int]]:
    script, phases = _script(plan)
    data = mujoco.MjData(model)
    arm = _Arm(model)
    arm.put(data, arm.reach(AT_REST))
    for _ in range(round(_SETTLE_S / STEP_S)):
        arm.step(data, arm.angles)
    states = []
    for number, pose in enumerate(script):
        target = arm.reach(pose)
        start = arm.angles.copy()
        for part in range(_STEPS_PER_POSE):
            if (number * _STEPS_PER_POSE + part) % _STEPS_PER_FRAME == 0:
                states.append(data.qpos.copy())
            arm.step(data, start + (target - start) * (part + 1) / _STEPS_PER_POSE, pose.gap)
    return np.array(states), phases


def _script(plan: Sequence[Move]) -> tuple[list[Pose], dict[str, int]]:
    """A pose for every few steps of the plan, and the frame at which each phase starts."""
    poses: list[Pose] = []
    phases: dict[str, int] = {}
    last = AT_REST
    for move in plan:
        if move.phase:
            phases[move.phase] = -(-len(poses) * _STEPS_PER_POSE // _STEPS_PER_FRAME)
        count = round(move.seconds / STEP_S / _STEPS_PER_POSE)
        poses += [_between(last, move, (step + 1) / count) for step in range(count)]
        last = poses[-1]
    return poses, phases


def _between(start: Pose, move: Move, share: float) -> Pose:
    """The pose after a share of a move."""
    target = start.place if move.to is None else np.array(move.to)
    gap = start.gap if move.gap is None else move.gap
    yaw = start.yaw if move.yaw is None else move.yaw
    # A lifted path goes up before it goes over, and is over its goal before it comes down.
    over = _ease((share - 0.12) / 0.70) if move.lift else _ease(share)
    place = start.place + (target - start.place) * over
    place[2] += move.lift * (_ease(share / 0.45) - _ease((share - 0.55) / 0.45))
    return Pose(place, start.yaw + (yaw - start.yaw) * _ease(share), start.gap + (gap - start.gap) * _ease(share))


def _ease(share: float) -> float:
    """From 0 to 1 with no speed and no acceleration at either end."""
    s = min(max(share, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)


class _Arm:
    """The arm's joints in a model, with a scratch copy to solve for them."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._scratch = mujoco.MjData(model)
        self._places = np.array([model.joint(name).qposadr[0] for name in JOINTS])
        self._speeds = np.array([model.joint(name).dofadr[0] for name in JOINTS])
        self._limits = np.array([model.joint(name).range for name in JOINTS]).T
        self._fingers = np.array([model.joint(name).qposadr[0] for name in FINGERS])
        self._tool = model.site("tool").id
        self.angles = ELBOW_UP

    def put(self, data: mujoco.MjData, angles: NDArray[np.float64]) -> None:
        """Set the joints, with the fingers open."""
        self.angles = angles
        data.qpos[self._places] = angles
        data.qpos[self._fingers] = OPEN_M / 2
        mujoco.mj_forward(self._model, data)

    def step(self, data: mujoco.MjData, angles: NDArray[np.float64], gap: float = OPEN_M) -> None:
        """One step of physics, after which the joints are at `angles`."""
        data.qpos[self._places] = self.angles
        data.qvel[self._speeds] = (angles - self.angles) / STEP_S
        data.ctrl[0] = gap / 2
        mujoco.mj_step(self._model, data)
        data.qpos[self._places] = self.angles = angles

    def reach(self, pose: Pose) -> NDArray[np.float64]:
        """Joint angles that bring the tool to a pose, by damped least squares from the present ones."""
        model, data = self._model, self._scratch
        cos, sin = np.cos(pose.yaw), np.sin(pose.yaw)
        wanted = np.array([[cos, -sin, 0], [sin, cos, 0], [0, 0, 1]]) @ _DOWN
        data.qpos[self._places] = self.angles
        jacobian = np.zeros((6, model.nv))
        for _ in range(30):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            error = self._error(pose.place, wanted)
            if np.abs(error).max() < 1e-5:
                break
            mujoco.mj_jacSite(model, data, jacobian[:3], jacobian[3:], self._tool)
            j = jacobian[:, self._speeds]
            turn = j.T @ np.linalg.solve(j @ j.T + 1e-6 * np.eye(6), error)
            data.qpos[self._places] = np.clip(data.qpos[self._places] + turn, *self._limits)
        else:
            raise ValueError(f"the arm cannot reach {np.round(pose.place, 3)} with a turn of {pose.yaw:.2f}")
        return np.array(data.qpos[self._places])

    def _error(self, place: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
        now = self._scratch.site_xmat[self._tool].reshape(3, 3)
        turn = 0.5 * np.cross(now, wanted, axis=0).sum(axis=1)
        return np.concatenate([place - self._scratch.site_xpos[self._tool], turn])
