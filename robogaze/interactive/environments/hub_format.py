"""The paths and the JSON of a GBQA hub.

The public hub differs from ours in five ways, all of which are accepted. The reply to `restart` has no `turn` and names
a new session id, although only the old id is valid. Replies contain a `full_state` with what is hidden from a player;
it is ignored. A reply with the state has no message. The lines of a document are numbered. There are no pictures.
"""

import json
import re
from base64 import b64encode
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, Base64Bytes, Field, JsonValue

from robogaze.datasets.formats.records import ForeignRecord
from robogaze.interactive.environments.base import DocumentLine, Observation

NEW, COMMAND, STATE = "/api/agent/new", "/api/agent/command", "/api/agent/state"
FILES, READ, SEARCH = "/api/agent/code/files", "/api/agent/code/read", "/api/agent/code/search"
DEBUG_LOG, HEALTH = "/api/agent/code/debug_logs", "/api/health"
SESSION_ID, TITLE = "game_id", "game"

_PNG = b"\x89PNG\r\n\x1a\n"
_NUMBERED = re.compile(r" *(\d+)  (.*)", re.DOTALL)


def _is_png(picture: bytes) -> bytes:
    if not picture.startswith(_PNG):
        raise ValueError("this is not a PNG image")
    return picture


def _is_finite(state: dict[str, JsonValue]) -> dict[str, JsonValue]:
    json.dumps(state, allow_nan=False)
    return state


State = Annotated[dict[str, JsonValue], AfterValidator(_is_finite)]


class CommandRequest(ForeignRecord):
    """The body of a command."""

    session_id: str = Field(alias="game_id")
    command: str


class ReadRequest(ForeignRecord):
    """The body of a request for lines of a document, counted from 1, both ends included; if `end_line` is None, the
    lines to the end of the document.
    """

    path: str
    start_line: int = Field(1, ge=1)
    end_line: int | None = Field(None, ge=1)


class SearchRequest(ForeignRecord):
    """The body of a search in the documents; `pattern` is a regular expression."""

    pattern: str
    max_results: int = Field(30, ge=1)


class CommandReply(ForeignRecord):
    """The reply to a command."""

    message: str = Field(max_length=100_000)
    state: State
    finished: bool = Field(False, alias="game_over")
    turn: int | None = Field(None, ge=0)
    pictures: tuple[Annotated[Base64Bytes, AfterValidator(_is_png)], ...] = Field((), max_length=8)

    def observation(self) -> Observation:
        """The reply as an observation, without the fields that only a hub needs."""
        return Observation(self.message, self.state, self.turn, self.finished, self.pictures)


class NewReply(CommandReply):
    """The reply to the start of a session."""

    session_id: str = Field(min_length=1, max_length=200, alias="game_id")


class StateReply(ForeignRecord):
    """The reply to a request for the state."""

    state: State


class HubFile(ForeignRecord):
    """A document in a list."""

    path: str


class FilesReply(ForeignRecord):
    """The list of the documents."""

    files: tuple[HubFile, ...]


class ReadReply(ForeignRecord):
    """Lines of a document, with or without their numbers."""

    content: str

    def text(self, first: int) -> str:
        """The lines without their numbers; `first` is the number of the first line."""
        lines = [_NUMBERED.fullmatch(line) for line in self.content.splitlines(keepends=True)]
        numbered = all(line and int(line[1]) == number for number, line in enumerate(lines, first))
        return "".join(line[2] for line in lines if line) if numbered else self.content


class SearchReply(ForeignRecord):
    """The lines that a search found."""

    matches: tuple[DocumentLine, ...]


class LogReply(ForeignRecord):
    """The debug log of a session."""

    logs: str


def write_observation(observation: Observation) -> dict[str, Any]:
    """The reply to a command; with a session id, the reply to the start of a session."""
    pictures = [b64encode(picture).decode() for picture in observation.pictures]
    return {
        "success": True,
        "message": observation.message,
        "state": dict(observation.state),
        "game_over": observation.finished,
        "turn": observation.turn,
        **({"pictures": pictures} if pictures else {}),
    }


def number_lines(lines: Sequence[str], first: int) -> str:
    """Lines of a document as a hub sends them."""
    return "".join(f"{number:>4}  {line}" for number, line in enumerate(lines, first))
