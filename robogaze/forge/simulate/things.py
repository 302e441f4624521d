"""What stands on the table: loose things to move, and goals to bring them to. Sizes in metres."""

from dataclasses import dataclass

import mujoco
import numpy as np

from robogaze.forge.simulate.recipe import Shape
from robogaze.forge.simulate.shapes import BOWL_M, PLATE_FLAT, add_shape

FAR_BELOW_M = -3.0
"""Where a hidden thing is kept."""
_HANDLE_M, _GAP_M = 0.05, 0.015
_HANDLE_IN_M = 0.042
"""How far the middle of a door's handle is from the edge that is not hinged."""
_CORNER = {"box": 1.42, "carton": 1.42, "crate": 1.42, "mat": 1.42, "button": 2.4}
"""How much further a corner is from the middle than a side."""


@dataclass(frozen=True)
class SimulatedThing:
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
        floors = {"crate": 0.006, "basket": 0.006, "bowl": 0.008, "plate": 0.004, "mat": 0.002, "disc": 0.002}
        return floors[self.shape.form] if self.shape.form in floors else 2 * self.half_m

    @property
    def reach_m(self) -> float:
        """How far from its middle it stretches over the table at most."""
        return BOWL_M if self.shape.form == "bowl" else self.shape.size[0] * _CORNER.get(self.shape.form, 1.0)

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
            return 0.8 * BOWL_M
        if self.shape.form == "plate":
            return PLATE_FLAT * self.shape.size[0]
        return self.shape.size[0] * (0.75 if self.loose else 1.0)


def add_thing(spec: mujoco.MjSpec, thing: SimulatedThing) -> None:
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
    add_shape(spec, body, thing.shape, (*thing.rgb, 1.0))
