"""Subtasks: an object is brought to a goal, or a fixture is operated. A subtask is planned as moves of an arm, and
`is_done` says whether it is done.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from robogaze.forge.simulate.arm import HAND_PARTS, OPEN_M, Vector
from robogaze.forge.simulate.fixtures import before_handle, in_gap, is_switched, on_cap, pivot, slack_m, turned
from robogaze.forge.simulate.objects import SimulatedObject
from robogaze.forge.simulate.recording import ArmStage, Move, Recording
from robogaze.forge.simulate.scene import CompiledScene

_LET_GO_M, _PUSH_GAP_M, _PUSH_HEIGHT_M, _UNDER_PALM_M = 0.068, 0.03, 0.02, 0.045
_FINGER_HALF_M = 0.011
_TIP_HALF_M, _TIP_UNDER_TOOL_M, _SHUT_GAP_M = 0.009, 0.013, 0.004
_CLEAR_M, _ABOVE_CAP_M = 0.03, 0.012
_NEARLY, _OPEN_SHARE, _SHUT_SHARE, _UP_SHARE = 0.93, 0.8, 0.08, 0.2
_OVER_M, _RETREAT_HEIGHT_M = 0.10, 0.30
_STILL_M, _STILL_S = 0.004, 0.2
_LEVEL_M = 0.014
"""The tolerance on the height of an object that rests in its goal."""

Place = tuple[float, float, float]


@dataclass(frozen=True)
class Subtask:
    """An object that one arm brings to a goal, and how the arm does this.

    A fixture is its own goal: it is opened, closed or pressed, by `fraction` of the travel that the task needs.
    `drop_m` is how far the object falls when it is released, and `lift` is how high it is carried (m); `time_scale`
    scales all durations. `grasp_offset` shifts the place where the fingers close, and `release_offset` shifts the place
    where they open (m). `waypoint` is a place on the way to the goal. With `regrasp` the fingers close twice; with
    `retry_offset` (m) they close beside the object first, and then on it. `stop_before` ends the subtask before the
    phase with that name, and `final_moves` follow. `slippery` fingers do not hold. `number` is the subtask's place in
    the clip.
    """

    obj: SimulatedObject
    goal: SimulatedObject
    side: str
    action: str
    drop_m: float = 0.012
    lift: float = 0.15
    time_scale: float = 1.0
    grasp_offset: tuple[float, float] = (0.0, 0.0)
    release_offset: tuple[float, float] = (0.0, 0.0)
    waypoint: Place | None = None
    regrasp: bool = False
    retry_offset: tuple[float, float] | None = None
    slippery: bool = False
    stop_before: str = ""
    final_moves: tuple[Move, ...] = ()
    fraction: float = 1.0
    number: int = 0

    @property
    def main_phase(self) -> str:
        """The phase in which the object is moved."""
        return _MAIN.get(self.action, "carry")

    @property
    def ending_phase(self) -> str:
        """The phase after the main phase, in which the arm leaves the object."""
        return "leave" if self.obj.is_fixture else "release"

    @property
    def stage(self) -> ArmStage:
        """The subtask as a stage of a recording; it is planned when it begins, from the places of its object and goal
        at that time.
        """

        def moves(scene: CompiledScene, state: Vector) -> list[Move]:
            obj, goal = (_located(obj, scene, state) for obj in (self.obj, self.goal))
            return replace(self, obj=obj, goal=goal).moves()

        return ArmStage(self.side, moves, (self.obj.name, self.goal.name), self.number, self.slippery)

    def moves(self) -> list[Move]:
        """The moves, planned from the initial places of the object and the goal."""
        moves = _MOVES[self.action](self)
        names = [move.phase for move in moves]
        kept = moves[: names.index(self.stop_before)] if self.stop_before else moves
        return [replace(move, seconds=move.seconds * self.time_scale) for move in (*kept, *self.final_moves)]


def _located(obj: SimulatedObject, scene: CompiledScene, state: Vector) -> SimulatedObject:
    """An object at its place in a state; a fixed object keeps its place."""
    if obj.is_fixture:
        return replace(obj, offset_m=float(state[scene.qpos_start(obj.name)] * obj.lever_m))
    if not obj.movable:
        return obj
    start = scene.qpos_start(obj.name)
    x, y, z, w, *_, turn = (float(value) for value in state[start : start + 7])
    return replace(obj, at=(x, y), base_m=z, yaw=2 * float(np.arctan2(turn, w)))


def grasp_height(obj: SimulatedObject) -> float:
    """The height of the finger tips over the base of an object when they close on it."""
    return obj.half_height_m + (0.002 if obj.shape.form == "ball" else 0.0)


def _place(subtask: Subtask) -> list[Move]:
    height = subtask.obj.base_m + grasp_height(subtask.obj)
    x, y = np.add(subtask.obj.at, subtask.grasp_offset)
    low = subtask.goal.rest_height_m + grasp_height(subtask.obj) + subtask.drop_m
    goal_x, goal_y = np.add(subtask.goal.at, subtask.release_offset)
    yaw = _within_quarter(subtask.obj.yaw)
    grasp = [Move(0.3, gap=0.0, phase="grasp")]
    if subtask.regrasp:
        raised = Move(0.35, (x, y, height + 0.05), gap=OPEN_M)
        grasp = [Move(0.25, gap=0.064, phase="grasp"), raised, Move(0.35, (x, y, height)), Move(0.3, gap=0.0)]
    first_try: list[Move] = []
    if subtask.retry_offset is not None:
        away_x, away_y = np.add(subtask.obj.at, subtask.retry_offset)
        first_try = [
            Move(0.75, (away_x, away_y, height + _OVER_M), gap=OPEN_M, yaw=yaw, phase="approach"),
            Move(0.5, (away_x, away_y, height), phase="descend"),
            Move(0.3, gap=0.0),
            Move(0.4, (away_x, away_y, height + _OVER_M)),
            Move(0.25, gap=OPEN_M),
        ]
    carry = [Move(1.6, (goal_x, goal_y, low), lift=subtask.lift, yaw=0.0, phase="carry")]
    if subtask.waypoint is not None:
        carry = [
            Move(0.5, (x, y, subtask.waypoint[2]), phase="carry"),
            Move(1.0, subtask.waypoint, yaw=0.0),
            Move(1.1, (goal_x, goal_y, low), lift=subtask.lift),
        ]
    return [
        *first_try,
        Move(0.75, (x, y, height + _OVER_M), gap=OPEN_M, yaw=yaw, phase="approach"),
        Move(0.5, (x, y, height), phase="descend"),
        *grasp,
        *carry,
        Move(0.3, gap=_LET_GO_M, phase="release"),
        Move(0.35, (goal_x, goal_y, low + 0.11), phase="retreat"),
        Move(0.6, (goal_x - 0.06, goal_y * 0.7, max(_RETREAT_HEIGHT_M, low + 0.15))),
        Move(0.25),
    ]


def _push(subtask: Subtask) -> list[Move]:
    """Push from behind the object, with the fingers side by side across the direction of motion."""
    start, goal = np.array(subtask.obj.at), np.add(subtask.goal.at, subtask.release_offset)
    way = (goal - start) / np.linalg.norm(goal - start)
    back = start - way * (subtask.obj.radius_m + 0.045) + np.array(subtask.grasp_offset)
    end = goal - way * (subtask.obj.shape.size[0] + _FINGER_HALF_M)
    yaw = _within_half(float(np.arctan2(way[1], way[0])))
    # High enough for the palm to pass over a tall object.
    height = max(_PUSH_HEIGHT_M, 2 * subtask.obj.half_height_m - _UNDER_PALM_M)
    return [
        Move(0.8, (*back, _OVER_M), gap=_PUSH_GAP_M, yaw=yaw, phase="approach"),
        Move(0.5, (*back, height), phase="descend"),
        Move(1.8, (*end, height), phase="carry"),
        Move(0.3, (*(end - 0.02 * way), height), phase="release"),
        Move(0.4, (*(end - 0.03 * way), 0.15), phase="retreat"),
        Move(0.6, (end[0] - 0.06, end[1] * 0.7, _RETREAT_HEIGHT_M)),
        Move(0.25),
    ]


def _open(subtask: Subtask) -> list[Move]:
    """Open with closed fingers, from behind the handle."""
    start = subtask.obj.offset_m
    end = start + (subtask.obj.travel_m * _NEARLY - start) * subtask.fraction
    return _along(subtask, in_gap, (start, end + slack_m(_TIP_HALF_M), end), 1.5)


def _close(subtask: Subtask) -> list[Move]:
    """Moves that start in front of the handle, with closed fingers."""
    start, least = subtask.obj.offset_m, 0.02 * subtask.obj.travel_m
    end = start - (start - least) * subtask.fraction
    before, until, away = (out + _TIP_HALF_M for out in (start + _CLEAR_M, end, end + _CLEAR_M))
    return _along(subtask, before_handle, (before, until, away), 1.4)


def _along(
    subtask: Subtask, at: Callable[[SimulatedObject, float], Place], offsets: tuple[float, float, float], seconds: float
) -> list[Move]:
    """Moves down to a handle, along the path of the handle, off the handle, and up; `offsets` has the offsets of the
    first three places.
    """
    start, end, off = (
        (*np.add(place[:2], subtask.grasp_offset), place[2]) for place in (at(subtask.obj, out) for out in offsets)
    )
    first, last = (turned(subtask.obj, out) for out in offsets[:2])
    # The hand is rotated least at the middle of the path.
    yaw = _within_half(subtask.obj.yaw + (first + last) / 2) + (first - last) / 2
    hinge = pivot(subtask.obj)
    around = None if hinge is None else (hinge[0] + subtask.grasp_offset[0], hinge[1] + subtask.grasp_offset[1])
    turn = None if hinge is None else yaw + last - first
    return [
        Move(0.8, (*start[:2], start[2] + _OVER_M), gap=_SHUT_GAP_M, yaw=yaw, phase="approach"),
        Move(0.6, start, phase="reach"),
        Move(seconds, end, yaw=turn, around=around, phase=subtask.main_phase),
        Move(0.3, off, phase="leave"),
        Move(0.5, (*off[:2], off[2] + _OVER_M), phase="retreat"),
        Move(0.6, (off[0] - 0.06, off[1] * 0.7, _RETREAT_HEIGHT_M)),
        Move(0.25),
    ]


def _press(subtask: Subtask) -> list[Move]:
    """Moves with closed fingers from above."""
    x, y, top = on_cap(subtask.obj, 0.0)
    top += _TIP_UNDER_TOOL_M
    down = top - 0.9 * subtask.fraction * subtask.obj.travel_m
    yaw = _within_half(subtask.obj.yaw)
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


_MOVES: dict[str, Callable[[Subtask], list[Move]]] = {
    "place": _place,
    "push": _push,
    "open": _open,
    "close": _close,
    "press": _press,
}
_MAIN = {"open": "pull", "close": "shut", "press": "press"}


def _within_quarter(yaw: float) -> float:
    """The grasp of a square object that is equal to this grasp and needs the least rotation of the hand; radians."""
    return (yaw + np.pi / 4) % (np.pi / 2) - np.pi / 4


def _within_half(yaw: float) -> float:
    return (yaw + np.pi / 2) % np.pi - np.pi / 2


def is_done(recording: Recording, subtask: Subtask, frame: int, since: int = 0) -> bool:
    """Whether a subtask that began at frame `since` is done: no hand touches the object, and the object is in its final
    state.
    """
    if frame < 1 or any(
        frozenset((subtask.obj.name, f"{subtask.side}{part}")) in recording.touching_throughout[frame]
        for part in HAND_PARTS
    ):
        return False
    if subtask.obj.is_fixture:
        return _is_worked(recording, subtask, frame, since)
    return _is_placed(recording, subtask, frame)


def _is_worked(recording: Recording, subtask: Subtask, frame: int, since: int) -> bool:
    """Whether a drawer or a door is open or shut and still, or a button has been on and is up again."""
    way = recording.offsets_m(subtask.obj.name)[since : frame + 1]
    share, still = (
        way[-1] / subtask.obj.travel_m,
        abs(way[-1] - way[-1 - _earlier(recording, len(way) - 1)]) <= _STILL_M,
    )
    if subtask.action == "press":
        return bool(is_switched(subtask.obj, way.max()) and share <= _UP_SHARE)
    return bool(still and (share >= _OPEN_SHARE if subtask.action == "open" else share <= _SHUT_SHARE))


def _earlier(recording: Recording, frame: int) -> int:
    """The number of frames for which an object must have been still before a frame."""
    return min(round(_STILL_S * recording.fps), frame)


def _is_placed(recording: Recording, subtask: Subtask, frame: int) -> bool:
    """Whether the object is in its goal at a frame: over it, at its height, and still."""
    now = recording.pose(frame, subtask.obj.name)[:3]
    goal = recording.pose(frame, subtask.goal.name)[:3] if subtask.goal.movable else np.array([*subtask.goal.at, 0.0])
    before = recording.pose(frame - _earlier(recording, frame), subtask.obj.name)[:3]
    return bool(
        np.linalg.norm(now[:2] - goal[:2]) <= subtask.goal.tolerance_m
        and abs(now[2] - goal[2] - subtask.goal.rest_height_m) <= _LEVEL_M
        and np.linalg.norm(now - before) <= _STILL_M
    )
