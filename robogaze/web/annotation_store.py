"""The store of annotations: one SQLite file to which revisions are only added.

    sqlite3 annotations.sqlite "SELECT clip_id, annotator, status, draft FROM newest"

A revision is committed to disk before it is confirmed, so a server that is killed loses nothing that it confirmed. A
revision is refused if a newer revision exists than the one that it changes, so two browsers of one annotator never
overwrite each other. Several servers may use one store.
"""

import json
import sqlite3
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from robogaze.core.clip import Clip
from robogaze.core.data import fault_of
from robogaze.errors import InputError, RunError
from robogaze.web.drafts import ClipDraft, frames_of

DraftStatus = Literal["draft", "submitted"]

_FORM = 1
"""The version of the tables, in the file's `user_version`."""

_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS revisions (
    clip_id TEXT NOT NULL,
    annotator TEXT NOT NULL,
    review TEXT NOT NULL DEFAULT '',
    revision INTEGER NOT NULL,
    saved_at TEXT NOT NULL,
    status TEXT NOT NULL,
    calibration INTEGER NOT NULL DEFAULT 0,
    seconds_spent REAL NOT NULL,
    draft TEXT NOT NULL,
    PRIMARY KEY (clip_id, annotator, review, revision)
);
CREATE TABLE IF NOT EXISTS clips (
    clip_id TEXT PRIMARY KEY,
    file_key TEXT NOT NULL,
    clip TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE VIEW IF NOT EXISTS newest AS
    SELECT * FROM revisions AS r WHERE revision = (
        SELECT MAX(revision) FROM revisions
        WHERE clip_id = r.clip_id AND annotator = r.annotator AND review = r.review
    );
CREATE TRIGGER IF NOT EXISTS no_update BEFORE UPDATE ON revisions
    BEGIN SELECT RAISE(ABORT, 'revisions are only added'); END;
CREATE TRIGGER IF NOT EXISTS no_delete BEFORE DELETE ON revisions
    BEGIN SELECT RAISE(ABORT, 'revisions are only added'); END;
PRAGMA user_version = {_FORM};
"""
_NEWEST = """
SELECT clip_id, annotator, review, revision, saved_at, status, calibration, draft FROM newest WHERE {where}
"""
_APPEND = """
INSERT INTO revisions
SELECT :clip_id, :annotator, :review, :base + 1, :saved_at, :status, :calibration, :seconds_spent, :draft
WHERE :base = (
    SELECT COALESCE(MAX(revision), 0) FROM revisions
    WHERE clip_id = :clip_id AND annotator = :annotator AND review = :review
)
"""


@dataclass(frozen=True)
class Authorship:
    """The author of annotations. `review` is the name of the run under review; it is empty if the clips are annotated
    blind.
    """

    annotator: str
    review: str = ""


@dataclass(frozen=True)
class Revision:
    """A saved state of an annotation; the first has the number 1. `calibration` marks a clip with feedback."""

    clip_id: str
    author: Authorship
    number: int
    saved_at: str
    status: DraftStatus
    calibration: bool
    draft: ClipDraft


@dataclass
class AnnotationStore:
    """A store, opened by `open_store`; close it after use. Its methods may be called from any thread.

    The methods raise RunError if the file cannot be read or written.
    """

    path: Path
    _database: sqlite3.Connection
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def append(
        self,
        clip: Clip,
        author: Authorship,
        draft: ClipDraft,
        *,
        base: int,
        status: DraftStatus,
        now: datetime,
        calibration: bool = False,
    ) -> int | None:
        """Add a revision to revision `base` (0 for none) and return its number; None if `base` is not the newest."""
        row = {
            "clip_id": clip.id,
            "annotator": author.annotator,
            "review": author.review,
            "base": base,
            "saved_at": now.isoformat(timespec="milliseconds"),
            "status": status,
            "calibration": calibration,
            "seconds_spent": draft.seconds_spent,
            "draft": _written(draft, clip),
        }
        added = self._execute(_APPEND, row)[1]
        return base + 1 if added else None

    def newest(self, clip_id: str, author: Authorship) -> Revision | None:
        """The newest revision; None if nothing is saved."""
        where = "clip_id = ? AND annotator = ? AND review = ?"
        rows = self._execute(_NEWEST.format(where=where), (clip_id, author.annotator, author.review))[0]
        return self._revision(rows[0]) if rows else None

    def newest_of(self, author: Authorship) -> dict[str, Revision]:
        """An author's newest revisions, keyed by clip id."""
        rows = self._execute(_NEWEST.format(where="annotator = ? AND review = ?"), (author.annotator, author.review))[0]
        return {revision.clip_id: revision for revision in map(self._revision, rows)}

    def submitted(self) -> tuple[Revision, ...]:
        """One revision of every annotation that was submitted, ordered by annotator, review and clip.

        This is the last submitted revision. For a calibration clip, it is the first submitted revision, because that
        revision was made before the feedback.
        """
        query = """
            SELECT clip_id, annotator, review, revision, saved_at, status, calibration, draft FROM revisions AS r
            WHERE revision = (
                SELECT CASE WHEN MAX(calibration) THEN MIN(revision) ELSE MAX(revision) END FROM revisions
                WHERE clip_id = r.clip_id AND annotator = r.annotator AND review = r.review AND status = 'submitted'
            ) ORDER BY annotator, review, clip_id
        """
        return tuple(map(self._revision, self._execute(query)[0]))

    def drafts(self) -> tuple[Revision, ...]:
        """The newest revisions that are not submitted, ordered by annotator, review and clip."""
        query = _NEWEST.format(where="status = 'draft'") + "ORDER BY annotator, review, clip_id"
        return tuple(map(self._revision, self._execute(query)[0]))

    def has_revisions(self, clip_id: str) -> bool:
        """Whether anyone has annotated a clip."""
        return bool(self._execute("SELECT 1 FROM revisions WHERE clip_id = ? LIMIT 1", (clip_id,))[0])

    def clip(self, clip_id: str, file_key: str | None = None) -> Clip | None:
        """The record of a decoded clip. None if there is no record, or if `file_key` is given and differs from the key
        in the record.
        """
        rows = self._execute("SELECT file_key, clip FROM clips WHERE clip_id = ?", (clip_id,))[0]
        if not rows or file_key not in (None, rows[0][0]):
            return None
        try:
            return Clip.model_validate_json(rows[0][1])
        except ValidationError as error:
            raise InputError(f"{self.path}: the record of the clip {clip_id} is damaged: {fault_of(error)}") from error

    def add_clip(self, clip: Clip, file_key: str) -> None:
        """Keep the record of a decoded clip."""
        self._execute("INSERT OR REPLACE INTO clips VALUES (?, ?, ?)", (clip.id, file_key, clip.model_dump_json()))

    def setting(self, name: str, value: str) -> str:
        """The value of a setting. If the setting has no value yet, the given value is stored and returned."""
        self._execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", (name, value))
        return str(self._execute("SELECT value FROM settings WHERE name = ?", (name,))[0][0][0])

    def set_setting(self, name: str, value: str) -> None:
        """Give a setting a value; an earlier value is replaced."""
        self._execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))

    def settings(self) -> dict[str, str]:
        """All settings by name."""
        return dict(self._execute("SELECT name, value FROM settings")[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _revision(self, row: tuple[Any, ...]) -> Revision:
        clip_id, annotator, review, number, saved_at, status, calibration, draft = row
        try:
            read = ClipDraft.model_validate(_without_frames(json.loads(draft)))
        except (ValueError, TypeError, KeyError) as error:
            what = f"revision {number} of {clip_id} by {annotator} is damaged"
            raise InputError(f"{self.path}: {what}: {error}") from error
        return Revision(clip_id, Authorship(annotator, review), number, saved_at, status, bool(calibration), read)

    def _execute(self, query: str, values: Iterable[Any] | dict[str, Any] = ()) -> tuple[list[tuple[Any, ...]], int]:
        """The rows of a query, and the number of rows that it changed."""
        given = values if isinstance(values, dict) else tuple(values)
        try:
            with self._lock:
                cursor = self._database.execute(query, given)
                return cursor.fetchall(), cursor.rowcount
        except sqlite3.Error as error:
            raise RunError(
                f"the store {self.path} cannot be used ({error}); free disk space or copy the store"
            ) from error


def open_store(path: Path, *, must_exist: bool = False) -> AnnotationStore:
    """Open or create a store. Raises InputError for a file that is not a store, and, with `must_exist`, for a missing
    file.
    """
    if must_exist and not path.is_file():
        raise InputError(f"{path} does not exist; run robogaze annotate to create it")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(path, timeout=5, isolation_level=None, check_same_thread=False)
        version = database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _FORM) or (version == 0 and database.execute("SELECT 1 FROM sqlite_master").fetchone()):
            raise InputError(
                f"{path} is not a store of annotations that this version of RoboGaze can read; choose another --store"
            )
        database.execute("PRAGMA busy_timeout = 5000")
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        database.executescript(_SCHEMA)
    except (sqlite3.Error, OSError) as error:
        raise InputError(
            f"{path} cannot be opened as a store of annotations ({error}); choose another --store"
        ) from error
    return AnnotationStore(path, database)


def _written(draft: ClipDraft, clip: Clip) -> str:
    """A draft as JSON, each span with its first frame and the frame after its last frame."""
    written = draft.model_dump(mode="json")
    for event, kept in zip(written["events"], draft.events, strict=True):
        for span, given in zip(event["spans"], kept.spans, strict=True):
            span["frames"] = frames_of(given, clip)
    return json.dumps(written, ensure_ascii=False)


def _without_frames(written: Any) -> Any:
    for event in written["events"]:
        for span in event["spans"]:
            span.pop("frames", None)
    return written
