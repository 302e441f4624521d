"""A six-joint arm with a two-finger hand, and its inverse kinematics.

When all joint angles are zero, every joint points straight up. The tool site is between the finger tips and points
along the hand; each finger slides along the hand's y axis by half the opening. The names of an arm's bodies start with
its side, which is empty for a single arm.
"""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.errors import InputError
from robogaze.forge.simulate.objects import NO_TOUCH, TOUCH
from robogaze.forge.simulate.simulation_config import Links

STEP_S = 1 / 512
"""The step of the physics."""
JOINTS = ("turn", "shoulder", "elbow", "roll", "wrist", "spin")
FINGERS = ("left_finger", "right_finger")
HAND = "hand"
HAND_PARTS = (HAND, *FINGERS)
ELBOW_UP = (0.0, 0.0, 1.9, 0.0, 1.2, 0.0)
"""Joint angles in radians from which every pose over the table is reachable without flipping the arm."""

OPEN_M = 0.078
"""The widest gap between the finger pads."""
GRIP_N = 14.0
"""The maximum closing force of the fingers."""

_Vector = tuple[float, ...]
_KIND = {
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
}


@dataclass(frozen=True)
class BodyPart:
    """A rendered part of a link. For a box, `size` has the half sizes and `place` the centre. For a cylinder or a
    capsule, `size` has the radius and `place` the two end points.
    """

    kind: str
    paint: str
    size: _Vector
    place: _Vector


@dataclass(frozen=True)
class BodyLink:
    """A body that turns about `axis` at `place` in its parent; angles in radians."""

    name: str
    place: _Vector
    axis: _Vector
    limit: tuple[float, float]
    parts: tuple[BodyPart, ...]


def _barrel(radius: float, half: float) -> tuple[BodyPart, ...]:
    """A joint's housing across the arm, with a dark cap and a bright rim at both ends."""
    return tuple(
        BodyPart("cylinder", paint, (radius * share,), (0, -half - beyond, 0, 0, half + beyond, 0))
        for paint, share, beyond in (("shell", 1.0, 0.0), ("accent", 0.86, 0.003), ("dark", 0.78, 0.008))
    )


def _tube(radius: float, low: float, high: float) -> BodyPart:
    return BodyPart("capsule", "shell", (radius,), (0, 0, low, 0, 0, high))


LINKS = (
    BodyLink("turn", (0, 0, 0.05), (0, 0, 1), (-2.8, 2.8),
         (BodyPart("cylinder", "shell", (0.068,), (0, 0, 0, 0, 0, 0.14)),
          BodyPart("cylinder", "dark", (0.070,), (0, 0, 0, 0, 0, 0.012)), _tube(0.060, 0.12, 0.23))),
    BodyLink("shoulder", (0, 0, 0.24), (0, 1, 0), (-1.8, 1.8), (*_barrel(0.066, 0.074), _tube(0.050, 0, 0.40))),
    BodyLink("elbow", (0, 0, 0.40), (0, 1, 0), (-0.3, 2.7), (*_barrel(0.057, 0.063), _tube(0.043, 0, 0.19))),
    BodyLink("roll", (0, 0, 0.20), (0, 0, 1), (-2.9, 2.9),
         (BodyPart("cylinder", "accent", (0.046,), (0, 0, -0.012, 0, 0, 0.010)), _tube(0.039, 0.01, 0.17))),
    BodyLink("wrist", (0, 0, 0.18), (0, 1, 0), (-2.2, 2.2), (*_barrel(0.044, 0.048), _tube(0.037, 0, 0.055))),
    BodyLink("spin", (0, 0, 0.095), (0, 0, 1), (-3.0, 3.0),
         (BodyPart("cylinder", "accent", (0.036,), (0, 0, -0.008, 0, 0, 0.014)),)),
)  # fmt: skip

_PALM = (
    BodyPart("box", "shell", (0.024, 0.058, 0.020), (0, 0, 0.034)),
    BodyPart("box", "dark", (0.020, 0.060, 0.007), (0, 0, 0.059)),
    BodyPart("cylinder", "accent", (0.010,), (0.0225, 0, 0.036, 0.0255, 0, 0.036)),
)
_FINGER = (
    BodyPart("box", "dark", (0.011, 0.009, 0.018), (0, 0.011, 0.014)),
    BodyPart("box", "dark", (0.009, 0.0045, 0.020), (0, 0.0085, 0.044)),
)
_PAD = BodyPart("box", "rubber", (0.009, 0.002, 0.015), (0, 0.002, 0.049))
_FLANGE_M = 0.02
"""From the last joint to inside the palm."""
_RIB_M = 0.02
_STEPS = (1.15, 1.0, 0.8, 0.65)
"""The radii of a stepped link's tubes, relative to a round tube's."""
_TAPER = tuple(np.linspace(1.15, 0.7, 9))
_CORE_SHARE = 0.62
"""The radius of the shaft from joint to joint inside every link, relative to the radius of the link's tube."""
_FINGER_Z, _TOOL_Z = 0.066, 0.117


