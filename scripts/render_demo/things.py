"""What stands on the table: loose things to move, and containers to put them in. Sizes in metres."""

from dataclasses import dataclass

import mujoco
import numpy as np

COLOURS = {
    "red": (0.80, 0.10, 0.08),
    "green": (0.13, 0.55, 0.22),
    "blue": (0.10, 0.27, 0.75),
    "yellow": (0.93, 0.74, 0.08),
    "purple": (0.42, 0.16, 0.62),
    "orange": (0.93, 0.42, 0.05),
    "white": (0.88, 0.88, 0.86),
    "teal": (0.05, 0.52, 0.55),
}

CUBE_M, BALL_M = 0.025, 0.026
"""Half a cube's side; a ball's radius."""

GRASP_HEIGHT_M = {"cube": CUBE_M, "ball": BALL_M + 0.002}
"""How high the finger tips are when they close on a thing."""
CONTAINERS = ("bin", "tray", "bowl")

_CUP = [
    (0, 0),
    (0.026, 0),
    (0.029, 0.003),
    (0.037, 0.093),
    (0.0362, 0.095),
    (0.0348, 0.094),
    (0.027, 0.008),
    (0, 0.006),
]
_BOWL = [
    (0, 0), (0.034, 0), (0.036, 0.004), (0.060, 0.020), (0.078, 0.050), (0.0775, 0.0525), (0.0755, 0.051),
    (0.057, 0.023), (0.034, 0.008), (0, 0.007),
]  # fmt: skip
TOUCH = {"friction": [1.4, 0.02, 0.002], "condim": 4, "solref": [0.006, 1], "solimp": [0.98, 0.995, 0.0005, 0.5, 2]}


@dataclass(frozen=True)
class Thing:
    """A thing by its kind and colour; `at` is its place on the table, `yaw` its turn in radians."""

    kind: str
    colour: str
    at: tuple[float, float]
    yaw: float = 0.0
    hidden: bool = False

    @property
    def name(self) -> str:
        """How an instruction calls it."""
        return f"{self.colour} {self.kind}"


def add_thing(spec: mujoco.MjSpec, thing: Thing) -> None:
    """Put a thing on the table, or far below it when it is hidden."""
    half = thing.yaw / 2
    body = spec.worldbody.add_body(
        name=thing.name, pos=(*thing.at, -3.0 if thing.hidden else 0.0), quat=[np.cos(half), 0, 0, np.sin(half)]
    )
    if thing.kind not in CONTAINERS:
        body.add_freejoint(name=thing.name)
        body.gravcomp = float(thing.hidden)
    _BUILDERS[thing.kind](spec, body, (*COLOURS[thing.colour], 1.0))


_Colour = tuple[float, float, float, float]


