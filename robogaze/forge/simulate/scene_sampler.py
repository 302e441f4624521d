"""Who takes part in a clip: drawn from a recipe, by the clip's generator."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robogaze.forge.simulate.recipe import Doing, Shape, SimulationConfig, TaskKind
from robogaze.forge.simulate.stage import ASIDE_M, FAR_M, NEAR_M, NoRoom, Setting, in_reach, spot
from robogaze.forge.simulate.tasks import MoveJob
from robogaze.forge.simulate.things import SimulatedThing

_TWO_ARMS_SHARE, _IDLE_GOAL_SHARE = 0.15, 0.35
_SPARES = 2
_NEEDS_GOAL = "bring_elsewhere"
_NEEDS_FIXTURE = ("take_other", "move_by_itself")
_TWO_FIXTURES_SHARE = 0.5
_ASIDE_RAD, _ASKEW_RAD = (0.8, 1.6), 0.6
_APART_M = 0.004
_LEAST_WAY_M = 0.14
"""How far a goal is from the thing that is brought to it, at least."""


@dataclass(frozen=True)
class Cast:
    """A setting with its task, the colours that arms are marked with by side, and the instruction."""

    setting: Setting
    task: TaskKind
    marks: dict[str, tuple[float, float, float]]
    instruction: str


def draw_cast(recipe: SimulationConfig, doing: Doing, rng: np.random.Generator) -> Cast:
    """Things, goals, arms and a task in which something can be done. Raises NoRoom."""
    task = _task(recipe, doing, rng)
    arms = 2 if doing.arms == 2 or (task.jobs == 1 and rng.random() < _TWO_ARMS_SHARE) else 1
    names, marks = _arms(recipe, arms, rng)
    side = list(marks)[rng.integers(arms)]
    things = _Things(recipe, rng)
    if task.goals:
        goals = [things.goal(task) for _ in range(task.jobs)]
        handled = [things.loose(task.things, away_from=goal) for goal in goals]
        idle = [things.goal(task) for _ in range(int(doing.make == _NEEDS_GOAL or rng.random() < _IDLE_GOAL_SHARE))]
    else:
        two = doing.make in _NEEDS_FIXTURE or rng.random() < _TWO_FIXTURES_SHARE
        fixtures = things.fixtures(task, 2 if two else 1)
        goals, handled, idle = fixtures[:1], fixtures[:1], fixtures[1:]
    others = tuple(things.loose(tuple(recipe.things)) for _ in range(int(rng.integers(1, 4))))
    spares = tuple(things.hidden() for _ in range(_SPARES))
    pace = rng.uniform(0.85, 1.2) * (0.75 if task.jobs == 2 else 1.0)
    lift = rng.uniform(0.10, 0.19)
    jobs = tuple(
        MoveJob(thing, goal, side, task.manner, pace=pace, lift=lift)
        for thing, goal in zip(handled, goals, strict=True)
    )
    setting = Setting(jobs, others, tuple(idle), spares, names)
    return Cast(setting, task, marks, _instruction(recipe, task, setting, arms))


def _task(recipe: SimulationConfig, doing: Doing, rng: np.random.Generator) -> TaskKind:
    tasks = [recipe.tasks[name] for name in doing.tasks] or [task for task in recipe.tasks.values() if task.weight]
    weights = np.array([task.weight or 1.0 for task in tasks])
    return tasks[rng.choice(len(tasks), p=weights / weights.sum())]


def _arms(
    recipe: SimulationConfig, arms: int, rng: np.random.Generator
) -> tuple[dict[str, str], dict[str, tuple[float, float, float]]]:
    """How the arms' parts are called by body, and what the arms are marked with by side."""
    if arms == 1:
        mark = list(recipe.colours.values())[rng.integers(len(recipe.colours))]
        return dict(recipe.bodies), {"": mark}
    names = {
        f"{side}_{part}": (recipe.arm_of_side if part == "arm" else recipe.of_side).format(side=side, part=called)
        for side in recipe.sides
        for part, called in recipe.bodies.items()
    }
    return names, {f"{side}_": recipe.colours[colour] for side, colour in recipe.sides.items()}


def _instruction(recipe: SimulationConfig, task: TaskKind, setting: Setting, arms: int) -> str:
    """What is asked for."""
    words: dict[str, str] = {"other": setting.others[0].name}
    for number, job in enumerate(setting.jobs, start=1):
        words |= {f"thing{number}": job.thing.name, f"goal{number}": job.goal.name}
        words[f"into{number}"] = job.goal.shape.preposition
    said = task.instruction.format(**words)
    if arms == 1:
        return said
    side = setting.jobs[0].side.removesuffix("_")
    return recipe.with_side.format(side=side, colour=recipe.sides[side], instruction=said[0].lower() + said[1:])


