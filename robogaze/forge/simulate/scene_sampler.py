"""Sampling the setup of a clip: the task, its objects and goals with their places, arms and instruction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robogaze.forge.simulate.objects import SimulatedObject
from robogaze.forge.simulate.recording import Recording
from robogaze.forge.simulate.scene import Camera
from robogaze.forge.simulate.simulation_config import Shape, SimulationConfig, TaskConfig, Variation
from robogaze.forge.simulate.tasks import Subtask

NEAR_M, FAR_M, ASIDE_M = 0.31, 0.56, 0.29
"""The part of the table that an arm reaches: x from NEAR_M to FAR_M, y up to ASIDE_M on both sides."""
_TWO_ARMS_SHARE, _IDLE_GOAL_SHARE = 0.15, 0.35
_HIDDEN_OBJECTS = 2
_NEEDS_GOAL = "bring_elsewhere"
_NEEDS_FIXTURE = ("take_other", "move_by_itself")
_TWO_FIXTURES_SHARE = 0.5
_ASIDE_RAD, _ASKEW_RAD = (0.8, 1.6), 0.6
_APART_M = 0.004
_LEAST_DISTANCE_M = 0.14
"""The least distance of a goal from the object that is brought to it."""
_GAP_M = 0.012


class DrawRejected(Exception):
    """A random draw does not allow the variation of the clip; the clip is drawn again."""


@dataclass(frozen=True)
class TaskSetup:
    """The subtasks in their correct order, bystanders, and unused goals.

    `hidden_objects` are far below the table until an edit uses them. `part_names` maps bodies to their names in
    descriptions.
    """

    subtasks: tuple[Subtask, ...]
    bystanders: tuple[SimulatedObject, ...]
    unused_goals: tuple[SimulatedObject, ...]
    hidden_objects: tuple[SimulatedObject, ...]
    part_names: Mapping[str, str]

    @property
    def objects(self) -> tuple[SimulatedObject, ...]:
        """All objects without duplicates."""
        own = [obj for subtask in self.subtasks for obj in (subtask.obj, subtask.goal)]
        return tuple(dict.fromkeys((*own, *self.bystanders, *self.unused_goals, *self.hidden_objects)))


@dataclass(frozen=True)
class RecordedSetup:
    """A setup with its recording and the cameras."""

    setup: TaskSetup
    recording: Recording
    views: Mapping[str, Camera | str]

    @property
    def carried_subtasks(self) -> tuple[Subtask, ...]:
        """The subtasks in which a movable object is brought to a goal."""
        return tuple(subtask for subtask in self.setup.subtasks if subtask.obj.movable)

    @property
    def frame_count(self) -> int:
        return len(self.recording.states)

    def first_frame(self, phase: str, subtask: Subtask) -> int:
        """The first frame of a phase of a subtask. Raises DrawRejected if there is no such phase."""
        for known in self.recording.phases:
            if (known.name, known.obj) == (phase, subtask.obj.name):
                return known.first
        raise DrawRejected(f"no {phase}")

    def free_spot(self, rng: np.random.Generator, size_m: float) -> tuple[float, float]:
        """A place on the table that stays free for the whole clip, for an object of a radius. Raises DrawRejected."""
        taken = list(self._taken())
        return spot(rng, size_m, taken)

    def _taken(self) -> list[tuple[float, float, float]]:
        shown = [obj for obj in self.setup.objects if not obj.hidden]
        goals = [circle for obj in shown for circle in obj.footprint]
        loose = [
            (*self.recording.pose(number, obj.name)[:2], obj.radius_m)
            for obj in shown
            if obj.movable
            for number in range(0, self.frame_count, 4)
        ]
        return goals + loose


def in_reach(x: float, y: float) -> bool:
    """Whether an arm reaches a place on the table."""
    return NEAR_M <= x <= FAR_M and abs(y) <= ASIDE_M


def spot(
    rng: np.random.Generator, size_m: float, taken: Sequence[tuple[float, float, float]], tries: int = 200
) -> tuple[float, float]:
    """A place in reach outside circles (x, y, radius). Raises DrawRejected."""
    for _ in range(tries):
        x, y = rng.uniform(NEAR_M, FAR_M), rng.uniform(-ASIDE_M, ASIDE_M)
        if all(np.hypot(x - a, y - b) > size_m + radius + _GAP_M for a, b, radius in taken):
            return float(x), float(y)
    raise DrawRejected("no free place on the table")


@dataclass(frozen=True)
class SampledScene:
    """A setup with its task, the colour of each arm's bands by side, and the instruction."""

    setup: TaskSetup
    task: TaskConfig
    marks: dict[str, tuple[float, float, float]]
    instruction: str


