"""A six-joint arm with a two-finger hand, made of primitives.

At zero every joint stands straight up. The tool site lies between the finger tips and looks along the hand; the
fingers slide along the hand's y axis, each by half of the opening. Names of an arm's bodies begin with its side.
"""

from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.forge.simulate.recipe import Links
from robogaze.forge.simulate.shapes import TOUCH

JOINTS = ("turn", "shoulder", "elbow", "roll", "wrist", "spin")
FINGERS = ("left_finger", "right_finger")
HAND = "hand"
HAND_PARTS = (HAND, *FINGERS)
ELBOW_UP = (0.0, 0.0, 1.9, 0.0, 1.2, 0.0)
"""Joint angles in radians from which every pose over the table is reached without turning the arm over."""

OPEN_M = 0.078
"""The widest gap between the pads."""
GRIP_N = 14.0
"""The force the fingers close with."""

_Vector = tuple[float, ...]
_KIND = {
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
}


@dataclass(frozen=True)
class Build:
    """How an arm is built: `girth` scales the radii of its links, whose tubes are round, square, two rods each, a thin
    rod in ribs, or thinner step by step."""

    girth: float = 1.0
    links: Links = "round"


@dataclass(frozen=True)
class BodyPart:
    """A visible piece of a link: a box with half sizes at a place, or a round one from one point to another."""

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
_RIB_M = 0.02
_STEPS = (1.15, 1.0, 0.8, 0.65)
"""The radii of what gets thinner step by step, as shares of a round tube's."""
_FINGER_Z, _TOOL_Z = 0.066, 0.117


def add_arm(spec: mujoco.MjSpec, side: str, place: _Vector, build: Build) -> None:
    """Stand an arm on the table at `place` (m); its names begin with `side`, and so do its materials."""
    base = spec.worldbody.add_body(name=f"{side}base", pos=place)
    _add(base, BodyPart("cylinder", "dark", (0.092,), (0, 0, 0, 0, 0, 0.022)), side)
    _add(base, BodyPart("cylinder", "shell", (0.082,), (0, 0, 0.022, 0, 0, 0.05)), side)
    body = base
    for link in LINKS:
        body = body.add_body(name=f"{side}{link.name}", pos=link.place, gravcomp=1)
        # A heavy armature: contacts hardly move a link within a step, and the script moves it anyway.
        body.add_joint(
            name=f"{side}{link.name}",
            type=mujoco.mjtJoint.mjJNT_HINGE,
            axis=link.axis,
            range=link.limit,
            armature=5,
        )
        for part in link.parts:
            for piece in _built(part, build):
                _add(body, piece, side)
    _add_hand(spec, body.add_body(name=f"{side}{HAND}", gravcomp=1), side)


def _built(part: BodyPart, build: Build) -> tuple[BodyPart, ...]:
    """A link's part as the build has it, in one piece or several."""
    size = tuple(one * build.girth for one in part.size)
    if part.kind != "capsule" or build.links == "round":
        return (BodyPart(part.kind, part.paint, size, part.place),)
    low, high = part.place[2], part.place[5]
    if build.links == "twin":
        (radius,) = size
        sides = (-0.62 * radius, 0.62 * radius)
        return tuple(BodyPart("capsule", part.paint, (0.42 * radius,), (0, y, low, 0, y, high)) for y in sides)
    if build.links == "ribbed":
        (radius,) = size
        rod = BodyPart("capsule", part.paint, (0.55 * radius,), part.place)
        return (
            rod,
            *(BodyPart("cylinder", part.paint, (radius,), (0, 0, z, 0, 0, z + _RIB_M)) for z in _ribs(low, high)),
        )
    if build.links == "stepped":
        (radius,) = size
        ends = np.linspace(low, high, len(_STEPS) + 1)
        return tuple(
            BodyPart("cylinder", part.paint, (share * radius,), (0, 0, start, 0, 0, end))
            for share, start, end in zip(_STEPS, ends[:-1], ends[1:], strict=True)
        )
    half = (size[0] * 0.8, size[0], (high - low) / 2 + size[0] * 0.5)
    return (BodyPart("box", part.paint, half, (0, 0, (low + high) / 2)),)


def _ribs(low: float, high: float) -> list[float]:
    """Where ribs begin along a tube (m), as far apart as they are thick."""
    count = max(1, round((high - low) / (2 * _RIB_M)))
    return [low + (high - low) * (number + 0.25) / count for number in range(count)]


def _add_hand(spec: mujoco.MjSpec, hand: mujoco.MjsBody, side: str) -> None:
    for part in _PALM:
        _add(hand, part, side, solid=True)
    hand.add_site(name=f"{side}tool", pos=[0, 0, _TOOL_Z])
    # The hand's camera sits on its far side, looks along it, and has the fingers at its lower edge.
    hand.add_camera(name=f"{side}camera", pos=[-0.08, 0, 0.0], xyaxes=[0, -1, 0, -0.97, 0, 0.24], fovy=75)
    names = [f"{side}{name}" for name in FINGERS]
    for name, turned in zip(names, ([1, 0, 0, 0], [0, 0, 0, 1]), strict=True):
        finger = hand.add_body(name=name, pos=[0, 0, _FINGER_Z], quat=turned, gravcomp=1)
        finger.add_joint(
            name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=[0, 1, 0], range=[0, OPEN_M / 2], damping=6, armature=0.1
        )
        for part in (*_FINGER, _PAD):
            _add(finger, part, side, solid=True)
    both = {"type": mujoco.mjtEq.mjEQ_JOINT, "objtype": mujoco.mjtObj.mjOBJ_JOINT}
    spec.add_equality(name=f"{side}fingers", name1=names[0], name2=names[1], data=[0, 1] + [0] * 9, **both)
    _add_motor(spec, side)


def _add_motor(spec: mujoco.MjSpec, side: str) -> None:
    """A position servo on one finger; the other is coupled to it. Its force is bounded by GRIP_N."""
    stiffness = 1500.0
    motor = spec.add_actuator(name=f"{side}grip", target=f"{side}{FINGERS[0]}", trntype=mujoco.mjtTrn.mjTRN_JOINT)
    motor.gainprm[0] = stiffness
    motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    motor.biasprm[1] = -stiffness
    motor.forcelimited = True
    motor.forcerange = [-GRIP_N, GRIP_N]


def _add(body: mujoco.MjsBody, part: BodyPart, side: str, solid: bool = False) -> None:
    where = {"pos": part.place} if part.kind == "box" else {"fromto": part.place}
    size = (*part.size, 0, 0)[:3]
    touch = TOUCH if solid else {"contype": 0, "conaffinity": 0}
    paint = f"{side}{part.paint}" if part.paint in ("shell", "accent") else part.paint
    body.add_geom(type=_KIND[part.kind], size=size, material=paint, mass=0.05, **where, **touch)
