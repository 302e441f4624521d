"""Edits of the state of a recording: objects do impossible things. Each function returns an edit.

Times, places and amounts are drawn from the clip's random generator, so that they do not reveal the fault. If the edit
is not possible in the recording, the function raises DrawRejected.
"""

from collections.abc import Callable

import numpy as np

from robogaze.forge.simulate.arm import FINGERS, HAND, OPEN_M, Vector
from robogaze.forge.simulate.objects import FAR_BELOW_M
from robogaze.forge.simulate.playback import PlaybackEdit
from robogaze.forge.simulate.scene_sampler import DrawRejected, RecordedSetup

Generator = np.random.Generator

SHORTEST = 8
"""The least number of frames an edit lasts."""
_CLEAR_M = 0.07
"""The least height of an object that hangs in the air, above the rim of a goal."""


def ease(number: int, first: int, frames: int) -> float:
    """A smooth ramp from 0 before frame `first` to 1 after `frames` frames; above 0 at `first`."""
    share = min(max((number - first + 1) / frames, 0.0), 1.0)
    return share * share * (3 - 2 * share)


def sample_interval(rng: Generator, low: int, high: int) -> tuple[int, int]:
    """A first and an end frame between `low` and `high`; half of them last to `high`. Raises DrawRejected."""
    if high - low < SHORTEST + 2:
        raise DrawRejected("too short")
    first = int(rng.integers(low, high - SHORTEST))
    return first, high if rng.random() < 0.5 else int(rng.integers(first + SHORTEST, high + 1))


def resting_object(recorded: RecordedSetup, rng: Generator) -> tuple[str, int, int]:
    """An object at rest, a bystander or one that was put down, and the frames in which it rests."""
    bystanders = recorded.setup.bystanders
    if not recorded.carried_subtasks or (bystanders and rng.random() < 0.6):
        if not bystanders:
            raise DrawRejected("no bystander")
        return bystanders[rng.integers(len(bystanders))].name, round(0.1 * recorded.frame_count), recorded.frame_count
    subtask = recorded.setup.subtasks[-1]
    return subtask.obj.name, recorded.first_frame("retreat", subtask) + 3, recorded.frame_count


def carried_object(recorded: RecordedSetup, rng: Generator) -> tuple[str, int, int]:
    """An object that an arm carries, and the frames in which the arm carries it."""
    subtask = recorded.carried_subtasks[rng.integers(len(recorded.carried_subtasks))]
    return subtask.obj.name, recorded.first_frame("carry", subtask) + 5, recorded.first_frame("release", subtask) - 2


def resting_or_carried_object(recorded: RecordedSetup, rng: Generator, resting_share: float) -> tuple[str, int, int]:
    """An object at rest with this probability, else a carried one, and the frames in which it rests or is carried."""
    resting = rng.random() < resting_share or not recorded.carried_subtasks
    return (resting_object if resting else carried_object)(recorded, rng)


def _moved(recorded: RecordedSetup, obj: str, change: Callable[[int, Vector], Vector | None]) -> PlaybackEdit:
    """An edit that sets an object's pose (place and quaternion) in a frame; None leaves it unchanged."""
    start = recorded.recording.scene.qpos_start(obj)

    def state(number: int, whole: Vector) -> Vector:
        pose = change(number, whole[start : start + 7].copy())
        if pose is not None:
            whole[start : start + 7] = pose
        return whole

    return PlaybackEdit(bodies=(obj,), description_fields={"object": obj}, state=state)


