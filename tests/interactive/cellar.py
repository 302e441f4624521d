"""A small environment for tests: two rooms, a lamp, a sack of three, and one fault.

The fault: the cellar's description lists the lamp after it was taken. `mended` mends it. `fails` maps the number of an
action, over all sessions, to what it raises; `lies` makes every reply contain that number.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from robogaze.interactive.environments import DocumentLine, EnvironmentFault, Observation

DESIGN = "The sack holds two things.\nA room lists what lies in it.\nSaying win in the hall ends it."


class CellarDocuments:
    async def files(self) -> tuple[str, ...]:
        return ("design.md",)

    async def read(self, path: str, start_line: int = 1, end_line: int | None = None) -> str:
        if path != "design.md":
            raise EnvironmentFault(f"there is no document {path}", "refused")
        return "\n".join(DESIGN.splitlines()[start_line - 1 : end_line])

    async def search(self, text: str) -> tuple[DocumentLine, ...]:
        lines = enumerate(DESIGN.splitlines(), start=1)
        return tuple(DocumentLine("design.md", number, line) for number, line in lines if text in line)

    async def debug_log(self) -> str:
        return "ready"


@dataclass
class Cellar:
    mode: str = "qa"
    mended: bool = False
    fails: Mapping[int, Exception] = field(default_factory=dict)
    lies: bool = False
    actions: Any = field(default_factory=lambda: count(1))
    name: str = "cellar"
    closed: int = 0

    def documents(self) -> CellarDocuments | None:
        return CellarDocuments() if self.mode == "qa" else None

    async def reset(self) -> Observation:
        self.room, self.sack, self.turn, self.finished = "hall", list[str](), 0, False
        self.things = {"hall": ["coin", "rope"], "cellar": ["lamp"]}
        return self._observation("You are in the hall.")

    async def act(self, command: str) -> Observation:
        number = next(self.actions)
        if number in self.fails:
            raise self.fails[number]
        self.turn += 1
        text = self._done(command)
        return self._observation(f"{text} ({number})" if self.lies else text)

    async def observe(self) -> Observation:
        return self._observation("")

    async def close(self) -> None:
        self.closed += 1

    def _done(self, command: str) -> str:
        verb, _, thing = command.partition(" ")
        if verb in ("down", "up"):
            self.room = "cellar" if verb == "down" else "hall"
            return f"You are in the {self.room}."
        if verb == "look":
            listed = [*self.things[self.room]]
            if self.room == "cellar" and "lamp" not in listed and not self.mended:
                listed.append("lamp")
            return f"Here lie: {', '.join(listed) or 'nothing'}."
        if verb == "take" and thing in self.things[self.room]:
            if len(self.sack) == 2:
                return "The sack is full."
            self.things[self.room].remove(thing)
            self.sack.append(thing)
            return f"You take the {thing}."
        if verb == "win" and self.room == "hall":
            self.finished = True
            return "You win."
        return "You cannot do that."

    def _observation(self, message: str) -> Observation:
        state = {"room": self.room, "sack": list(self.sack), "turns": self.turn}
        return Observation(message, state, self.turn, self.finished)
