"""Draws the setup of a clip: its tasks, its objects and goals and their places, its arms, and its instruction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robogaze.forge.simulate.objects import SimulatedObject
from robogaze.forge.simulate.recording import FPS
from robogaze.forge.simulate.simulation_config import Difficulty, Shape, SimulationConfig, TaskConfig, Variation, Way
from robogaze.forge.simulate.tasks import Subtask

NEAR_M, FAR_M, ASIDE_M = 0.31, 0.56, 0.29
"""The part of the table that an arm reaches: x from NEAR_M to FAR_M, y up to ASIDE_M on both sides."""
_Area = tuple[float, float, float]
_REACH: _Area = (NEAR_M, FAR_M, ASIDE_M)
_WIDE_REACH: _Area = (0.29, 0.58, 0.34)
"""For several tasks, which need more objects."""
_AROUND: _Area = (0.22, 0.70, 0.46)
"""For clutter, which nothing has to reach."""
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
_PACE, _CHAIN_PACE, _PACE_LIMITS = (0.85, 1.2), (1.0, 1.9), (0.85, 2.2)
_TASK_S = 4.6
"""The usual length of a task at a pace of 1."""
_MANY_TASKS, _FIXTURE_SHARE = 5, 0.6
_PLACES = 200
"""The number of places that are drawn before a draw is rejected."""


class DrawRejected(Exception):
    """A random draw does not allow the variation of the clip; the clip is drawn again."""


@dataclass(frozen=True)
class ClipRequest:
    """What a clip should show: faults, or variations of a clean clip. The first variation decides the main task.

    `ways` says what makes the faults hard to see, within the limits of `difficulty`. With `seconds`, a clip is a chain
    of tasks of this length; None means a single task.
    """

    variations: tuple[Variation, ...]
    ways: frozenset[Way] = frozenset()
    difficulty: Difficulty | None = None
    seconds: float | None = None
    fps: int = FPS


@dataclass(frozen=True)
class TaskSetup:
    """The subtasks of a task in their correct order, bystanders, and unused goals.

    `hidden_objects` are far below the table until an edit uses them. `part_names` maps bodies to their names in
    descriptions. `eye` is the place of the first camera (m).
    """

    subtasks: tuple[Subtask, ...]
    bystanders: tuple[SimulatedObject, ...]
    unused_goals: tuple[SimulatedObject, ...]
    hidden_objects: tuple[SimulatedObject, ...]
    part_names: Mapping[str, str]
    eye: tuple[float, float, float] = (1.3, 0.0, 0.7)

    @property
    def objects(self) -> tuple[SimulatedObject, ...]:
        """All objects without duplicates."""
        own = [obj for subtask in self.subtasks for obj in (subtask.obj, subtask.goal)]
        return tuple(dict.fromkeys((*own, *self.bystanders, *self.unused_goals, *self.hidden_objects)))


def spot(
    rng: np.random.Generator,
    size_m: float,
    taken: Sequence[tuple[float, float, float]],
    area: _Area = _REACH,
) -> tuple[float, float]:
    """A place in an area outside the given circles (x, y, radius). Raises DrawRejected."""
    near, far, aside = area
    for _ in range(_PLACES):
        x, y = rng.uniform(near, far), rng.uniform(-aside, aside)
        if all(np.hypot(x - a, y - b) > size_m + radius + _GAP_M for a, b, radius in taken):
            return float(x), float(y)
    raise DrawRejected("no free place on the table")


@dataclass(frozen=True)
class SampledScene:
    """The setup of a clip, which has the subtasks of all its tasks, and the kind of each task. `main` is the number of
    the main task.

    `parts` has a pair of numbers for each task: its first subtask, and the subtask after its last one. `marks` maps the
    side of each arm to the colour of its bands.
    """

    setup: TaskSetup
    tasks: tuple[TaskConfig, ...]
    parts: tuple[tuple[int, int], ...]
    main: int
    marks: dict[str, tuple[float, float, float]]
    instruction: str

    def of_task(self, number: int) -> TaskSetup:
        """The setup with the subtasks of one task."""
        first, end = self.parts[number]
        return replace(self.setup, subtasks=self.setup.subtasks[first:end])


def sample_scene(config: SimulationConfig, request: ClipRequest, rng: np.random.Generator) -> SampledScene:
    """Draw tasks in which the first variation is possible, with objects, goals and arms. Raises DrawRejected."""
    variation = request.variations[0]
    task = _task(config, variation, rng)
    alone = request.seconds is None
    arms = 2 if variation.arms == 2 or (alone and task.subtasks == 1 and rng.random() < _TWO_ARMS_SHARE) else 1
    names, marks = _arms(config, arms, rng)
    side = list(marks)[rng.integers(arms)]
    length_s, count = _length(request, arms, rng)
    objects = _ObjectSampler(config, rng, _REACH if count == 1 else _WIDE_REACH)
    handled, goals, idle = _own(objects, task, variation, rng)
    main = count - 1 if variation.last else int(rng.integers(count))
    chain = _chain(config, objects, main, count, rng)
    chain[main] = (task, list(zip(handled, goals, strict=True)))
    crowd = (1, 2) if count > 1 else (1, 3)
    bystanders = [objects.movable(tuple(config.objects)) for _ in range(int(rng.integers(crowd[0], crowd[1] + 1)))]
    if request.difficulty is not None and "clutter" in request.ways:
        low, high = request.difficulty.clutter
        more = int(rng.integers(low, high + 1)) - len(bystanders)
        bystanders += [objects.movable(tuple(config.objects), area=_AROUND) for _ in range(more)]
    hidden = tuple(objects.hidden() for _ in range(_HIDDEN_OBJECTS))
    subtasks = _paced(_subtasks(chain, side, rng), length_s, rng)
    ends = np.cumsum([len(pairs) for _, pairs in chain])
    parts = tuple((int(end) - len(pairs), int(end)) for end, (_, pairs) in zip(ends, chain, strict=True))
    setup = TaskSetup(subtasks, tuple(bystanders), tuple(idle), hidden, names)
    tasks = tuple(task for task, _ in chain)
    scene = SampledScene(setup, tasks, parts, main, marks, "")
    return replace(scene, instruction=_instruction(config, scene))


def _task(config: SimulationConfig, variation: Variation, rng: np.random.Generator) -> TaskConfig:
    tasks = [config.tasks[name] for name in variation.tasks] or [task for task in config.tasks.values() if task.weight]
    weights = np.array([task.weight or 1.0 for task in tasks])
    return tasks[rng.choice(len(tasks), p=weights / weights.sum())]


def _length(request: ClipRequest, arms: int, rng: np.random.Generator) -> tuple[float | None, int]:
    """The length of a clip in seconds, and its number of tasks. Two arms, which never take turns, do a single task."""
    if request.seconds is None:
        return None, 1
    tasks = round(request.seconds / (_TASK_S * rng.uniform(*_CHAIN_PACE)))
    return request.seconds, 1 if arms == 2 else max(1, tasks)


_Pair = tuple[SimulatedObject, SimulatedObject]
_Chain = list[tuple[TaskConfig, list[_Pair]]]


def _own(
    objects: "_ObjectSampler", task: TaskConfig, variation: Variation, rng: np.random.Generator
) -> tuple[list[SimulatedObject], list[SimulatedObject], list[SimulatedObject]]:
    """The objects of a task, their goals, and goals that are not used."""
    if task.goals:
        goals = [objects.goal(task) for _ in range(task.subtasks)]
        handled = [objects.movable(task.objects, away_from=goal) for goal in goals]
        idle = int(variation.make == _NEEDS_GOAL or rng.random() < _IDLE_GOAL_SHARE)
        return handled, goals, [objects.goal(task) for _ in range(idle)]
    two = variation.make in _NEEDS_FIXTURE or rng.random() < _TWO_FIXTURES_SHARE
    fixtures = objects.fixtures(task, 2 if two else 1)
    return fixtures[:1], fixtures[:1], fixtures[1:]


def _chain(
    config: SimulationConfig, objects: "_ObjectSampler", main: int, count: int, rng: np.random.Generator
) -> _Chain:
    """The tasks before and after the main task; the place of the main task stays empty.

    These tasks share objects and goals with each other, but not with the main task. An object is always brought to an
    empty goal.
    """
    chain: _Chain = [(config.chain.carry, []) for _ in range(count)]
    if count == 1:
        return chain
    carry, worked = config.chain.carry, config.chain.work
    movers = 2 if count >= _MANY_TASKS else 1
    free = [objects.goal(carry) for _ in range(movers + 1)]
    loose = [objects.movable(carry.objects, away_from=goal) for goal in free[:movers]]
    fixtures = objects.fixtures(worked, 1) if rng.random() < _FIXTURE_SHARE else []
    at: dict[str, SimulatedObject] = {}
    for number in range(count):
        if number == main:
            continue
        if fixtures and chain[number - 1][0] is not worked and rng.random() < 1 / 3:
            chain[number] = (worked, [(fixtures[0], fixtures[0])])
            continue
        obj, goal = loose[rng.integers(movers)], free.pop(rng.integers(len(free)))
        if obj.name in at:
            free.append(at[obj.name])
        at[obj.name] = goal
        chain[number] = (carry, [(obj, goal)])
    return chain


def _subtasks(chain: _Chain, side: str, rng: np.random.Generator) -> tuple[Subtask, ...]:
    lift = rng.uniform(0.10, 0.19)
    pairs = [(task.action, obj, goal) for task, pairs in chain for obj, goal in pairs]
    return tuple(
        Subtask(obj, goal, side, action, lift=lift, number=number) for number, (action, obj, goal) in enumerate(pairs)
    )


def _paced(subtasks: tuple[Subtask, ...], length_s: float | None, rng: np.random.Generator) -> tuple[Subtask, ...]:
    """The subtasks at the pace that gives a clip of `length_s`, within the limits of the pace."""
    pace = rng.uniform(*_PACE) * (0.75 if len(subtasks) == 2 else 1.0)
    if length_s is not None:
        pace = float(
            np.clip(length_s / sum(move.seconds for subtask in subtasks for move in subtask.moves()), *_PACE_LIMITS)
        )
    return tuple(replace(subtask, time_scale=pace) for subtask in subtasks)


def _arms(
    config: SimulationConfig, arms: int, rng: np.random.Generator
) -> tuple[dict[str, str], dict[str, tuple[float, float, float]]]:
    """The names of the arms' parts by body, and the colour of their bands by side."""
    if arms == 1:
        mark = list(config.colours.values())[rng.integers(len(config.colours))]
        return dict(config.part_names), {"": mark}
    names = {
        f"{side}_{part}": (config.arm_of_side if part == "arm" else config.part_of_side).format(
            side=side, part=part_name
        )
        for side in config.sides
        for part, part_name in config.part_names.items()
    }
    return names, {f"{side}_": config.colours[colour] for side, colour in config.sides.items()}