def _cube(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    box = mujoco.mjtGeom.mjGEOM_BOX
    body.add_geom(
        type=box, size=[CUBE_M] * 3, pos=[0, 0, CUBE_M], rgba=colour, density=350, material="painted", **TOUCH
    )


def _ball(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    # Its own friction counts, whatever it lies on: it rolls easily.
    rolling = {**TOUCH, "friction": [1.4, 0.01, 0.001], "condim": 6, "priority": 1}
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_SPHERE,
        size=[BALL_M, 0, 0],
        pos=[0, 0, BALL_M],
        rgba=colour,
        density=300,
        material="painted",
        **rolling,
    )


def _can(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    round_ = mujoco.mjtGeom.mjGEOM_CYLINDER
    body.add_geom(
        type=round_, size=[0.029, 0.042, 0], pos=[0, 0, 0.045], rgba=colour, density=300, material="painted", **TOUCH
    )
    for z in (0.0015, 0.0885):
        body.add_geom(type=round_, size=[0.027, 0.0015, 0], pos=[0, 0, z], material="metal", density=300)


def _cup(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    # It collides as the solid hull of its wall, which is all that is needed of a cup nothing is put into.
    mesh = _lathe(spec, f"{body.name} wall", _CUP)
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, rgba=colour, density=250, material="painted", **TOUCH)


def _bowl(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    mesh = _lathe(spec, f"{body.name} wall", _BOWL)
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, rgba=colour, material="painted", contype=0, conaffinity=0
    )
    # Things touch unseen slats: a mesh would collide as its hull, and nothing could lie in it.
    unseen = {"type": mujoco.mjtGeom.mjGEOM_BOX, "group": 4, **TOUCH}
    body.add_geom(size=[0.03, 0.03, 0.0035], pos=[0, 0, 0.0035], **unseen)
    for (near, low), (far, high) in (((0.034, 0.008), (0.057, 0.023)), ((0.057, 0.023), (0.0755, 0.051))):
        lean = np.arctan2(high - low, far - near)
        length = np.hypot(far - near, high - low) / 2
        for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False):
            middle, z = (near + far) / 2 + 0.003 * np.sin(lean), (low + high) / 2 - 0.003 * np.cos(lean)
            body.add_geom(
                size=[length, 0.2 * far, 0.003],
                pos=[middle * np.cos(turn), middle * np.sin(turn), z],
                quat=_turned(turn, -lean),
                **unseen,
            )


def _turned(turn: float, lean: float) -> tuple[float, float, float, float]:
    """The quaternion that leans about y and then turns about z; radians."""
    z, y = turn / 2, lean / 2
    return (np.cos(z) * np.cos(y), -np.sin(z) * np.sin(y), np.cos(z) * np.sin(y), np.sin(z) * np.cos(y))


def _bin(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    _crate(body, colour, half=0.075, height=0.06)


def _tray(spec: mujoco.MjSpec, body: mujoco.MjsBody, colour: _Colour) -> None:
    _crate(body, colour, half=0.085, height=0.018)


def _crate(body: mujoco.MjsBody, colour: _Colour, half: float, height: float) -> None:
    """A floor and four walls, with a rim on top of them."""
    look = {"type": mujoco.mjtGeom.mjGEOM_BOX, "rgba": colour, "material": "painted", **TOUCH}
    wall, rim = 0.003, 0.0045
    body.add_geom(size=[half, half, 0.003], pos=[0, 0, 0.003], **look)
    for side in (1, -1):
        body.add_geom(size=[half, wall, height / 2], pos=[0, side * half, height / 2], **look)
        body.add_geom(size=[wall, half, height / 2], pos=[side * half, 0, height / 2], **look)
        body.add_geom(size=[half + rim, rim, 0.0025], pos=[0, side * half, height], **look)
        body.add_geom(size=[rim, half + rim, 0.0025], pos=[side * half, 0, height], **look)


def _lathe(spec: mujoco.MjSpec, name: str, profile: list[tuple[float, float]], steps: int = 40) -> str:
    """A mesh turned from a profile of (radius, height), which begins and ends on the axis."""
    turns = np.linspace(0, 2 * np.pi, steps, endpoint=False)
    rings = [[(r * np.cos(t), r * np.sin(t), z) for t in turns] for r, z in profile[1:-1]]
    points = [point for ring in rings for point in ring] + [(0, 0, profile[0][1]), (0, 0, profile[-1][1])]
    bottom, top = len(points) - 2, len(points) - 1
    faces: list[tuple[int, int, int]] = []
    for i in range(steps):
        j = (i + 1) % steps
        faces.append((bottom, j, i))
        for ring in range(len(rings) - 1):
            low, high = ring * steps, (ring + 1) * steps
            faces += [(low + i, low + j, high + j), (low + i, high + j, high + i)]
        last = (len(rings) - 1) * steps
        faces.append((top, last + i, last + j))
    spec.add_mesh(name=name, uservert=np.ravel(points), userface=np.ravel(faces))
    return name


_BUILDERS = {"cube": _cube, "ball": _ball, "can": _can, "cup": _cup, "bowl": _bowl, "bin": _bin, "tray": _tray}
