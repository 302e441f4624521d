"""The paths and JSON of a GBQA hub: how a session, a command and a document are written and read.

Known peculiarities of the public hub, which are accepted: the reply to `restart` has no `turn` and names another
session id than the one that stays valid; replies hold a `full_state` with what is hidden from a player, which is left
out here; the state has no message; lines of a document are numbered. An environment with a screen adds `pictures`, a
list of PNG in base64, which the public hub does not have.
"""

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from robogaze.interactive.environments.base import DocumentLine, Observation

NEW, COMMAND, STATE = "/api/agent/new", "/api/agent/command", "/api/agent/state"
FILES, READ, SEARCH = "/api/agent/code/files", "/api/agent/code/read", "/api/agent/code/search"
DEBUG_LOG, HEALTH = "/api/agent/code/debug_logs", "/api/health"
SESSION_ID, TITLE = "game_id", "game"

LONGEST_MESSAGE = 100_000

_FINISHED, _HIDDEN, _TURN_IN_STATE = "game_over", "full_state", "turn_count"
_PNG = b"\x89PNG\r\n\x1a\n"
_MOST_PICTURES = 8
_NUMBERED = re.compile(r" *(\d+)  (.*)", re.DOTALL)

Reply = Mapping[str, Any]


class ReplyError(ValueError):
    """A reply that the format does not allow; the message says what is wrong."""


def write_observation(observation: Observation) -> dict[str, Any]:
    """The reply to a command, and with a session id to a new session."""
    pictures = [b64encode(picture).decode() for picture in observation.pictures]
    return {
        "success": True,
        "message": observation.message,
        "state": dict(observation.state),
        _FINISHED: observation.finished,
        "turn": observation.turn,
        **({"pictures": pictures} if pictures else {}),
    }


def read_session_id(reply: Reply) -> str:
    """The id of a new session. Raises ReplyError."""
    found = reply.get(SESSION_ID)
    if not isinstance(found, str) or not 0 < len(found) <= 200:
        raise ReplyError(f"it has no {SESSION_ID}")
    return found


def read_observation(reply: Reply) -> Observation:
    """The observation in the reply to a new session or a command. Raises ReplyError."""
    message, state = reply.get("message"), reply.get("state")
    if not isinstance(message, str) or len(message) > LONGEST_MESSAGE:
        raise ReplyError(f"its message is not a text of at most {LONGEST_MESSAGE:,} characters")
    if not isinstance(state, dict):
        raise ReplyError("its state is not an object")
    finished, turn = reply.get(_FINISHED, False), reply.get("turn")
    if not isinstance(finished, bool):
        raise ReplyError(f"its {_FINISHED} is not true or false")
    if turn is not None and (not isinstance(turn, int) or isinstance(turn, bool) or turn < 0):
        raise ReplyError("its turn is not a number of actions")
    return Observation(message, _visible(state), turn, finished, _pictures(reply.get("pictures", [])))


def read_state(reply: Reply, finished: bool) -> Observation:
    """The observation in the reply to a request for the state; `finished` is what the last command said."""
    state = reply.get("state")
    turn = state.get(_TURN_IN_STATE) if isinstance(state, dict) else None
    own = {"message": "", _FINISHED: finished, "turn": turn}
    return read_observation({**own, **{key: value for key, value in reply.items() if value is not None}})


def read_files(reply: Reply) -> tuple[str, ...]:
    """The paths in a list of documents. Raises ReplyError."""
    listed = _list(reply, "files")
    paths = [file["path"] for file in listed if isinstance(file, dict) and isinstance(file.get("path"), str)]
    if len(paths) < len(listed):
        raise ReplyError("a file has no path")
    return tuple(sorted(paths))


def number_lines(lines: Sequence[str], first: int) -> str:
    """Lines of a document as the hub sends them."""
    return "".join(f"{number:>4}  {line}" for number, line in enumerate(lines, first))


def read_content(reply: Reply, first: int) -> str:
    """The text of a document, without the numbers of its lines if it has them. Raises ReplyError."""
    content = reply.get("content")
    if not isinstance(content, str):
        raise ReplyError("its content is not a text")
    lines = [_NUMBERED.fullmatch(line) for line in content.splitlines(keepends=True)]
    numbered = all(line and int(line[1]) == number for number, line in enumerate(lines, first))
    return "".join(line[2] for line in lines if line) if numbered else content


def read_matches(reply: Reply) -> tuple[DocumentLine, ...]:
    """The lines that a search found. Raises ReplyError."""
    found = []
    for match in _list(reply, "matches"):
        path, line, text = (match.get(key) if isinstance(match, dict) else None for key in ("path", "line", "text"))
        if not (isinstance(path, str) and isinstance(line, int) and isinstance(text, str)):
            raise ReplyError("a match has no path, line and text")
        found.append(DocumentLine(path, line, text))
    return tuple(found)


def read_log(reply: Reply) -> str:
    """The debug log of a session. Raises ReplyError."""
    log = reply.get("logs")
    if not isinstance(log, str):
        raise ReplyError("its logs are not a text")
    return log


def _visible(state: dict[str, Any]) -> dict[str, Any]:
    visible = {key: value for key, value in state.items() if key != _HIDDEN}
    try:
        json.dumps(visible, allow_nan=False)
    except ValueError as error:
        raise ReplyError("its state has a number that is not finite") from error
    return visible


def _pictures(listed: Any) -> tuple[bytes, ...]:
    if not isinstance(listed, list) or len(listed) > _MOST_PICTURES:
        raise ReplyError(f"its pictures are not a list of at most {_MOST_PICTURES}")
    try:
        pictures = tuple(b64decode(picture, validate=True) for picture in listed)
    except (ValueError, TypeError) as error:
        raise ReplyError("a picture is not base64") from error
    if not all(picture.startswith(_PNG) for picture in pictures):
        raise ReplyError("a picture is not a PNG")
    return pictures


def _list(reply: Reply, key: str) -> list[Any]:
    found = reply.get(key)
    if not isinstance(found, list):
        raise ReplyError(f"its {key} are not a list")
    return found
