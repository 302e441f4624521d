"""The configuration of a domain, simulate.yaml: objects, goals, tasks, worlds and the faults to simulate.

Edits and behaviours change what bodies do (jump, vanish, hover). The file maps each edit and each behaviour to an event
type, a severity and a description. Descriptions are format strings; the names in braces are filled in for each clip.
"""

from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import Annotated, Literal, Self, TypeVar, get_args

from pydantic import Field, field_validator, model_validator

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.errors import InputError
from robogaze.forge.simulate import BEHAVIOURS, EDITS, FROM_BEHIND

MIN_OBJECTS = 2
"""The least number of objects and of goals: one in use, and one to confuse with it."""

FILE = "simulate.yaml"

Colour = tuple[Fraction, Fraction, Fraction]
Range = tuple[float, float]
Links = Literal["round", "square", "twin", "ribbed", "stepped", "tapered"]
Surface = Literal[
    "grain", "plaster", "weave", "tiles", "chips", "boards", "checks",
    "bricks", "dots", "stripes", "herringbone", "speckle", "panels",
]  # fmt: skip
Form = Literal[
    "box", "ball", "cylinder", "bottle", "cup", "carton",
    "crate", "basket", "bowl", "plate", "mat", "disc",
    "drawer", "door", "button",
]  # fmt: skip
Way = Literal["small", "short", "gradual", "nearby_hand", "one_view", "clutter", "several"]
Condition = Literal["handled", "lasting", "decisive"]
"""The conditions of a severity.

`handled`: the affected object is one that the task handles. `lasting`: the fault lasts to the end of the clip.
`decisive`: the fault covers a grasp, a release or a press.
"""


class Shape(Data):
    """The form of an object, a goal or a fixture, with sizes in metres.

    box       half sizes along x, y, z
    carton    half sizes along x, y, z
    ball      radius
    cylinder  radius, half height
    bottle    radius, half height
    cup       radius at the top, half height
    crate     half side, height
    basket    radius, height
    mat       half side
    disc      radius
    plate     radius
    bowl      no size
    drawer    half width, half depth, half height, travel
    door      half width, half depth (of the case), half height, travel (of the handle, along its arc)
    button    radius, travel
    """

    form: Form
    size: tuple[Annotated[float, Field(gt=0)], ...] = ()
    preposition: str = "on"


class TaskConfig(Data):
    """A kind of task: the action, its objects and goals, and the instruction.

    `subtasks` is the number of objects, each with its own goal. `objects` and `goals` name the shapes to choose from.
    If a goal is itself one of the objects, another object is stacked on it. A fixture (drawer, door, button) has no
    goal. `weight` is the relative frequency among the tasks in which a variation is possible; a task with weight 0 is
    used only if no other task is possible.
    """

    family: str
    action: Literal["place", "push", "open", "close", "press"]
    subtasks: int = Field(default=1, ge=1, le=2)
    objects: tuple[str, ...] = Field(min_length=1)
    goals: tuple[str, ...] = ()
    instruction: str
    weight: float = Field(default=1.0, ge=0)


class WorldConfig(Data):
    """The ranges from which surroundings are drawn; the default ranges contain everything.

    `thickness` scales the radii of an arm's links. A camera with an `azimuth_deg` of 0 faces the arm; other angles move
    it to the side. `elevation_deg` is its angle above the table, and `distance_m` is its distance. Grids of views and
    views from behind use other azimuths. `light_tilt` is the sideways part of the light's direction relative to its
    downward part. `objects` names the objects and goals of the world; if it is empty, the world has all of them.
    Fixtures are the same in every world.
    """

    links: tuple[Links, ...] = Field(default=("round", "square", "twin", "ribbed", "stepped"), min_length=1)
    thickness: Range = (0.6, 1.25)
    tables: tuple[Surface, ...] = Field(
        default=("grain", "plaster", "weave", "tiles", "chips", "checks", "dots"), min_length=1
    )
    walls: tuple[Surface, ...] = Field(default=("plaster", "tiles", "boards", "bricks", "stripes"), min_length=1)
    azimuth_deg: Range = (-62.0, 76.0)
    elevation_deg: Range = (17.0, 54.0)
    distance_m: Range = (0.8, 1.3)
    light_tilt: Range = (-0.9, 1.15)
    objects: tuple[str, ...] = ()


class SeverityRule(Data):
    """A severity level and the conditions it needs; without conditions it always applies."""

    level: Severity
    when: tuple[Condition, ...] = ()


