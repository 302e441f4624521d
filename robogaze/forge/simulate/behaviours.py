"""How the motion of a task can go: wrong, or unusually and yet right. Each function gives a course for a setting."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robogaze.forge.simulate.body import HAND
from robogaze.forge.simulate.motion import Move
from robogaze.forge.simulate.stage import NoRoom, Setting
from robogaze.forge.simulate.tasks import MoveJob, grasp_height
from robogaze.forge.simulate.things import SimulatedThing

Generator = np.random.Generator

_REST_M, _CLEAR_M = (0.32, 0.36), 0.08


@dataclass(frozen=True)
class Course:
    """The jobs that are done instead of those of the setting, and under which conditions.

    `ghosts` and `slippery` are as in `record`; with `overlap` it goes wrong while a ghost is in something. `stop_in`
    ends the clip in the phase of that name, after a share of it. `bodies` are those affected. `holds` says whether
    what is grasped stays in the hand.
    """

    jobs: tuple[MoveJob, ...]
    bodies: tuple[str, ...] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    ghosts: tuple[str, ...] = ()
    slippery: bool = False
    overlap: str = ""
    stop_in: tuple[str, float] | None = None
    holds: bool = True


def _all(setting: Setting, **changes: Any) -> tuple[MoveJob, ...]:
    return tuple(replace(job, **changes) for job in setting.jobs)


def _last(setting: Setting, **changes: Any) -> tuple[MoveJob, ...]:
    """The jobs with the last of them changed."""
    return (*setting.jobs[:-1], replace(setting.jobs[-1], **changes))


def _told(setting: Setting, **facts: str) -> dict[str, str]:
    """Names for the description of what goes wrong with the last job."""
    job = setting.jobs[-1]
    names = {"thing": job.thing.name, "goal": job.goal.name, "hand": setting.names[f"{job.side}{HAND}"]}
    return {**names, **facts}


def _bystander(setting: Setting, rng: Generator) -> SimulatedThing:
    if not setting.others:
        raise NoRoom("no bystander")
    return setting.others[rng.integers(len(setting.others))]


def _other_fixture(setting: Setting) -> SimulatedThing:
    for thing in setting.idle_goals:
        if thing.fixture:
            return thing
    raise NoRoom("no other fixture")


def miss(setting: Setting, rng: Generator) -> Course:
    """The fingers close beside the thing."""
    job = setting.jobs[-1]
    if job.thing.fixture:
        return _beside_handle(setting, rng)
    angle = job.thing.yaw + np.pi / 2 * rng.integers(4)
    far = 0.052 + job.thing.reach_m * rng.uniform(0.5, 0.9)
    past = (float(far * np.cos(angle)), float(far * np.sin(angle)))
    bodies = (job.thing.name, f"{job.side}{HAND}")
    return Course(_last(setting, past=past), bodies, _told(setting), holds=False)


def _beside_handle(setting: Setting, rng: Generator) -> Course:
    job = setting.jobs[-1]
    # At the side of its hinge a door has no other one's handle.
    side = rng.choice([job.thing.hinge] if job.thing.turns else [-1, 1])
    angle, far = job.thing.yaw + np.pi / 2 * side, rng.uniform(0.066, 0.08)
    past = (float(far * np.cos(angle)), float(far * np.sin(angle)))
    return Course(_last(setting, past=past), _with_hand(job), _told(setting), holds=False)


def _with_hand(job: MoveJob) -> tuple[str, ...]:
    """The thing of a job and the hand that works it."""
    return (job.thing.name, f"{job.side}{HAND}")


def fall_short(setting: Setting, rng: Generator) -> Course:
    """The arm moves a fixture by a part of its way only and leaves it so."""
    job = setting.jobs[-1]
    return Course(_last(setting, share=rng.uniform(0.25, 0.55)), _with_hand(job), _told(setting))


def slip(setting: Setting, rng: Generator) -> Course:
    """The fingers slide off the thing, and the hand goes on without it."""
    return Course(_last(setting), (setting.jobs[-1].thing.name,), _told(setting), slippery=True, holds=False)


def stall(setting: Setting, rng: Generator) -> Course:
    """The arm takes the thing up and then stays where it is."""
    job = setting.jobs[-1]
    x, y = job.thing.at
    up = (x, y, grasp_height(job.thing) + rng.uniform(0.08, 0.18))
    after = (Move(0.7, up, phase="hold"), Move(rng.uniform(1.2, 2.2)))
    return Course(_last(setting, upto="carry", after=after), (job.thing.name,), _told(setting))


def give_up(setting: Setting, rng: Generator) -> Course:
    """The arm goes to the thing, turns away before it takes it, and rests."""
    job = setting.jobs[-1]
    away = (_REST_M[0], job.thing.at[1] * 0.6, _REST_M[1])
    # Up and then away: a door gives way when its handle is brushed.
    lift = _CLEAR_M if job.thing.turns else 0.0
    after = (Move(0.9, away, lift=lift, phase="retreat"), Move(rng.uniform(1.2, 2.0)))
    early, late = ("reach", job.main) if job.thing.fixture else ("descend", "grasp")
    upto = early if rng.random() < 0.5 else late
    # What a fixture does is small: it is the hand that can be seen to turn away.
    bodies = _with_hand(job) if job.thing.fixture else (job.thing.name,)
    return Course(_last(setting, upto=upto, after=after), bodies, _told(setting))


def let_go_beside(setting: Setting, rng: Generator) -> Course:
    """The thing is let go off its goal, beside it or too far over its edge."""
    job = setting.jobs[-1]
    angle = rng.uniform(0, 2 * np.pi)
    far = job.goal.reach_m + job.thing.reach_m * rng.uniform(0.2, 1.0)
    beside = (float(far * np.cos(angle)), float(far * np.sin(angle)))
    return Course(_last(setting, beside=beside, drop=rng.uniform(0.02, 0.06)), (job.thing.name,), _told(setting))


def take_other(setting: Setting, rng: Generator) -> Course:
    """Another thing is brought to the goal, or another fixture worked."""
    job = setting.jobs[-1]
    other = _other_fixture(setting) if job.thing.fixture else _bystander(setting, rng)
    bodies = (other.name, *_with_hand(job))
    own = {"thing": other, "goal": other} if other.fixture else {"thing": other}
    return Course(_last(setting, **own), bodies, _told(setting, other=other.name))


def bring_elsewhere(setting: Setting, rng: Generator) -> Course:
    """The thing is brought to another goal."""
    if not setting.idle_goals:
        raise NoRoom("no other goal")
    other = setting.idle_goals[0]
    facts = _told(setting, other=other.name)
    return Course(_last(setting, goal=other), (setting.jobs[-1].thing.name,), facts)


def swap_order(setting: Setting, rng: Generator) -> Course:
    """The jobs are done the other way round."""
    if len(setting.jobs) < 2:
        raise NoRoom("a single job")
    first, second = setting.jobs
    facts = _told(setting, other=first.thing.name)
    return Course((second, first), (first.thing.name, second.thing.name), facts)


def use_other_arm(setting: Setting, rng: Generator) -> Course:
    """The other arm does it."""
    sides = sorted({name.removesuffix(HAND) for name in setting.names if name.endswith(HAND)})
    if len(sides) < 2:
        raise NoRoom("a single arm")
    asked = setting.jobs[0].side
    other = next(side for side in sides if side != asked)
    facts = _told(setting, other=setting.names[f"{other}arm"], asked=setting.names[f"{asked}arm"])
    return Course(_all(setting, side=other), (f"{other}{HAND}",), facts)


def brush_past(setting: Setting, rng: Generator) -> Course:
    """On the way to its goal the thing is carried into a bystander, which is pushed over or away."""
    other, job = setting.others[0] if setting.others else _bystander(setting, rng), setting.jobs[-1]
    # Past its middle, so that it is pushed aside and not squeezed.
    way = np.subtract(other.at, job.thing.at)
    across = np.array([-way[1], way[0]]) / np.linalg.norm(way) * rng.choice([-1, 1])
    x, y = other.at + across * rng.uniform(0.3, 0.7) * (other.reach_m + job.thing.reach_m) * 0.7 + 0.02 * way
    via = (float(x), float(y), grasp_height(job.thing) + rng.uniform(0.012, 0.03))
    return Course(_last(setting, via=via, lift=0.06), (other.name,), _told(setting, other=other.name))


def pass_through(setting: Setting, rng: Generator) -> Course:
    """What is carried, and the hand, go through a bystander, which stays as it is."""
    course = brush_past(setting, rng)
    other = course.facts["other"]
    return replace(course, ghosts=(other,), overlap=other)


def stop_early(setting: Setting, rng: Generator) -> Course:
    """The clip ends while the arm is still at it."""
    phase = ("carry", "carry", "grasp", "descend")[rng.integers(4)]
    phase = phase if setting.jobs[-1].manner == "place" else setting.jobs[-1].main
    facts = _told(setting)
    return Course(setting.jobs, (setting.jobs[-1].thing.name,), facts, stop_in=(phase, rng.uniform(0.3, 0.8)))


def plain(setting: Setting, rng: Generator) -> Course:
    """As it should be."""
    return Course(setting.jobs)


def hurry(setting: Setting, rng: Generator) -> Course:
    """Right, and fast."""
    return Course(_all(setting, pace=rng.uniform(0.5, 0.62)))


def grasp_again(setting: Setting, rng: Generator) -> Course:
    """Right: the fingers close a little, open again, and then hold."""
    return Course(_all(setting, again=True))


def drop(setting: Setting, rng: Generator) -> Course:
    """Right: the thing is let go from higher up and falls into its goal."""
    return Course(_all(setting, drop=rng.uniform(0.05, 0.09)))


def detour(setting: Setting, rng: Generator) -> Course:
    """Right: the thing is carried a long way round, high above the table."""
    via = (rng.uniform(0.34, 0.5), rng.uniform(-0.22, 0.22), rng.uniform(0.26, 0.36))
    return Course(_all(setting, via=via, lift=0.02))


COURSES: dict[str, Callable[[Setting, Generator], Course]] = {
    make.__name__: make
    for make in (
        miss,
        fall_short,
        slip,
        stall,
        give_up,
        let_go_beside,
        take_other,
        bring_elsewhere,
        swap_order,
        use_other_arm,
        brush_past,
        pass_through,
        stop_early,
        plain,
        hurry,
        grasp_again,
        drop,
        detour,
    )
}
"""The courses, by name."""
