"""Jobs: a thing that an arm brings to a goal, or a fixture that it works, as moves, and whether it is done."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robogaze.forge.simulate.body import HAND_PARTS, OPEN_M
from robogaze.forge.simulate.fixtures import before_handle, in_gap, is_switched, on_cap, pivot, slack_m, turned
from robogaze.forge.simulate.motion import FPS, Move, Take
from robogaze.forge.simulate.things import SimulatedThing

_LET_GO_M, _PUSH_GAP_M, _PUSH_HEIGHT_M, _UNDER_PALM_M = 0.068, 0.03, 0.02, 0.045
_FINGER_HALF_M = 0.011
_TIP_HALF_M, _TIP_UNDER_TOOL_M, _SHUT_GAP_M = 0.009, 0.013, 0.004
_CLEAR_M, _ABOVE_CAP_M = 0.03, 0.012
_NEARLY, _OPEN_SHARE, _SHUT_SHARE, _UP_SHARE = 0.93, 0.8, 0.08, 0.2
_OVER_M, _RETREAT_HEIGHT_M = 0.10, 0.30
_STILL_M, _STILL_S = 0.004, 0.2
_LEVEL_M = 0.014
"""How much higher or lower than at rest in its goal a thing may be and still be there."""

Place = tuple[float, float, float]


@dataclass(frozen=True)
class MoveJob:
    """A thing to be brought to a goal by the arm of a side, and the course that takes.

    A fixture is its own goal: it is opened, shut or pressed, `share` of what that takes.
    `drop` is how far the thing falls when it is let go; `lift` how high it is carried; `pace` stretches all times.
    `past` shifts where the fingers close, `beside` where they open (m). `via` is a place the way to the goal leads
    through. `again` has the fingers close twice. `upto` ends the job before the phase of that name, and `after` is what
    the arm does then.
    """

    thing: SimulatedThing
    goal: SimulatedThing
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
    share: float = 1.0

    @property
    def main(self) -> str:
        """The phase in which the thing is moved."""
        return _MAIN.get(self.manner, "carry")

    @property
    def ending(self) -> str:
        """The phase after it, in which the thing is left."""
        return "leave" if self.thing.fixture else "release"

    def moves(self) -> list[Move]:
        """What the arm does, in order."""
        all_ = _MOVES[self.manner](self)
        names = [move.phase for move in all_]
        kept = all_[: names.index(self.upto)] if self.upto else all_
        return [_paced(move, self) for move in (*kept, *self.after)]


def _paced(move: Move, job: MoveJob) -> Move:
    return replace(move, seconds=move.seconds * job.pace, about=(job.thing.name, job.goal.name))


def grasp_height(thing: SimulatedThing) -> float:
    """How high the finger tips are when they close on a thing that stands on the table."""
    return thing.half_m + (0.002 if thing.shape.form == "ball" else 0.0)


def _place(job: MoveJob) -> list[Move]:
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


def _push(job: MoveJob) -> list[Move]:
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


def _open(job: MoveJob) -> list[Move]:
    """With closed fingers, from behind the handle."""
    start = job.thing.out_m
    end = start + (job.thing.way_m * _NEARLY - start) * job.share
    return _along(job, in_gap, (start, end + slack_m(_TIP_HALF_M), end), 1.5)


def _close(job: MoveJob) -> list[Move]:
    """With closed fingers, from before the handle."""
    start, least = job.thing.out_m, 0.02 * job.thing.way_m
    end = start - (start - least) * job.share
    before, until, away = (out + _TIP_HALF_M for out in (start + _CLEAR_M, end, end + _CLEAR_M))
    return _along(job, before_handle, (before, until, away), 1.4)


def _along(
    job: MoveJob, at: Callable[[SimulatedThing, float], Place], outs: tuple[float, float, float], seconds: float
) -> list[Move]:
    """Down to a handle, along its way, off it, and up; `outs` is how far out it or the hand is at the first three."""
    start, end, off = ((*np.add(place[:2], job.past), place[2]) for place in (at(job.thing, out) for out in outs))
    first, last = (turned(job.thing, out) for out in outs[:2])
    # So that the hand is turned least at the middle of the way.
    yaw = _within_half(job.thing.yaw + (first + last) / 2) + (first - last) / 2
    hinge = pivot(job.thing)
    around = None if hinge is None else (hinge[0] + job.past[0], hinge[1] + job.past[1])
    turn = None if hinge is None else yaw + last - first
    return [
        Move(0.8, (*start[:2], start[2] + _OVER_M), gap=_SHUT_GAP_M, yaw=yaw, phase="approach"),
        Move(0.6, start, phase="reach"),
        Move(seconds, end, yaw=turn, around=around, phase=job.main),
        Move(0.3, off, phase="leave"),
        Move(0.5, (*off[:2], off[2] + _OVER_M), phase="retreat"),
        Move(0.6, (off[0] - 0.06, off[1] * 0.7, _RETREAT_HEIGHT_M)),
        Move(0.25),
    ]


def _press(job: MoveJob) -> list[Move]:
    """With closed fingers, from above."""
    x, y, top = on_cap(job.thing, 0.0)
    top += _TIP_UNDER_TOOL_M
    down = top - 0.9 * job.share * job.thing.way_m
    yaw = _within_half(job.thing.yaw)
    return [
        Move(0.8, (x, y, top + _OVER_M), gap=_SHUT_GAP_M, yaw=yaw, phase="approach"),
        Move(0.6, (x, y, top + _ABOVE_CAP_M), phase="reach"),
        Move(0.45, (x, y, down), phase="press"),
        Move(0.5),
        Move(0.4, (x, y, top + 0.04), phase="leave"),
        Move(0.4, (x, y, top + _OVER_M), phase="retreat"),
        Move(0.6, (x - 0.06, y * 0.7, _RETREAT_HEIGHT_M)),
        Move(0.25),
    ]


_MOVES: dict[str, Callable[[MoveJob], list[Move]]] = {
    "place": _place,
    "push": _push,
    "open": _open,
    "close": _close,
    "press": _press,
}
_MAIN = {"open": "pull", "close": "shut", "press": "press"}


def _within_quarter(yaw: float) -> float:
    """The same grasp of a square thing, with the hand turned least; radians."""
    return (yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4


def _within_half(yaw: float) -> float:
    return (yaw + np.pi / 2) % np.pi - np.pi / 2


def is_done(take: Take, job: MoveJob, frame: int) -> bool:
    """Whether a job is done at a frame: nothing of the arm is at the thing, and the thing is as it is to be."""
    if frame < 1 or any(
        frozenset((job.thing.name, f"{job.side}{part}")) in take.touching[frame] for part in HAND_PARTS
    ):
        return False
    return _is_worked(take, job, frame) if job.thing.fixture else _is_placed(take, job, frame)


def _is_worked(take: Take, job: MoveJob, frame: int) -> bool:
    """Whether a front is open or shut and still, by its joint, or a button has been on and is up again."""
    way = take.way(job.thing.name)[: frame + 1]
    share, still = way[-1] / job.thing.way_m, abs(way[-1] - way[max(frame - round(_STILL_S * FPS), 0)]) <= _STILL_M
    if job.manner == "press":
        return bool(is_switched(job.thing, way.max()) and share <= _UP_SHARE)
    return bool(still and (share >= _OPEN_SHARE if job.manner == "open" else share <= _SHUT_SHARE))


def _is_placed(take: Take, job: MoveJob, frame: int) -> bool:
    """Whether the thing is in its goal at a frame: over it, at its height, and still."""
    now = take.pose(frame, job.thing.name)[:3]
    goal = take.pose(frame, job.goal.name)[:3] if job.goal.loose else np.array([*job.goal.at, 0.0])
    before = take.pose(max(frame - round(_STILL_S * FPS), 0), job.thing.name)[:3]
    return bool(
        np.linalg.norm(now[:2] - goal[:2]) <= job.goal.takes_m
        and abs(now[2] - goal[2] - job.goal.floor_m) <= _LEVEL_M
        and np.linalg.norm(now - before) <= _STILL_M
    )


def all_done(take: Take, jobs: Sequence[MoveJob], frame: int) -> bool:
    """Whether every job is done at a frame."""
    return all(is_done(take, job, frame) for job in jobs)
