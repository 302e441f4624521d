"""A scene: a table in a room, an arm, things, lights, and where the camera stands.

Everything that varies without mattering (wood, wall, accent, light) is drawn from the clip's generator.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from render_demo.arm import add_arm
from render_demo.things import TOUCH, Thing, add_thing

STEP_S = 1 / 512
BASE = (-0.06, 0.0, 0.0)

_WOODS = ((0.66, 0.50, 0.34), (0.52, 0.37, 0.25), (0.76, 0.66, 0.52), (0.42, 0.31, 0.24), (0.62, 0.60, 0.57))
_WALLS = ((0.74, 0.77, 0.79), (0.80, 0.76, 0.68), (0.63, 0.70, 0.72), (0.72, 0.69, 0.74), (0.68, 0.73, 0.66))
_ACCENTS = ((0.90, 0.38, 0.05), (0.05, 0.40, 0.70), (0.10, 0.55, 0.45), (0.75, 0.12, 0.15))


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
class Scene:
    """A compiled scene, with its things by name."""

    model: mujoco.MjModel
    things: dict[str, Thing]


def build(things: Sequence[Thing], rng: np.random.Generator) -> Scene:
    """Set the table."""
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = STEP_S
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    _add_looks(spec, rng)
    _add_room(spec)
    _add_lights(spec, rng)
    add_arm(spec, BASE)
    for thing in things:
        add_thing(spec, thing)
    return Scene(spec.compile(), {thing.name: thing for thing in things})


def _add_looks(spec: mujoco.MjSpec, rng: np.random.Generator) -> None:
    wood, wall, accent = (table[rng.integers(len(table))] for table in (_WOODS, _WALLS, _ACCENTS))
    _add_texture(spec, "wood", _grain(np.array(wood), rng))
    _add_texture(spec, "plaster", _plaster(np.array(wall), rng))
    _add_texture(spec, "floor", _plaster(np.array((0.36, 0.35, 0.34)), rng))
    for name, colour, shine in (
        ("shell", (0.86, 0.87, 0.88), 0.5),
        ("dark", (0.13, 0.135, 0.15), 0.4),
        ("accent", accent, 0.4),
        ("rubber", (0.28, 0.28, 0.29), 0.0),
        ("metal", (0.70, 0.71, 0.73), 0.8),
        ("painted", (1, 1, 1), 0.35),
    ):
        spec.add_material(name=name, rgba=(*colour, 1), specular=shine, shininess=0.6 * shine)
    sky = mujoco.mjtTexture.mjTEXTURE_SKYBOX
    fade = mujoco.mjtBuiltin.mjBUILTIN_GRADIENT
    spec.add_texture(
        name="sky", type=sky, builtin=fade, rgb1=np.array(wall) * 1.1, rgb2=np.array(wall) * 0.6, width=64, height=384
    )


def _add_texture(spec: mujoco.MjSpec, name: str, picture: np.ndarray) -> None:
    """A texture and a matt material of the same name."""
    height, width, _ = picture.shape
    flat = mujoco.mjtTexture.mjTEXTURE_2D
    texture = spec.add_texture(name=name, type=flat, width=width, height=height, nchannel=3)
    texture.data = picture.tobytes()
    material = spec.add_material(name=name, specular=0.1, shininess=0.2)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name


def _grain(colour: np.ndarray, rng: np.random.Generator, size: int = 1024, planks: int = 7) -> np.ndarray:
    """Planks of wood: each with its own shade and its own waves along the board."""
    across, along = np.mgrid[0 : 1 : size * 1j, 0 : 1 : size * 1j]
    board = np.minimum((across * planks).astype(int), planks - 1)
    shade = rng.uniform(0.90, 1.06, planks)[board]
    offset = rng.uniform(0, 50, planks)[board]
    bend = 0.012 * np.sin(9 * along + offset) + 0.006 * np.sin(23 * along + 1.7 * offset)
    rings = np.sin(150 * (across + bend) + offset) + 0.6 * np.sin(410 * (across + 0.7 * bend) + 2 * offset)
    fibre = rng.normal(size=(size, size // 32)).repeat(32, axis=1)
    gap = 1 - 0.35 * (np.abs(across * planks - np.round(across * planks)) < 0.008)
    tone = shade * gap * (1 + 0.035 * rings + 0.018 * fibre)
    return _pixels(tone[..., None] * colour)


def _plaster(colour: np.ndarray, rng: np.random.Generator, size: int = 512) -> np.ndarray:
    """A nearly even surface with soft spots of several sizes."""
    tone = np.ones((size, size))
    for cells, strength in ((8, 0.02), (32, 0.012), (128, 0.01)):
        spots = rng.normal(size=(cells, cells)).repeat(size // cells, axis=0).repeat(size // cells, axis=1)
        tone += strength * _smooth(spots, size // cells)
    return _pixels(tone[..., None] * colour)


def _smooth(spots: np.ndarray, reach: int) -> np.ndarray:
    """A running mean over `reach` pixels both ways, wrapped round the edges."""
    for axis in (0, 1):
        total = np.cumsum(np.concatenate([spots, spots.take(range(reach), axis)], axis), axis)
        spots = (
            total.take(range(reach, reach + spots.shape[axis]), axis) - total.take(range(spots.shape[axis]), axis)
        ) / reach
    return spots


def _pixels(picture: np.ndarray) -> np.ndarray:
    return np.asarray(np.clip(picture, 0, 1) * 255).round().astype(np.uint8)


def _add_room(spec: mujoco.MjSpec) -> None:
    box, unseen = mujoco.mjtGeom.mjGEOM_BOX, {"contype": 0, "conaffinity": 0}
    world = spec.worldbody
    world.add_geom(
        name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[7, 7, 1], pos=[0, 0, -0.72], material="floor", **unseen
    )
    upright = [np.sqrt(0.5), 0, np.sqrt(0.5), 0]
    world.add_geom(
        name="wall",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[1.6, 7, 1],
        pos=[-1.05, 0, 0.88],
        quat=upright,
        material="plaster",
        **unseen,
    )
    world.add_geom(type=box, size=[0.012, 7, 0.05], pos=[-1.04, 0, -0.67], material="dark", **unseen)
    world.add_geom(
        name="table",
        type=box,
        size=[0.56, 0.80, 0.02],
        pos=[0.34, 0, -0.02],
        material="wood",
        **TOUCH,
    )
    for x in (-0.16, 0.84):
        for y in (-0.74, 0.74):
            world.add_geom(type=box, size=[0.025, 0.025, 0.34], pos=[x, y, -0.38], material="dark", **unseen)


def _add_lights(spec: mujoco.MjSpec, rng: np.random.Generator) -> None:
    """One lamp, as four weak ones close together, so that its shadows have soft edges."""
    spec.visual.headlight.ambient = [0.34] * 3
    spec.visual.headlight.diffuse = [0.22] * 3
    spec.visual.headlight.specular = [0.0] * 3
    spec.visual.quality.shadowsize = 2048
    spec.visual.map.shadowclip = 1.0
    spec.visual.map.znear = 0.01
    spec.stat.extent = 2.0
    spec.stat.center = [0.35, 0, 0.1]
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    towards = np.array([rng.uniform(-0.55, -0.15), rng.uniform(-0.5, 0.5), -1.0])
    for dx, dy in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        beam = towards + 0.022 * np.array([dx, dy, 0])
        spec.worldbody.add_light(
            pos=np.array([0.35, 0, 0]) - 1.6 * beam,
            dir=beam,
            directional=True,
            diffuse=[0.155] * 3,
            specular=[0.1] * 3,
            castshadow=True,
        )
