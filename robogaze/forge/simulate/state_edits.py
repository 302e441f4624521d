"""Edits of the state of a recording: objects do impossible things. Each function returns an edit.

Times, places and amounts are drawn from the clip's random generator and do not reveal the fault. If the edit is not
possible in the recording, the function raises DrawRejected.
"""

from collections.abc import Callable

import numpy as np

from robogaze.forge.simulate.arm import FINGERS, HAND, OPEN_M, Vector
from robogaze.forge.simulate.objects import FAR_BELOW_M
from robogaze.forge.simulate.playback import PlaybackEdit
from robogaze.forge.simulate.recorded_setup import SHORTEST, Generator, RecordedSetup, ease
from robogaze.forge.simulate.scene_sampler import DrawRejected

_CLEAR_M = 0.07
"""The least height of an object that hangs in the air, above the rim of a goal."""
_GONE = np.array([0, 0, FAR_BELOW_M - 2, 1, 0, 0, 0], float)


def _moved(
    recorded: RecordedSetup, obj: str, first: int, last: int, change: Callable[[int, Vector], Vector]
) -> PlaybackEdit:
    """An edit that sets an object's pose (place and quaternion) from frame `first` up to the frame before `last`."""
    start = recorded.recording.scene.qpos_start(obj)

    def state(number: int, whole: Vector) -> None:
        whole[start : start + 7] = change(number, whole[start : start + 7].copy())

    return PlaybackEdit((first, last), bodies=(obj,), description_fields={"object": obj}, state=state)


