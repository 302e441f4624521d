"""The engine `grid`: puzzles on a grid with a screen. The map, its tiles and the rules are data."""

from dataclasses import dataclass, replace
from typing import Literal, Self

from pydantic import Field, model_validator

from robogaze.core.data import Data
from robogaze.domains.yaml_files import YamlText
from robogaze.interactive.environments.base import Json, Observation
from robogaze.interactive.environments.grid_screen import Colour, Kind, draw
from robogaze.interactive.environments.in_process import StartWorld

Cell = tuple[int, int]
"""Row and column, from the top left."""

_STEPS: dict[str, Cell] = {"north": (-1, 0), "south": (1, 0), "east": (0, 1), "west": (0, -1)}
_SHORT = {"n": "north", "s": "south", "e": "east", "w": "west", "l": "look"}
_LARGEST_SIDE = 40
_LONGEST_COMMAND = 200


class Tile(Data):
    """What a character of the map is. `fits` is the character of the doors that a key opens."""

    kind: Kind
    name: str
    colour: Colour
    fits: str | None = None


class Rules(Data):
    """The rules besides those of the tiles."""

    blocked_move_counts: bool
    gate_stays_open: bool
    spent_key: Literal["fitting", "oldest"]


class GridData(Data):
    """A complete puzzle. The map is rectangular and has one start, one exit and at most one plate."""

    engine: str
    title: str
    opening: str
    help: str
    tokens: str
    """The word for the tokens in the state and on the screen."""
    map: str
    tiles: dict[str, Tile] = Field(min_length=1)
    rules: Rules

    @property
    def rows(self) -> list[str]:
        return self.map.split()

    def cells(self, *kinds: Kind) -> dict[Cell, str]:
        """The cells whose tiles are of some kinds, with their characters, from the top left."""
        return {
            (row, column): sign
            for row, line in enumerate(self.rows)
            for column, sign in enumerate(line)
            if self.tiles[sign].kind in kinds
        }

    @model_validator(mode="after")
    def _check_map(self) -> Self:
        rows = self.rows
        if not rows or {*map(len, rows)} != {len(rows[0])} or max(len(rows), len(rows[0])) > _LARGEST_SIDE:
            raise ValueError(f"the map is not a rectangle of at most {_LARGEST_SIDE} cells a side")
        used = {sign for row in rows for sign in row}
        if unknown := used - self.tiles.keys():
            raise ValueError(f"the map has signs that are no tiles: {' '.join(sorted(unknown))}")
        doors = {sign for sign, tile in self.tiles.items() if tile.kind == "door"}
        if keys := [tile.name for tile in self.tiles.values() if tile.kind == "key" and tile.fits not in doors]:
            raise ValueError(f"no door is named in `fits` of {', '.join(keys)}")
        for kind in ("start", "exit"):
            if len(self.cells(kind)) != 1:
                raise ValueError(f"the map needs one tile of kind {kind}")
        if not any(tile.kind == "floor" for tile in self.tiles.values()):
            raise ValueError("no tile is of kind floor")
        return self


@dataclass(frozen=True)
class Position:
    """Everything that a move changes and `undo` takes back."""

    at: Cell
    crates: frozenset[Cell]
    keys: tuple[str, ...] = ()
    taken: frozenset[Cell] = frozenset()
    """Cells of keys and tokens that were taken and of doors that were opened."""
    gate_open: bool = False
    moves: int = 0


def load(definition: YamlText) -> StartWorld:
    """The puzzle of a definition. Raises DomainError where it is invalid."""
    data = definition.parse(GridData)
    return lambda: GridWorld(data)


