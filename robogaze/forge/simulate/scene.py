"""A scene: a table in a room, one or two arms, things, and light.

Everything that varies without mattering (surfaces, paints, light) is drawn from the clip's generator, out of what
its world has.
"""

import colorsys
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.body import Build, add_arm
from robogaze.forge.simulate.fixtures import add_fixture, is_switched, lamp_of
from robogaze.forge.simulate.recipe import World
from robogaze.forge.simulate.shapes import TOUCH
from robogaze.forge.simulate.surfaces import SURFACES, Texture
from robogaze.forge.simulate.things import SimulatedThing, add_thing

STEP_S = 1 / 512
BASE_X_M, BASE_APART_M = -0.06, 0.56

Rgb = tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
    """A camera by what it looks at (m), from how far (m), and from which side (degrees)."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float
    pan: float = 0.0
    """Degrees the camera goes round in a second."""


@dataclass(frozen=True)
class CompiledScene:
    """A compiled scene, with its things by name. `sides` begin the names of the arms' bodies, "" for a single one."""

    model: mujoco.MjModel
    things: dict[str, SimulatedThing]
    sides: tuple[str, ...]
    bases: tuple[tuple[float, float, float], ...]

    def place_of(self, thing: str) -> int:
        """Where a loose thing's seven numbers (place, quaternion) begin in a state, or a fixture's one is."""
        return int(self.model.joint(thing).qposadr[0])

    def lit_lamps(self, state: NDArray[np.float64]) -> tuple[int, ...]:
        """The geoms of the lamps that are on in a state."""
        buttons = [thing for thing in self.things.values() if thing.shape.form == "button"]
        on = [thing for thing in buttons if is_switched(thing, state[self.place_of(thing.name)])]
        return tuple(int(self.model.geom(lamp_of(thing)).id) for thing in on)