class Variation(Data):
    """A change in a clip; without an event type, the change is unusual but not a fault.

    `make` names an edit, a behaviour, or FROM_BEHIND. `tasks` are the tasks in which the change is possible; if it is
    empty, the change is possible in every task. `arms` is the minimum number of arms. `single_view` excludes grids of
    views. `last` says that the change needs the last task of a clip; `chained` says that the change is also possible in
    the tasks that fill a long clip.
    """

    make: str
    tasks: tuple[str, ...] = ()
    arms: int = Field(default=1, ge=1, le=2)
    single_view: bool = False
    last: bool = False
    chained: bool = False

    @field_validator("make")
    @classmethod
    def _is_registered(cls, make: str) -> str:
        known = (*EDITS.names(), *BEHAVIOURS.names(), FROM_BEHIND)
        if make not in known:
            close = get_close_matches(make, known, n=1)
            near = f"; did you mean {close[0]}?" if close else ""
            raise ValueError(f"{make!r} is not in EDITS or BEHAVIOURS; register it in robogaze.forge.simulate{near}")
        return make


class Act(Data):
    """The part of a clip in which an arm does something wrong, given by the phases of its subtask.

    The act starts at the first frame of the phase `since` or, if `after` is True, at the end of this phase. The act
    ends at the first frame of the phase `until`, or at the end of the clip if there is no phase `until`. With `most_s`,
    only the last `most_s` seconds count. `plus_s` is added to the end, or to the start if `until` is empty.
    """

    since: str
    after: bool = False
    until: str = ""
    plus_s: float = 0.0
    most_s: float | None = None


class SimulatedFault(Variation):
    """A variation that is a fault: its event type, severity and description.

    `ways` lists what can make the fault hard to see. `act` is for faults of behaviour: it says which part of the clip
    counts as the fault. Without an `act`, the frames of the fault are found by measurement. `task_done` says whether
    the task is done at the end of the recording; None allows both. In `severity`, the first rule whose conditions hold
    applies. `evidence` describes what the frames show.
    """

    type: Name
    task_done: bool | None = True
    ways: tuple[Way, ...] = ("clutter", "several")
    act: Act | None = None
    secondary: tuple[Name, ...] = ()
    severity: tuple[SeverityRule, ...] = Field(min_length=1)
    description: str
    evidence: str

    @model_validator(mode="after")
    def _always_has_a_severity(self) -> Self:
        if self.severity[-1].when:
            raise ValueError("the last rule of a severity must have no conditions")
        return self

    def level(self, holding: Collection[Condition]) -> int:
        return next(rule.level for rule in self.severity if set(rule.when) <= set(holding))


OutcomeKind = Literal["not_done", "held", "cut", "changed"]


class StatedOutcome(Data):
    """The event of a clip that does not end as it should: its type, severity and description."""

    type: Name
    severity: Severity
    description: str


class Chain(Data):
    """How the tasks of a long clip are joined: the tasks that fill it, and the words of its instruction.

    `carry` is a task that brings an object to a goal from which the object can be taken again; `work` is a task at a
    fixture that can be repeated.
    """

    carry: TaskConfig
    work: TaskConfig
    first: str
    next: str
    last: str

    def words(self, count: int) -> list[str]:
        """A format string for the instruction of each of `count` tasks."""
        return [self.first, *[self.next] * (count - 2), self.last]


class Difficulty(Data):
    """The meaning of a difficulty: what makes a fault hard to see, within which limits, and the hard negatives.

    small        the affected bodies or the affected part of the picture fill at most `largest_share` of the picture
    short        the fault lasts at most `longest_s`
    gradual      the fault develops over `gradual_s`
    nearby_hand  the fault begins within `nearby_m` of a hand that moves
    one_view     the fault shows in one view of a grid only
    clutter      there are `clutter` other objects
    several      there are `several` faults

    A faulty clip uses `ways_per_clip` of these ways. A clean clip has `negatives_per_clip` of the hard negatives, which
    `negatives` lists by name. Every pair of numbers is (least, most).
    """

    largest_share: Fraction
    longest_s: Annotated[float, Field(gt=0)]
    gradual_s: Range
    nearby_m: Annotated[float, Field(gt=0)]
    clutter: tuple[int, int]
    several: tuple[int, int]
    ways_per_clip: tuple[int, int]
    negatives_per_clip: tuple[int, int]
    negatives: dict[str, Variation] = Field(min_length=1)


