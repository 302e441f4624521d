"""What stands on the table: loose things to move, and goals to bring them to. Sizes in metres."""

from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.forge.sim.recipe import Shape

TOUCH = {"friction": [1.4, 0.02, 0.002], "condim": 4, "solref": [0.006, 1], "solimp": [0.98, 0.995, 0.0005, 0.5, 2]}
FAR_BELOW_M = -3.0
"""Where a hidden thing is kept."""
UNSEEN_GROUP = 4
"""The group of geoms that touch and are not drawn."""

_BOWL = [
    (0, 0), (0.034, 0), (0.036, 0.004), (0.060, 0.020), (0.078, 0.050), (0.0775, 0.0525), (0.0755, 0.051),
    (0.057, 0.023), (0.034, 0.008), (0, 0.007),
]  # fmt: skip
_BOWL_M = 0.078
"""The radius of a bowl's rim."""
_HANDLE_M, _GAP_M = 0.05, 0.015
_HANDLE_IN_M = 0.042
"""How far the middle of a door's handle is from the edge that is not hinged."""
_CORNER = {"box": 1.42, "crate": 1.42, "mat": 1.42, "button": 2.4}
"""How much further a corner is from the middle than a side."""

_Colour = tuple[float, float, float, float]


@dataclass(frozen=True)
class Thing:
    """A thing by its name and shape; `at` is its place on the table, `yaw` its turn in radians.

    A loose thing can be moved; what is not loose stands where it stands: a goal, or a fixture with a part that moves on
    a joint, which is out so far at first (`out_m`). `hinge` is the side of a door that it turns about: 1 to the left of
    the way it faces, -1 to the right.
    """

    name: str
    kind: str
    shape: Shape
    rgb: tuple[float, float, float]
    at: tuple[float, float]
    yaw: float = 0.0
    loose: bool = True
    hidden: bool = False
    out_m: float = 0.0
    hinge: int = 1

    @property
    def fixture(self) -> bool:
        """Whether a part of it moves on a joint."""
        return self.has_front or self.shape.form == "button"

    @property
    def has_front(self) -> bool:
        """Whether it is a fixture that opens at its front, by a handle."""
        return self.shape.form in ("drawer", "door")

    @property
    def turns(self) -> bool:
        """Whether it is a fixture whose part turns on a hinge; that of any other slides."""
        return self.shape.form == "door"

    @property
    def way_m(self) -> float:
        """How far the moving part of a fixture can go; where it turns, its handle along its arc."""
        return self.shape.size[-1]

    @property
    def lever_m(self) -> float:
        """What takes a fixture's joint to metres: how far from its hinge a handle is, 1 for what slides."""
        return 2 * self.shape.size[0] - _HANDLE_IN_M if self.turns else 1.0

    @property
    def half_m(self) -> float:
        """Half the height of a loose thing."""
        return self.shape.size[-1]

    @property
    def floor_m(self) -> float:
        """How high things come to rest in it or on it."""
        floors = {"crate": 0.006, "bowl": 0.008, "mat": 0.002}
        return floors[self.shape.form] if self.shape.form in floors else 2 * self.half_m

    @property
    def reach_m(self) -> float:
        """How far from its middle it stretches over the table at most."""
        return _BOWL_M if self.shape.form == "bowl" else self.shape.size[0] * _CORNER.get(self.shape.form, 1.0)

    @property
    def ground(self) -> tuple[tuple[float, float, float], ...]:
        """Circles (x, y, radius) over the table that it needs where it is first: a front those before it, too."""
        if not self.has_front:
            return ((*self.at, self.reach_m),)
        wide, deep = self.shape.size[:2]
        ahead = np.array([np.cos(self.yaw), np.sin(self.yaw)])
        # Half the depth of the handle and of the hand before it, or half of the square that a door sweeps.
        ways = (deep + wide,) if self.turns else (deep + _HANDLE_M, deep + _HANDLE_M + self.way_m)
        radius = (np.sqrt(2) * wide if self.turns else wide) + _GAP_M
        before = [(*np.add(self.at, way * ahead), radius) for way in ways]
        return ((*self.at, float(np.hypot(wide, deep))), *((float(x), float(y), float(r)) for x, y, r in before))

    @property
    def takes_m(self) -> float:
        """How far from its middle the middle of a thing may lie that is in it or on it."""
        if self.shape.form == "bowl":
            return 0.8 * _BOWL_M
        return self.shape.size[0] * (0.75 if self.loose else 1.0)


