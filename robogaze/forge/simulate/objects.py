"""Movable objects on the table, and goals to bring them to. Sizes are in metres; an object has its base at z = 0."""

from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.forge.simulate.simulation_config import Shape

TOUCH = {"friction": [1.4, 0.02, 0.002], "condim": 4, "solref": [0.006, 1], "solimp": [0.98, 0.995, 0.0005, 0.5, 2]}
NO_TOUCH = {"contype": 0, "conaffinity": 0}
"""The options of geoms that are rendered and do not collide."""
UNSEEN_GROUP = 4
"""The group of geoms that collide and are not rendered."""

_BOWL = [
    (0, 0), (0.034, 0), (0.036, 0.004), (0.060, 0.020), (0.078, 0.050), (0.0775, 0.0525), (0.0755, 0.051),
    (0.057, 0.023), (0.034, 0.008), (0, 0.007),
]  # fmt: skip
BOWL_M = 0.078
"""The radius of a bowl's rim."""
# Profiles of (radius, height), scaled by an object's radius and height.
_BOTTLE = [(0, 0), (0.95, 0), (1, 0.02), (1, 0.62), (0.9, 0.7), (0.46, 0.8), (0.46, 0.94), (0, 0.94)]
_CUP = [(0, 0), (0.75, 0), (1, 1), (0.94, 1), (0.68, 0.06), (0, 0.06)]
_PLATE = [(0, 0), (0.6, 0), (1, 0.85), (1, 1), (0.96, 1), (0.58, 0.35), (0, 0.35)]
_PLATE_M, _SLATS = 0.012, 18
PLATE_FLAT = 0.6
"""The flat part of a plate's radius."""

_Colour = tuple[float, float, float, float]
_BOX, _ROUND = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_CYLINDER


