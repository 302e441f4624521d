"""The cache of answers: a question that was answered is not asked again.

One SQLite file. The key covers the model, its server and settings, the decoding parameters, the schema, the
prompt's text and its pixels; it never covers a path, so a run folder can be moved. An answer is committed before
anyone sees it, so a killed run loses at most the answers that were still under way.

Beside the answers stands what was spent on each model, answers or not, which is what a budget of several starts is
counted by.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from uuid import uuid4

from robogaze.backends.base import Completion, Request, Wrapper
from robogaze.backends.middleware.usage_counter import UsageCounter
from robogaze.backends.reply import is_answer, stored
from robogaze.errors import RunError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT PRIMARY KEY, stage TEXT NOT NULL, subject TEXT NOT NULL, clip TEXT NOT NULL, completion TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS spent (
    model TEXT PRIMARY KEY, calls INTEGER NOT NULL, cost_usd REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS identity (id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS taken (
    source TEXT NOT NULL, model TEXT NOT NULL, calls INTEGER NOT NULL, cost_usd REAL NOT NULL,
    PRIMARY KEY (source, model)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS told (
    model TEXT NOT NULL, does TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (model, does)
) WITHOUT ROWID;
"""
_SPEND = """
INSERT INTO spent VALUES (?, ?, ?)
ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, cost_usd = cost_usd + excluded.cost_usd
"""


_FAILED = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; what it says of a damaged file may be no text itself."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_ERROR)
_SEAL = 16


def _sealed(key: str, completion: Completion) -> str:
    """An answer as it is stored: behind a fingerprint, by which a bit that was lost is noticed."""
    written = json.dumps(asdict(completion), ensure_ascii=False)
    return f"{_seal(key, written)} {written}"


def _opened(key: str, text: Any) -> Completion | None:
    if not isinstance(text, str):
        return None
    if text.startswith("{"):
        return stored(text)  # as an earlier version wrote it
    seal, _, written = text.partition(" ")
    return stored(written) if seal == _seal(key, written) else None


def _seal(key: str, written: str) -> str:
    return sha256(f"{key} {written}".encode()).hexdigest()[:_SEAL]


class AnswerStore:
    """Answers by the key of their request, in a file that several backends share; close it when done."""

    def __init__(self, path: Path) -> None:
        """Open or create the file. Raises RunError when that fails."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.executescript(_SCHEMA)
            # A name of its own, by which it is known wherever it is moved.
            self._database.execute(
                "INSERT INTO identity SELECT ? WHERE NOT EXISTS (SELECT * FROM identity)", (uuid4().hex,)
            )
        except (*_FAILED, OSError) as error:
            raise RunError(
                f"the cache of answers {path} cannot be used ({error}); delete it or name another"
            ) from error

    def get(self, key: str) -> Completion | None:
        """The stored answer; None where there is none, or none as it was put. Raises RunError for a damaged file."""
        row = self._row("SELECT completion FROM answers WHERE key = ?", key)
        return _opened(key, row[0]) if row else None

    def put(self, key: str, request: Request, completion: Completion) -> None:
        """Store an answer. Raises RunError when the disk refuses."""
        row = (key, request.stage, request.subject, request.clip, _sealed(key, completion))
        self._write("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?)", row)

    def spent(self, model: str) -> UsageCounter:
        """What was spent on a model so far; what is added to it is written down here. Raises RunError as `put`."""
        calls, cost_usd = self._row("SELECT calls, cost_usd FROM spent WHERE model = ?", model) or (0, 0.0)
        if not (isinstance(calls, int) and isinstance(cost_usd, float) and calls >= 0 and cost_usd >= 0):
            raise self._damaged("what was spent is no number")
        return UsageCounter(calls, cost_usd, note=lambda *more: self._write(_SPEND, (model, *more)))

    def first_told(self, model: str, does: str, name: str) -> str:
        """The name that a model's server used first for itself; the given one, if it is the first."""
        self._write("INSERT OR IGNORE INTO told VALUES (?, ?, ?)", (model, does, name))
        row = self._row("SELECT name FROM told WHERE model = ? AND does = ?", model, does)
        if row is None or not isinstance(row[0], str):
            raise self._damaged("the name of a model is missing")
        return row[0]

    def _row(self, query: str, *values: str) -> tuple[Any, ...] | None:
        try:
            row: tuple[Any, ...] | None = self._database.execute(query, values).fetchone()
        except _FAILED as error:
            raise self._damaged(error) from error
        return row

    def _damaged(self, how: object) -> RunError:
        return RunError(f"the answers in {self.path} cannot be read ({how}); delete the file to ask again")

    def _write(self, statement: str, *rows: tuple[Any, ...]) -> None:
        try:
            self._database.executemany(statement, rows)
        except _FAILED as error:
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF in _DAMAGE:
                raise self._damaged(error) from error
            raise RunError(f"{self.path} cannot be written ({error}); free space and start again") from error

    def take_in(self, other: Path) -> None:
        """Take in the answers of another file, and what was spent on them, however often it is taken in.

        Raises RunError when the file cannot be read.
        """
        ask = self._database.execute
        try:
            ask("ATTACH DATABASE ? AS other", (str(other.resolve()),))
            ask("BEGIN")
            (source,) = ask("SELECT id FROM other.identity").fetchone() or (None,)
            if source is None:
                raise RunError(f"the answers of {other} cannot be taken in (its identity is missing)")
            ask("INSERT OR IGNORE INTO answers SELECT * FROM other.answers")
            ask("INSERT OR IGNORE INTO told SELECT * FROM other.told")
            for model, calls, cost_usd in ask("SELECT * FROM other.spent").fetchall():
                query = "SELECT calls, cost_usd FROM taken WHERE source = ? AND model = ?"
                before = ask(query, (source, model)).fetchone() or (0, 0.0)
                ask(_SPEND, (model, calls - before[0], cost_usd - before[1]))
                ask("INSERT OR REPLACE INTO taken VALUES (?, ?, ?, ?)", (source, model, calls, cost_usd))
            ask("COMMIT")
            ask("DETACH DATABASE other")
        except _FAILED as error:
            raise RunError(f"the answers of {other} cannot be taken in ({error})") from error

    def forget(self, keys: Iterable[str]) -> None:
        """Take answers away, so that their questions are asked again. Raises RunError as `put`."""
        self._write("DELETE FROM answers WHERE key = ?", *((key,) for key in keys))

    def __len__(self) -> int:
        row = self._row("SELECT COUNT(*) FROM answers")
        return int(row[0]) if row else 0

    def close(self) -> None:
        """Close the file."""
        self._database.close()


@dataclass(frozen=True)
class Cached(Wrapper):
    """Answers from the store when it can."""

    answers: AnswerStore

    async def complete(self, request: Request) -> Completion:
        """Answer a request, from the store if it was answered before."""
        key = request.key(self.identity)
        if (stored := self.answers.get(key)) is not None:
            return stored
        completion = await self.inner.complete(request)
        if is_answer(completion):
            self.answers.put(key, request, completion)
        return completion