def sample_scene(recipe: SimulationConfig, variation: Variation, rng: np.random.Generator) -> SampledScene:
    """Draw a task in which a variation is possible, with objects, goals and arms. Raises DrawRejected."""
    task = _task(recipe, variation, rng)
    arms = 2 if variation.arms == 2 or (task.subtasks == 1 and rng.random() < _TWO_ARMS_SHARE) else 1
    names, marks = _arms(recipe, arms, rng)
    side = list(marks)[rng.integers(arms)]
    objects = _ObjectSampler(recipe, rng)
    if task.goals:
        goals = [objects.goal(task) for _ in range(task.subtasks)]
        handled = [objects.movable(task.objects, away_from=goal) for goal in goals]
        idle = [
            objects.goal(task) for _ in range(int(variation.make == _NEEDS_GOAL or rng.random() < _IDLE_GOAL_SHARE))
        ]
    else:
        two = variation.make in _NEEDS_FIXTURE or rng.random() < _TWO_FIXTURES_SHARE
        fixtures = objects.fixtures(task, 2 if two else 1)
        goals, handled, idle = fixtures[:1], fixtures[:1], fixtures[1:]
    bystanders = tuple(objects.movable(tuple(recipe.objects)) for _ in range(int(rng.integers(1, 4))))
    hidden_objects = tuple(objects.hidden() for _ in range(_HIDDEN_OBJECTS))
    pace = rng.uniform(0.85, 1.2) * (0.75 if task.subtasks == 2 else 1.0)
    lift = rng.uniform(0.10, 0.19)
    subtasks = tuple(
        Subtask(obj, goal, side, task.action, time_scale=pace, lift=lift)
        for obj, goal in zip(handled, goals, strict=True)
    )
    setup = TaskSetup(subtasks, bystanders, tuple(idle), hidden_objects, names)
    return SampledScene(setup, task, marks, _instruction(recipe, task, setup, arms))


def _task(recipe: SimulationConfig, variation: Variation, rng: np.random.Generator) -> TaskConfig:
    tasks = [recipe.tasks[name] for name in variation.tasks] or [task for task in recipe.tasks.values() if task.weight]
    weights = np.array([task.weight or 1.0 for task in tasks])
    return tasks[rng.choice(len(tasks), p=weights / weights.sum())]


def _arms(
    recipe: SimulationConfig, arms: int, rng: np.random.Generator
) -> tuple[dict[str, str], dict[str, tuple[float, float, float]]]:
    """The names of the arms' parts by body, and the colour of their bands by side."""
    if arms == 1:
        mark = list(recipe.colours.values())[rng.integers(len(recipe.colours))]
        return dict(recipe.part_names), {"": mark}
    names = {
        f"{side}_{part}": (recipe.arm_of_side if part == "arm" else recipe.part_of_side).format(
            side=side, part=part_name
        )
        for side in recipe.sides
        for part, part_name in recipe.part_names.items()
    }
    return names, {f"{side}_": recipe.colours[colour] for side, colour in recipe.sides.items()}


def _instruction(recipe: SimulationConfig, task: TaskConfig, setup: TaskSetup, arms: int) -> str:
    names: dict[str, str] = {"other": setup.bystanders[0].name}
    for number, subtask in enumerate(setup.subtasks, start=1):
        names |= {f"object{number}": subtask.obj.name, f"goal{number}": subtask.goal.name}
        names[f"into{number}"] = subtask.goal.shape.preposition
    instruction = task.instruction.format(**names)
    if arms == 1:
        return instruction
    side = setup.subtasks[0].side.removesuffix("_")
    return recipe.instruction_with_side.format(
        side=side, colour=recipe.sides[side], instruction=instruction[0].lower() + instruction[1:]
    )


