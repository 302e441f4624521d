"""Edits of the rendered scene that make bodies look impossible. Objects are copied, or change their shape or colour.
Parts of an arm are missing, copied, added or bent, or have the marks of the other arm.
"""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from robogaze.forge.simulate.arm import HAND, HAND_PARTS, Vector
from robogaze.forge.simulate.playback import PlaybackEdit, body_of, draw_new
from robogaze.forge.simulate.recorded_setup import Generator, RecordedSetup, ease
from robogaze.forge.simulate.scene_sampler import DrawRejected
from robogaze.forge.simulate.state_edits import other_kind

Matrix = NDArray[np.float64]


def geoms_of(recorded: RecordedSetup, drawn: mujoco.MjvScene, bodies: tuple[str, ...]) -> Iterator[mujoco.MjvGeom]:
    """The rendered geoms of some bodies."""
    model = recorded.recording.scene.model
    for geom in drawn.geoms[: drawn.ngeom]:
        if body_of(model, geom) in bodies:
            yield geom


def transform(geoms: list[mujoco.MjvGeom], pivot: Vector, matrix: Matrix) -> None:
    """Transform some rendered geoms by a matrix about a pivot."""
    for geom in geoms:
        geom.pos[:] = pivot + matrix @ (geom.pos - pivot)
        geom.mat[:] = matrix @ geom.mat


def draw_copy(drawn: mujoco.MjvScene, geom: mujoco.MjvGeom, place: Vector, turn: Matrix) -> None:
    """Render a geom again, at a place and with a rotation."""
    copy = draw_new(drawn, int(geom.type), np.array(geom.size), place, turn, np.array(geom.rgba))
    for name in ("matid", "dataid", "emission", "specular", "shininess", "reflectance", "category"):
        setattr(copy, name, getattr(geom, name))