def add_arm(spec: mujoco.MjSpec, side: str, place: _Vector, thickness: float, links: Links) -> None:
    """Add an arm to the table at `place` (m); the names of its bodies and materials start with `side`.

    `thickness` scales the radii of the links. Links are round or square tubes, twin rods, a ribbed rod, stepped tubes,
    or tubes that taper in many fine steps.
    """
    base = spec.worldbody.add_body(name=f"{side}base", pos=place)
    _add(base, BodyPart("cylinder", "dark", (0.092,), (0, 0, 0, 0, 0, 0.022)), side)
    _add(base, BodyPart("cylinder", "shell", (0.082,), (0, 0, 0.022, 0, 0, 0.05)), side)
    body = base
    ends = [after.place[2] for after in LINKS[1:]] + [_FLANGE_M]
    for link, end in zip(LINKS, ends, strict=True):
        body = body.add_body(name=f"{side}{link.name}", pos=link.place, gravcomp=1)
        # With a heavy armature, contacts hardly move a link within a step. The script sets the link's angle anyway.
        hinge = mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=f"{side}{link.name}", type=hinge, axis=link.axis, range=link.limit, armature=5)
        for part in (*link.parts, _core(link, end)):
            for piece in _built(part, thickness, links):
                _add(body, piece, side)
    _add_hand(spec, body.add_body(name=f"{side}{HAND}", gravcomp=1), side)


def _core(link: BodyLink, end: float) -> BodyPart:
    """A shaft from a link's joint to the next (m), so that no style leaves a gap between two links."""
    radius = max(part.size[0] for part in link.parts if part.paint == "shell" or link is LINKS[-1])
    return BodyPart("cylinder", "dark", (_CORE_SHARE * radius,), (0, 0, 0, 0, 0, end))


def _built(part: BodyPart, thickness: float, links: Links) -> tuple[BodyPart, ...]:
    """The parts that render a part of a link in a style."""
    size = tuple(length * thickness for length in part.size)
    if part.kind != "capsule" or links == "round":
        return (BodyPart(part.kind, part.paint, size, part.place),)
    (radius,), low, high = size, part.place[2], part.place[5]
    if links == "twin":
        sides = (-0.62 * radius, 0.62 * radius)
        return tuple(BodyPart("capsule", part.paint, (0.42 * radius,), (0, y, low, 0, y, high)) for y in sides)
    if links == "ribbed":
        rod = BodyPart("capsule", part.paint, (0.55 * radius,), part.place)
        # Gaps between ribs are as wide as ribs.
        count = max(1, round((high - low) / (2 * _RIB_M)))
        starts = [low + (high - low) * (number + 0.25) / count for number in range(count)]
        return (rod, *(BodyPart("cylinder", part.paint, (radius,), (0, 0, z, 0, 0, z + _RIB_M)) for z in starts))
    if links in ("stepped", "tapered"):
        steps = _STEPS if links == "stepped" else _TAPER
        ends = np.linspace(low, high, len(steps) + 1)
        return tuple(
            BodyPart("cylinder", part.paint, (share * radius,), (0, 0, start, 0, 0, end))
            for share, start, end in zip(steps, ends[:-1], ends[1:], strict=True)
        )
    half = (radius * 0.8, radius, (high - low) / 2 + radius * 0.5)
    return (BodyPart("box", part.paint, half, (0, 0, (low + high) / 2)),)


