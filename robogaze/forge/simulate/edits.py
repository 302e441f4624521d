"""What things can be made to do that they cannot do. Each function gives an edit of a recording.

When, where and how much is drawn from the clip's generator, so that nothing can be told from where or when it is.
A recording that leaves no room for the edit raises NoRoom.
"""

from collections.abc import Callable

import mujoco
import numpy as np

from robogaze.forge.simulate.body import FINGERS, HAND, OPEN_M
from robogaze.forge.simulate.draw import PlaybackEdit
from robogaze.forge.simulate.geoms import draw_copy, geoms_of
from robogaze.forge.simulate.kinematics import Vector
from robogaze.forge.simulate.stage import NoRoom, StagedSetting
from robogaze.forge.simulate.things import FAR_BELOW_M

Generator = np.random.Generator

SHORTEST = 8
"""The fewest frames an edit lasts."""
_CLEAR_M = 0.07
"""How high what hangs in the air is over the table at least: over a goal's rim."""


def ease(number: int, first: int, frames: int) -> float:
    """From 0 before the frame `first` to 1 some frames later, smoothly; already above 0 at `first`."""
    share = min(max((number - first + 1) / frames, 0.0), 1.0)
    return share * share * (3 - 2 * share)


def stretch(rng: Generator, low: int, high: int) -> tuple[int, int]:
    """A first and a last frame between two frames: to the very end in half of all cases. Raises NoRoom."""
    if high - low < SHORTEST + 2:
        raise NoRoom("too short")
    first = int(rng.integers(low, high - SHORTEST))
    return first, high if rng.random() < 0.5 else int(rng.integers(first + SHORTEST, high + 1))


def actor(stage: StagedSetting, rng: Generator) -> tuple[str, int, int]:
    """A thing at rest, and from which to which frame: a bystander, or what was put down."""
    others = stage.setting.others
    if not stage.carried or (others and rng.random() < 0.6):
        if not others:
            raise NoRoom("no bystander")
        return others[rng.integers(len(others))].name, round(0.1 * stage.length), stage.length
    job = stage.setting.jobs[-1]
    return job.thing.name, stage.begins("retreat", job) + 3, stage.length


def carried_thing(stage: StagedSetting, rng: Generator) -> tuple[str, int, int]:
    """A thing that an arm brings somewhere, and from which to which frame it is on its way."""
    job = stage.carried[rng.integers(len(stage.carried))]
    return job.thing.name, stage.begins("carry", job) + 5, stage.begins("release", job) - 2


def _moved(stage: StagedSetting, thing: str, change: Callable[[int, Vector], Vector | None]) -> PlaybackEdit:
    """An edit that gives a thing's pose (seven numbers) for a frame, None where it stays as it is."""
    start = stage.take.scene.place_of(thing)

    def state(number: int, whole: Vector) -> Vector:
        pose = change(number, whole[start : start + 7].copy())
        if pose is not None:
            whole[start : start + 7] = pose
        return whole

    return PlaybackEdit(bodies=(thing,), facts={"thing": thing}, state=state)


