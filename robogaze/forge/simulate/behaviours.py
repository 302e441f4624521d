"""Behaviours: how the motion departs from the task, as a fault or as something unusual that is no fault."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robogaze.forge.simulate.arm import HAND
from robogaze.forge.simulate.objects import SimulatedObject
from robogaze.forge.simulate.recording import Move
from robogaze.forge.simulate.scene_sampler import TaskSetup
from robogaze.forge.simulate.tasks import Subtask, grasp_height

Generator = np.random.Generator

_REST_M, _CLEAR_M, _PALM_OVER_TOOL_M = (0.32, 0.36), 0.08, 0.06


@dataclass(frozen=True)
class Behaviour:
    """The subtasks that replace the subtasks of the setup, and facts that recording, checks and annotation use.

    `bodies` are the affected bodies. `passes_through` is an object that others pass through: it collides with the table
    only, and the fault is visible while something overlaps it. `pushes` is an object that is pushed: the fault is
    visible while it moves. `hides` is an object that the hand hides for a moment. `cut_in` (phase, share) ends the clip
    in this phase, after this share of the phase. `keeps_grasp` says whether a grasped object stays in the hand.
    `at_first` says that the first subtask is faulty; otherwise the last subtask is faulty.
    """

    subtasks: tuple[Subtask, ...]
    bodies: tuple[str, ...] = ()
    description_fields: Mapping[str, str] = field(default_factory=dict)
    passes_through: str = ""
    pushes: str = ""
    hides: str = ""
    at_first: bool = False
    cut_in: tuple[str, float] | None = None
    keeps_grasp: bool = True


def _all(setup: TaskSetup, **changes: Any) -> tuple[Subtask, ...]:
    return tuple(replace(subtask, **changes) for subtask in setup.subtasks)


def _last(setup: TaskSetup, **changes: Any) -> tuple[Subtask, ...]:
    """The subtasks with the last one changed."""
    return (*setup.subtasks[:-1], replace(setup.subtasks[-1], **changes))


def _fields(setup: TaskSetup, **description_fields: str) -> dict[str, str]:
    """Names for the description of a fault in the last subtask."""
    subtask = setup.subtasks[-1]
    names = {"object": subtask.obj.name, "goal": subtask.goal.name, "hand": setup.part_names[f"{subtask.side}{HAND}"]}
    return {**names, **description_fields}


def _bystander(setup: TaskSetup, rng: Generator) -> SimulatedObject:
    return setup.bystanders[rng.integers(len(setup.bystanders))]


def _with_hand(subtask: Subtask) -> tuple[str, ...]:
    """The object of a subtask and the hand that operates it."""
    return (subtask.obj.name, f"{subtask.side}{HAND}")


def _away(angle: float, far_m: float) -> tuple[float, float]:
    """A step of `far_m` on the table in a direction (radians)."""
    return (float(far_m * np.cos(angle)), float(far_m * np.sin(angle)))


def miss(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The fingers close next to the object."""
    subtask = setup.subtasks[-1]
    if subtask.obj.is_fixture:
        # On its hinge side a door has no neighbour's handle.
        side = rng.choice([subtask.obj.hinge] if subtask.obj.is_hinged else [-1, 1])
        past = _away(subtask.obj.yaw + np.pi / 2 * side, rng.uniform(0.066, 0.08))
    else:
        angle = subtask.obj.yaw + np.pi / 2 * rng.integers(4)
        past = _away(angle, 0.052 + subtask.obj.radius_m * rng.uniform(0.5, 0.9))
    return Behaviour(_last(setup, grasp_offset=past), _with_hand(subtask), _fields(setup), keeps_grasp=False)


