"""The trace of a play: its steps, in the form that models see and in the form of trace.jsonl.

A step is one command or one restart that is sent to the environment; step 0 is the initial state. Steps are numbered
over the whole play, and the commands of replays are steps too. Reading a document is not a step: its entry has the
number of the step before it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Literal

from robogaze.core.data import Data
from robogaze.interactive.environments.base import EnvironmentFault, Observation

EntryKind = Literal["start", "act", "restart", "read", "replay"]

_LONGEST_CYCLE = 4
_ELLIPSIS = re.compile(r"\.\.\.|…")
_SIGNS = re.compile(r'\\[nt]|[{}"\'\\]')


class PlayEntry(Data):
    """A line of trace.jsonl: what was done and why, what was expected, and the reply.

    `tool` names what was done. `command` is what was sent, or the document that was read; None for a tool without a
    command. `state` is the visible state, and `screens` are the SHA-256 hashes of the pictures in the reply. `fault`
    says why there is no reply; None if there is a reply. `as_expected` and `difference` are the agent's reflection on
    the reply, None without a reflection. `claims` are the ids of the hypotheses to which the reply led. In the entry of
    a replay, it is the id of the hypothesis that the replay checks.
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
        """The entry of a reply, or of a fault if there is no reply."""
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
        """Whether two replies are equal, except for values of the state that count the turns."""
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
        """Whether the reply or the state contains a text, or the reply has the picture with this hash.

        Spaces, quotation marks, brackets and case are ignored. An ellipsis in the text stands for any text.
        """
        if sign in self.screens:
            return True
        texts = (self.message, json.dumps(self.state, ensure_ascii=False), self.fault or "")
        parts = [part for part in map(_folded, _ELLIPSIS.split(sign)) if part]
        return bool(parts) and any(_has_in_order(_folded(text), parts) for text in texts)


def _folded(text: str) -> str:
    return " ".join(_SIGNS.sub(" ", text).split()).casefold()


def _has_in_order(text: str, parts: Sequence[str]) -> bool:
    for part in parts:
        _, found, text = text.partition(part)
        if not found:
            return False
    return True


def shows_again(replies: Sequence[PlayEntry], signs: Sequence[str]) -> bool:
    """Whether replies show all signs in their order, and the last reply shows the last sign. False if there are no
    signs.
    """
    if not replies or not signs or not replies[-1].shows(signs[-1]):
        return False
    place = 0
    for sign in signs:
        while place < len(replies) and not replies[place].shows(sign):
            place += 1
    return place < len(replies)


class PlayTrace:
    """The entries of a play, in order."""

    def __init__(self) -> None:
        self.entries: list[PlayEntry] = []

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def last(self) -> PlayEntry:
        """The last entry that is not part of a replay. Raises IndexError before the start."""
        return self.session[-1]

    @property
    def session(self) -> list[PlayEntry]:
        """The entries that are not part of a replay."""
        return [entry for entry in self.entries if entry.kind != "replay"]

    @property
    def steps(self) -> int:
        """The number of steps so far, including replays."""
        return self.entries[-1].step if self.entries else 0

    def since_restart(self) -> list[PlayEntry]:
        """The replies of the session since its last start or restart, with the initial state as the first."""
        replies = [entry for entry in self.session if entry.kind != "read"]
        starts = [place for place, entry in enumerate(replies) if entry.kind != "act"]
        return replies[starts[-1] :] if starts else []

    def change_last(self, **changes: Any) -> None:
        """Change fields of the last entry that is not part of a replay."""
        place = max(place for place, entry in enumerate(self.entries) if entry.kind != "replay")
        self.entries[place] = self.entries[place].with_(**changes)

    def repeats(self, times: int) -> bool:
        """Whether the last entries repeat one short cycle of commands and replies `times` times."""
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
        """The faults of the commands and restarts after the last reply; the oldest fault first."""
        faults: list[str] = []
        for entry in self.session:
            if entry.kind != "read":
                faults = [] if entry.fault is None else [*faults, entry.fault]
        return faults

    def text(self) -> str:
        """The content of trace.jsonl."""
        return "".join(f"{entry.model_dump_json()}\n" for entry in self.entries)


def shown(entries: Sequence[PlayEntry], before: PlayEntry | None, most: int) -> list[dict[str, Any]]:
    """Entries as prompts show them, with only those values of the state that changed since the previous reply.

    Messages and values of the state are cut to about `most` characters. `before` is the entry before the first of these
    entries.
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
    """The text if it has at most `most` characters, else its beginning and the number of missing characters."""
    return text if len(text) <= most else f"{text[:most]} [{len(text) - most} more characters]"


def _cut_value(value: Any, most: int) -> Any:
    text = json.dumps(value, ensure_ascii=False)
    return value if len(text) <= most else cut(text, most)
