"""The protocol of an environment: what an agent sees, what an agent may do, and how an environment fails."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pydantic import JsonValue as Json

from robogaze.errors import EnvironmentFault

Mode = Literal["player", "qa"]
"""What an agent may see: in mode `player` only the replies; in mode `qa` (quality assurance) also the documents."""

MOST_LINES = 50
"""How many lines a search in the documents returns."""


@dataclass(frozen=True)
class Observation:
    """One reply of an environment.

    message   what the environment says
    state     the visible state; nothing that is hidden from a player is in it
    turn      actions since the start of the session; None where the reply does not say it
    finished  no further action is accepted
    pictures  the screen as PNG, empty for an environment without one
    """

    message: str
    state: Mapping[str, Json]
    turn: int | None
    finished: bool
    pictures: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class DocumentLine:
    """A line that was found in a document; `line` is its number, from 1."""

    path: str
    line: int
    text: str


class Documents(Protocol):
    """Design documents and source of an environment, read-only. Every method may raise EnvironmentFault."""

    async def files(self) -> tuple[str, ...]:
        """Paths of the documents, sorted; they are the arguments of `read`."""
        ...

    async def read(self, path: str, start_line: int = 1, end_line: int | None = None) -> str:
        """Lines of a document, counted from 1, both ends included; if `end_line` is None, the lines to the end of the
        document.
        """
        ...

    async def search(self, text: str) -> tuple[DocumentLine, ...]:
        """The first MOST_LINES lines that contain a text, in the order of paths and lines; case is ignored."""
        ...

    async def debug_log(self) -> str:
        """The log of the present session; empty before the first action."""
        ...


class Environment(Protocol):
    """A program that takes commands as text. An environment has one session at a time."""

    @property
    def name(self) -> str:
        """A name that can be a file name."""
        ...

    async def reset(self) -> Observation:
        """Start a fresh session from the initial state. Raises EnvironmentFault."""
        ...

    async def act(self, command: str) -> Observation:
        """Send one command. After the end of the session, a command changes nothing, and `finished` stays true.

        Raises EnvironmentFault, of kind `refused` before the first `reset`.
        """
        ...

    async def observe(self) -> Observation:
        """The present state, without an action; the message may be empty. Raises EnvironmentFault as `act` does."""
        ...

    def documents(self) -> Documents | None:
        """The documents; None in mode `player`, and for an environment without documents."""
        ...

    async def close(self) -> None:
        """End the session and free its resources."""
        ...


__all__ = ["DocumentLine", "Documents", "Environment", "EnvironmentFault", "Json", "Mode", "Observation"]