class _ObjectSampler:
    """Draws objects with different names, and places on the table that do not overlap."""

    def __init__(self, recipe: SimulationConfig, rng: np.random.Generator) -> None:
        self._recipe = recipe
        self._rng = rng
        self._taken: list[tuple[float, float, float]] = []
        self._names: set[str] = set()

    def goal(self, task: TaskConfig) -> SimulatedObject:
        """A goal of a task; one to stack on is movable."""
        kind = task.goals[self._rng.integers(len(task.goals))]
        shapes = {**self._recipe.goals, **self._recipe.objects}
        return self._object(kind, shapes[kind], movable=kind in self._recipe.objects)

    def movable(self, kinds: Sequence[str], away_from: SimulatedObject | None = None) -> SimulatedObject:
        """A movable object of one of these kinds, on the table."""
        kind = kinds[int(self._rng.integers(len(kinds)))]
        return self._object(kind, self._recipe.objects[kind], away_from=away_from)

    def fixtures(self, task: TaskConfig, count: int) -> list[SimulatedObject]:
        """Fixtures of one kind; drawers and doors are side by side. Raises DrawRejected."""
        kind = task.objects[self._rng.integers(len(task.objects))]
        shape = self._recipe.fixtures[kind]
        made: list[SimulatedObject] = []
        for _ in range(count):
            colour, name = self._name(kind)
            offset_m = shape.size[-1] * float(self._rng.uniform(0.8, 0.97)) if task.action == "close" else 0.0
            blank = SimulatedObject(
                name, kind, shape, self._recipe.colours[colour], (0.0, 0.0), movable=False, offset_m=offset_m
            )
            if blank.has_front:
                place = _neighbour(made[0]) if made else self._front(blank, count)
                made.append(replace(blank, at=place.at, yaw=place.yaw, hinge=place.hinge))
            else:
                yaw = float(self._rng.uniform(-_ASKEW_RAD, _ASKEW_RAD))
                made.append(replace(blank, at=spot(self._rng, blank.radius_m, self._taken), yaw=yaw))
            self._taken.extend(made[-1].footprint)
        return made

    def _front(self, blank: SimulatedObject, count: int) -> SimulatedObject:
        """A drawer or a door that opens to the side; its handle, and its neighbour's, is in reach when open."""
        if blank.is_hinged:
            blank = replace(blank, hinge=int(self._rng.choice([-1, 1])))
        for _ in range(200):
            aside = self._rng.choice([-1, 1]) * self._rng.uniform(*_ASIDE_RAD)
            at = (float(self._rng.uniform(NEAR_M, FAR_M)), float(self._rng.uniform(-ASIDE_M, ASIDE_M)))
            first = replace(blank, at=at, yaw=float(aside))
            row = [first, _neighbour(first)][:count]
            if all(in_reach(x, y) for fixture in row for x, y, _ in fixture.footprint):
                return first
        raise DrawRejected(f"no free place for a {blank.shape.form}")

    def hidden(self) -> SimulatedObject:
        """An object far below the table."""
        kinds = list(self._recipe.objects)
        kind = kinds[self._rng.integers(len(kinds))]
        return self._object(kind, self._recipe.objects[kind], hidden=True)

    def _object(
        self,
        kind: str,
        shape: Shape,
        *,
        movable: bool = True,
        hidden: bool = False,
        away_from: SimulatedObject | None = None,
    ) -> SimulatedObject:
        colour, name = self._name(kind)
        turned = movable and shape.form != "ball"
        yaw = float(self._rng.uniform(-0.6, 0.6)) if turned else 0.0
        at = (0.3 * len(self._names), 0.0)
        obj = SimulatedObject(name, kind, shape, self._recipe.colours[colour], at, yaw, movable, hidden)
        if hidden:
            return obj
        keep_away = [(*away_from.at, _LEAST_DISTANCE_M)] if away_from else []
        at = spot(self._rng, obj.radius_m, [*self._taken, *keep_away])
        self._taken.append((*at, obj.radius_m))
        return SimulatedObject(name, kind, shape, self._recipe.colours[colour], at, yaw, movable, hidden)

    def _name(self, kind: str) -> tuple[str, str]:
        """A colour that no other object of the kind has, and the name with this colour."""
        free = [colour for colour in self._recipe.colours if f"{colour} {kind}" not in self._names]
        used = {name.rpartition(" ")[0] for name in self._names}
        fresh = [colour for colour in free if colour not in used] or free
        colour = fresh[self._rng.integers(len(fresh))]
        self._names.add(f"{colour} {kind}")
        return colour, f"{colour} {kind}"


def _neighbour(obj: SimulatedObject) -> SimulatedObject:
    """A copy of a fixture at its side; two doors are hinged at their outer ends."""
    far = 2 * obj.shape.size[0] + _APART_M
    far = -obj.hinge * far if obj.is_hinged else far
    x, y = obj.at[0] - far * np.sin(obj.yaw), obj.at[1] + far * np.cos(obj.yaw)
    return replace(obj, at=(float(x), float(y)), hinge=-obj.hinge)