class _Things:
    """Draws things of different names, and places on the table that keep clear of each other."""

    def __init__(self, recipe: SimulationConfig, rng: np.random.Generator) -> None:
        self._recipe = recipe
        self._rng = rng
        self._taken: list[tuple[float, float, float]] = []
        self._names: set[str] = set()

    def goal(self, task: TaskKind) -> SimulatedThing:
        """A goal of a task; one to put things on is loose."""
        kind = task.goals[self._rng.integers(len(task.goals))]
        shapes = {**self._recipe.goals, **self._recipe.things}
        return self._thing(kind, shapes[kind], loose=kind in self._recipe.things)

    def loose(self, kinds: Sequence[str], away_from: SimulatedThing | None = None) -> SimulatedThing:
        """A loose thing of one of some kinds, on the table."""
        kind = kinds[int(self._rng.integers(len(kinds)))]
        return self._thing(kind, self._recipe.things[kind], away_from=away_from)

    def fixtures(self, task: TaskKind, count: int) -> list[SimulatedThing]:
        """Fixtures of one kind, those with a front side by side. Raises NoRoom."""
        kind = task.things[self._rng.integers(len(task.things))]
        shape = self._recipe.fixtures[kind]
        made: list[SimulatedThing] = []
        for _ in range(count):
            colour, name = self._name(kind)
            out_m = shape.size[-1] * float(self._rng.uniform(0.8, 0.97)) if task.manner == "close" else 0.0
            blank = SimulatedThing(
                name, kind, shape, self._recipe.colours[colour], (0.0, 0.0), loose=False, out_m=out_m
            )
            if blank.has_front:
                place = _beside(made[0]) if made else self._front(blank, count)
                made.append(replace(blank, at=place.at, yaw=place.yaw, hinge=place.hinge))
            else:
                yaw = float(self._rng.uniform(-_ASKEW_RAD, _ASKEW_RAD))
                made.append(replace(blank, at=spot(self._rng, blank.reach_m, self._taken), yaw=yaw))
            self._taken.extend(made[-1].ground)
        return made

    def _front(self, blank: SimulatedThing, count: int) -> SimulatedThing:
        """A fixture that opens to a side and whose handle is in reach from end to end, as those beside it are."""
        if blank.turns:
            blank = replace(blank, hinge=int(self._rng.choice([-1, 1])))
        for _ in range(200):
            aside = self._rng.choice([-1, 1]) * self._rng.uniform(*_ASIDE_RAD)
            at = (float(self._rng.uniform(NEAR_M, FAR_M)), float(self._rng.uniform(-ASIDE_M, ASIDE_M)))
            first = replace(blank, at=at, yaw=float(aside))
            row = [first, _beside(first)][:count]
            if all(in_reach(x, y) for one in row for x, y, _ in one.ground):
                return first
        raise NoRoom(f"no free place for a {blank.shape.form}")

    def hidden(self) -> SimulatedThing:
        """A thing that waits far below."""
        kinds = list(self._recipe.things)
        kind = kinds[self._rng.integers(len(kinds))]
        return self._thing(kind, self._recipe.things[kind], hidden=True)

    def _thing(
        self,
        kind: str,
        shape: Shape,
        *,
        loose: bool = True,
        hidden: bool = False,
        away_from: SimulatedThing | None = None,
    ) -> SimulatedThing:
        colour, name = self._name(kind)
        turned = loose and shape.form != "ball"
        yaw = float(self._rng.uniform(-0.6, 0.6)) if turned else 0.0
        at = (0.3 * len(self._names), 0.0)
        thing = SimulatedThing(name, kind, shape, self._recipe.colours[colour], at, yaw, loose, hidden)
        if hidden:
            return thing
        far = [(*away_from.at, _LEAST_WAY_M)] if away_from else []
        at = spot(self._rng, thing.reach_m, [*self._taken, *far])
        self._taken.append((*at, thing.reach_m))
        return SimulatedThing(name, kind, shape, self._recipe.colours[colour], at, yaw, loose, hidden)

    def _name(self, kind: str) -> tuple[str, str]:
        """A colour of no other thing of the kind, and the name with it."""
        free = [colour for colour in self._recipe.colours if f"{colour} {kind}" not in self._names]
        used = {name.rpartition(" ")[0] for name in self._names}
        fresh = [colour for colour in free if colour not in used] or free
        colour = fresh[self._rng.integers(len(fresh))]
        self._names.add(f"{colour} {kind}")
        return colour, f"{colour} {kind}"


def _beside(thing: SimulatedThing) -> SimulatedThing:
    """A place for a fixture like another one, at its side: the two of a pair of doors are hinged at its ends."""
    far = 2 * thing.shape.size[0] + _APART_M
    far = -thing.hinge * far if thing.turns else far
    x, y = thing.at[0] - far * np.sin(thing.yaw), thing.at[1] + far * np.cos(thing.yaw)
    return replace(thing, at=(float(x), float(y)), hinge=-thing.hinge)
