"""Jobs: a thing that an arm brings to a goal, as moves, and whether it is done."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robogaze.forge.sim.body import HAND_PARTS, OPEN_M
from robogaze.forge.sim.motion import FPS, Move, Take
from robogaze.forge.sim.things import Thing

_LET_GO_M, _PUSH_GAP_M, _PUSH_HEIGHT_M, _UNDER_PALM_M = 0.068, 0.03, 0.02, 0.045
_FINGER_HALF_M = 0.011
_OVER_M, _RETREAT_HEIGHT_M = 0.10, 0.30
_STILL_M, _STILL_S = 0.004, 0.2
_LEVEL_M = 0.014
"""How much higher or lower than at rest in its goal a thing may be and still be there."""

Place = tuple[float, float, float]


@dataclass(frozen=True)
class Job:
    """A thing to be brought to a goal by the arm of a side, and the course that takes.

    `drop` is how far the thing falls when it is let go; `lift` how high it is carried; `pace` stretches all times.
    `past` shifts where the fingers close, `beside` where they open (m). `via` is a place the way to the goal leads
    through. `again` has the fingers close twice. `upto` ends the job before the phase of that name, and `after` is what
    the arm does then.
    """

    thing: Thing
    goal: Thing
    side: str
    manner: str
    drop: float = 0.012
    lift: float = 0.15
    pace: float = 1.0
    past: tuple[float, float] = (0.0, 0.0)
    beside: tuple[float, float] = (0.0, 0.0)
    via: Place | None = None
    again: bool = False
    upto: str = ""
    after: tuple[Move, ...] = ()

    def moves(self) -> list[Move]:
        """What the arm does, in order."""
        all_ = _push(self) if self.manner == "push" else _place(self)
        names = [move.phase for move in all_]
        kept = all_[: names.index(self.upto)] if self.upto else all_
        return [_paced(move, self) for move in (*kept, *self.after)]


def _paced(move: Move, job: Job) -> Move:
    return Move(
        move.seconds * job.pace, move.to, move.lift, move.gap, move.yaw, move.phase, (job.thing.name, job.goal.name)
    )


def grasp_height(thing: Thing) -> float:
    """How high the finger tips are when they close on a thing that stands on the table."""
    return thing.half_m + (0.002 if thing.shape.form == "ball" else 0.0)


def _place(job: Job) -> list[Move]:
    height = grasp_height(job.thing)
    x, y = np.add(job.thing.at, job.past)
    low = job.goal.floor_m + height + job.drop
    goal_x, goal_y = np.add(job.goal.at, job.beside)
    yaw = _within_quarter(job.thing.yaw)
    grasp = [Move(0.3, gap=0.0, phase="grasp")]
    if job.again:
        raised = Move(0.35, (x, y, height + 0.05), gap=OPEN_M)
        grasp = [Move(0.25, gap=0.064, phase="grasp"), raised, Move(0.35, (x, y, height)), Move(0.3, gap=0.0)]
    carry = [Move(1.6, (goal_x, goal_y, low), lift=job.lift, yaw=0.0, phase="carry")]
    if job.via is not None:
        carry = [
            Move(0.5, (x, y, job.via[2]), phase="carry"),
            Move(1.0, job.via, yaw=0.0),
            Move(1.1, (goal_x, goal_y, low), lift=job.lift),
        ]
    return [
        Move(0.75, (x, y, height + _OVER_M), gap=OPEN_M, yaw=yaw, phase="approach"),
        Move(0.5, (x, y, height), phase="descend"),
        *grasp,
        *carry,
        Move(0.3, gap=_LET_GO_M, phase="release"),
        Move(0.35, (goal_x, goal_y, low + 0.11), phase="retreat"),
        Move(0.6, (goal_x - 0.06, goal_y * 0.7, max(_RETREAT_HEIGHT_M, low + 0.15))),
        Move(0.25),
    ]


def _push(job: Job) -> list[Move]:
    """From behind, with the fingers side by side across the way."""
    start, goal = np.array(job.thing.at), np.add(job.goal.at, job.beside)
    way = (goal - start) / np.linalg.norm(goal - start)
    back = start - way * (job.thing.reach_m + 0.045) + np.array(job.past)
    end = goal - way * (job.thing.shape.size[0] + _FINGER_HALF_M)
    yaw = _within_half(float(np.arctan2(way[1], way[0])))
    # So high that the palm passes over a tall thing.
    height = max(_PUSH_HEIGHT_M, 2 * job.thing.half_m - _UNDER_PALM_M)
    return [
        Move(0.8, (*back, _OVER_M), gap=_PUSH_GAP_M, yaw=yaw, phase="approach"),
        Move(0.5, (*back, height), phase="descend"),
        Move(1.8, (*end, height), phase="carry"),
        Move(0.3, (*(end - 0.02 * way), height), phase="release"),
        Move(0.4, (*(end - 0.03 * way), 0.15), phase="retreat"),
        Move(0.6, (end[0] - 0.06, end[1] * 0.7, _RETREAT_HEIGHT_M)),
        Move(0.25),
    ]


def _within_quarter(yaw: float) -> float:
    """The same grasp of a square thing, with the hand turned least; radians."""
    return (yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4


def _within_half(yaw: float) -> float:
    return (yaw + np.pi / 2) % np.pi - np.pi / 2


def is_done(take: Take, job: Job, frame: int) -> bool:
    """Whether the thing is in its goal at a frame: over it, at its height, still, and not held."""
    if frame < 1:
        return False
    now = take.pose(frame, job.thing.name)[:3]
    goal = take.pose(frame, job.goal.name)[:3] if job.goal.loose else np.array([*job.goal.at, 0.0])
    before = take.pose(max(frame - round(_STILL_S * FPS), 0), job.thing.name)[:3]
    held = any(frozenset((job.thing.name, f"{job.side}{part}")) in take.touching[frame] for part in HAND_PARTS)
    return bool(
        np.linalg.norm(now[:2] - goal[:2]) <= job.goal.takes_m
        and abs(now[2] - goal[2] - job.goal.floor_m) <= _LEVEL_M
        and np.linalg.norm(now - before) <= _STILL_M
        and not held
    )


def all_done(take: Take, jobs: Sequence[Job], frame: int) -> bool:
    """Whether every job is done at a frame."""
    return all(is_done(take, job, frame) for job in jobs)
