"""Moving the arms: scripts of moves and the physics they cause, recorded once.

The arms' joints follow their scripts exactly (they are set, not driven); everything else is physics: the fingers
close with a bounded force, things are held by friction, fall, slide and roll. Nothing is attached to a hand.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.body import FINGERS, OPEN_M
from robogaze.forge.simulate.kinematics import Arm, Pose, Vector
from robogaze.forge.simulate.scene import STEP_S, CompiledScene

FPS = 16
_STEPS_PER_FRAME = round(1 / FPS / STEP_S)
_STEPS_PER_POSE = 4
_SETTLE_S = 0.3
_SLIPPERY = (0.012, 0.0001, 0.0001)

States = NDArray[np.float64]
Pairs = frozenset[frozenset[str]]
"""Which bodies touch which, by their names."""


_BROKEN_DOWN = (
    mujoco.mjtWarning.mjWARN_BADQPOS,
    mujoco.mjtWarning.mjWARN_BADQVEL,
    mujoco.mjtWarning.mjWARN_BADQACC,
)
# MuJoCo writes its warnings to stdout, where results stand; they are counted all the same.
mujoco.set_mju_user_warning(lambda text: None)


class Unstable(Exception):
    """The simulation broke down: a draw that cannot be played."""


@dataclass(frozen=True)
class Move:
    """The tool goes to a place (m) in some seconds, starting and ending at rest.

    `lift` raises the path by that much between its ends, up first and down last. `gap` is the opening (m) the
    fingers have at the end of the move, `yaw` the hand's turn (radians); what is None stays as it was. `around` bends
    the path round a place on the table, by less than half a turn. `phase` names what begins with the move, and `about`
    the thing and the goal it is about.
    """

    seconds: float
    to: tuple[float, float, float] | None = None
    lift: float = 0.0
    gap: float | None = None
    yaw: float | None = None
    around: tuple[float, float] | None = None
    phase: str = ""
    about: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Phase:
    """A stretch of a recording, from a frame on: what the arm of a side does, with which thing and goal."""

    name: str
    first: int
    side: str
    thing: str
    goal: str


@dataclass(frozen=True)
class Take:
    """A recording: the state at every frame, its phases, and what touched what.

    `touching` holds for each frame the pairs of bodies that touched in every step of it, `touched` those that did in
    some, `depth_m` how deep any two solid bodies were in each other at most.
    """

    scene: CompiledScene
    states: States
    phases: tuple[Phase, ...]
    touching: tuple[Pairs, ...]
    touched: tuple[Pairs, ...]
    depth_m: NDArray[np.float64]

    def phase_at(self, frame: int) -> Phase:
        """The phase a frame lies in."""
        return [phase for phase in self.phases if phase.first <= frame][-1]

    def pose(self, frame: int, thing: str) -> Vector:
        """Place and quaternion of a loose thing at a frame."""
        start = self.scene.place_of(thing)
        return self.states[frame, start : start + 7].copy()

    def way(self, thing: str) -> Vector:
        """How far out a fixture's moving part is at every frame, in metres."""
        return np.asarray(self.states[:, self.scene.place_of(thing)] * self.scene.things[thing].lever_m)

    def moved_m(self, thing: str) -> Vector:
        """How far from where it was at first a thing's place, or a fixture's moving part, is at every frame."""
        if self.scene.things[thing].fixture:
            return np.asarray(np.abs(self.way(thing) - self.way(thing)[0]))
        start = self.scene.place_of(thing)
        places = self.states[:, start : start + 3]
        return np.asarray(np.linalg.norm(places - places[0], axis=1))


Plan = Mapping[str, Sequence[Move]]
"""The moves of each arm, by its side; an arm without any rests."""


def record(scene: CompiledScene, plan: Plan, *, ghosts: Sequence[str] = (), slippery: bool = False) -> Take:
    """Play a plan with physics.

    `ghosts` are things that touch the table and nothing else; `slippery` fingers have almost no friction. Raises
    OutOfReach and Unstable.
    """
    model = copy(scene.model)
    for ghost in ghosts:
        own, table = model.geom_bodyid == model.body(ghost).id, model.geom("table").id
        for layer in (model.geom_contype, model.geom_conaffinity):
            layer[own], layer[table] = 2, 3
    if slippery:
        fingers = [model.body(f"{side}{name}").id for side in scene.sides for name in FINGERS]
        pads = np.isin(model.geom_bodyid, fingers)
        model.geom_friction[pads] = _SLIPPERY
        model.geom_priority[pads] = 2
    return _play(scene, model, plan)