def jump(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object jumps from one frame to the next: a carried object to its goal, a bystander anywhere."""
    if rng.random() < 0.5 and recorded.carried_subtasks:
        subtask, low, high = recorded.carried_object(rng)
        first, last = recorded.interval(rng, low, high, lasting_share=1.0)
        after = recorded.recording.stage_ends[subtask.number]
        target = recorded.recording.pose(after - 1, subtask.obj.name)
        last = last if "short" in recorded.ways else after
        return _moved(recorded, subtask.obj.name, first, last, lambda number, pose: target)
    obj, low, high = recorded.resting_object(rng, to_end="short" not in recorded.ways)
    first, last = recorded.interval(rng, low, high, lasting_share=1.0)
    target = recorded.recording.pose(first, obj)
    target[:2] = recorded.free_spot(rng, 0.04)
    return _moved(recorded, obj, first, last, lambda number, pose: target)


def vanish(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object disappears from one frame to the next, for a while or to the end."""
    obj, low, high = recorded.resting_or_carried_object(rng, 0.6)
    first, last = recorded.interval(rng, low, high)
    last = recorded.frame_count if rng.random() < 0.6 and "short" not in recorded.ways else last
    return _moved(recorded, obj, first, last, lambda number, pose: _GONE)


def appear(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A new object is on the table."""
    hidden = recorded.setup.hidden_objects[0]
    first, last = recorded.interval(rng, recorded.start(), recorded.frame_count)
    turn = rng.uniform(0, np.pi) / 2
    target = np.array([*recorded.free_spot(rng, hidden.radius_m), 0, np.cos(turn), 0, 0, np.sin(turn)])
    return _moved(recorded, hidden.name, first, last, lambda number, pose: target)


def swap(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object becomes an object of another kind from one frame to the next, in the hand or on the table."""
    obj, low, high = recorded.resting_or_carried_object(rng, 0.5)
    hidden = other_kind(recorded, obj)
    first, last = recorded.interval(rng, low, high)
    last = last if "short" in recorded.ways else recorded.frame_count
    start, other = recorded.recording.scene.qpos_start(obj), recorded.recording.scene.qpos_start(hidden)

    def state(number: int, whole: Vector) -> None:
        whole[other : other + 7] = whole[start : start + 7]
        whole[start : start + 7] = _GONE

    names = {"object": obj, "other": hidden}
    return PlaybackEdit((first, last), bodies=(obj, hidden), description_fields=names, state=state)


def other_kind(recorded: RecordedSetup, obj: str) -> str:
    """The name of a hidden object whose kind differs from the kind of `obj`. Raises DrawRejected."""
    kind = next(known.kind for known in recorded.setup.objects if known.name == obj)
    for spare in recorded.setup.hidden_objects:
        if spare.kind != kind:
            return spare.name
    raise DrawRejected("every hidden object is of the same kind as the shown object")


def hover(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object rises and hangs in the air. It may come down again."""
    obj, low, high = recorded.resting_object(rng)
    first, last = recorded.interval(rng, low, high)
    height, rise = rng.uniform(0.05, 0.15), recorded.ramp(rng, 5, 12)

    def pose(number: int, pose: Vector) -> Vector:
        up = ease(number, first, rise)
        if last < high:
            up *= 1 - ease(number, last - rise, rise)
        pose[2] += height * up
        return pose

    return _moved(recorded, obj, first, last, pose)


def sink(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A bystander sinks into the table top and stays there, or comes up again."""
    name = recorded.bystander(rng)
    obj = next(known for known in recorded.setup.bystanders if known.name == name)
    first, last = recorded.interval(rng, recorded.start(), recorded.frame_count)
    depth, ramp = 2 * obj.half_height_m * rng.uniform(0.45, 0.8), recorded.ramp(rng, 6, 14)

    def pose(number: int, pose: Vector) -> Vector:
        down = ease(number, first, ramp)
        if last < recorded.frame_count:
            down *= 1 - ease(number, last - ramp, ramp)
        pose[2] -= depth * down
        return pose

    return _moved(recorded, name, first, last, pose)


def slide(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A bystander slides over the table without contact."""
    obj, frames = recorded.bystander(rng), recorded.ramp(rng, 10, 24)
    if recorded.frame_count < 2 * frames:
        raise DrawRejected("too short")
    first = int(rng.integers(recorded.start(), recorded.frame_count - frames))
    away = np.array(recorded.free_spot(rng, 0.04)) - recorded.recording.pose(first, obj)[:2]
    if not 0.07 < np.linalg.norm(away) < 0.25:
        raise DrawRejected("no free place at the right distance to slide to")

    def pose(number: int, pose: Vector) -> Vector:
        pose[:2] += away * ease(number, first, frames)
        return pose

    return _moved(recorded, obj, first, recorded.frame_count, pose)


def move_by_itself(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A fixture opens or closes without contact."""
    fixture = next((goal for goal in recorded.setup.unused_goals if goal.is_fixture), None)
    if fixture is None:
        raise DrawRejected("no other fixture")
    frames, share = recorded.ramp(rng, 10, 24), rng.uniform(0.7, 0.95)
    if recorded.frame_count < 2 * frames:
        raise DrawRejected("too short")
    first = int(rng.integers(recorded.start(), recorded.frame_count - frames))
    to = fixture.travel_m * share if fixture.offset_m < fixture.travel_m / 2 else fixture.travel_m * (1 - share)
    place, at = recorded.recording.scene.qpos_start(fixture.name), to / fixture.lever_m

    def state(number: int, whole: Vector) -> None:
        whole[place] += (at - whole[place]) * ease(number, first, frames)

    window = (first, recorded.frame_count)
    return PlaybackEdit(window, bodies=(fixture.name,), description_fields={"object": fixture.name}, state=state)


def hop(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object at rest hops up and down without contact."""
    obj, low, high = recorded.resting_object(rng)
    hops, frames = int(rng.integers(1, 4)), int(rng.integers(7, 11))
    if high - low < hops * frames + 4:
        raise DrawRejected("too short")
    first = int(rng.integers(low, high - hops * frames))
    height = rng.uniform(0.05, 0.12)

    def pose(number: int, pose: Vector) -> Vector:
        share = (number - first + 0.5) / frames
        pose[2] += height * abs(np.sin(np.pi * share))
        return pose

    return _moved(recorded, obj, first, first + hops * frames, pose)


def trail(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A carried object hangs below an open hand and moves with it."""
    subtask, low, high = recorded.carried_object(rng)
    obj = subtask.obj.name
    length = high - low
    first, last = low + round(length * rng.uniform(0.1, 0.25)), low + round(length * rng.uniform(0.65, 0.8))
    if last - first < SHORTEST:
        raise DrawRejected("too short")
    gap, ramp = rng.uniform(0.05, 0.085), 4
    fingers = [recorded.recording.scene.model.joint(f"{subtask.side}{name}").qposadr[0] for name in FINGERS]
    start = recorded.recording.scene.qpos_start(obj)

    def state(number: int, whole: Vector) -> None:
        share = ease(number, first, ramp) * (1 - ease(number, last - ramp, ramp + 1))
        # Neither into the table nor into another object.
        whole[start + 2] = max(whole[start + 2] - gap * share, min(whole[start + 2], _CLEAR_M))
        whole[fingers] += (OPEN_M / 2 - whole[fingers]) * share

    bodies = (obj, *(f"{subtask.side}{name}" for name in FINGERS))
    names = {"object": obj, "hand": recorded.setup.part_names[f"{subtask.side}{HAND}"]}
    return PlaybackEdit((first, last), bodies=bodies, description_fields=names, state=state)