def add_thing(spec: mujoco.MjSpec, thing: Thing) -> None:
    """Put a thing on the table, or far below it when it is hidden."""
    half = thing.yaw / 2
    body = spec.worldbody.add_body(
        name=thing.name,
        pos=(*thing.at, FAR_BELOW_M if thing.hidden else 0.0),
        quat=[np.cos(half), 0, 0, np.sin(half)],
    )
    if thing.loose:
        body.add_freejoint(name=thing.name)
        body.gravcomp = float(thing.hidden)
    _BUILDERS[thing.shape.form](spec, body, thing.shape.size, (*thing.rgb, 1.0))


def _box(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=size,
        pos=[0, 0, size[2]],
        rgba=colour,
        density=350,
        material="painted",
        **TOUCH,
    )


def _ball(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    # Its own friction counts, whatever it lies on: it rolls easily.
    rolling = {**TOUCH, "friction": [1.4, 0.01, 0.001], "condim": 6, "priority": 1}
    kind = mujoco.mjtGeom.mjGEOM_SPHERE
    place = [0, 0, size[0]]
    body.add_geom(type=kind, size=[size[0], 0, 0], pos=place, rgba=colour, density=300, material="painted", **rolling)


def _cylinder(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A can: a painted side and a rim of metal at both ends."""
    round_, (radius, half) = mujoco.mjtGeom.mjGEOM_CYLINDER, size
    body.add_geom(
        type=round_, size=[radius, half, 0], pos=[0, 0, half], rgba=colour, density=300, material="painted", **TOUCH
    )
    for z in (0.0012, 2 * half - 0.0008):
        body.add_geom(
            type=round_,
            size=[radius * 0.9, 0.0015, 0],
            pos=[0, 0, z],
            material="metal",
            density=300,
            contype=0,
            conaffinity=0,
        )


def _mat(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A thin sheet, which nothing bumps against."""
    flat = {"contype": 0, "conaffinity": 0}
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_BOX, size=[size[0], size[0], 0.0006], pos=[0, 0, 0.0006], rgba=colour, **flat
    )


def _crate(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A floor and four walls, with a rim on top of them."""
    half, height = size
    look = {"type": mujoco.mjtGeom.mjGEOM_BOX, "rgba": colour, "material": "painted", **TOUCH}
    wall, rim = 0.003, 0.0045
    body.add_geom(size=[half, half, 0.003], pos=[0, 0, 0.003], **look)
    for side in (1, -1):
        body.add_geom(size=[half, wall, height / 2], pos=[0, side * half, height / 2], **look)
        body.add_geom(size=[wall, half, height / 2], pos=[side * half, 0, height / 2], **look)
        body.add_geom(size=[half + rim, rim, 0.0025], pos=[0, side * half, height], **look)
        body.add_geom(size=[rim, half + rim, 0.0025], pos=[side * half, 0, height], **look)


def _bowl(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    mesh = _lathe(spec, f"{body.name} wall", _BOWL)
    body.add_geom(
        type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh, rgba=colour, material="painted", contype=0, conaffinity=0
    )
    # Things touch unseen slats: a mesh would collide as its hull, and nothing could lie in it.
    unseen = {"type": mujoco.mjtGeom.mjGEOM_BOX, "group": UNSEEN_GROUP, **TOUCH}
    body.add_geom(size=[0.03, 0.03, 0.0035], pos=[0, 0, 0.0035], **unseen)
    for (near, low), (far, high) in (((0.034, 0.008), (0.057, 0.023)), ((0.057, 0.023), (0.0755, 0.051))):
        lean = np.arctan2(high - low, far - near)
        length = np.hypot(far - near, high - low) / 2
        for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False):
            middle, z = (near + far) / 2 + 0.003 * np.sin(lean), (low + high) / 2 - 0.003 * np.cos(lean)
            place = [middle * np.cos(turn), middle * np.sin(turn), z]
            body.add_geom(size=[length, 0.2 * far, 0.003], pos=place, quat=_turned(turn, -lean), **unseen)


def _turned(turn: float, lean: float) -> tuple[float, float, float, float]:
    """The quaternion that leans about y and then turns about z; radians."""
    z, y = turn / 2, lean / 2
    return (np.cos(z) * np.cos(y), -np.sin(z) * np.sin(y), np.cos(z) * np.sin(y), np.sin(z) * np.cos(y))


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
        for low in range(0, (len(rings) - 1) * steps, steps):
            high = low + steps
            faces += [(low + i, low + j, high + j), (low + i, high + j, high + i)]
        last = (len(rings) - 1) * steps
        faces.append((top, last + i, last + j))
    spec.add_mesh(name=name, uservert=np.ravel(points), userface=np.ravel(faces))
    return name


_BUILDERS = {"box": _box, "ball": _ball, "cylinder": _cylinder, "mat": _mat, "crate": _crate, "bowl": _bowl}