def build(
    things: Sequence[SimulatedThing], marks: dict[str, Rgb], world: World, rng: np.random.Generator
) -> CompiledScene:
    """Set the table. `marks` gives each arm by the beginning of its names the colour it is marked with."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = STEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    _add_surfaces(spec, world, rng)
    _add_room(spec)
    _add_lights(spec, world, rng)
    across = (0.0,) if len(marks) == 1 else (BASE_APART_M / 2, -BASE_APART_M / 2)
    bases = tuple((BASE_X_M, y, 0.0) for y in across)
    arm = Build(girth=rng.uniform(*world.girth), links=world.links[rng.integers(len(world.links))])
    shell = _shade(rng, saturation=0.12, low=0.55, high=0.93)
    for (side, mark), base in zip(marks.items(), bases, strict=True):
        _paint(spec, f"{side}shell", shell, 0.5)
        _paint(spec, f"{side}accent", mark, 0.4)
        add_arm(spec, side, base, arm)
    for thing in things:
        (add_fixture if thing.fixture else add_thing)(spec, thing)
    return CompiledScene(spec.compile(), {thing.name: thing for thing in things}, tuple(marks), bases)


def _shade(rng: np.random.Generator, saturation: float, low: float, high: float) -> Rgb:
    """A colour of any hue, muted to a saturation."""
    return colorsys.hsv_to_rgb(rng.uniform(), rng.uniform(0, saturation), rng.uniform(low, high))


def _paint(spec: mujoco.MjSpec, name: str, rgb: Rgb, shine: float) -> None:
    spec.add_material(name=name, rgba=(*rgb, 1), specular=shine, shininess=0.6 * shine)


def _add_surfaces(spec: mujoco.MjSpec, world: World, rng: np.random.Generator) -> None:
    table = world.tables[rng.integers(len(world.tables))]
    wood = colorsys.hsv_to_rgb(rng.uniform(0.04, 0.12), rng.uniform(0.2, 0.6), rng.uniform(0.4, 0.8))
    surface = wood if table == "grain" else _shade(rng, saturation=0.35, low=0.35, high=0.8)
    wall = _shade(rng, saturation=0.2, low=0.55, high=0.85)
    _add_texture(spec, "surface", SURFACES[table](np.array(surface), rng))
    behind = world.walls[rng.integers(len(world.walls))]
    _add_texture(spec, "wall", SURFACES[behind](np.array(wall), rng))
    _add_texture(spec, "floor", SURFACES["plaster"](np.array(_shade(rng, saturation=0.2, low=0.25, high=0.5)), rng))
    for name, rgb, shine in (
        ("dark", (0.13, 0.135, 0.15), 0.4),
        ("rubber", (0.28, 0.28, 0.29), 0.0),
        ("metal", (0.70, 0.71, 0.73), 0.8),
        ("painted", (1.0, 1.0, 1.0), 0.35),
    ):
        _paint(spec, name, rgb, shine)
    sky, fade = mujoco.mjtTexture.mjTEXTURE_SKYBOX, mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
    high, low = np.array(wall) * 1.1, np.array(wall) * 0.6
    spec.add_texture(name="sky", type=sky, builtin=fade, rgb1=high, rgb2=low, width=64, height=384)


def _add_texture(spec: mujoco.MjSpec, name: str, picture: Texture) -> None:
    """A texture and a matt material of the same name."""
    height, width, _ = picture.shape
    flat = mujoco.mjtTexture.mjTEXTURE_2D
    texture = spec.add_texture(name=name, type=flat, width=width, height=height, nchannel=3)
    texture.data = picture.tobytes()
    material = spec.add_material(name=name, specular=0.1, shininess=0.2)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name


def _add_room(spec: mujoco.MjSpec) -> None:
    box, plane = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
    apart = {"contype": 0, "conaffinity": 0}
    world = spec.worldbody
    world.add_geom(name="floor", type=plane, size=[7, 7, 1], pos=[0, 0, -0.72], material="floor", **apart)
    upright = [np.sqrt(0.5), 0, np.sqrt(0.5), 0]
    back = {"size": [1.6, 7, 1], "pos": [-1.05, 0, 0.88], "quat": upright}
    world.add_geom(name="wall", type=plane, material="wall", **back, **apart)
    world.add_geom(type=box, size=[0.012, 7, 0.05], pos=[-1.04, 0, -0.67], material="dark", **apart)
    # The front of the table is a body of its own, so that its contacts are told apart from the room's.
    table = world.add_body(name="table")
    table.add_geom(name="table", type=box, size=[0.56, 0.80, 0.02], pos=[0.34, 0, -0.02], material="surface", **TOUCH)
    for x in (-0.16, 0.84):
        for y in (-0.74, 0.74):
            world.add_geom(type=box, size=[0.025, 0.025, 0.34], pos=[x, y, -0.38], material="dark", **apart)


def _add_lights(spec: mujoco.MjSpec, world: World, rng: np.random.Generator) -> None:
    """A lamp that casts shadows, with light from all sides; brighter or dimmer, warmer or colder."""
    warmth = np.array([1.0, 1.0, 1.0]) + rng.uniform(-0.06, 0.06) * np.array([1.0, 0.0, -1.0])
    spec.visual.headlight.ambient = rng.uniform(0.28, 0.40) * warmth
    spec.visual.headlight.diffuse = rng.uniform(0.15, 0.28) * warmth
    spec.visual.headlight.specular = [0.0] * 3
    spec.visual.quality.shadowsize = 2048
    spec.visual.quality.offsamples = 4
    spec.visual.map.shadowclip = 1.0
    spec.visual.map.znear = 0.01
    spec.stat.extent = 2.0
    spec.stat.center = [0.35, 0, 0.1]
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    beam = np.array([rng.uniform(-0.55, -0.1), rng.uniform(*world.lamp), -1.0])
    spec.worldbody.add_light(
        pos=np.array([0.35, 0, 0]) - 1.6 * beam,
        dir=beam,
        directional=True,
        diffuse=rng.uniform(0.45, 0.65) * warmth,
        specular=[0.25] * 3,
        castshadow=True,
    )