def shear(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A rigid object is stretched and slanted about the middle of its base. It may return to its shape."""
    obj, low, high = recorded.resting_or_carried_object(rng, 0.5)
    first, last = recorded.interval(rng, low, high)
    slant = rng.uniform(0.5, 1.0, 2) * rng.choice([-1, 1], 2)
    tall, wide = rng.uniform(0.4, 1.1), rng.uniform(-0.35, 0.5, 2)
    change = np.array([[wide[0], 0, slant[0]], [0, wide[1], slant[1]], [0, 0, tall]])
    return _reshaped(recorded, obj, change, first, last, ramp=recorded.ramp(rng, 4, 10), back=True)


def drift_in_size(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object slowly becomes smaller or larger and keeps its new size."""
    obj, low, high = recorded.resting_object(rng, to_end=True)
    first, last = recorded.interval(rng, low, high, lasting_share=1.0)
    share = rng.choice([rng.uniform(-0.45, -0.3), rng.uniform(0.35, 0.6)])
    return _reshaped(recorded, obj, np.eye(3) * share, first, last, ramp=recorded.ramp(rng, 12, 28), back=False)


def melt(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A rigid object slowly sags: it becomes lower, wider and slanted, and keeps this shape."""
    obj, low, high = recorded.resting_object(rng, to_end=True)
    first, last = recorded.interval(rng, low, high, lasting_share=1.0)
    wide = rng.uniform(0.35, 0.7, 2)
    slant = rng.uniform(0.2, 0.5, 2) * rng.choice([-1, 1], 2)
    change = np.array([[wide[0], 0, slant[0]], [0, wide[1], slant[1]], [0, 0, -rng.uniform(0.45, 0.65)]])
    return _reshaped(recorded, obj, change, first, last, ramp=recorded.ramp(rng, 24, 48), back=False)


def _reshaped(
    recorded: RecordedSetup, obj: str, change: Matrix, first: int, last: int, ramp: int, back: bool
) -> PlaybackEdit:
    """Transform an object by a matrix about its base, growing over `ramp` frames.

    With `back`, the object returns to its shape, unless the edit lasts to the end of the clip; with a ramp of 1, half
    of the change is left in the last frame of the edit.
    """
    start = recorded.recording.scene.qpos_start(obj)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        share = ease(number, first, ramp)
        if back and last < recorded.frame_count:
            share *= 1 - ease(number, last - ramp, ramp + 1)
        foot = recorded.recording.states[number, start : start + 3]
        transform(list(geoms_of(recorded, drawn, (obj,))), foot, np.eye(3) + share * change)

    return PlaybackEdit((first, last), bodies=(obj,), description_fields={"object": obj}, scene=scene)


def recolour(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object slowly changes its colour and keeps the new colour."""
    obj, low, high = recorded.resting_object(rng, to_end=True)
    (first, _), ramp = recorded.interval(rng, low, high), recorded.ramp(rng, 8, 24)
    old = next(known.rgb for known in recorded.setup.objects if known.name == obj)
    far = [hidden for hidden in recorded.setup.hidden_objects if np.abs(np.subtract(hidden.rgb, old)).max() > 0.4]
    if not far:
        raise DrawRejected("no other colour")
    new = np.array(far[rng.integers(len(far))].rgb)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        share = ease(number, first, ramp)
        for geom in geoms_of(recorded, drawn, (obj,)):
            geom.rgba[:3] = geom.rgba[:3] * (1 - share) + new * share

    window = (first, recorded.frame_count)
    return PlaybackEdit(window, bodies=(obj,), description_fields={"object": obj}, scene=scene)


def fade_out(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object at rest slowly becomes transparent until it is gone."""
    obj, low, high = recorded.resting_object(rng, to_end=True)
    (first, last), ramp = recorded.interval(rng, low, high, lasting_share=1.0), recorded.ramp(rng, 20, 40)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        _fade(list(geoms_of(recorded, drawn, (obj,))), 1 - ease(number, first, ramp))

    return PlaybackEdit((first, last), bodies=(obj,), description_fields={"object": obj}, scene=scene)


def fade_in(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A new object slowly becomes visible on the table."""
    hidden = recorded.setup.hidden_objects[0]
    (first, last), ramp = _during(recorded, rng, lasting_share=1.0), recorded.ramp(rng, 20, 40)
    target = np.array([*recorded.free_spot(rng, hidden.radius_m), 0, 1, 0, 0, 0])
    start = recorded.recording.scene.qpos_start(hidden.name)

    def state(number: int, whole: Vector) -> None:
        whole[start : start + 7] = target

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        _fade(list(geoms_of(recorded, drawn, (hidden.name,))), ease(number, first, ramp))

    names = {"object": hidden.name}
    return PlaybackEdit((first, last), bodies=(hidden.name,), description_fields=names, state=state, scene=scene)


def morph(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object at rest slowly turns into an object of another kind: the first fades out while the second fades in."""
    obj, low, high = recorded.resting_object(rng, to_end=True)
    hidden = other_kind(recorded, obj)
    (first, last), ramp = recorded.interval(rng, low, high, lasting_share=1.0), recorded.ramp(rng, 20, 40)
    start, other = recorded.recording.scene.qpos_start(obj), recorded.recording.scene.qpos_start(hidden)

    def state(number: int, whole: Vector) -> None:
        whole[other : other + 7] = whole[start : start + 7]

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        share = ease(number, first, ramp)
        _fade(list(geoms_of(recorded, drawn, (obj,))), 1 - share)
        _fade(list(geoms_of(recorded, drawn, (hidden,))), share)

    names = {"object": obj, "other": hidden}
    return PlaybackEdit((first, last), bodies=(obj, hidden), description_fields=names, state=state, scene=scene)


def _fade(geoms: list[mujoco.MjvGeom], opacity: float) -> None:
    """Render geoms with an opacity in [0, 1]."""
    for geom in geoms:
        if opacity < 1:
            geom.rgba[3], geom.transparent = opacity * geom.rgba[3], 1
        if opacity <= 0:
            geom.pos[2] = _OUT_OF_SIGHT_M


def double(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A second copy of a bystander is on the table."""
    name = recorded.bystander(rng)
    obj = next(known for known in recorded.setup.bystanders if known.name == name)
    first, last = _during(recorded, rng)
    away = np.zeros(3)
    away[:2] = recorded.free_spot(rng, obj.radius_m) - recorded.recording.pose(first, obj.name)[:2]

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        for geom in list(geoms_of(recorded, drawn, (obj.name,))):
            draw_copy(drawn, geom, geom.pos + away, np.array(geom.mat))

    return PlaybackEdit((first, last), bodies=("",), description_fields={"object": obj.name}, scene=scene)


_OUT_OF_SIGHT_M = -9.0
_PARTS = {
    "hand": HAND_PARTS,
    "fingers": HAND_PARTS[1:],
    "finger": HAND_PARTS[1:2],
    "wrist": ("roll", "wrist", "spin"),
}
"""The parts that can be lost, by their names in the configuration's `part_names`."""


def _side(recorded: RecordedSetup, rng: Generator) -> str:
    """The side of an arm that has a subtask."""
    return recorded.setup.subtasks[rng.integers(len(recorded.setup.subtasks))].side


def _during(recorded: RecordedSetup, rng: Generator, lasting_share: float = 0.4) -> tuple[int, int]:
    """A first and an end frame anywhere in the clip."""
    return recorded.interval(rng, recorded.start(), recorded.frame_count, lasting_share)


def lose_part(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A part of the arm disappears. An object in the hand is not affected: it moves on, in mid-air."""
    side, part = _side(recorded, rng), list(_PARTS)[rng.integers(len(_PARTS))]
    bodies = tuple(f"{side}{name}" for name in _PARTS[part])
    first, last = _during(recorded, rng)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        for geom in geoms_of(recorded, drawn, bodies):
            geom.pos[2] = _OUT_OF_SIGHT_M

    names = {"part": recorded.setup.part_names[f"{side}{part}"]}
    return PlaybackEdit((first, last), bodies=bodies, description_fields=names, scene=scene)


def copy_hand(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A rotated copy of the hand is in the air next to the hand, attached to nothing."""
    side = _side(recorded, rng)
    bodies = tuple(f"{side}{name}" for name in HAND_PARTS)
    first, last = _during(recorded, rng)
    turn = _turn(rng, most=0.9)
    away = np.array([rng.uniform(-0.05, 0.1), rng.choice([-1, 1]) * rng.uniform(0.13, 0.2), rng.uniform(0.0, 0.08)])

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        geoms = list(geoms_of(recorded, drawn, bodies))
        pivot = np.mean([geom.pos for geom in geoms], axis=0)
        for geom in geoms:
            draw_copy(drawn, geom, pivot + turn @ (geom.pos - pivot) + away, turn @ geom.mat)

    names = {"part": recorded.setup.part_names[f"{side}{HAND}"]}
    return PlaybackEdit((first, last), bodies=("",), description_fields=names, scene=scene)


def graft(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A jointed limb that belongs to no arm sticks out of the table."""
    first, last = _during(recorded, rng)
    x, y = recorded.free_spot(rng, 0.03)
    knee = np.array([x, y, 0]) + rng.uniform((-0.04, -0.04, 0.10), (0.04, 0.04, 0.16))
    tip = knee + rng.uniform((-0.09, -0.09, 0.02), (0.09, 0.09, 0.08))
    ends = [(np.array([x, y, -0.02]), knee, 0.019), (knee, tip, 0.015)]
    ends += [(tip, tip + rng.uniform(-0.03, 0.03, 3) + [0, 0, 0.02], 0.007) for _ in range(3)]
    material = recorded.recording.scene.model.material(f"{_side(recorded, rng)}shell")
    rise = recorded.ramp(rng, 3, 4)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        for start, end, radius in ends:
            _limb(drawn, start, end, ease(number, first, rise) * radius, np.array(material.rgba))

    return PlaybackEdit((first, last), bodies=("",), scene=scene)


def _limb(drawn: mujoco.MjvScene, start: np.ndarray, end: np.ndarray, radius: float, rgba: np.ndarray) -> None:
    capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
    geom = draw_new(drawn, capsule, np.zeros(3), np.zeros(3), np.eye(3), rgba)
    mujoco.mjv_connector(geom, capsule, radius, start, end)
    geom.specular, geom.shininess = 0.5, 0.3


def bend(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Links of the arm stretch and bend where there is no joint."""
    side = _side(recorded, rng)
    bodies = tuple(f"{side}{name}" for name in (("roll", "wrist"), ("roll",), HAND_PARTS)[rng.integers(3)])
    first, last = _during(recorded, rng)
    change = rng.uniform(0.35, 0.8, (3, 3)) * rng.choice([-1, 1], (3, 3))
    np.fill_diagonal(change, rng.uniform(-0.2, 0.9, 3))
    ramp = recorded.ramp(rng, 3, 9)

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        share = ease(number, first, ramp)
        if last < recorded.frame_count:
            share *= 1 - ease(number, last - ramp, ramp + 1)
        geoms = list(geoms_of(recorded, drawn, bodies))
        transform(geoms, np.mean([geom.pos for geom in geoms], axis=0), np.eye(3) + share * change)

    names = {"part": recorded.setup.part_names[f"{side}{'hand' if bodies[0].endswith(HAND) else 'wrist'}"]}
    return PlaybackEdit((first, last), bodies=bodies, description_fields=names, scene=scene)


def swap_marks(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """Two arms exchange the colours of their bands. Raises DrawRejected for a single arm."""
    if len(recorded.recording.scene.sides) < 2:
        raise DrawRejected("a single arm")
    model = recorded.recording.scene.model
    first, last = _during(recorded, rng)
    materials = [model.material(f"{side}accent") for side in recorded.recording.scene.sides]
    other = {materials[0].id: materials[1].rgba, materials[1].id: materials[0].rgba}

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        for geom in drawn.geoms[: drawn.ngeom]:
            if geom.matid in other:
                geom.rgba[:] = other[geom.matid]

    marked = sorted({int(body) for body in model.geom_bodyid[np.isin(model.geom_matid, list(other))]})
    return PlaybackEdit((first, last), bodies=tuple(model.body(number).name for number in marked), scene=scene)


def _turn(rng: Generator, most: float) -> np.ndarray:
    """A rotation about a random axis by 0.4 to `most` radians."""
    axis = rng.normal(size=3)
    quaternion, matrix = np.zeros(4), np.zeros(9)
    mujoco.mju_axisAngle2Quat(quaternion, axis / np.linalg.norm(axis), rng.uniform(0.4, most))
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)
