"""What can be simulated, as a domain's `simulate.yaml` says it: things, goals, tasks, and the faults to make.

Code makes bodies do things (jump, vanish, hover); which label that is, how it is described and how bad it is stands
in the file. A sentence is a format string with the names of what it is about in braces.
"""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Annotated, Literal, Self, TypeVar

from pydantic import Field, model_validator

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.domains.load import find_domain
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError

FILE = "simulate.yaml"
_LEAST_THERE = 2
"""Things and goals: what is handled, and another to be confused with it."""

Colour = tuple[Fraction, Fraction, Fraction]
Range = tuple[float, float]
Links = Literal["round", "square", "twin", "ribbed", "stepped"]
Surface = Literal["grain", "plaster", "weave", "tiles", "chips", "boards", "checks", "bricks", "dots", "stripes"]
Form = Literal[
    "box", "ball", "cylinder", "bottle", "cup", "carton",
    "crate", "basket", "bowl", "plate", "mat", "disc",
    "drawer", "door", "button",
]  # fmt: skip
Condition = Literal["handled", "lasting", "decisive"]
"""What a severity can depend on: `handled`, what is affected is what the task handles; `lasting`, the fault holds to
the clip's end; `decisive`, it holds at a moment at which something is grasped, let go or pressed."""


class Shape(Data):
    """A thing, a goal or a fixture by its form and sizes in metres.

    box       half sizes along x, y, z         cylinder  radius, half height       ball    radius
    carton    half sizes along x, y, z         bottle    radius, half height       cup     radius above, half height
    crate     half side, height                mat       half side                 bowl    (no size)
    basket    radius, height                   disc      radius                    plate   radius
    drawer    half sizes across, along its way and up, then the way it goes        button  radius, the way it goes
    door      half sizes across, of the depth behind it and up, then the way its handle goes along its arc
    """

    form: Form
    size: tuple[Annotated[float, Field(gt=0)], ...] = ()
    preposition: str = "on"


class TaskKind(Data):
    """A kind of task: how many things are brought to a goal each, in which manner, and what is asked for.

    `things` and `goals` name the shapes to choose from; a goal that is a thing is one to put things on. What is opened,
    shut or pressed is a fixture and has no goal. `weight` is
    how often the task is drawn against the others where a fault can happen in several, 0 for only where it must.
    """

    family: str
    manner: Literal["place", "push", "open", "close", "press"]
    jobs: int = Field(default=1, ge=1, le=2)
    things: tuple[str, ...] = Field(min_length=1)
    goals: tuple[str, ...] = ()
    instruction: str
    weight: float = Field(default=1.0, ge=0)


class World(Data):
    """What a clip is drawn from: arms, surfaces, cameras, light, things. Without more, all there is.

    `girth` scales the radii of an arm's links. A camera stands `azimuth` degrees beside the line that faces the arm,
    `elevation` degrees above the table and `distance` metres off; grids of views and views from behind have sides of
    their own. `lamp` is how far the light falls sideways, as a share of its fall. `things` names the things and goals
    there are, all for none; fixtures are the same in all worlds.
    """

    links: tuple[Links, ...] = Field(default=("round", "square", "twin", "ribbed", "stepped"), min_length=1)
    girth: Range = (0.6, 1.25)
    tables: tuple[Surface, ...] = Field(
        default=("grain", "plaster", "weave", "tiles", "chips", "checks", "dots"), min_length=1
    )
    walls: tuple[Surface, ...] = Field(default=("plaster", "tiles", "boards", "bricks", "stripes"), min_length=1)
    azimuth: Range = (-62.0, 76.0)
    elevation: Range = (17.0, 54.0)
    distance: Range = (0.8, 1.3)
    lamp: Range = (-0.9, 1.15)
    things: tuple[str, ...] = ()


class SeverityRule(Data):
    """A level and the conditions under which it holds; without any it always does."""

    level: Severity
    when: tuple[Condition, ...] = ()


class Doing(Data):
    """Something to be done in a clip; without more, something unusual that is right.

    `make` names an edit of the playback, another course of the motion, or a way to look. `tasks` are those it can be
    done in, all for none; `arms` how many it takes at least; `single_view` keeps it out of grids of views.
    """

    make: str
    tasks: tuple[str, ...] = ()
    arms: int = Field(default=1, ge=1, le=2)
    single_view: bool = False


class SimulatedFault(Doing):
    """A way to go wrong: the event type, what is done to make it, and how it is told.

    `done` says whether the task is done at the end of what was recorded, None where either will do. The first of
    `severity` whose conditions hold decides.
    """

    type: Name
    done: bool | None = True
    secondary: tuple[Name, ...] = ()
    severity: tuple[SeverityRule, ...] = Field(min_length=1)
    description: str
    to_see: str

    @model_validator(mode="after")
    def _always_has_a_severity(self) -> Self:
        if self.severity[-1].when:
            raise ValueError("the last rule of a severity has no conditions, so that one always holds")
        return self

    def level(self, holding: Collection[Condition]) -> int:
        """The severity when these conditions hold."""
        return next(rule.level for rule in self.severity if set(rule.when) <= set(holding))