def jump(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing is elsewhere from one frame to the next: what is carried in its goal, a bystander somewhere else."""
    if rng.random() < 0.5 and stage.carried:
        thing, low, high = carried_thing(stage, rng)
        first = int(rng.integers(low, max(high - 6, low + 1)))
        there = stage.take.pose(stage.length - 1, thing)
        return _moved(stage, thing, lambda number, pose: there if number >= first else None)
    thing, low, high = actor(stage, rng)
    first = int(rng.integers(low, high - SHORTEST))
    there = stage.take.pose(first, thing)
    there[:2] = stage.free_spot(rng, 0.04)
    return _moved(stage, thing, lambda number, pose: there if number >= first else None)


def vanish(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing is gone from one frame to the next, for a while or for good."""
    thing, low, high = actor(stage, rng) if rng.random() < 0.6 or not stage.carried else carried_thing(stage, rng)
    first, last = stretch(rng, low, high)
    last = stage.length if rng.random() < 0.6 else last
    gone = np.array([0, 0, FAR_BELOW_M - 2, 1, 0, 0, 0], float)
    return _moved(stage, thing, lambda number, pose: gone if first <= number < last else None)


def appear(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing that was not there stands on the table."""
    spare = stage.setting.spares[0]
    first, last = stretch(rng, round(0.1 * stage.length), stage.length)
    turn = rng.uniform(0, np.pi) / 2
    there = np.array([*stage.free_spot(rng, spare.reach_m), 0, np.cos(turn), 0, 0, np.sin(turn)])
    return _moved(stage, spare.name, lambda number, pose: there if first <= number < last else None)


def double(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A second copy of a bystander stands on the table."""
    if not stage.setting.others:
        raise NoRoom("no bystander")
    thing = stage.setting.others[rng.integers(len(stage.setting.others))]
    first, last = stretch(rng, round(0.1 * stage.length), stage.length)
    away = np.array([*stage.free_spot(rng, thing.reach_m), 0.0]) - [*stage.take.pose(first, thing.name)[:2], 0.0]

    def scene(number: int, drawn: mujoco.MjvScene) -> None:
        if first <= number < last:
            for geom in list(geoms_of(stage, drawn, (thing.name,))):
                draw_copy(drawn, geom, geom.pos + away, np.array(geom.mat))

    return PlaybackEdit(bodies=("",), facts={"thing": thing.name}, scene=scene)


def swap(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing is one of another kind from one frame to the next, in the hand or where it stands."""
    thing, low, high = actor(stage, rng) if rng.random() < 0.5 or not stage.carried else carried_thing(stage, rng)
    kind = next(one.kind for one in stage.setting.things if one.name == thing)
    spare = next((one.name for one in stage.setting.spares if one.kind != kind), None)
    if spare is None:
        raise NoRoom("nothing of another kind")
    first = int(rng.integers(low, high - 4))
    start, other = stage.take.scene.place_of(thing), stage.take.scene.place_of(spare)

    def state(number: int, whole: Vector) -> Vector:
        if number >= first:
            whole[other : other + 7] = whole[start : start + 7]
            whole[start : start + 7] = [0, 0, FAR_BELOW_M - 2, 1, 0, 0, 0]
        return whole

    return PlaybackEdit(bodies=(thing, spare), facts={"thing": thing, "other": spare}, state=state)


def hover(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing rises and stays up; it may come down again."""
    thing, low, high = actor(stage, rng)
    first, last = stretch(rng, low, high)
    height, rise = rng.uniform(0.05, 0.15), int(rng.integers(5, 12))

    def pose(number: int, pose: Vector) -> Vector | None:
        up = ease(number, first, rise) * (1 - (ease(number, last - rise, rise) if last < high else 0.0))
        pose[2] += height * up
        return pose if first <= number < last else None

    return _moved(stage, thing, pose)


def sink(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A bystander goes down into the table top and stays there, or comes up again."""
    if not stage.setting.others:
        raise NoRoom("no bystander")
    thing = stage.setting.others[rng.integers(len(stage.setting.others))]
    first, last = stretch(rng, round(0.1 * stage.length), stage.length)
    depth, ramp = 2 * thing.half_m * rng.uniform(0.45, 0.8), int(rng.integers(6, 14))

    def pose(number: int, pose: Vector) -> Vector | None:
        down = ease(number, first, ramp) * (1 - (ease(number, last - ramp, ramp) if last < stage.length else 0.0))
        pose[2] -= depth * down
        return pose if first <= number < last else None

    return _moved(stage, thing.name, pose)


def slide(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A bystander that nothing touches moves over the table by itself."""
    if not stage.setting.others:
        raise NoRoom("no bystander")
    thing = stage.setting.others[rng.integers(len(stage.setting.others))].name
    first = int(rng.integers(round(0.1 * stage.length), round(0.75 * stage.length)))
    frames = int(rng.integers(10, 24))
    away = np.array(stage.free_spot(rng, 0.04)) - stage.take.pose(first, thing)[:2]
    if not 0.07 < np.linalg.norm(away) < 0.25:
        raise NoRoom("no way to slide")

    def pose(number: int, pose: Vector) -> Vector | None:
        pose[:2] += away * ease(number, first, frames)
        return pose if number >= first else None

    return _moved(stage, thing, pose)


def move_by_itself(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A fixture that nothing touches opens or shuts by itself."""
    fixture = next((one for one in stage.setting.idle_goals if one.fixture), None)
    if fixture is None:
        raise NoRoom("no other fixture")
    first = int(rng.integers(round(0.1 * stage.length), round(0.75 * stage.length)))
    frames, share = int(rng.integers(10, 24)), rng.uniform(0.7, 0.95)
    to = fixture.way_m * share if fixture.out_m < fixture.way_m / 2 else fixture.way_m * (1 - share)
    place, at = stage.take.scene.place_of(fixture.name), to / fixture.lever_m

    def state(number: int, whole: Vector) -> Vector:
        if number >= first:
            whole[place] += (at - whole[place]) * ease(number, first, frames)
        return whole

    return PlaybackEdit(bodies=(fixture.name,), facts={"thing": fixture.name}, state=state)


def hop(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """A thing at rest hops up and down without a push."""
    thing, low, high = actor(stage, rng)
    hops, frames = int(rng.integers(1, 4)), int(rng.integers(7, 11))
    if high - low < hops * frames + 4:
        raise NoRoom("too short")
    first = int(rng.integers(low, high - hops * frames))
    height = rng.uniform(0.05, 0.12)

    def pose(number: int, pose: Vector) -> Vector | None:
        share = (number - first + 0.5) / frames
        pose[2] += height * abs(np.sin(np.pi * share))
        return pose if 0 <= number - first < hops * frames else None

    return _moved(stage, thing, pose)


def trail(stage: StagedSetting, rng: Generator) -> PlaybackEdit:
    """What is carried hangs below an open hand and goes along with it."""
    thing, low, high = carried_thing(stage, rng)
    job = next(job for job in stage.setting.jobs if job.thing.name == thing)
    length = high - low
    first, last = low + round(length * rng.uniform(0.1, 0.25)), low + round(length * rng.uniform(0.65, 0.8))
    if last - first < SHORTEST:
        raise NoRoom("too short")
    gap, ramp = rng.uniform(0.05, 0.085), 4
    fingers = [stage.take.scene.model.joint(f"{job.side}{name}").qposadr[0] for name in FINGERS]
    start = stage.take.scene.place_of(thing)

    def state(number: int, whole: Vector) -> Vector:
        if first <= number < last:
            share = ease(number, first, ramp) * (1 - ease(number, last - ramp, ramp + 1))
            # Not into the table, nor into what is on the way.
            whole[start + 2] = max(whole[start + 2] - gap * share, min(whole[start + 2], _CLEAR_M))
            whole[fingers] += (OPEN_M / 2 - whole[fingers]) * share
        return whole

    bodies = (thing, *(f"{job.side}{name}" for name in FINGERS))
    return PlaybackEdit(
        bodies=bodies, facts={"thing": thing, "hand": stage.setting.names[f"{job.side}{HAND}"]}, state=state
    )


EDITS: dict[str, Callable[[StagedSetting, Generator], PlaybackEdit]] = {
    make.__name__: make
    for make in (
        jump,
        vanish,
        appear,
        double,
        swap,
        hover,
        sink,
        slide,
        move_by_itself,
        hop,
        trail,
    )
}
"""The edits of what things do, by name."""
