"""What can be simulated, as a domain's `simulate.yaml` says it: things, goals, tasks, and the faults to make.

Code makes bodies do things (jump, vanish, hover); which label that is, how it is described and how bad it is stands
in the file. A sentence is a format string with the names of what it is about in braces.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name, Severity
from robogaze.domains.load import find_domain
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError

FILE = "simulate.yaml"

Colour = tuple[Fraction, Fraction, Fraction]
Condition = Literal["handled", "lasting", "decisive"]
"""What a severity can depend on: `handled`, what is affected is what the task handles; `lasting`, the fault holds to
the clip's end; `decisive`, it holds at a moment at which something is grasped or let go."""


class Shape(Data):
    """A thing or a goal by its form and sizes in metres.

    box       half sizes along x, y, z         cylinder  radius, half height       ball  radius
    crate     half side, height                mat       half side                 bowl  (no size)
    """

    form: Literal["box", "ball", "cylinder", "crate", "mat", "bowl"]
    size: tuple[Annotated[float, Field(gt=0)], ...] = ()
    preposition: str = "on"


class Task(Data):
    """A kind of task: how many things are brought to a goal each, in which manner, and what is asked for.

    `things` and `goals` name the shapes to choose from; a goal that is a thing is one to put things on. `weight` is
    how often the task is drawn against the others where a fault can happen in several, 0 for only where it must.
    """

    family: str
    manner: Literal["place", "push"]
    jobs: int = Field(default=1, ge=1, le=2)
    things: tuple[str, ...] = Field(min_length=1)
    goals: tuple[str, ...] = Field(min_length=1)
    instruction: str
    weight: float = Field(default=1.0, ge=0)


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


class Fault(Doing):
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


class Recipe(Data):
    """simulate.yaml.

    `embodiments` are called so with one and with two arms; `sides` are the two arms' names and the colours they are
    marked with, and `with_side` is an instruction that says which. `bodies` is how descriptions call parts of an arm,
    `of_side` and `arm_of_side` how where there are two arms, `phases` how they call what an arm is at. `clean` is
    what looks unusual and is right. `second_share` of the clips with a fault have another one of
    those that `second` names by what is made.
    """

    schema_version: Literal[1]
    embodiments: tuple[str, str]
    bodies: dict[str, str]
    sides: dict[str, str] = Field(min_length=2, max_length=2)
    with_side: str
    of_side: str
    arm_of_side: str
    colours: dict[str, Colour] = Field(min_length=8)
    things: dict[str, Shape] = Field(min_length=2)
    goals: dict[str, Shape] = Field(min_length=2)
    tasks: dict[str, Task] = Field(min_length=1)
    phases: dict[str, str]
    clean: tuple[Doing, ...] = Field(min_length=1)
    second_share: Fraction = 0.0
    second: tuple[str, ...] = ()
    views: tuple[str, str, str]
    faults: tuple[Fault, ...] = Field(min_length=1)

    @property
    def seconds(self) -> tuple[Fault, ...]:
        """The faults that can come on top of another."""
        return tuple(fault for fault in self.faults if fault.make in self.second)

    @property
    def types(self) -> tuple[str, ...]:
        """The event types that can be made, in the file's order."""
        return tuple(dict.fromkeys(fault.type for fault in self.faults))


def load_recipe(domain: str | Path) -> Recipe:
    """The recipe of a domain. Raises DomainError with file and line, InputError when the domain has none."""
    path = find_domain(domain) / FILE
    if not path.is_file():
        raise InputError(f"{path} does not exist; a domain says there what can be simulated")
    return read_yaml(path).parse(Recipe)