def _instruction(config: SimulationConfig, scene: SampledScene) -> str:
    sentences = [_sentence(task, scene.of_task(number)) for number, task in enumerate(scene.tasks)]
    if len(sentences) > 1:
        joined = config.chain.words(len(sentences))
        sentences = [
            words.format(instruction=_lower_first(sentence)) for words, sentence in zip(joined, sentences, strict=True)
        ]
    instruction = " ".join(sentences)
    if len(scene.marks) == 1:
        return instruction
    side = scene.setup.subtasks[0].side.removesuffix("_")
    return config.instruction_with_side.format(
        side=side, colour=config.sides[side], instruction=_lower_first(instruction)
    )


def _sentence(task: TaskConfig, setup: TaskSetup) -> str:
    names: dict[str, str] = {"other": setup.bystanders[0].name}
    for number, subtask in enumerate(setup.subtasks, start=1):
        names |= {f"object{number}": subtask.obj.name, f"goal{number}": subtask.goal.name}
        names[f"into{number}"] = subtask.goal.shape.preposition
    return task.instruction.format(**names)


def _lower_first(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


class _ObjectSampler:
    """Draws objects with different names, and places on the table that do not overlap."""

    def __init__(self, config: SimulationConfig, rng: np.random.Generator, area: _Area) -> None:
        self._config = config
        self._rng = rng
        self._area = area
        self._taken: list[tuple[float, float, float]] = []
        self._names: set[str] = set()

    def goal(self, task: TaskConfig) -> SimulatedObject:
        """A goal of a task. The goal is movable if it is an object on which another object is stacked."""
        kind = task.goals[self._rng.integers(len(task.goals))]
        shapes = {**self._config.goals, **self._config.objects}
        return self._object(kind, shapes[kind], movable=kind in self._config.objects)

    def movable(
        self, kinds: Sequence[str], away_from: SimulatedObject | None = None, area: _Area | None = None
    ) -> SimulatedObject:
        """A movable object on the table, of one of the given kinds."""
        kind = kinds[int(self._rng.integers(len(kinds)))]
        return self._object(kind, self._config.objects[kind], away_from=away_from, area=area)

    def fixtures(self, task: TaskConfig, count: int) -> list[SimulatedObject]:
        """Fixtures of one kind; drawers and doors are side by side. Raises DrawRejected."""
        kind = task.objects[self._rng.integers(len(task.objects))]
        shape = self._config.fixtures[kind]
        made: list[SimulatedObject] = []
        for _ in range(count):
            colour, name = self._name(kind)
            offset_m = shape.size[-1] * float(self._rng.uniform(0.8, 0.97)) if task.action == "close" else 0.0
            blank = SimulatedObject(
                name, kind, shape, self._config.colours[colour], (0.0, 0.0), movable=False, offset_m=offset_m
            )
            if blank.has_front:
                place = _neighbour(made[0]) if made else self._front(blank, count)
                made.append(replace(blank, at=place.at, yaw=place.yaw, hinge=place.hinge))
            else:
                yaw = float(self._rng.uniform(-_ASKEW_RAD, _ASKEW_RAD))
                made.append(replace(blank, at=spot(self._rng, blank.radius_m, self._taken, self._area), yaw=yaw))
            self._taken.extend(made[-1].footprint)
        return made

    def _front(self, blank: SimulatedObject, count: int) -> SimulatedObject:
        """A drawer or a door that opens to the side; its handle and its neighbour's handle are in reach when open."""
        if blank.is_hinged:
            blank = replace(blank, hinge=int(self._rng.choice([-1, 1])))
        for _ in range(_PLACES):
            aside = self._rng.choice([-1, 1]) * self._rng.uniform(*_ASIDE_RAD)
            at = (float(self._rng.uniform(NEAR_M, FAR_M)), float(self._rng.uniform(-ASIDE_M, ASIDE_M)))
            first = replace(blank, at=at, yaw=float(aside))
            places = [circle for fixture in [first, _neighbour(first)][:count] for circle in fixture.footprint]
            if all(NEAR_M <= x <= FAR_M and abs(y) <= ASIDE_M for x, y, _ in places):
                return first
        raise DrawRejected(f"no free place for a {blank.shape.form}")

    def hidden(self) -> SimulatedObject:
        """An object far below the table."""
        kinds = list(self._config.objects)
        kind = kinds[self._rng.integers(len(kinds))]
        return self._object(kind, self._config.objects[kind], hidden=True)

    def _object(
        self,
        kind: str,
        shape: Shape,
        *,
        movable: bool = True,
        hidden: bool = False,
        away_from: SimulatedObject | None = None,
        area: _Area | None = None,
    ) -> SimulatedObject:
        colour, name = self._name(kind)
        turned = movable and shape.form != "ball"
        yaw = float(self._rng.uniform(-0.6, 0.6)) if turned else 0.0
        apart = (0.3 * len(self._names), 0.0)
        obj = SimulatedObject(name, kind, shape, self._config.colours[colour], apart, yaw, movable, hidden)
        if hidden:
            return obj
        keep_away = [(*away_from.at, _LEAST_DISTANCE_M)] if away_from else []
        at = spot(self._rng, obj.radius_m, [*self._taken, *keep_away], area or self._area)
        self._taken.append((*at, obj.radius_m))
        return replace(obj, at=at)

    def _name(self, kind: str) -> tuple[str, str]:
        """A colour that no other object of the kind has, and the name of the object with this colour."""
        free = [colour for colour in self._config.colours if f"{colour} {kind}" not in self._names]
        used = {name.rpartition(" ")[0] for name in self._names}
        fresh = [colour for colour in free if colour not in used] or free
        colour = fresh[self._rng.integers(len(fresh))]
        self._names.add(f"{colour} {kind}")
        return colour, f"{colour} {kind}"


def _neighbour(obj: SimulatedObject) -> SimulatedObject:
    """A copy of a fixture next to the fixture; two doors are hinged at their outer ends."""
    far = 2 * obj.shape.size[0] + _APART_M
    far = -obj.hinge * far if obj.is_hinged else far
    x, y = obj.at[0] - far * np.sin(obj.yaw), obj.at[1] + far * np.cos(obj.yaw)
    return replace(obj, at=(float(x), float(y)), hinge=-obj.hinge)