class SimulationConfig(Data):
    """simulate.yaml.

    `embodiments` are called so with one and with two arms; `sides` are the two arms' names and the colours they are
    marked with, and `with_side` is an instruction that says which. `fixtures` stand fast and have a part that moves.
    `bodies` is how descriptions call parts of an arm, `of_side` and `arm_of_side` how where there are two arms,
    `phases` how they call what an arm is at. `clean` is what looks unusual and is right. `second_share` of the clips
    with a fault have another one of those that `second` names by what is made. Each of `worlds` is a part of all that
    surroundings can be, and may have some of the things and goals only, so that what was fitted in one can be tried in
    another.
    """

    schema_version: Literal[1]
    embodiments: tuple[str, str]
    bodies: dict[str, str]
    sides: dict[str, str] = Field(min_length=2, max_length=2)
    with_side: str
    of_side: str
    arm_of_side: str
    colours: dict[str, Colour] = Field(min_length=8)
    things: dict[str, Shape] = Field(min_length=_LEAST_THERE)
    goals: dict[str, Shape] = Field(min_length=_LEAST_THERE)
    fixtures: dict[str, Shape] = {}
    tasks: dict[str, TaskKind] = Field(min_length=1)
    phases: dict[str, str]
    clean: tuple[Doing, ...] = Field(min_length=1)
    second_share: Fraction = 0.0
    second: tuple[str, ...] = ()
    views: tuple[str, str, str]
    worlds: dict[str, World] = {}
    faults: tuple[SimulatedFault, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _tasks_have_what_they_name(self) -> Self:
        for name, task in self.tasks.items():
            there = {*self.things, *self.goals} if task.goals else {*self.fixtures}
            if unknown := sorted({*task.things, *task.goals} - there):
                raise ValueError(
                    f"tasks.{name}: there is no {', '.join(unknown)}; there are: {', '.join(sorted(there))}"
                )
        return self

    @model_validator(mode="after")
    def _worlds_have_enough_for_every_task(self) -> Self:
        for name, there in ((name, set(world.things)) for name, world in self.worlds.items() if world.things):
            if unknown := sorted(there - {*self.things, *self.goals}):
                raise ValueError(f"worlds.{name}.things: there is no thing or goal {', '.join(unknown)}")
            if min(len(there & {*self.things}), len(there & {*self.goals})) < _LEAST_THERE:
                raise ValueError(f"worlds.{name}.things: name at least two things and two goals")
            for called, task in self.tasks.items():
                if task.goals and not (there.intersection(task.things) and there.intersection(task.goals)):
                    raise ValueError(f"worlds.{name}.things: nothing is left for the task {called}; name more")
        return self

    def only(self, tasks: Collection[str]) -> "SimulationConfig":
        """The recipe with these tasks only, all for none, and what can be done in them. Raises InputError."""
        for name in tasks:
            if name not in self.tasks:
                raise InputError(f"there is no task {name!r}; these are: {', '.join(self.tasks)}")
        if not tasks:
            return self
        clean, faults = _in_some_of(self.clean, tasks), _in_some_of(self.faults, tasks)
        if not clean or not faults:
            raise InputError(f"there is nothing {'wrong' if clean else 'right'} to be done in {', '.join(tasks)}")
        kept = {name: task for name, task in self.tasks.items() if name in tasks}
        return self.with_(tasks=kept, clean=clean, faults=faults)

    def world(self, name: str | None) -> World:
        """The world of a name, for None all there is. Raises InputError."""
        if name is None:
            return World()
        if name not in self.worlds:
            raise InputError(f"there is no world {name!r}; these are: {', '.join(self.worlds) or 'none'}")
        return self.worlds[name]

    def within(self, world: World) -> "SimulationConfig":
        """The recipe with those things and goals that a world has."""
        if not world.things:
            return self
        there = {*world.things, *self.fixtures}
        tasks = {
            name: task.with_(things=_among(task.things, there), goals=_among(task.goals, there))
            for name, task in self.tasks.items()
        }
        things, goals = (
            {name: one for name, one in all_.items() if name in there} for all_ in (self.things, self.goals)
        )
        return self.with_(things=things, goals=goals, tasks=tasks, worlds={})

    @property
    def seconds(self) -> tuple[SimulatedFault, ...]:
        """The faults that can come on top of another."""
        return tuple(fault for fault in self.faults if fault.make in self.second)

    @property
    def types(self) -> tuple[str, ...]:
        """The event types that can be made, in the file's order."""
        return tuple(dict.fromkeys(fault.type for fault in self.faults))


def _among(names: Sequence[str], there: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in there)


_Any = TypeVar("_Any", bound=Doing)


def _in_some_of(doings: Sequence[_Any], tasks: Collection[str]) -> tuple[_Any, ...]:
    """What can be done in some of these tasks, and in these only."""
    narrowed = [one.with_(tasks=tuple(name for name in one.tasks if name in tasks)) for one in doings]
    return tuple(new for new, old in zip(narrowed, doings, strict=True) if new.tasks or not old.tasks)


def load_recipe(domain: str | Path) -> SimulationConfig:
    """The recipe of a domain. Raises DomainError with file and line, InputError when the domain has none."""
    path = find_domain(domain) / FILE
    if not path.is_file():
        raise InputError(f"{path} does not exist; a domain says there what can be simulated")
    return read_yaml(path).parse(SimulationConfig)
