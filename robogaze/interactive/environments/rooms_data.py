"""The definition of a world of rooms, which the engine `rooms` runs."""

import re
from typing import Self

from pydantic import Field, model_validator

from robogaze.core.data import Data

CARRIED, NOWHERE = "carried", "nowhere"
"""Places of a thing besides rooms and containers."""


class Count(Data):
    """A condition: at least `at_least` of the things `of` are carried."""

    of: tuple[str, ...]
    at_least: int = Field(ge=1)


class Condition(Data):
    """A condition that holds if every given part holds."""

    flag: str | None = None
    no_flag: str | None = None
    carries: str | None = None
    near: str | None = None
    """A thing that is carried, or can be seen in the room."""
    room: str | None = None
    lies: tuple[str, str] | None = None
    """A thing, and the room or container it is in."""
    carried: Count | None = None


class Need(Condition):
    """A condition of an action, and the reply if the condition does not hold."""

    otherwise: str


class Exit(Data):
    """Where a direction leads, and what it needs."""

    to: str
    needs: tuple[Need, ...] = ()


class Detail(Data):
    """A sentence of a description that is shown under a condition."""

    text: str
    when: Condition = Condition()


class Room(Data):
    """A room; `dark_text` replaces its description where there is no light."""

    name: str
    text: str
    exits: dict[str, Exit]
    details: tuple[Detail, ...] = ()
    dark_text: str | None = None


class Lid(Data):
    """The lid of a container; `flag` is set while the container is open."""

    flag: str
    needs: tuple[Need, ...] = ()
    text: str


class Thing(Data):
    """Something in the world. `state` maps a word to the flag that holds its value."""

    name: str
    aliases: tuple[str, ...] = ()
    at: str
    text: str
    details: tuple[Detail, ...] = ()
    portable: bool = False
    lid: Lid | None = None
    state: dict[str, str] = {}


class Action(Data):
    """A command that only this world has. `{thing}` in a command is any name of that thing."""

    commands: tuple[str, ...] = Field(min_length=1)
    needs: tuple[Need, ...] = ()
    set: dict[str, bool] = {}
    move: dict[str, str] = {}
    """For each thing that moves, its new place: a room, a container, `carried` or `nowhere`."""
    text: str
    finishes: bool = False

    @property
    def named(self) -> tuple[str, ...]:
        """The things that its commands name."""
        return tuple(name for command in self.commands for name in re.findall(r"\{(\w+)\}", command))


class RoomsData(Data):
    """A complete world of rooms. `light` is the flag that is set while a lamp burns, and the lamp."""

    engine: str
    title: str
    opening: str
    help: str
    start: str
    carry_limit: int = Field(ge=1)
    light: tuple[str, str]
    recompose_after: tuple[str, ...]
    """Verbs after which the description of the present room is composed again; `act` is any action."""
    flags: dict[str, bool]
    rooms: dict[str, Room]
    things: dict[str, Thing]
    actions: dict[str, Action]

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        conditions, things, actions = self._conditions(), self.things.values(), self.actions.values()
        named = {
            "room": {self.start, *(way.to for room in self.rooms.values() for way in room.exits.values())},
            "place": {thing.at for thing in things} | {place for action in actions for place in action.move.values()},
            "thing": {self.light[1], *(name for action in actions for name in (*action.move, *action.named))},
            "flag": {self.light[0], *(name for action in actions for name in action.set)},
        }
        for thing in things:
            named["flag"] |= {*thing.state.values()} | ({thing.lid.flag} if thing.lid else set())
        for part in conditions:
            named["flag"] |= {name for name in (part.flag, part.no_flag) if name}
            named["thing"] |= {name for name in (part.carries, part.near) if name}
            named["thing"] |= {*(part.carried.of if part.carried else ()), *(part.lies[:1] if part.lies else ())}
            named["room"] |= {part.room} if part.room else set()
            named["place"] |= {*(part.lies[1:] if part.lies else ())}
        known = {"room": {*self.rooms}, "thing": {*self.things}, "flag": {*self.flags}}
        known["place"] = known["room"] | known["thing"] | {CARRIED, NOWHERE}
        for kind, names in named.items():
            if missing := names - known[kind]:
                raise ValueError(f"no {kind} is called {', '.join(sorted(missing))}")
        return self

    def _conditions(self) -> tuple[Condition, ...]:
        """Every condition in the data."""
        rooms, things = self.rooms.values(), self.things.values()
        return (
            *(need for room in rooms for way in room.exits.values() for need in way.needs),
            *(detail.when for room in rooms for detail in room.details),
            *(detail.when for thing in things for detail in thing.details),
            *(need for thing in things if thing.lid is not None for need in thing.lid.needs),
            *(need for action in self.actions.values() for need in action.needs),
        )
