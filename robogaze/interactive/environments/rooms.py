"""The engine `rooms`: text adventures. Rooms, things, containers and rules are data; this code knows none of them."""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence

from robogaze.domains.yaml_files import YamlText
from robogaze.interactive.environments.base import Json, Observation
from robogaze.interactive.environments.in_process import StartWorld
from robogaze.interactive.environments.rooms_data import (
    CARRIED,
    Action,
    Condition,
    Detail,
    Exit,
    Need,
    Room,
    RoomsData,
    Thing,
)

_VERBS = {
    "look": ("look", "l", "look around"),
    "inventory": ("inventory", "i"),
    "help": ("help",),
    "examine": ("examine", "x", "look at", "inspect", "read"),
    "take": ("take", "get", "pick up"),
    "drop": ("drop", "put down"),
    "open": ("open",),
    "close": ("close",),
    "go": ("go", "walk", "go to"),
}
_DIRECTIONS = {"n": "north", "s": "south", "e": "east", "w": "west", "u": "up", "d": "down"}
_ARTICLES = re.compile(r"\b(the|a|an)\s+")
_SPACES = re.compile(r"\s+")
_LONGEST_COMMAND = 200


def load(definition: YamlText) -> StartWorld:
    """The world of a definition. Raises DomainError where it is invalid."""
    data = definition.parse(RoomsData)
    return lambda: RoomsWorld(data)


