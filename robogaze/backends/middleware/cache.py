"""The cache of answers: a request that was answered is not sent again.

One SQLite file. The key covers the model, its server and settings, the decoding parameters, the schema, and the
prompt's text and pixels. The key contains no path, so that a run folder can be moved. An answer is committed before it
is used: a killed run loses only the requests in progress.

The file also counts the calls to each model and their cost, so that limits hold across restarts of a run. Calls without
an answer count too.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.backends.middleware.budget import UsageCounter
from robogaze.backends.reply import is_answer, read_stored
from robogaze.errors import RunError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, stage TEXT NOT NULL, subject TEXT NOT NULL, clip TEXT NOT NULL, completion TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS usage (
    model TEXT PRIMARY KEY, calls INTEGER NOT NULL, cost_usd REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS identity (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS merged (
    source TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, cost_usd REAL NOT NULL,
    PRIMARY KEY (source, model)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS first_names (
    model TEXT NOT NULL, does TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (model, does)
) WITHOUT ROWID;
"""
_ADD_USAGE = """
INSERT INTO usage VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, cost_usd = cost_usd + excluded.cost_usd
"""


_SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The errors that SQLite raises; UnicodeDecodeError if its message about a damaged file is not valid text."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR)
_CHECKSUM_DIGITS = 16


def _with_checksum(key: str, completion: Completion) -> str:
    """A completion as it is stored: after a checksum that detects damaged rows."""
    text = json.dumps(asdict(completion), ensure_ascii=False)
    return f"{_checksum(key, text)} {text}"


def _checked(key: str, stored: Any) -> Completion | None:
    if not isinstance(stored, str):
        return None
    checksum, _, text = stored.partition(" ")
    return read_stored(text) if checksum == _checksum(key, text) else None


def _checksum(key: str, text: str) -> str:
    return sha256(f"{key} {text}".encode()).hexdigest()[:_CHECKSUM_DIGITS]


class AnswerStore:
    """Answers by request key, in one file that several backends share. Close it after use."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises RunError when that fails."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.executescript(_SCHEMA)
            # An id that stays the same when the file is moved.
            self._database.execute(
                "INSERT INTO identity SELECT ? WHERE NOT EXISTS (SELECT * FROM identity)", (uuid4().hex,)
            )
        except (*_SQLITE_ERRORS, OSError) as error:
            raise RunError(
                f"the cache of answers {path} cannot be opened ({error}); delete it or use another `out`"
            ) from error

    def get(self, key: str) -> Completion | None:
        """The stored answer, or None if there is none or its row is damaged. Raises RunError for a damaged file."""
        row = self._row("SELECT completion FROM answers WHERE key = ?", key)
        return _checked(key, row[0]) if row else None

    def put(self, key: str, request: Request, completion: Completion) -> None:
        """Store an answer. Raises RunError when the file cannot be written."""
        row = (key, request.stage, request.subject, request.clip, _with_checksum(key, completion))
        self._write("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def usage(self, model: str) -> UsageCounter:
        """The usage of a model so far; the counter stores every addition to it. Raises RunError when the file cannot be
        written.
        """
        calls, cost_usd = self._row("SELECT calls, cost_usd FROM usage WHERE model = ?", model) or (0, 0.0)
        if not (isinstance(calls, int) and isinstance(cost_usd, float) and calls >= 0 and cost_usd >= 0):
            raise self._unreadable("the usage of a model is not a number")
        return UsageCounter(calls, cost_usd, record=lambda *added: self._write(_ADD_USAGE, (model, *added)))

    def first_name(self, model: str, does: str, name: str) -> str:
        """The name that a model's server used first. If none is stored yet, `name` is stored and returned. See
        `ModelIdentityGuard`.
        """
        self._write("INSERT OR IGNORE INTO first_names VALUES (?, ?, ?)", (model, does, name))
        row = self._row("SELECT name FROM first_names WHERE model = ? AND does = ?", model, does)
        if row is None or not isinstance(row[0], str):
            raise self._unreadable("the name of a model is missing")
        return row[0]

    def _row(self, query: str, *values: str) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._database.execute(query, values).fetchone()
        except _SQLITE_ERRORS as error:
            raise self._unreadable(error) from error
        return row

    def _unreadable(self, reason: object) -> RunError:
        return RunError(f"the answers in {self.path} cannot be read ({reason}); delete the file to request them again")

    def _write(self, statement: str, *rows: tuple[Any, ...]) -> None:
        try:
            self._database.executemany(statement, rows)
        except _SQLITE_ERRORS as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _DAMAGE:
                raise self._unreadable(error) from error
            raise RunError(f"{self.path} cannot be written ({error}); free disk space and resume") from error

    def merge(self, other: Path) -> None:
        """Add the answers and the usage of another file. Merging a file twice counts its usage once.

        Raises RunError when the file cannot be read.
        """
        execute = self._database.execute
        try:
            execute("ATTACH DATABASE ? AS other", (str(other.resolve()),))
            execute("BEGIN")
            (source,) = execute("SELECT id FROM other.identity").fetchone() or (None,)
            if source is None:
                raise RunError(f"the answers in {other} cannot be merged (the id of the file is missing)")
            execute("INSERT OR IGNORE INTO answers SELECT * FROM other.answers")
            execute("INSERT OR IGNORE INTO first_names SELECT * FROM other.first_names")
            for model, calls, cost_usd in execute("SELECT * FROM other.usage").fetchall():
                query = "SELECT calls, cost_usd FROM merged WHERE source = ? AND model = ?"
                before = execute(query, (source, model)).fetchone() or (0, 0.0)
                execute(_ADD_USAGE, (model, calls - before[0], cost_usd - before[1]))
                execute("INSERT OR REPLACE INTO merged VALUES (?, ?, ?, ?)", (source, model, calls, cost_usd))
            execute("COMMIT")
            execute("DETACH DATABASE other")
        except _SQLITE_ERRORS as error:
            raise RunError(f"the answers in {other} cannot be merged ({error})") from error

    def forget(self, keys: Iterable[str]) -> None:
        """Delete answers, so that their requests are sent again. Raises RunError when the file cannot be written."""
        self._write("DELETE FROM answers WHERE key = ?", *((key,) for key in keys))

    def __len__(self) -> int:
        row = self._row("SELECT COUNT(*) FROM answers")
        return int(row[0]) if row else 0

    def close(self) -> None:
        self._database.close()


@dataclass
class Cache(Middleware):
    """Returns stored answers where possible, and stores new answers."""

    answers: AnswerStore

    async def complete(self, request: Request) -> Completion:
        """Answer a request: from the store if possible, otherwise from the wrapped backend."""
        key = request.key(self.identity)
        if (stored := self.answers.get(key)) is not None:
            return stored
        completion = await self.inner.complete(request)
        if is_answer(completion):
            self.answers.put(key, request, completion)
        return completion