def _add_hand(spec: mujoco.MjSpec, hand: mujoco.MjsBody, side: str) -> None:
    for part in _PALM:
        _add(hand, part, side, solid=True)
    hand.add_site(name=f"{side}tool", pos=[0, 0, _TOOL_Z])
    # The camera is on the far side of the hand, points along it, and sees the fingers at its lower edge.
    hand.add_camera(name=f"{side}camera", pos=[-0.08, 0, 0.0], xyaxes=[0, -1, 0, -0.97, 0, 0.24], fovy=75)
    names = [f"{side}{name}" for name in FINGERS]
    for name, turned in zip(names, ([1, 0, 0, 0], [0, 0, 0, 1]), strict=True):
        finger = hand.add_body(name=name, pos=[0, 0, _FINGER_Z], quat=turned, gravcomp=1)
        joint = {"type": mujoco.mjtJoint.mjJNT_SLIDE, "axis": [0, 1, 0], "range": [0, OPEN_M / 2]}
        finger.add_joint(name=name, damping=6, armature=0.1, **joint)
        for part in (*_FINGER, _PAD):
            _add(finger, part, side, solid=True)
    both = {"type": mujoco.mjtEq.mjEQ_JOINT, "objtype": mujoco.mjtObj.mjOBJ_JOINT}
    spec.add_equality(name=f"{side}fingers", name1=names[0], name2=names[1], data=[0, 1] + [0] * 9, **both)
    # A position servo moves one finger, with at most GRIP_N; the other finger is coupled to the first.
    stiffness = 1500.0
    motor = spec.add_actuator(name=f"{side}grip", target=names[0], trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.gainprm[0] = stiffness
    motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    motor.biasprm[1] = -stiffness
    motor.forcelimited = True
    motor.forcerange = [-GRIP_N, GRIP_N]


def _add(body: mujoco.MjsBody, part: BodyPart, side: str, solid: bool = False) -> None:
    where = {"pos": part.place} if part.kind == "box" else {"fromto": part.place}
    size = (*part.size, 0, 0)[:3]
    touch = TOUCH if solid else NO_TOUCH
    paint = f"{side}{part.paint}" if part.paint in ("shell", "accent") else part.paint
    body.add_geom(type=_KIND[part.kind], size=size, material=paint, mass=0.05, **where, **touch)


_REST_FROM_BASE_M = np.array([0.36, 0.0, 0.36])
_DOWN = np.diag([-1.0, 1.0, -1.0])
"""The axes of a hand that points down with no yaw."""

Vector = NDArray[np.float64]


class OutOfReach(InputError):
    """An arm cannot reach a pose; the clip is drawn again."""


@dataclass(frozen=True)
class Pose:
    """Place of a tool (m), yaw (radians) and gap between the fingers (m)."""

    place: Vector
    yaw: float
    gap: float


class Arm:
    """The joints of an arm in a model, with scratch data for inverse kinematics."""

    def __init__(self, model: mujoco.MjModel, side: str, base: tuple[float, float, float]) -> None:
        self.side = side
        self.rest = np.array(base) + _REST_FROM_BASE_M
        self._model = model
        self._scratch = mujoco.MjData(model)
        joints = [model.joint(f"{side}{name}") for name in JOINTS]
        self._places = np.array([joint.qposadr[0] for joint in joints])
        self._speeds = np.array([joint.dofadr[0] for joint in joints])
        self._limits = np.array([joint.range for joint in joints]).T
        self._fingers = np.array([model.joint(f"{side}{name}").qposadr[0] for name in FINGERS])
        self._motor = model.actuator(f"{side}grip").id
        self._tool = model.site(f"{side}tool").id
        self.angles = np.array(ELBOW_UP)

    def reset(self, data: mujoco.MjData) -> None:
        """Set the joints to the resting pose with open fingers."""
        self.angles = self.solve(Pose(self.rest, 0.0, OPEN_M))
        data.qpos[self._places] = self.angles
        data.qpos[self._fingers] = OPEN_M / 2
        mujoco.mj_forward(self._model, data)

    def command(self, data: mujoco.MjData, angles: Vector, gap: float) -> None:
        """Move the joints to `angles` in the next step, and the fingers towards `gap`."""
        data.qpos[self._places] = self.angles
        data.qvel[self._speeds] = (angles - self.angles) / STEP_S
        data.ctrl[self._motor] = gap / 2

    def settle(self, data: mujoco.MjData, angles: Vector) -> None:
        """Set the joints to the commanded angles."""
        data.qpos[self._places] = self.angles = angles

    def solve(self, pose: Pose) -> Vector:
        """Joint angles for a pose of the tool, by damped least squares from the current angles. Raises OutOfReach."""
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
            raise OutOfReach(f"an arm cannot reach {np.round(pose.place, 3)} with a turn of {pose.yaw:.2f}")
        return np.array(data.qpos[self._places])

    def _error(self, place: Vector, wanted: NDArray[np.float64]) -> Vector:
        now = self._scratch.site_xmat[self._tool].reshape(3, 3)
        # Written out, because np.cross takes ten times as long for three numbers.
        (x, y, z), (a, b, c) = now, wanted
        turn = 0.5 * np.array([y * c - z * b, z * a - x * c, x * b - y * a]).sum(axis=1)
        return np.concatenate([place - self._scratch.site_xpos[self._tool], turn])