class SimulationConfig(Data):
    """The contents of simulate.yaml.

    `embodiments` describes one arm and two arms. `sides` maps the names of two arms to the colours of their bands;
    `instruction_with_side` is the form of an instruction that says which arm to use. `part_names` are the names of an
    arm's parts in descriptions; `part_of_side` and `arm_of_side` are the format strings for these names if there are
    two arms. `phases` describes what the arm is doing. `clean` lists variations that are no faults.
    `second_fault_share` is the share of faulty clips that get a second fault; `second_faults` lists the `make` of the
    faults that can be the second one. `worlds` are subsets of all surroundings, so that thresholds fitted in one world
    can be tested in another world. `plain_s` is how long it takes to see that something has appeared, jumped or
    vanished. `outcomes` are the events that are added if, after a fault, the task is not done (`not_done`), its object
    is still held in the hand (`held`), the clip is cut off (`cut`), or the object has changed (`changed`).
    """

    schema_version: Literal[1]
    embodiments: tuple[str, str]
    part_names: dict[str, str]
    sides: dict[str, str] = Field(min_length=2, max_length=2)
    instruction_with_side: str
    part_of_side: str
    arm_of_side: str
    colours: dict[str, Colour] = Field(min_length=8)
    objects: dict[str, Shape] = Field(min_length=MIN_OBJECTS)
    goals: dict[str, Shape] = Field(min_length=MIN_OBJECTS)
    fixtures: dict[str, Shape] = {}
    tasks: dict[str, TaskConfig] = Field(min_length=1)
    phases: dict[str, str]
    clean: tuple[Variation, ...] = Field(min_length=1)
    second_fault_share: Fraction = 0.0
    second_faults: tuple[str, ...] = ()
    views: tuple[str, str, str]
    worlds: dict[str, WorldConfig] = {}
    chain: Chain
    plain_s: Annotated[float, Field(gt=0)] = 0.5
    difficulties: dict[str, Difficulty] = {}
    outcomes: dict[OutcomeKind, StatedOutcome]
    faults: tuple[SimulatedFault, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _every_outcome_is_stated(self) -> Self:
        if missing := sorted({*get_args(OutcomeKind)} - {*self.outcomes}):
            raise ValueError(f"outcomes: these are missing: {', '.join(missing)}")
        return self

    def with_tasks(self, tasks: Collection[str]) -> "SimulationConfig":
        """The configuration limited to the given tasks and to the variations that are possible in them. If no task is
        given, the configuration stays as it is. Raises InputError.
        """
        for name in tasks:
            if name not in self.tasks:
                raise InputError(f"unknown task {name!r}; known: {', '.join(self.tasks)}")
        if not tasks:
            return self
        kept = {name: task for name, task in self.tasks.items() if name in tasks}
        clean, faults = _in_some_of(self.clean, tasks), _in_some_of(self.faults, tasks)
        if not clean or not faults:
            raise InputError(f"no {'fault' if clean else 'clean variation'} is possible in {', '.join(tasks)}")
        return self.with_(tasks=kept, clean=clean, faults=faults)

    def with_faults(self, makes: Collection[str]) -> "SimulationConfig":
        """The configuration with only the faults that one of these changes makes (all if empty). Raises InputError."""
        known = tuple(dict.fromkeys(fault.make for fault in self.faults))
        for make in makes:
            if make not in known:
                where = f" in {', '.join(self.tasks)}"
                raise InputError(f"no fault {make!r} can be simulated{where}; these faults can: {', '.join(known)}")
        return self.with_(faults=[fault for fault in self.faults if fault.make in makes]) if makes else self

    def world(self, name: str | None) -> WorldConfig:
        """The world with this name; if the name is None, the world with everything. Raises InputError."""
        if name is None:
            return WorldConfig()
        if name not in self.worlds:
            raise InputError(f"unknown world {name!r}; known: {', '.join(self.worlds) or 'none'}")
        return self.worlds[name]

    def difficulty(self, name: str) -> Difficulty:
        """The difficulty with this name. Raises InputError."""
        if name not in self.difficulties:
            raise InputError(f"unknown difficulty {name!r}; known: {', '.join(self.difficulties) or 'none'}")
        return self.difficulties[name]

    def in_world(self, world: WorldConfig) -> "SimulationConfig":
        """The configuration with only the objects and goals of a world."""
        if not world.objects:
            return self
        chosen = {*world.objects, *self.fixtures}
        return self.with_(
            objects={name: shape for name, shape in self.objects.items() if name in chosen},
            goals={name: shape for name, shape in self.goals.items() if name in chosen},
            tasks={name: _only(task, chosen) for name, task in self.tasks.items()},
            chain=self.chain.with_(carry=_only(self.chain.carry, chosen)),
            worlds={},
        )

    @property
    def types(self) -> tuple[str, ...]:
        """The event types that can be simulated, in the order of the file."""
        return tuple(dict.fromkeys(fault.type for fault in self.faults))


def _only(task: TaskConfig, chosen: Collection[str]) -> TaskConfig:
    """A task with the chosen objects and goals only."""
    objects, goals = ([name for name in names if name in chosen] for names in (task.objects, task.goals))
    return task.with_(objects=objects, goals=goals)


_AnyVariation = TypeVar("_AnyVariation", bound=Variation)


def _in_some_of(variations: Sequence[_AnyVariation], tasks: Collection[str]) -> list[_AnyVariation]:
    """The variations that are possible in at least one of these tasks, each limited to these tasks."""
    possible = []
    for variation in variations:
        names = [name for name in variation.tasks if name in tasks]
        if names or not variation.tasks:
            possible.append(variation.with_(tasks=names))
    return possible