def jump(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object is elsewhere from one frame to the next: a carried one in its goal, a bystander anywhere."""
    if rng.random() < 0.5 and recorded.carried_subtasks:
        obj, low, high = carried_object(recorded, rng)
        first = int(rng.integers(low, max(high - 6, low + 1)))
        target = recorded.recording.pose(recorded.frame_count - 1, obj)
        return _moved(recorded, obj, lambda number, pose: target if number >= first else None)
    obj, low, high = resting_object(recorded, rng)
    first = int(rng.integers(low, high - SHORTEST))
    target = recorded.recording.pose(first, obj)
    target[:2] = recorded.free_spot(rng, 0.04)
    return _moved(recorded, obj, lambda number, pose: target if number >= first else None)


def vanish(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object disappears from one frame to the next, for a while or to the end."""
    obj, low, high = resting_or_carried_object(recorded, rng, 0.6)
    first, last = sample_interval(rng, low, high)
    last = recorded.frame_count if rng.random() < 0.6 else last
    gone = np.array([0, 0, FAR_BELOW_M - 2, 1, 0, 0, 0], float)
    return _moved(recorded, obj, lambda number, pose: gone if first <= number < last else None)


def appear(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A new object is on the table."""
    hidden = recorded.setup.hidden_objects[0]
    first, last = sample_interval(rng, round(0.1 * recorded.frame_count), recorded.frame_count)
    turn = rng.uniform(0, np.pi) / 2
    target = np.array([*recorded.free_spot(rng, hidden.radius_m), 0, np.cos(turn), 0, 0, np.sin(turn)])
    return _moved(recorded, hidden.name, lambda number, pose: target if first <= number < last else None)


def swap(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object becomes one of another kind from one frame to the next, in the hand or on the table."""
    obj, low, high = resting_or_carried_object(recorded, rng, 0.5)
    kind = next(known.kind for known in recorded.setup.objects if known.name == obj)
    hidden = next((spare.name for spare in recorded.setup.hidden_objects if spare.kind != kind), None)
    if hidden is None:
        raise DrawRejected("nothing of another kind")
    first = int(rng.integers(low, high - 4))
    start, other = recorded.recording.scene.qpos_start(obj), recorded.recording.scene.qpos_start(hidden)

    def state(number: int, whole: Vector) -> Vector:
        if number >= first:
            whole[other : other + 7] = whole[start : start + 7]
            whole[start : start + 7] = [0, 0, FAR_BELOW_M - 2, 1, 0, 0, 0]
        return whole

    return PlaybackEdit(bodies=(obj, hidden), description_fields={"object": obj, "other": hidden}, state=state)


def hover(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object rises and stays up; it may come down again."""
    obj, low, high = resting_object(recorded, rng)
    first, last = sample_interval(rng, low, high)
    height, rise = rng.uniform(0.05, 0.15), int(rng.integers(5, 12))

    def pose(number: int, pose: Vector) -> Vector | None:
        up = ease(number, first, rise) * (1 - (ease(number, last - rise, rise) if last < high else 0.0))
        pose[2] += height * up
        return pose if first <= number < last else None

    return _moved(recorded, obj, pose)


def sink(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A bystander sinks into the table top and stays there, or comes up again."""
    if not recorded.setup.bystanders:
        raise DrawRejected("no bystander")
    obj = recorded.setup.bystanders[rng.integers(len(recorded.setup.bystanders))]
    first, last = sample_interval(rng, round(0.1 * recorded.frame_count), recorded.frame_count)
    depth, ramp = 2 * obj.half_height_m * rng.uniform(0.45, 0.8), int(rng.integers(6, 14))

    def pose(number: int, pose: Vector) -> Vector | None:
        down = ease(number, first, ramp) * (
            1 - (ease(number, last - ramp, ramp) if last < recorded.frame_count else 0.0)
        )
        pose[2] -= depth * down
        return pose if first <= number < last else None

    return _moved(recorded, obj.name, pose)


def slide(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A bystander slides over the table without contact."""
    if not recorded.setup.bystanders:
        raise DrawRejected("no bystander")
    obj = recorded.setup.bystanders[rng.integers(len(recorded.setup.bystanders))].name
    first = int(rng.integers(round(0.1 * recorded.frame_count), round(0.75 * recorded.frame_count)))
    frames = int(rng.integers(10, 24))
    away = np.array(recorded.free_spot(rng, 0.04)) - recorded.recording.pose(first, obj)[:2]
    if not 0.07 < np.linalg.norm(away) < 0.25:
        raise DrawRejected("no way to slide")

    def pose(number: int, pose: Vector) -> Vector | None:
        pose[:2] += away * ease(number, first, frames)
        return pose if number >= first else None

    return _moved(recorded, obj, pose)


def move_by_itself(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A fixture opens or closes without contact."""
    fixture = next((goal for goal in recorded.setup.unused_goals if goal.is_fixture), None)
    if fixture is None:
        raise DrawRejected("no other fixture")
    first = int(rng.integers(round(0.1 * recorded.frame_count), round(0.75 * recorded.frame_count)))
    frames, share = int(rng.integers(10, 24)), rng.uniform(0.7, 0.95)
    to = fixture.travel_m * share if fixture.offset_m < fixture.travel_m / 2 else fixture.travel_m * (1 - share)
    place, at = recorded.recording.scene.qpos_start(fixture.name), to / fixture.lever_m

    def state(number: int, whole: Vector) -> Vector:
        if number >= first:
            whole[place] += (at - whole[place]) * ease(number, first, frames)
        return whole

    return PlaybackEdit(bodies=(fixture.name,), description_fields={"object": fixture.name}, state=state)


def hop(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """An object at rest hops up and down without contact."""
    obj, low, high = resting_object(recorded, rng)
    hops, frames = int(rng.integers(1, 4)), int(rng.integers(7, 11))
    if high - low < hops * frames + 4:
        raise DrawRejected("too short")
    first = int(rng.integers(low, high - hops * frames))
    height = rng.uniform(0.05, 0.12)

    def pose(number: int, pose: Vector) -> Vector | None:
        share = (number - first + 0.5) / frames
        pose[2] += height * abs(np.sin(np.pi * share))
        return pose if 0 <= number - first < hops * frames else None

    return _moved(recorded, obj, pose)


def trail(recorded: RecordedSetup, rng: Generator) -> PlaybackEdit:
    """A carried object hangs below an open hand and moves with it."""
    obj, low, high = carried_object(recorded, rng)
    subtask = next(subtask for subtask in recorded.setup.subtasks if subtask.obj.name == obj)
    length = high - low
    first, last = low + round(length * rng.uniform(0.1, 0.25)), low + round(length * rng.uniform(0.65, 0.8))
    if last - first < SHORTEST:
        raise DrawRejected("too short")
    gap, ramp = rng.uniform(0.05, 0.085), 4
    fingers = [recorded.recording.scene.model.joint(f"{subtask.side}{name}").qposadr[0] for name in FINGERS]
    start = recorded.recording.scene.qpos_start(obj)

    def state(number: int, whole: Vector) -> Vector:
        if first <= number < last:
            share = ease(number, first, ramp) * (1 - ease(number, last - ramp, ramp + 1))
            # Neither into the table nor into another object.
            whole[start + 2] = max(whole[start + 2] - gap * share, min(whole[start + 2], _CLEAR_M))
            whole[fingers] += (OPEN_M / 2 - whole[fingers]) * share
        return whole

    bodies = (obj, *(f"{subtask.side}{name}" for name in FINGERS))
    return PlaybackEdit(
        bodies=bodies,
        description_fields={"object": obj, "hand": recorded.setup.part_names[f"{subtask.side}{HAND}"]},
        state=state,
    )
