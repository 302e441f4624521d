"""The trace of a play: its steps, as a model is shown them and as trace.jsonl keeps them.

A step is one command or restart that is sent to the environment; step 0 is the initial state. Steps are numbered over
the whole play, the commands of replays included. A document that is read has the number of the step before it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from robogaze.core.data import Data
from robogaze.interactive.environments.base import EnvironmentFault, Observation

EntryKind = Literal["start", "act", "restart", "read", "replay"]

_LONGEST_CYCLE = 4
_ELLIPSIS = re.compile(r"\.\.\.|…")
_SIGNS = re.compile(r'\\[nt]|[{}"\'\\]')


class PlayEntry(Data):
    """A line of trace.jsonl: what was done and why, what was expected, and the reply.

    `tool` names what was done. `command` is what was sent, or the document that was read; None where the tool takes
    none. `state` is the visible state, `screens` are hashes of the pictures in the reply. `fault` says why there is no
    reply, None if there is one. `as_expected` and `difference` are the reflection on the reply, None without one.
    `claims` are the ids of the hypotheses that it led to; for a replay, that of the hypothesis it checks.
    """

    step: int
    kind: EntryKind
    tool: str
    command: str | None = None
    rationale: str | None = None
    expected: str | None = None
    message: str = ""
    state: dict[str, Any] = {}
    turn: int | None = None
    finished: bool = False
    screens: tuple[str, ...] = ()
    fault: str | None = None
    as_expected: bool | None = None
    difference: str | None = None
    claims: tuple[str, ...] = ()

    @classmethod
    def of(cls, reply: Observation | EnvironmentFault, **fields: Any) -> "PlayEntry":
        """The entry of a reply, or of its absence."""
        if isinstance(reply, EnvironmentFault):
            return cls(fault=f"{reply.kind}: {reply}", **fields)
        return cls(
            message=reply.message,
            state=dict(reply.state),
            turn=reply.turn,
            finished=reply.finished,
            screens=tuple(sha256(picture).hexdigest() for picture in reply.pictures),
            **fields,
        )

    def same_reply(self, other: "PlayEntry") -> bool:
        """Whether two replies are equal, apart from values of the state that count the turns."""
        same = all(getattr(self, name) == getattr(other, name) for name in ("message", "finished", "screens", "fault"))
        if not same or self.state.keys() != other.state.keys():
            return False
        return all(
            value == other.state[key] or (self._counts_turns(value) and other._counts_turns(other.state[key]))
            for key, value in self.state.items()
        )

    def _counts_turns(self, value: Any) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and value == self.turn

    def shows(self, sign: str) -> bool:
        """Whether the reply or the state contains a text, whatever its spaces, quotation marks and case, and with
        anything for an ellipsis; or whether the reply has the picture with this hash.
        """
        if sign in self.screens:
            return True
        texts = (self.message, json.dumps(self.state, ensure_ascii=False), self.fault or "")
        parts = [part for part in map(_folded, _ELLIPSIS.split(sign)) if part]
        return bool(parts) and any(_has_in_order(_folded(text), parts) for text in texts)


def _folded(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text).split()).casefold()


def _has_in_order(text: str, parts: Sequence[str]) -> bool:
    place = 0
    for part in parts:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def shows_again(replies: Sequence[PlayEntry], signs: Sequence[str]) -> bool:
    """Whether replies show the signs in this order, the last one in the last reply. False without any."""
    if not replies or not signs or not replies[-1].shows(signs[-1]):
        return False
    place = 0
    for sign in signs:
        while place < len(replies) and not replies[place].shows(sign):
            place += 1
    return place < len(replies)


class Trace:
    """The entries of a play, in order."""

    def __init__(self) -> None:
        self.entries: list[PlayEntry] = []

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def last(self) -> PlayEntry:
        """The last entry of the session itself, replays aside. Raises IndexError before the start."""
        return self.session[-1]

    @property
    def session(self) -> list[PlayEntry]:
        """The entries without replays."""
        return [entry for entry in self.entries if entry.kind != "replay"]

    @property
    def steps(self) -> int:
        """The number of steps so far, replays included."""
        return self.entries[-1].step if self.entries else 0

    def since_restart(self) -> list[PlayEntry]:
        """The replies of the session since the environment was last in its initial state, that state included."""
        replies = [entry for entry in self.session if entry.kind != "read"]
        starts = [place for place, entry in enumerate(replies) if entry.kind != "act"]
        return replies[starts[-1] :] if starts else []

    def change_last(self, **changes: Any) -> None:
        """Change fields of the session's last entry."""
        place = max(place for place, entry in enumerate(self.entries) if entry.kind != "replay")
        self.entries[place] = self.entries[place].with_(**changes)

    def repeats(self, times: int) -> bool:
        """Whether the last entries are `times` repetitions of one short cycle of commands and replies."""
        session = self.session
        for period in range(1, _LONGEST_CYCLE + 1):
            tail = session[-period * times :]
            if len(tail) == period * times and all(
                earlier.kind == later.kind
                and (earlier.tool, earlier.command) == (later.tool, later.command)
                and earlier.same_reply(later)
                for earlier, later in zip(tail, tail[period:], strict=False)
            ):
                return True
        return False

    def faults_in_a_row(self) -> list[str]:
        """The faults of the last commands and restarts, back to the last one with a reply; the oldest first."""
        sent = (entry.fault for entry in reversed(self.session) if entry.kind != "read")
        return [fault for fault in takewhile(lambda fault: fault is not None, sent) if fault][::-1]

    def text(self) -> str:
        """The content of trace.jsonl."""
        return "".join(f"{entry.model_dump_json()}\n" for entry in self.entries)


def shown(entries: Sequence[PlayEntry], before: PlayEntry | None, most: int) -> list[dict[str, Any]]:
    """Entries as prompts show them: of the state, only what changed since the reply before.

    A message, and a value of the state, is cut to about `most` characters.
    """
    rows: list[dict[str, Any]] = []
    known: Mapping[str, Any] = {} if before is None else before.state
    for entry in entries:
        row = entry.model_dump()
        state = dict(entry.state)
        if entry.kind in ("act", "replay") and entry.fault is None:
            gone = {key: None for key in known if key not in state}
            state = {key: value for key, value in state.items() if key not in known or known[key] != value} | gone
        row["state"] = {key: _cut_value(value, most) for key, value in state.items()}
        row["message"] = cut(entry.message, most)
        if entry.kind != "read" and entry.fault is None:
            known = entry.state
        rows.append(row)
    return rows


def cut(text: str, most: int) -> str:
    """A text, or its first `most` characters and how many are missing."""
    return text if len(text) <= most else f"{text[:most]} [{len(text) - most} more characters]"


def _cut_value(value: Any, most: int) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= most else cut(text, most)


def first_divergence(path: Path, entries: Sequence[PlayEntry]) -> int | None:
    """The step at which a trace differs from an earlier one of the same play in a reply to the same commands.

    None if none does, or if there is no earlier trace. A line that was cut off is ignored.
    """
    if not path.is_file():
        return None
    for line, entry in zip(path.read_bytes().splitlines(), entries, strict=False):
        try:
            earlier = PlayEntry.model_validate_json(line)
        except ValidationError:
            return None
        if (earlier.kind, earlier.tool, earlier.command) != (entry.kind, entry.tool, entry.command):
            return None
        if not earlier.same_reply(entry):
            return entry.step
    return None