def _box(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    body.add_geom(type=_BOX, size=size, pos=[0, 0, size[2]], rgba=colour, density=350, material="painted", **TOUCH)


def _ball(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    # The ball's own friction applies on any surface, so that it rolls easily.
    rolling = {**TOUCH, "friction": [1.4, 0.01, 0.001], "condim": 6, "priority": 1}
    look = {"rgba": colour, "density": 300, "material": "painted"}
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[size[0], 0, 0], pos=[0, 0, size[0]], **look, **rolling)


def _cylinder(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A can: a painted side and a metal rim at both ends."""
    radius, half = size
    look = {"rgba": colour, "density": 300, "material": "painted"}
    body.add_geom(type=_ROUND, size=[radius, half, 0], pos=[0, 0, half], **look, **TOUCH)
    for z in (0.0012, 2 * half - 0.0008):
        rim = {"size": [radius * 0.9, 0.0015, 0], "pos": [0, 0, z]}
        body.add_geom(type=_ROUND, material="metal", density=300, **rim, **NO_TOUCH)


def _mat(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A thin sheet without collisions."""
    body.add_geom(type=_BOX, size=[size[0], size[0], 0.0006], pos=[0, 0, 0.0006], rgba=colour, **NO_TOUCH)


def _crate(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A floor and four walls with a rim."""
    half, height = size
    look = {"type": _BOX, "rgba": colour, "material": "painted", **TOUCH}
    wall, rim = 0.003, 0.0045
    body.add_geom(size=[half, half, 0.003], pos=[0, 0, 0.003], **look)
    for side in (1, -1):
        body.add_geom(size=[half, wall, height / 2], pos=[0, side * half, height / 2], **look)
        body.add_geom(size=[wall, half, height / 2], pos=[side * half, 0, height / 2], **look)
        body.add_geom(size=[half + rim, rim, 0.0025], pos=[0, side * half, height], **look)
        body.add_geom(size=[rim, half + rim, 0.0025], pos=[side * half, 0, height], **look)


def _bowl(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    _add_turned(spec, body, _BOWL, (1, 1), colour, solid=False)
    # A mesh collides as its hull, which is not hollow; unrendered slats collide instead.
    unseen = {"type": _BOX, "group": UNSEEN_GROUP, **TOUCH}
    body.add_geom(size=[0.03, 0.03, 0.0035], pos=[0, 0, 0.0035], **unseen)
    for inner, outer in (((0.034, 0.008), (0.057, 0.023)), ((0.057, 0.023), (0.0755, 0.051))):
        _add_slats(body, inner, outer)


def _add_slats(body: mujoco.MjsBody, inner: tuple[float, float], outer: tuple[float, float]) -> None:
    """A ring of unrendered slats; their tops lead from the inner (radius, height) to the outer one."""
    (near, low), (far, high) = inner, outer
    lean, length = np.arctan2(high - low, far - near), np.hypot(far - near, high - low) / 2
    unseen = {"type": _BOX, "group": UNSEEN_GROUP, **TOUCH}
    for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False):
        middle, z = (near + far) / 2 + 0.003 * np.sin(lean), (low + high) / 2 - 0.003 * np.cos(lean)
        place = [middle * np.cos(turn), middle * np.sin(turn), z]
        body.add_geom(size=[length, 0.2 * far, 0.003], pos=place, quat=_turned(turn, -lean), **unseen)


def _bottle(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A bottle with a dark cap."""
    radius, half = size
    _add_turned(spec, body, _BOTTLE, (radius, 2 * half), colour, solid=True)
    cap = {"size": [0.5 * radius, 0.06 * half, 0], "pos": [0, 0, 1.94 * half]}
    body.add_geom(type=_ROUND, material="dark", density=300, **cap, **NO_TOUCH)


def _cup(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A hollow cup that widens upwards; the cup collides as a solid body."""
    radius, half = size
    _add_turned(spec, body, _CUP, (radius, 2 * half), colour, solid=True)


def _carton(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A box with a pale label around it and a pale strip over the top."""
    _box(spec, body, size, colour)
    x, y, z = size
    pale = (*(0.35 * channel + 0.6 for channel in colour[:3]), colour[3])
    look = {"type": _BOX, "rgba": pale, "density": 0, **NO_TOUCH}
    body.add_geom(size=[x + 0.0006, y + 0.0006, 0.35 * z], pos=[0, 0, z], **look)
    body.add_geom(size=[0.25 * x, y + 0.0004, z + 0.0004], pos=[0, 0, z], **look)


def _plate(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    (radius,) = size
    _add_turned(spec, body, _PLATE, (radius, _PLATE_M), colour, solid=False)
    flat = {"size": [PLATE_FLAT * radius, 0.17 * _PLATE_M, 0], "pos": [0, 0, 0.17 * _PLATE_M]}
    body.add_geom(type=_ROUND, group=UNSEEN_GROUP, **flat, **TOUCH)
    _add_slats(body, (PLATE_FLAT * radius, 0.35 * _PLATE_M), (radius, _PLATE_M))


def _basket(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A round floor with upright slats around it."""
    radius, height = size
    look = {"rgba": colour, "material": "painted", **TOUCH}
    body.add_geom(type=_ROUND, size=[radius, 0.003, 0], pos=[0, 0, 0.003], **look)
    for turn in np.linspace(0, 2 * np.pi, _SLATS, endpoint=False):
        place = [radius * np.cos(turn), radius * np.sin(turn), height / 2]
        slat = [0.003, 0.8 * np.pi * radius / _SLATS, height / 2]
        body.add_geom(type=_BOX, size=slat, pos=place, quat=_turned(turn, 0.0), **look)


def _disc(spec: mujoco.MjSpec, body: mujoco.MjsBody, size: tuple[float, ...], colour: _Colour) -> None:
    """A thin round sheet without collisions."""
    body.add_geom(type=_ROUND, size=[size[0], 0.0006, 0], pos=[0, 0, 0.0006], rgba=colour, **NO_TOUCH)


def _turned(turn: float, lean: float) -> tuple[float, float, float, float]:
    """The quaternion of a rotation by `lean` about y, then by `turn` about z; radians."""
    z, y = turn / 2, lean / 2
    return (np.cos(z) * np.cos(y), -np.sin(z) * np.sin(y), np.cos(z) * np.sin(y), np.sin(z) * np.cos(y))


def _add_turned(
    spec: mujoco.MjSpec,
    body: mujoco.MjsBody,
    profile: list[tuple[float, float]],
    scale: tuple[float, float],
    colour: _Colour,
    *,
    solid: bool,
) -> None:
    """Turn a mesh from a profile of (radius, height) that starts and ends on the axis; `scale` multiplies both.

    A solid mesh can be grasped and collides as its convex hull; other meshes do not collide.
    """
    steps = 40
    scaled = [(scale[0] * radius, scale[1] * height) for radius, height in profile]
    turns = np.linspace(0, 2 * np.pi, steps, endpoint=False)
    rings = [[(r * np.cos(t), r * np.sin(t), z) for t in turns] for r, z in scaled[1:-1]]
    points = [point for ring in rings for point in ring] + [(0, 0, scaled[0][1]), (0, 0, scaled[-1][1])]
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
    # Hollow shapes have the inertia of their hull, as they collide as their hull.
    convex = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
    name = f"{body.name} wall"
    spec.add_mesh(name=name, uservert=np.ravel(points), userface=np.ravel(faces), inertia=convex)
    touch = {"density": 300, **TOUCH} if solid else NO_TOUCH
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, rgba=colour, material="painted", **touch)


_BUILDERS = {
    "box": _box,
    "ball": _ball,
    "cylinder": _cylinder,
    "bottle": _bottle,
    "cup": _cup,
    "carton": _carton,
    "mat": _mat,
    "disc": _disc,
    "crate": _crate,
    "bowl": _bowl,
    "plate": _plate,
    "basket": _basket,
}


FAR_BELOW_M = -3.0
"""Where hidden objects are kept."""
_HANDLE_M, _GAP_M = 0.05, 0.015
_HANDLE_IN_M = 0.042
"""From the middle of a door's handle to the edge that is not hinged."""
_CORNER = {"box": 1.42, "carton": 1.42, "crate": 1.42, "mat": 1.42, "button": 2.4}
"""The distance of a corner from the middle, relative to a side's."""


@dataclass(frozen=True)
class SimulatedObject:
    """An object on the table; `at` is its place (m), `yaw` its rotation in radians.

    A movable object rests on the table. Goals and fixtures are fixed. A fixture has a part that moves on a joint; the
    first position of this part is `offset_m`. `base_m` is the height of a movable object's base. `hinge` is the side on
    which a door is hinged: 1 is the left and -1 is the right, for someone who looks in the direction that the door
    faces.
    """

    name: str
    kind: str
    shape: Shape
    rgb: tuple[float, float, float]
    at: tuple[float, float]
    yaw: float = 0.0
    movable: bool = True
    hidden: bool = False
    offset_m: float = 0.0
    base_m: float = 0.0
    hinge: int = 1

    @property
    def is_fixture(self) -> bool:
        """Whether the object is a drawer, a door or a button."""
        return self.has_front or self.shape.form == "button"

    @property
    def has_front(self) -> bool:
        """Whether the object is a drawer or a door."""
        return self.shape.form in ("drawer", "door")

    @property
    def is_hinged(self) -> bool:
        """Whether a fixture's moving part turns on a hinge; otherwise the part slides."""
        return self.shape.form == "door"

    @property
    def travel_m(self) -> float:
        """How far a fixture's moving part can move. For a door, this is measured along the arc of its handle."""
        return self.shape.size[-1]

    @property
    def lever_m(self) -> float:
        """Metres per unit of a fixture's joint: the distance of a door's handle from its hinge, else 1."""
        return 2 * self.shape.size[0] - _HANDLE_IN_M if self.is_hinged else 1.0

    @property
    def half_height_m(self) -> float:
        """Half the height of a movable object."""
        return self.shape.size[-1]

    @property
    def rest_height_m(self) -> float:
        """The height at which another object comes to rest in or on this object."""
        floors = {"crate": 0.006, "basket": 0.006, "bowl": 0.008, "plate": 0.004, "mat": 0.002, "disc": 0.002}
        return floors[self.shape.form] if self.shape.form in floors else 2 * self.half_height_m

    @property
    def radius_m(self) -> float:
        """The radius of the circle around the object on the table."""
        return BOWL_M if self.shape.form == "bowl" else self.shape.size[0] * _CORNER.get(self.shape.form, 1.0)

    @property
    def is_flat(self) -> bool:
        """Whether the object is a thin sheet."""
        return self.shape.form in ("mat", "disc")

    @property
    def foot_m(self) -> tuple[float, float]:
        """The half sizes of the part of the object that stands on the table."""
        if self.shape.form in ("box", "carton"):
            return self.shape.size[0], self.shape.size[1]
        if self.shape.form == "crate":
            return self.shape.size[0], self.shape.size[0]
        narrow = {"ball": 0.5, "bowl": 0.45, "plate": PLATE_FLAT, "cup": 0.75}
        radius = self.radius_m * narrow.get(self.shape.form, 1.0)
        return radius, radius

    @property
    def is_square(self) -> bool:
        """Whether the part of the object that stands on the table is a rectangle."""
        return self.shape.form in ("box", "carton", "crate")

    @property
    def footprint(self) -> tuple[tuple[float, float, float], ...]:
        """Circles (x, y, radius) on the table that cover the object and the space in front of a drawer or a door."""
        if not self.has_front:
            return ((*self.at, self.radius_m),)
        wide, deep = self.shape.size[:2]
        ahead = np.array([np.cos(self.yaw), np.sin(self.yaw)])
        # Half the depth of the handle and of the hand in front of it, or half the square that a door sweeps.
        ways = (deep + wide,) if self.is_hinged else (deep + _HANDLE_M, deep + _HANDLE_M + self.travel_m)
        radius = (np.sqrt(2) * wide if self.is_hinged else wide) + _GAP_M
        before = [(*np.add(self.at, way * ahead), radius) for way in ways]
        return ((*self.at, float(np.hypot(wide, deep))), *((float(x), float(y), float(r)) for x, y, r in before))

    @property
    def tolerance_m(self) -> float:
        """How far from this object's middle another object may be and still count as in or on this object."""
        if self.shape.form == "bowl":
            return 0.8 * BOWL_M
        if self.shape.form == "plate":
            return PLATE_FLAT * self.shape.size[0]
        return self.shape.size[0] * (0.75 if self.movable else 1.0)


def add_object(spec: mujoco.MjSpec, obj: SimulatedObject) -> None:
    """Put an object on the table; a hidden object is far below the table."""
    place = (*obj.at, FAR_BELOW_M if obj.hidden else 0.0)
    body = spec.worldbody.add_body(name=obj.name, pos=place, quat=upright(obj.yaw))
    if obj.movable:
        body.add_freejoint(name=obj.name)
        body.gravcomp = float(obj.hidden)
    _BUILDERS[obj.shape.form](spec, body, obj.shape.size, (*obj.rgb, 1.0))


def upright(yaw: float) -> tuple[float, float, float, float]:
    """The quaternion of a rotation about the vertical by `yaw` radians."""
    return (float(np.cos(yaw / 2)), 0.0, 0.0, float(np.sin(yaw / 2)))