class GridWorld:
    """One session. Every command is one turn; moves are counted apart."""

    def __init__(self, data: GridData) -> None:
        self.log: list[str] = []
        self._data = data
        self._signs = data.cells("wall", "plate", "gate", "key", "door", "token", "exit")
        self._tokens = len(data.cells("token"))
        (start,) = data.cells("start")
        self._now = Position(start, frozenset(data.cells("crate")))
        self._past: list[Position] = []
        self._turn = 0
        self._finished = False
        self._message = data.opening.strip()

    def act(self, command: str) -> Observation:
        if not self._finished:
            self._turn += 1
            words = command[:_LONGEST_COMMAND].strip().lower()
            self._message = self._answer(_SHORT.get(words, words.removeprefix("go ")))
            self.log.append(f"turn {self._turn}: {words!r} -> {self._now}")
        return self.observe()

    def observe(self) -> Observation:
        return Observation(self._message, self._state(), self._turn, self._finished, (self._screen(),))

    def close(self) -> None:
        pass

    def _answer(self, command: str) -> str:
        if command in _STEPS:
            return self._step(command)
        if command == "undo":
            if not self._past:
                return "There is nothing to take back."
            self._now = self._past.pop()
            return "The last move is taken back."
        if command == "look":
            seen = [f"{name}: {self._name(_beyond(self._now.at, step))}" for name, step in _STEPS.items()]
            return f"{'; '.join(seen)}."
        return self._data.help.strip() if command == "help" else f"{command[:60]!r} is not a command. Type help."

    def _step(self, direction: str) -> str:
        step = _STEPS[direction]
        target = _beyond(self._now.at, step)
        moved, said = self._entered(target, step)
        if moved is None:
            if self._data.rules.blocked_move_counts:
                self._now = replace(self._now, moves=self._now.moves + 1)
            return said
        self._past.append(self._now)
        gate_open = any(self._kind(crate) == "plate" for crate in moved.crates)
        gate_open |= self._data.rules.gate_stays_open and self._now.gate_open
        gate = "" if gate_open == self._now.gate_open else f" A gate {'opens' if gate_open else 'closes'}."
        self._now = replace(moved, at=target, gate_open=gate_open, moves=self._now.moves + 1)
        return f"You go {direction}.{said}{gate}"

    def _entered(self, cell: Cell, step: Cell) -> tuple[Position | None, str]:
        """The position after entering a cell, and what is said; None where the way is blocked."""
        now = self._now
        name = self._name(cell)
        if cell in now.crates:
            behind = _beyond(cell, step)
            if behind in now.crates or self._kind(behind) not in ("floor", "plate"):
                return None, f"The {name} does not move."
            return replace(now, crates=now.crates - {cell} | {behind}), f" You push the {name}."
        kind = self._kind(cell)
        if kind == "wall" or (kind == "gate" and not now.gate_open):
            return None, f"The way is blocked: {name}."
        if kind in ("key", "token"):
            keys = (*now.keys, self._signs[cell]) if kind == "key" else now.keys
            return replace(now, taken=now.taken | {cell}, keys=keys), f" You take the {name}."
        if kind == "door":
            return self._through_door(cell)
        if kind == "exit":
            if left := self._tokens - self._taken_tokens():
                return None, f"The {name} stays shut: {left} of {self._tokens} are missing."
            self._finished = True
            return now, " You are out. Your round is over."
        return now, ""

    def _through_door(self, cell: Cell) -> tuple[Position | None, str]:
        now, door = self._now, self._signs[cell]
        fitting = next((key for key in now.keys if self._data.tiles[key].fits == door), None)
        if fitting is None:
            return None, f"The {self._name(cell)} is locked."
        keys = list(now.keys)
        keys.remove(fitting if self._data.rules.spent_key == "fitting" else keys[0])
        said = f" The {self._name(cell)} opens, and a key is used up."
        return replace(now, keys=tuple(keys), taken=now.taken | {cell}), said

    def _kind(self, cell: Cell) -> Kind:
        """The kind of a cell without crates; beyond the map is wall."""
        rows = self._data.rows
        if not (0 <= cell[0] < len(rows) and 0 <= cell[1] < len(rows[0])):
            return "wall"
        sign = self._signs.get(cell)
        return "floor" if sign is None or cell in self._now.taken else self._data.tiles[sign].kind

    def _name(self, cell: Cell) -> str:
        if cell in self._now.crates:
            return next(tile.name for tile in self._data.tiles.values() if tile.kind == "crate")
        kind = self._kind(cell)
        name = "floor" if kind == "floor" else self._data.tiles[self._signs[cell]].name if cell in self._signs else kind
        return f"{'open' if self._now.gate_open else 'closed'} {name}" if kind == "gate" else name

    def _taken_tokens(self) -> int:
        return sum(self._data.tiles[self._signs[cell]].kind == "token" for cell in self._now.taken)

    def _state(self) -> dict[str, Json]:
        return {
            "moves": self._now.moves,
            self._data.tokens: self._taken_tokens(),
            f"{self._data.tokens}_needed": self._tokens,
            "keys": len(self._now.keys),
            "turn_count": self._turn,
        }

    def _screen(self) -> bytes:
        tiles = self._data.tiles
        rows = self._data.rows
        shown = {
            cell: (kind, tiles[self._signs[cell]].colour)
            for cell in self._signs
            if (kind := self._kind(cell)) != "floor"
        }
        by_kind = {tile.kind: tile.colour for tile in tiles.values()}
        for crate in self._now.crates:
            shown[crate] = ("crate", by_kind["crate"])
        shown[self._now.at] = ("start", by_kind["start"])
        counts = {"moves": self._now.moves, self._data.tokens: self._taken_tokens(), "keys": len(self._now.keys)}
        return draw((len(rows), len(rows[0])), shown, by_kind["floor"], self._now.gate_open, counts)


def _beyond(cell: Cell, step: Cell) -> Cell:
    return cell[0] + step[0], cell[1] + step[1]