class RoomsWorld:
    """One session. Every command is one turn, also one that is not understood or not possible."""

    def __init__(self, data: RoomsData) -> None:
        self.log: list[str] = []
        self._data = data
        self._flags = dict(data.flags)
        self._places = {name: thing.at for name, thing in data.things.items()}
        self._at = data.start
        self._turn = 0
        self._finished = False
        self._actions = dict(_phrases(data))
        self._description = self._composed()
        self._message = f"{data.opening.strip()}\n\n{self._description}"

    def act(self, command: str) -> Observation:
        if not self._finished:
            self._turn += 1
            self.log.append(f"turn {self._turn}: {command[:_LONGEST_COMMAND]!r}")
            self._message = self._answer(command)
        return self.observe()

    def observe(self) -> Observation:
        return Observation(self._message, self._state(), self._turn, self._finished)

    def close(self) -> None:
        pass

    def _answer(self, command: str) -> str:
        words = _plain(command)
        words = _DIRECTIONS.get(words, words)
        if words in self._actions:
            verb, message = "act", self._do(self._actions[words])
        else:
            verb, message = self._built_in(words)
        if verb in self._data.recompose_after:
            self._description = self._composed()
        return message if verb not in ("go", "look") or message else self._description

    def _built_in(self, words: str) -> tuple[str, str]:
        """The verb of a command and the answer to it; `go` and `look` answer with the description, given as ""."""
        if words in self._room.exits:
            return "go", self._go(words)
        answers: dict[str, Callable[[str], str]] = {
            "examine": self._examine,
            "take": self._take,
            "drop": self._drop,
            "open": self._open,
            "close": self._close_lid,
            "go": self._go,
        }
        for verb, forms in _VERBS.items():
            for form in sorted(forms, key=len, reverse=True):
                if words == form and verb not in answers:
                    return verb, {"look": "", "inventory": self._inventory(), "help": self._data.help.strip()}[verb]
                if words.startswith(f"{form} ") and verb in answers:
                    return verb, answers[verb](words.removeprefix(f"{form} "))
        return "", f"Nothing happens: {words[:60]!r} is not a command. Type help for the commands."

    # What the verbs do.

    def _do(self, action: Action) -> str:
        if refused := self._refusal(action.needs):
            return refused
        for flag, value in action.set.items():
            self._set(flag, value)
        for thing, place in action.move.items():
            self._move(thing, place)
        self._finished = action.finishes
        return action.text.strip()

    def _go(self, direction: str) -> str:
        way = self._room.exits.get(_DIRECTIONS.get(direction, direction)) or self._exit_to(direction)
        if way is None:
            return f"There is no way {direction}."
        if refused := self._refusal(way.needs):
            return refused
        self._at = way.to
        self.log.append(f"  room = {self._at}")
        return ""

    def _exit_to(self, name: str) -> Exit | None:
        rooms = self._data.rooms
        return next((way for way in self._room.exits.values() if name in (way.to, rooms[way.to].name.lower())), None)

    def _examine(self, name: str) -> str:
        thing = self._named(name, self._near())
        if thing is None:
            return self._absent(name)
        data = self._data.things[thing]
        texts = [data.text, *self._details(data.details)]
        if data.lid is not None:
            inside = ", ".join(self._names(self._inside(thing)) if self._flags[data.lid.flag] else ())
            opened = self._flags[data.lid.flag]
            texts.append("It is closed." if not opened else f"It is open. Inside: {inside or 'nothing'}.")
        return " ".join(texts)

    def _take(self, name: str) -> str:
        thing = self._named(name, self._near())
        if thing is None:
            return self._absent(name)
        if self._places[thing] == CARRIED:
            return f"You carry the {self._data.things[thing].name} already."
        if not self._data.things[thing].portable:
            return f"The {self._data.things[thing].name} stays where it is."
        if len(self._in(CARRIED)) >= self._data.carry_limit:
            return f"Your hands are full: {self._data.carry_limit} things are the most you can carry. Drop one first."
        self._move(thing, CARRIED)
        return f"You take the {self._data.things[thing].name}."

    def _drop(self, name: str) -> str:
        thing = self._named(name, self._in(CARRIED))
        if thing is None:
            return f"You carry no {name}."
        self._move(thing, self._at)
        return f"You put down the {self._data.things[thing].name}."

    def _open(self, name: str) -> str:
        thing = self._named(name, self._near())
        lid = None if thing is None else self._data.things[thing].lid
        if thing is None:
            return self._absent(name)
        if lid is None:
            return f"The {self._data.things[thing].name} does not open."
        if self._flags[lid.flag]:
            return f"The {self._data.things[thing].name} is open already."
        if refused := self._refusal(lid.needs):
            return refused
        self._set(lid.flag, True)
        inside = ", ".join(self._names(self._inside(thing)))
        return f"{lid.text.strip()} Inside: {inside or 'nothing'}."

    def _close_lid(self, name: str) -> str:
        thing = self._named(name, self._near())
        lid = None if thing is None else self._data.things[thing].lid
        if thing is None:
            return self._absent(name)
        if lid is None or not self._flags[lid.flag]:
            return f"The {self._data.things[thing].name} is not open."
        self._set(lid.flag, False)
        return f"You close the {self._data.things[thing].name}."

    def _inventory(self) -> str:
        carried = ", ".join(self._names(self._in(CARRIED)))
        return f"You carry: {carried}." if carried else "You carry nothing."

    # What is where, and what is seen.

    @property
    def _room(self) -> Room:
        return self._data.rooms[self._at]

    @property
    def _lit(self) -> bool:
        flag, thing = self._data.light
        near = self._places[thing] in (CARRIED, self._at)
        return self._room.dark_text is None or (self._flags[flag] and near)

    def _composed(self) -> str:
        room = self._room
        if not self._lit:
            return f"[{room.name}]\n{(room.dark_text or '').strip()}\nExits: {', '.join(room.exits)}."
        texts = [f"[{room.name}]", " ".join([room.text.strip(), *self._details(room.details)])]
        if portable := [thing for thing in self._in(self._at) if self._data.things[thing].portable]:
            texts.append(f"On the floor: {', '.join(self._names(portable))}.")
        return "\n".join([*texts, f"Exits: {', '.join(room.exits)}."])

    def _details(self, details: Sequence[Detail]) -> list[str]:
        return [detail.text.strip() for detail in details if self._holds(detail.when)]

    def _in(self, place: str) -> list[str]:
        return [thing for thing, at in self._places.items() if at == place]

    def _inside(self, container: str) -> list[str]:
        """What is in an open container; of a closed one nothing is seen."""
        lid = self._data.things[container].lid
        return self._in(container) if lid is not None and self._flags[lid.flag] else []

    def _seen(self) -> list[str]:
        """The things in the room and in its open containers, in the order of the data; none in the dark."""
        here = self._in(self._at) if self._lit else []
        return [*here, *itertools.chain.from_iterable(self._inside(thing) for thing in here)]

    def _near(self) -> list[str]:
        return [*self._in(CARRIED), *self._seen()]

    def _names(self, things: Sequence[str]) -> list[str]:
        return [self._data.things[thing].name for thing in things]

    def _named(self, name: str, things: Sequence[str]) -> str | None:
        return next((thing for thing in things if name in _names_of(thing, self._data.things[thing])), None)

    def _absent(self, name: str) -> str:
        return f"You see no {name} here." if self._lit else "It is too dark to see anything."

    # State.

    def _holds(self, condition: Condition) -> bool:
        count, lies = condition.carried, condition.lies
        return (
            (condition.flag is None or self._flags[condition.flag])
            and (condition.no_flag is None or not self._flags[condition.no_flag])
            and (condition.carries is None or self._places[condition.carries] == CARRIED)
            and (condition.near is None or condition.near in self._near())
            and (condition.room is None or condition.room == self._at)
            and (lies is None or self._places[lies[0]] == lies[1])
            and (count is None or sum(self._places[thing] == CARRIED for thing in count.of) >= count.at_least)
        )

    def _refusal(self, needs: Sequence[Need]) -> str:
        return next((need.otherwise.strip() for need in needs if not self._holds(need)), "")

    def _set(self, flag: str, value: bool) -> None:
        self._flags[flag] = value
        self.log.append(f"  flag {flag} = {str(value).lower()}")

    def _move(self, thing: str, place: str) -> None:
        self.log.append(f"  {thing}: {self._places[thing]} -> {place}")
        self._places[thing] = place

    def _state(self) -> dict[str, Json]:
        things = self._data.things
        carried: list[Json] = [
            {"id": thing, "name": things[thing].name, "state": self._thing_state(things[thing])}
            for thing in self._in(CARRIED)
        ]
        seen: list[Json] = [
            {"id": thing, "name": things[thing].name, "description": things[thing].text} for thing in self._seen()
        ]
        room: dict[str, Json] = {
            "id": self._at,
            "name": self._room.name,
            "description": self._description,
            "exits": list(self._room.exits),
            "dark": self._room.dark_text is not None,
        }
        flags: dict[str, Json] = dict(self._flags)
        return {
            "room": room,
            "items": seen,
            "inventory": carried,
            "flags": flags,
            "turn_count": self._turn,
            "can_see": self._lit,
        }

    def _thing_state(self, thing: Thing) -> dict[str, Json]:
        return {word: self._flags[flag] for word, flag in thing.state.items()}


def _plain(command: str) -> str:
    """A command in lower case, without articles and superfluous spaces."""
    spaced = _SPACES.sub(" ", command[:_LONGEST_COMMAND].lower().strip(" .!\t\n"))
    return _ARTICLES.sub("", spaced)


def _names_of(thing: str, data: Thing) -> set[str]:
    return {thing.replace("_", " "), _plain(data.name), *map(_plain, data.aliases)}


def _phrases(data: RoomsData) -> Iterator[tuple[str, Action]]:
    """Every phrase that is an action, with each name of each thing in it."""
    for action in data.actions.values():
        for command in action.commands:
            parts = re.split(r"\{(\w+)\}", command)
            choices = [
                [part] if place % 2 == 0 else sorted(_names_of(part, data.things[part]))
                for place, part in enumerate(parts)
            ]
            for choice in itertools.product(*choices):
                yield _plain("".join(choice)), action
