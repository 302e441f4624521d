"""A six-joint arm with a two-finger gripper, made of primitives.

At zero every joint stands straight up. The tool site lies between the finger tips and looks along the hand; the
fingers slide along the hand's y axis, each by half of the opening.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from render_demo.things import TOUCH

JOINTS = ("turn", "shoulder", "elbow", "roll", "wrist", "spin")
FINGERS = ("left_finger", "right_finger")
HAND = "hand"
TOOL_AT_REST = np.array([0.30, 0.0, 0.36])
"""Where the tool is before a clip's first move, in metres."""
ELBOW_UP = np.array([0.0, 0.0, 1.9, 0.0, 1.2, 0.0])
"""Joint angles in radians from which every pose over the table is reached without turning the arm over."""

OPEN_M = 0.078
"""The widest gap between the pads."""
GRIP_N = 9.0
"""The force the fingers close with."""

_Vector = tuple[float, ...]
_KIND = {
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
}


@dataclass(frozen=True)
class Part:
    """A visible piece of a link: a box with half sizes at a place, or a round one from one point to another."""

    kind: str
    paint: str
    size: _Vector
    place: _Vector


@dataclass(frozen=True)
class Link:
    """A body that turns about `axis` at `place` in its parent; angles in radians."""

    name: str
    place: _Vector
    axis: _Vector
    limit: tuple[float, float]
    parts: tuple[Part, ...]


def _barrel(radius: float, half: float, z: float) -> tuple[Part, ...]:
    """A joint's housing across the arm, with a dark cap and a bright rim at both ends."""
    return (
        Part("cylinder", "shell", (radius,), (0, -half, z, 0, half, z)),
        Part("cylinder", "accent", (radius * 0.86,), (0, -half - 0.003, z, 0, half + 0.003, z)),
        Part("cylinder", "dark", (radius * 0.78,), (0, -half - 0.008, z, 0, half + 0.008, z)),
    )


LINKS = (
    Link(
        "turn", (0, 0, 0.05), (0, 0, 1), (-2.8, 2.8),
        (Part("cylinder", "shell", (0.068,), (0, 0, 0, 0, 0, 0.14)),
         Part("cylinder", "dark", (0.070,), (0, 0, 0, 0, 0, 0.012)),
         Part("capsule", "shell", (0.060,), (0, 0, 0.12, 0, 0, 0.23))),
    ),
    Link(
        "shoulder", (0, 0, 0.24), (0, 1, 0), (-1.8, 1.8),
        (*_barrel(0.066, 0.074, 0), Part("capsule", "shell", (0.050,), (0, 0, 0, 0, 0, 0.40))),
    ),
    Link(
        "elbow", (0, 0, 0.40), (0, 1, 0), (-0.3, 2.7),
        (*_barrel(0.057, 0.063, 0), Part("capsule", "shell", (0.043,), (0, 0, 0, 0, 0, 0.19))),
    ),
    Link(
        "roll", (0, 0, 0.20), (0, 0, 1), (-2.9, 2.9),
        (Part("cylinder", "dark", (0.046,), (0, 0, -0.008, 0, 0, 0.004)),
         Part("capsule", "shell", (0.039,), (0, 0, 0.01, 0, 0, 0.17))),
    ),
    Link(
        "wrist", (0, 0, 0.18), (0, 1, 0), (-2.2, 2.2),
        (*_barrel(0.044, 0.048, 0), Part("capsule", "shell", (0.037,), (0, 0, 0, 0, 0, 0.055))),
    ),
    Link(
        "spin", (0, 0, 0.095), (0, 0, 1), (-3.0, 3.0),
        (Part("cylinder", "dark", (0.034,), (0, 0, -0.006, 0, 0, 0.014)),),
    ),
)  # fmt: skip

_PALM = (
    Part("box", "shell", (0.024, 0.058, 0.020), (0, 0, 0.034)),
    Part("box", "dark", (0.020, 0.060, 0.007), (0, 0, 0.059)),
    Part("cylinder", "accent", (0.010,), (0.0225, 0, 0.036, 0.0255, 0, 0.036)),
)
_FINGER = (
    Part("box", "dark", (0.011, 0.009, 0.018), (0, 0.011, 0.014)),
    Part("box", "dark", (0.009, 0.0045, 0.020), (0, 0.0085, 0.044)),
)
_PAD = Part("box", "rubber", (0.009, 0.002, 0.015), (0, 0.002, 0.049))
_FINGER_Z, _TOOL_Z = 0.066, 0.117


def add_arm(spec: mujoco.MjSpec, place: _Vector) -> None:
    """Stand the arm on the table at `place` (m)."""
    base = spec.worldbody.add_body(name="base", pos=place)
    _add(base, Part("cylinder", "dark", (0.092,), (0, 0, 0, 0, 0, 0.022)))
    _add(base, Part("cylinder", "shell", (0.082,), (0, 0, 0.022, 0, 0, 0.05)))
    body = base
    for link in LINKS:
        body = body.add_body(name=link.name, pos=link.place, gravcomp=1)
        # A heavy armature: contacts hardly move a link within a step, and the script moves it anyway.
        body.add_joint(name=link.name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=link.axis, range=link.limit, armature=5)
        for part in link.parts:
            _add(body, part)
    _add_hand(spec, body.add_body(name=HAND, gravcomp=1))


def _add_hand(spec: mujoco.MjSpec, hand: mujoco.MjsBody) -> None:
    for part in _PALM:
        _add(hand, part, solid=True)
    hand.add_site(name="tool", pos=[0, 0, _TOOL_Z])
    # The wrist camera sits on the far side of the hand, looks along it, and has the fingers at its lower edge.
    hand.add_camera(name="wrist", pos=[-0.08, 0, 0.0], xyaxes=[0, -1, 0, -0.97, 0, 0.24], fovy=75)
    for name, side in zip(FINGERS, (1, -1), strict=True):
        turned = [1, 0, 0, 0] if side == 1 else [0, 0, 0, 1]
        finger = hand.add_body(name=name, pos=[0, 0, _FINGER_Z], quat=turned, gravcomp=1)
        finger.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 1, 0], range=[0, OPEN_M / 2], damping=6, armature=0.1
        )
        for part in (*_FINGER, _PAD):
            _add(finger, part, solid=True)
    both = {"type": mujoco.mjtEq.mjEQ_JOINT, "objtype": mujoco.mjtObj.mjOBJ_JOINT}
    spec.add_equality(name="fingers", name1=FINGERS[0], name2=FINGERS[1], data=[0, 1] + [0] * 9, **both)
    _add_motor(spec)


def _add_motor(spec: mujoco.MjSpec) -> None:
    """A position servo on one finger; the other is coupled to it. Its force is bounded by GRIP_N."""
    stiffness = 1500.0
    motor = spec.add_actuator(name="grip", target=FINGERS[0], trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.gainprm[0] = stiffness
    motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    motor.biasprm[1] = -stiffness
    motor.forcelimited = True
    motor.forcerange = [-GRIP_N, GRIP_N]


def _add(body: mujoco.MjsBody, part: Part, solid: bool = False) -> None:
    round_ = part.kind != "box"
    where = {"fromto": part.place} if round_ else {"pos": part.place}
    size = (*part.size, 0, 0)[:3]
    touch = TOUCH if solid else {"contype": 0, "conaffinity": 0}
    body.add_geom(type=_KIND[part.kind], size=size, material=part.paint, mass=0.05, **where, **touch)