def _play(scene: CompiledScene, model: mujoco.MjModel, plan: Plan) -> Take:
    data = mujoco.MjData(model)
    arms = [Arm(model, side, base) for side, base in zip(scene.sides, scene.bases, strict=True)]
    scripts, phases = [], []
    for arm in arms:
        arm.put(data)
        poses, found = _script(plan.get(arm.side, ()), arm.rest, arm.side)
        scripts.append(poses)
        phases += found
    for _ in range(round(_SETTLE_S / STEP_S)):
        _step(model, data, [(arm, arm.angles, OPEN_M) for arm in arms])
    log = _Log(model)
    for number in range(max(len(script) for script in scripts)):
        poses = [script[min(number, len(script) - 1)] for script in scripts]
        aims = [(arm, arm.angles.copy(), arm.reach(pose), pose.gap) for arm, pose in zip(arms, poses, strict=True)]
        for part in range(_STEPS_PER_POSE):
            if (number * _STEPS_PER_POSE + part) % _STEPS_PER_FRAME == 0:
                log.frame(data)
            share = (part + 1) / _STEPS_PER_POSE
            _step(model, data, [(arm, start + (aim - start) * share, gap) for arm, start, aim, gap in aims])
            log.step(data)
    if any(data.warning[int(kind)].number for kind in _BROKEN_DOWN):
        raise Unstable
    in_order = tuple(sorted(phases, key=lambda phase: phase.first))
    return Take(
        scene=scene,
        states=np.array(log.states),
        phases=in_order,
        touching=log.named(log.throughout),
        touched=log.named(log.sometime),
        depth_m=np.array(log.depths),
    )


def _step(model: mujoco.MjModel, data: mujoco.MjData, moves: Sequence[tuple[Arm, Vector, float]]) -> None:
    """One step of physics, after which each arm's joints are where they were sent."""
    for arm, angles, gap in moves:
        arm.send(data, angles, gap)
    mujoco.mj_step(model, data)
    for arm, angles, _ in moves:
        arm.arrive(data, angles)


class _Log:
    """What is noted while a plan is played."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self._body_of = model.geom_bodyid
        self._names = [model.body(number).name for number in range(model.nbody)]
        self.states: list[Vector] = []
        self.depths: list[float] = []
        self.throughout: list[set[tuple[int, int]]] = []
        self.sometime: list[set[tuple[int, int]]] = []
        self._begun = False

    def frame(self, data: mujoco.MjData) -> None:
        """A frame begins."""
        self.states.append(data.qpos.copy())
        self.depths.append(0.0)
        self.throughout.append(set())
        self.sometime.append(set())
        self._begun = True

    def step(self, data: mujoco.MjData) -> None:
        """A step was made."""
        bodies = self._body_of[data.contact.geom]
        pairs = {(int(min(pair)), int(max(pair))) for pair in bodies}
        self.throughout[-1] = pairs if self._begun else self.throughout[-1] & pairs
        self.sometime[-1] |= pairs
        self._begun = False
        if data.ncon:
            self.depths[-1] = max(self.depths[-1], float(-data.contact.dist.min()))

    def named(self, frames: Sequence[set[tuple[int, int]]]) -> tuple[Pairs, ...]:
        """Pairs of bodies by their names."""
        names = self._names
        return tuple(frozenset(frozenset((names[a], names[b])) for a, b in pairs) for pairs in frames)


def _script(plan: Sequence[Move], rest: Vector, side: str) -> tuple[list[Pose], list[Phase]]:
    """A pose for every few steps of a plan, and its phases."""
    last = Pose(rest, 0.0, OPEN_M)
    poses, phases = [last], []
    for move in plan:
        if move.phase:
            first = len(poses) * _STEPS_PER_POSE // _STEPS_PER_FRAME
            phases.append(Phase(move.phase, first, side, *move.about))
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
    if move.around is not None:
        place[:2] = _on_arc(start.place[:2], target[:2], np.array(move.around), over)
    place[2] += move.lift * (_ease(share / 0.45) - _ease((share - 0.55) / 0.45))
    return Pose(place, start.yaw + (yaw - start.yaw) * _ease(share), start.gap + (gap - start.gap) * _ease(share))


def _on_arc(start: Vector, end: Vector, middle: Vector, share: float) -> Vector:
    """The place after a share of the shorter way round a middle, as far from it as both ends are on the way."""
    (x, y), (a, b) = start - middle, end - middle
    near, far = np.hypot(x, y), np.hypot(a, b)
    angle = np.arctan2(y, x) + share * np.arctan2(x * b - y * a, x * a + y * b)
    return np.asarray(middle + (near + (far - near) * share) * np.array([np.cos(angle), np.sin(angle)]))


def _ease(share: float) -> float:
    """From 0 to 1 with no speed and no acceleration at either end."""
    s = min(max(share, 0.0), 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2)
