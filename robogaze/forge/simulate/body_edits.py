"""What an arm can be made to look like that it is not: parts lost, copied, grown, bent, or marked as the other's."""

from collections.abc import Callable

import mujoco
import numpy as np

from robogaze.forge.simulate.body import HAND, HAND_PARTS
from robogaze.forge.simulate.draw import PlaybackEdit
from robogaze.forge.simulate.edits import Generator, ease, stretch
from robogaze.forge.simulate.geoms import draw_copy, draw_new, geoms_of, transform
from robogaze.forge.simulate.stage import NoRoom, StagedSetting

_OUT_OF_SIGHT_M = -9.0
_PARTS = {
    "hand": HAND_PARTS,
    "fingers": HAND_PARTS[1:],
    "finger": HAND_PARTS[1:2],
    "wrist": ("roll", "wrist", "spin"),
}
"""What can be lost, by the name it has in a recipe's bodies."""


def _side(stage: StagedSetting, rng: Generator) -> str:
    """The side of an arm that has a job."""
    return stage.setting.jobs[rng.integers(len(stage.setting.jobs))].side


def _during(stage: StagedSetting, rng: Generator) -> tuple[int, int]:
    return stretch(rng, round(0.1 * stage.length), stage.length)


def lose_part(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A part of the arm is gone, and what it held stays where it is in the air."""
    side, part = _side(stage, rng), list(_PARTS)[rng.integers(len(_PARTS))]
    bodies = tuple(f"{side}{name}" for name in _PARTS[part])
    first, last = _during(stage, rng)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            for geom in geoms_of(stage, drawn, bodies):
                geom.pos[2] = _OUT_OF_SIGHT_M

    return PlaybackEdit(bodies=bodies, facts={"part": stage.setting.names[f"{side}{part}"]}, scene=scene)


def copy_hand(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A copy of the hand is in the air beside it, turned and held by nothing."""
    side = _side(stage, rng)
    bodies = tuple(f"{side}{name}" for name in HAND_PARTS)
    first, last = _during(stage, rng)
    turn = _turn(rng, most=0.9)
    away = np.array([rng.uniform(-0.05, 0.1), rng.choice([-1, 1]) * rng.uniform(0.13, 0.2), rng.uniform(0.0, 0.08)])

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            geoms = list(geoms_of(stage, drawn, bodies))
            pivot = np.mean([geom.pos for geom in geoms], axis=0)
            for geom in geoms:
                draw_copy(drawn, geom, pivot + turn @ (geom.pos - pivot) + away, turn @ geom.mat)

    return PlaybackEdit(bodies=("",), facts={"part": stage.setting.names[f"{side}{HAND}"]}, scene=scene)


def graft(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A jointed limb that is no part of the arm sticks out of the table."""
    first, last = _during(stage, rng)
    x, y = stage.free_spot(rng, 0.03)
    knee = np.array([x, y, 0]) + rng.uniform((-0.04, -0.04, 0.10), (0.04, 0.04, 0.16))
    tip = knee + rng.uniform((-0.09, -0.09, 0.02), (0.09, 0.09, 0.08))
    ends = [(np.array([x, y, -0.02]), knee, 0.019), (knee, tip, 0.015)]
    ends += [(tip, tip + rng.uniform(-0.03, 0.03, 3) + [0, 0, 0.02], 0.007) for _ in range(3)]
    material = stage.take.scene.model.material(f"{_side(stage, rng)}shell")

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            for start, end, radius in ends:
                _limb(drawn, start, end, ease(number, first, 3) * radius, np.array(material.rgba))

    return PlaybackEdit(bodies=("",), scene=scene)


def _limb(drawn: mujoco.MjvScene, start: np.ndarray, end: np.ndarray, radius: float, rgba: np.ndarray) -> None:
    capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
    geom = draw_new(drawn, capsule, np.zeros(3), np.zeros(3), np.eye(3), rgba)
    mujoco.mjv_connector(geom, capsule, radius, start, end)
    geom.specular, geom.shininess = 0.5, 0.3


def bend(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """Links of the arm are stretched and bent where it has no joint."""
    side = _side(stage, rng)
    bodies = tuple(f"{side}{name}" for name in (("roll", "wrist"), ("roll",), HAND_PARTS)[rng.integers(3)])
    first, last = _during(stage, rng)
    change = rng.uniform(0.35, 0.8, (3, 3)) * rng.choice([-1, 1], (3, 3))
    np.fill_diagonal(change, rng.uniform(-0.2, 0.9, 3))
    ramp = int(rng.integers(3, 9))

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            share = ease(number, first, ramp) * (
                1 - (ease(number, last - ramp, ramp + 1) if last < stage.length else 0)
            )
            geoms = list(geoms_of(stage, drawn, bodies))
            transform(geoms, np.mean([geom.pos for geom in geoms], axis=0), np.eye(3) + share * change)

    part = "hand" if bodies[0].endswith(HAND) else "wrist"
    return PlaybackEdit(bodies=bodies, facts={"part": stage.setting.names[f"{side}{part}"]}, scene=scene)


def swap_marks(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """Two arms exchange the colours they are marked with. Raises NoRoom for a single arm."""
    scene_ = stage.take.scene
    if len(scene_.sides) < 2:
        raise NoRoom("a single arm")
    first, last = _during(stage, rng)
    materials = [scene_.model.material(f"{side}accent") for side in scene_.sides]
    other = {materials[0].id: materials[1].rgba, materials[1].id: materials[0].rgba}

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            for geom in drawn.geoms[: drawn.ngeom]:
                if geom.matid in other:
                    geom.rgba[:] = other[geom.matid]

    marked = {
        int(body) for body, own in zip(scene_.model.geom_bodyid, scene_.model.geom_matid, strict=True) if own in other
    }
    return PlaybackEdit(bodies=tuple(scene_.model.body(number).name for number in sorted(marked)), scene=scene)


def _turn(rng: Generator, most: float) -> np.ndarray:
    """A turn about a random axis by up to so many radians."""
    axis = rng.normal(size=3)
    quaternion, matrix = np.zeros(4), np.zeros(9)
    mujoco.mju_axisAngle2Quat(quaternion, axis / np.linalg.norm(axis), rng.uniform(0.4, most))
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


LIMB_EDITS: dict[str, Callable[[StagedSetting, Generator], PlaybackEdit]] = {
    make.__name__: make for make in (lose_part, copy_hand, graft, bend, swap_marks)
}
"""The edits of arms, by name."""
