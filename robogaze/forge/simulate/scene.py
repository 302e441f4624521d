"""A scene: a table in a room, one or two arms, objects, and light.

Properties without effect on the task (textures, colours, light) are drawn from the clip's random generator, within the
ranges of a world. Textures are computed.
"""

import colorsys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.arm import STEP_S, add_arm
from robogaze.forge.simulate.fixtures import add_fixture, is_switched, lamp_of
from robogaze.forge.simulate.objects import NO_TOUCH, TOUCH, SimulatedObject, add_object
from robogaze.forge.simulate.simulation_config import Surface, WorldConfig

_SIZE = 512
"""The width and height of a texture in pixels."""
Tone = NDArray[np.float64]
"""A grey texture of shape (_SIZE, _SIZE), by which a colour is multiplied."""


def _grid(count: int = 1) -> NDArray[np.float64]:
    """Two pictures of shape (_SIZE, _SIZE), with values from 0 to `count` downwards and across."""
    return np.mgrid[0 : 1 : _SIZE * 1j, 0 : 1 : _SIZE * 1j] * count


def _grain(rng: np.random.Generator) -> Tone:
    """Wooden planks, each with its own shade and grain."""
    planks = int(rng.integers(4, 10))
    across, along = _grid()
    board = np.minimum((across * planks).astype(int), planks - 1)
    shade, offset = rng.uniform(0.88, 1.06, planks)[board], rng.uniform(0, 50, planks)[board]
    bend = 0.012 * np.sin(9 * along + offset) + 0.006 * np.sin(23 * along + 1.7 * offset)
    rings = np.sin(150 * (across + bend) + offset) + 0.6 * np.sin(410 * (across + 0.7 * bend) + 2 * offset)
    fibre = rng.normal(size=(_SIZE, _SIZE // 32)).repeat(32, axis=1)
    gap = 1 - 0.35 * (np.abs(across * planks - np.round(across * planks)) < 0.008)
    return np.asarray(shade * gap * (1 + 0.035 * rings + 0.018 * fibre))


def _plaster(rng: np.random.Generator) -> Tone:
    """A nearly even surface with soft spots of several sizes."""
    tone = np.ones((_SIZE, _SIZE))
    for cells, strength in ((8, 0.02), (32, 0.012), (128, 0.01)):
        spots = rng.normal(size=(cells, cells)).repeat(_SIZE // cells, axis=0).repeat(_SIZE // cells, axis=1)
        tone += strength * _smooth(spots, _SIZE // cells)
    return tone


def _weave(rng: np.random.Generator) -> Tone:
    """Cloth: fine threads both ways, and a few stripes."""
    across, along = _grid()
    threads = 0.04 * np.sin(2 * np.pi * 128 * across) * np.sin(2 * np.pi * 128 * along)
    stripes = 0.12 * (np.sin(2 * np.pi * rng.integers(2, 6) * along + rng.uniform(0, 6)) > 0.9)
    return np.asarray(1 + threads - stripes + rng.normal(0, 0.015, (_SIZE, _SIZE)))


def _tiles(rng: np.random.Generator) -> Tone:
    """Square tiles of slightly different shades, with joints."""
    count = int(rng.integers(4, 9))
    across, along = _grid(count)
    shade = rng.uniform(0.92, 1.06, (count + 1, count + 1))[across.astype(int), along.astype(int)]
    joint = (across % 1 < 0.03) | (along % 1 < 0.03)
    return np.where(joint, 0.7, shade) + rng.normal(0, 0.008, (_SIZE, _SIZE))


def _chips(rng: np.random.Generator) -> Tone:
    """Polished stone with light and dark chips."""
    tone = np.ones((_SIZE, _SIZE))
    for cells, share, strength in ((64, 0.12, -0.3), (64, 0.12, 0.2), (128, 0.1, -0.15)):
        chips = (rng.random((cells, cells)) < share).astype(float)
        wide = _SIZE // cells
        soft = _smooth(chips.repeat(wide, axis=0).repeat(wide, axis=1), wide)
        tone += strength * (soft > 0.45)
    return tone + rng.normal(0, 0.01, (_SIZE, _SIZE))


def _boards(rng: np.random.Generator) -> Tone:
    """Boards of one shade, rounded towards dark joints."""
    across = np.arange(_SIZE) / _SIZE * int(rng.integers(10, 22)) % 1
    rounded = 1 - 0.35 * np.abs(2 * across - 1) ** 6
    return rounded * np.ones((_SIZE, 1)) + rng.normal(0, 0.01, (_SIZE, _SIZE))


def _checks(rng: np.random.Generator) -> Tone:
    """Checked cloth: wide stripes both ways, darker where they cross."""
    stripe = np.arange(_SIZE) / _SIZE * int(rng.integers(5, 12)) % 1 < 0.5
    depth = rng.uniform(0.1, 0.22)
    tone = 1 - depth * (stripe[:, None].astype(float) + stripe)
    return tone + rng.normal(0, 0.012, (_SIZE, _SIZE))


def _bricks(rng: np.random.Generator) -> Tone:
    """A brick wall: every second row is shifted by half a brick, and each brick has its own shade."""
    brick_rows = 2 * int(rng.integers(8, 14))
    down, across = _grid(brick_rows)
    row = np.minimum(down.astype(int), brick_rows - 1)
    along = (across / 2 + 0.5 * (row % 2)) % (brick_rows // 2)
    shade = rng.uniform(0.85, 1.05, (brick_rows, brick_rows // 2))[row, along.astype(int)]
    joint = (down % 1 < 0.09) | (along % 1 < 0.05)
    return np.where(joint, 1.08, shade) + rng.normal(0, 0.012, (_SIZE, _SIZE))


def _dots(rng: np.random.Generator) -> Tone:
    """Cloth with pale dots; every second row is shifted by half a step."""
    count = 2 * int(rng.integers(6, 12))
    down, across = _grid(count)
    along = across + 0.5 * (np.floor(down) % 2)
    dot = np.hypot(down % 1 - 0.5, along % 1 - 0.5) < rng.uniform(0.15, 0.3)
    return np.where(dot, 1.3, 0.95) + rng.normal(0, 0.012, (_SIZE, _SIZE))


def _stripes(rng: np.random.Generator) -> Tone:
    """Wallpaper with stripes of several widths."""
    edges = np.sort(rng.integers(0, _SIZE, 2 * int(rng.integers(6, 14))))
    dark = np.searchsorted(edges, np.arange(_SIZE)) % 2
    return (1 - 0.15 * dark) * np.ones((_SIZE, 1)) + rng.normal(0, 0.01, (_SIZE, _SIZE))


def _herringbone(rng: np.random.Generator) -> Tone:
    """Short boards laid in a zigzag; each row has its own shade."""
    count = int(rng.integers(6, 11))
    down, across = _grid(count)
    fold = np.abs(across % 2 - 1)
    board = np.floor(2 * (down + fold)).astype(int)
    shade = rng.uniform(0.86, 1.04, 2 * count + 4)[board]
    joint = ((2 * (down + fold)) % 1 < 0.06) | (across % 1 < 0.025)
    return np.where(joint, 0.75, shade) + rng.normal(0, 0.012, (_SIZE, _SIZE))


def _speckle(rng: np.random.Generator) -> Tone:
    """A worktop with fine light and dark grains."""
    tone = np.ones((_SIZE, _SIZE))
    for share, strength in ((0.04, 0.18), (0.04, -0.2)):
        tone += strength * (rng.random((_SIZE // 2, _SIZE // 2)) < share).repeat(2, axis=0).repeat(2, axis=1)
    return tone + rng.normal(0, 0.01, (_SIZE, _SIZE))


def _panels(rng: np.random.Generator) -> Tone:
    """Large framed panels."""
    count = int(rng.integers(2, 5))
    down, across = np.abs(_grid(count) % 1 - 0.5)
    edge = np.maximum(down, across)
    tone = np.where((edge > 0.36) & (edge < 0.39), 0.82, np.where(edge > 0.49, 0.7, 1.0))
    return tone + rng.normal(0, 0.01, (_SIZE, _SIZE))


SURFACES: dict[Surface, Callable[[np.random.Generator], Tone]] = {
    "grain": _grain,
    "plaster": _plaster,
    "weave": _weave,
    "tiles": _tiles,
    "chips": _chips,
    "boards": _boards,
    "checks": _checks,
    "bricks": _bricks,
    "dots": _dots,
    "stripes": _stripes,
    "herringbone": _herringbone,
    "speckle": _speckle,
    "panels": _panels,
}
"""Textures by name. A texture is made by a function of a random generator."""


def _smooth(spots: NDArray[np.float64], reach: int) -> NDArray[np.float64]:
    """A running mean over `reach` pixels in both directions, wrapped at the edges."""
    for axis in (0, 1):
        total = np.cumsum(np.concatenate([spots, spots.take(range(reach), axis)], axis), axis)
        spots = (total.take(range(reach, reach + _SIZE), axis) - total.take(range(_SIZE), axis)) / reach
    return spots


BASE_X_M, BASE_APART_M = -0.06, 0.56

Rgb = tuple[float, float, float]


@dataclass(frozen=True)
class Camera:
    """A camera: the point to which it points (m), the distance from this point (m), azimuth and elevation (degrees)."""

    lookat: tuple[float, float, float]
    distance: float
    azimuth: float
    elevation: float

    @property
    def place(self) -> tuple[float, float, float]:
        """Where the camera is (m)."""
        azimuth, elevation = np.radians([self.azimuth, self.elevation])
        ahead = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
        x, y, z = np.array(self.lookat) - self.distance * ahead
        return float(x), float(y), float(z)


@dataclass(frozen=True)
class CompiledScene:
    """A compiled scene with its objects by name. `sides` are the prefixes of the arms' bodies, "" for a single arm."""

    model: mujoco.MjModel
    objects: dict[str, SimulatedObject]
    sides: tuple[str, ...]
    bases: tuple[tuple[float, float, float], ...]

    def qpos_start(self, obj: str) -> int:
        """The index in a state at which a movable object's place and quaternion begin, or the index of a fixture's
        joint.
        """
        return int(self.model.joint(obj).qposadr[0])

    def lit_lamp_geoms(self, state: NDArray[np.float64]) -> tuple[int, ...]:
        """The geoms of the lamps that are on in a state."""
        buttons = [obj for obj in self.objects.values() if obj.shape.form == "button"]
        on = [obj for obj in buttons if is_switched(obj, state[self.qpos_start(obj.name)])]
        return tuple(int(self.model.geom(lamp_of(obj)).id) for obj in on)


def build_scene(
    objects: Sequence[SimulatedObject], marks: dict[str, Rgb], world: WorldConfig, rng: np.random.Generator
) -> CompiledScene:
    """Build the scene. `marks` maps the side of each arm to the colour of its bands."""
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
    thickness, links = rng.uniform(*world.thickness), world.links[rng.integers(len(world.links))]
    shell = _shade(rng, saturation=0.12, low=0.55, high=0.93)
    for (side, mark), base in zip(marks.items(), bases, strict=True):
        _paint(spec, f"{side}shell", shell, 0.5)
        _paint(spec, f"{side}accent", mark, 0.4)
        add_arm(spec, side, base, thickness, links)
    for obj in objects:
        (add_fixture if obj.is_fixture else add_object)(spec, obj)
    return CompiledScene(spec.compile(), {obj.name: obj for obj in objects}, tuple(marks), bases)


def _shade(rng: np.random.Generator, saturation: float, low: float, high: float) -> Rgb:
    """A random hue with at most this saturation and a value from `low` to `high`."""
    return colorsys.hsv_to_rgb(rng.uniform(), rng.uniform(0, saturation), rng.uniform(low, high))


def _paint(spec: mujoco.MjSpec, name: str, rgb: Rgb, shine: float) -> None:
    spec.add_material(name=name, rgba=(*rgb, 1), specular=shine, shininess=0.6 * shine)


def _add_surfaces(spec: mujoco.MjSpec, world: WorldConfig, rng: np.random.Generator) -> None:
    table = world.tables[rng.integers(len(world.tables))]
    wood = colorsys.hsv_to_rgb(rng.uniform(0.04, 0.12), rng.uniform(0.2, 0.6), rng.uniform(0.4, 0.8))
    surface = wood if table == "grain" else _shade(rng, saturation=0.35, low=0.35, high=0.8)
    wall = _shade(rng, saturation=0.2, low=0.55, high=0.85)
    _add_texture(spec, "surface", table, surface, rng)
    behind = world.walls[rng.integers(len(world.walls))]
    _add_texture(spec, "wall", behind, wall, rng)
    _add_texture(spec, "floor", "plaster", _shade(rng, saturation=0.2, low=0.25, high=0.5), rng)
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


def _add_texture(spec: mujoco.MjSpec, name: str, surface: Surface, rgb: Rgb, rng: np.random.Generator) -> None:
    """Add a texture and a matt material of the same name."""
    pixels = (np.clip(SURFACES[surface](rng)[..., None] * np.array(rgb), 0, 1) * 255).round().astype(np.uint8)
    flat = mujoco.mjtTexture.mjTEXTURE_2D
    texture = spec.add_texture(name=name, type=flat, width=_SIZE, height=_SIZE, nchannel=3)
    texture.data = pixels.tobytes()
    material = spec.add_material(name=name, specular=0.1, shininess=0.2)
    material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = name


def _add_room(spec: mujoco.MjSpec) -> None:
    box, plane = mujoco.mjtGeom.mjGEOM_BOX, mujoco.mjtGeom.mjGEOM_PLANE
    world = spec.worldbody
    world.add_geom(name="floor", type=plane, size=[7, 7, 1], pos=[0, 0, -0.72], material="floor", **NO_TOUCH)
    upright = [np.sqrt(0.5), 0, np.sqrt(0.5), 0]
    back = {"size": [1.6, 7, 1], "pos": [-1.05, 0, 0.88], "quat": upright}
    world.add_geom(name="wall", type=plane, material="wall", **back, **NO_TOUCH)
    world.add_geom(type=box, size=[0.012, 7, 0.05], pos=[-1.04, 0, -0.67], material="dark", **NO_TOUCH)
    # The table top is a separate body, so that its contacts are separate from the room's.
    table = world.add_body(name="table")
    table.add_geom(name="table", type=box, size=[0.56, 0.80, 0.02], pos=[0.34, 0, -0.02], material="surface", **TOUCH)
    for x in (-0.16, 0.84):
        for y in (-0.74, 0.74):
            world.add_geom(type=box, size=[0.025, 0.025, 0.34], pos=[x, y, -0.38], material="dark", **NO_TOUCH)


def _add_lights(spec: mujoco.MjSpec, world: WorldConfig, rng: np.random.Generator) -> None:
    """One lamp that casts shadows, and ambient light; brightness and warmth vary."""
    warmth = np.array([1.0, 1.0, 1.0]) + rng.uniform(-0.06, 0.06) * np.array([1.0, 0.0, -1.0])
    spec.visual.headlight.ambient = rng.uniform(0.28, 0.40) * warmth
    spec.visual.headlight.diffuse = rng.uniform(0.15, 0.28) * warmth
    spec.visual.headlight.specular = [0.0] * 3
    spec.visual.quality.shadowsize = 2048
    spec.visual.quality.offsamples = 0
    spec.visual.map.shadowclip = 1.0
    spec.visual.map.znear = 0.01
    spec.stat.extent = 2.0
    spec.stat.center = [0.35, 0, 0.1]
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    beam = np.array([rng.uniform(-0.55, -0.1), rng.uniform(*world.light_tilt), -1.0])
    spec.worldbody.add_light(
        pos=np.array([0.35, 0, 0]) - 1.6 * beam,
        dir=beam,
        directional=True,
        diffuse=rng.uniform(0.45, 0.65) * warmth,
        specular=[0.25] * 3,
        castshadow=True,
    )