def fall_short(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The arm opens, closes or presses a fixture only part of the way and leaves it."""
    subtask = setup.subtasks[-1]
    return Behaviour(_last(setup, fraction=rng.uniform(0.25, 0.55)), _with_hand(subtask), _fields(setup))


def slip(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The fingers slide off the object, and the hand moves on without it."""
    return Behaviour(_last(setup, slippery=True), (setup.subtasks[-1].obj.name,), _fields(setup), keeps_grasp=False)


def stall(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The arm picks up the object and then stays still."""
    subtask = setup.subtasks[-1]
    x, y = subtask.obj.at
    up = (x, y, grasp_height(subtask.obj) + rng.uniform(0.08, 0.18))
    after = (Move(0.7, up, phase="hold"), Move(rng.uniform(1.2, 2.2)))
    return Behaviour(_last(setup, stop_before="carry", final_moves=after), (subtask.obj.name,), _fields(setup))


def give_up(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The arm goes to the object, turns away before the grasp, and rests."""
    subtask = setup.subtasks[-1]
    away = (_REST_M[0], subtask.obj.at[1] * 0.6, _REST_M[1])
    # Up before away: a door moves when its handle is brushed.
    lift = _CLEAR_M if subtask.obj.is_hinged else 0.0
    after = (Move(0.9, away, lift=lift, phase="retreat"), Move(rng.uniform(1.2, 2.0)))
    early, late = ("reach", subtask.main_phase) if subtask.obj.is_fixture else ("descend", "grasp")
    upto = early if rng.random() < 0.5 else late
    # The effect on a fixture is small; the hand that turns away is visible.
    bodies = _with_hand(subtask) if subtask.obj.is_fixture else (subtask.obj.name,)
    return Behaviour(_last(setup, stop_before=upto, final_moves=after), bodies, _fields(setup))


def let_go_beside(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The object is released next to its goal, or too far over the goal's edge."""
    subtask = setup.subtasks[-1]
    angle = rng.uniform(0, 2 * np.pi)
    offset = _away(angle, subtask.goal.radius_m + subtask.obj.radius_m * rng.uniform(0.2, 1.0))
    changed = _last(setup, release_offset=offset, drop_m=rng.uniform(0.02, 0.06))
    return Behaviour(changed, (subtask.obj.name,), _fields(setup))


def take_other(setup: TaskSetup, rng: Generator) -> Behaviour:
    """Another object is brought to the goal, or another fixture is operated."""
    subtask = setup.subtasks[-1]
    other = setup.unused_goals[0] if subtask.obj.is_fixture else _bystander(setup, rng)
    bodies = (other.name, *_with_hand(subtask))
    own = {"obj": other, "goal": other} if other.is_fixture else {"obj": other}
    return Behaviour(_last(setup, **own), bodies, _fields(setup, other=other.name))


def bring_elsewhere(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The object is brought to another goal."""
    other = setup.unused_goals[0]
    return Behaviour(_last(setup, goal=other), (setup.subtasks[-1].obj.name,), _fields(setup, other=other.name))


def swap_order(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The subtasks are done in the other order."""
    first, second = setup.subtasks
    names = _fields(setup, other=first.obj.name)
    return Behaviour((second, first), (first.obj.name, second.obj.name), names, at_first=True)


def use_other_arm(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The other arm does the task."""
    sides = sorted({name.removesuffix(HAND) for name in setup.part_names if name.endswith(HAND)})
    asked = setup.subtasks[0].side
    other = next(side for side in sides if side != asked)
    description_fields = _fields(setup, other=setup.part_names[f"{other}arm"], asked=setup.part_names[f"{asked}arm"])
    return Behaviour(_all(setup, side=other), (f"{other}{HAND}",), description_fields)


def brush_past(setup: TaskSetup, rng: Generator) -> Behaviour:
    """On its way to the goal the object is carried into a bystander and pushes it over or away."""
    other, subtask = setup.bystanders[0], setup.subtasks[-1]
    # Off its middle, so that it is pushed aside rather than squeezed.
    way = np.subtract(other.at, subtask.obj.at)
    across = np.array([-way[1], way[0]]) / np.linalg.norm(way) * rng.choice([-1, 1])
    x, y = other.at + across * rng.uniform(0.3, 0.7) * (other.radius_m + subtask.obj.radius_m) * 0.7 + 0.02 * way
    via = (float(x), float(y), grasp_height(subtask.obj) + rng.uniform(0.012, 0.03))
    names = _fields(setup, other=other.name)
    return Behaviour(_last(setup, waypoint=via, lift=0.06), (other.name,), names, pushes=other.name)


def pass_through(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The hand and the object in it pass through a bystander, which does not move."""
    behaviour = brush_past(setup, rng)
    other = behaviour.description_fields["other"]
    return replace(behaviour, pushes="", passes_through=other)


def stop_early(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The clip ends in the middle of a phase."""
    phase = ("carry", "carry", "grasp", "descend")[rng.integers(4)]
    phase = phase if setup.subtasks[-1].action == "place" else setup.subtasks[-1].main_phase
    bodies = (setup.subtasks[-1].obj.name,)
    return Behaviour(setup.subtasks, bodies, _fields(setup), cut_in=(phase, rng.uniform(0.3, 0.8)))


def plain(setup: TaskSetup, rng: Generator) -> Behaviour:
    """The task as instructed."""
    return Behaviour(setup.subtasks)


def hurry(setup: TaskSetup, rng: Generator) -> Behaviour:
    """No fault: the arm moves faster."""
    share = rng.uniform(0.5, 0.62)
    return Behaviour(tuple(replace(subtask, time_scale=subtask.time_scale * share) for subtask in setup.subtasks))


def grasp_again(setup: TaskSetup, rng: Generator) -> Behaviour:
    """No fault: the fingers close a little, open again, and then hold."""
    return Behaviour(_all(setup, regrasp=True))


def retry(setup: TaskSetup, rng: Generator) -> Behaviour:
    """No fault: the fingers close beside the object, open again, and the second attempt holds and succeeds."""
    subtask = setup.subtasks[-1]
    angle = subtask.obj.yaw + np.pi / 2 * rng.integers(4)
    return Behaviour(_last(setup, retry_offset=_away(angle, 0.052 + subtask.obj.radius_m * rng.uniform(0.3, 0.6))))


def cover_bystander(setup: TaskSetup, rng: Generator) -> Behaviour:
    """No fault: on its way, the hand stops between the camera and a bystander and hides the bystander for a moment."""
    other = _bystander(setup, rng)
    towards = np.subtract(setup.eye, (*other.at, 0.03))
    up = rng.uniform(0.17, 0.24)
    x, y = other.at + towards[:2] / towards[2] * up
    via = (float(x), float(y), float(up - _PALM_OVER_TOOL_M))
    return Behaviour(_last(setup, waypoint=via, lift=0.02), bodies=(other.name,), hides=other.name)


def drop(setup: TaskSetup, rng: Generator) -> Behaviour:
    """No fault: the object is released from higher up and falls into its goal."""
    return Behaviour(_all(setup, drop_m=rng.uniform(0.05, 0.09)))


def detour(setup: TaskSetup, rng: Generator) -> Behaviour:
    """No fault: the object is carried on a long detour, high above the table."""
    via = (rng.uniform(0.34, 0.5), rng.uniform(-0.22, 0.22), rng.uniform(0.26, 0.36))
    return Behaviour(_all(setup, waypoint=via, lift=0.02))
