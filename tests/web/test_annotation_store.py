"""The store: revisions are only added, and a confirmed revision is on disk."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from making import make_clip

from robogaze.errors import InputError, RunError
from robogaze.web.annotation_store import AnnotationStore, Authorship, open_store
from robogaze.web.drafts import ClipDraft, DraftEvent, DraftSpan

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
ANN, BOB = Authorship("ann"), Authorship("bob")
CLIP = make_clip(id="cup")


def draft(end_s: float = 1.0) -> ClipDraft:
    return ClipDraft(events=(DraftEvent(id="e1", spans=(DraftSpan(start_s=0.5, end_s=end_s),)),))


def append(
    store: AnnotationStore, author: Authorship = ANN, base: int = 0, submit: bool = False, **more: bool
) -> int | None:
    status = "submitted" if submit else "draft"
    return store.append(CLIP, author, draft(1 + base / 10), base=base, status=status, now=NOON, **more)  # type: ignore[arg-type]


def test_revisions_have_numbers_from_1(store: AnnotationStore) -> None:
    assert store.newest("cup", ANN) is None
    assert [append(store, base=base) for base in range(3)] == [1, 2, 3]
    newest = store.newest("cup", ANN)
    assert newest is not None
    assert (newest.number, newest.draft, newest.saved_at) == (3, draft(1.2), "2026-01-02T12:00:00.000+00:00")


@pytest.mark.parametrize("base", [0, 2, -1])
def test_a_revision_is_added_to_the_newest_one_only(store: AnnotationStore, base: int) -> None:
    append(store)
    assert append(store, base=base) is None
    assert [revision.number for revision in store.drafts()] == [1]


def test_annotators_and_reviews_have_revisions_of_their_own(store: AnnotationStore) -> None:
    assert [append(store, author) for author in (ANN, BOB, Authorship("ann", "run"))] == [1, 1, 1]
    assert store.newest_of(ANN).keys() == {"cup"}
    assert len(store.drafts()) == 3


def test_the_last_submission_counts(store: AnnotationStore) -> None:
    for base, submit in enumerate([True, False, True, False]):
        append(store, base=base, submit=submit)
    assert [revision.number for revision in store.submitted()] == [3]


def test_the_first_submission_of_a_calibration_clip_counts(store: AnnotationStore) -> None:
    for base in range(2):
        append(store, base=base, submit=True, calibration=True)
    assert [revision.number for revision in store.submitted()] == [1]


def test_nothing_is_changed_or_deleted(store: AnnotationStore) -> None:
    append(store)
    with sqlite3.connect(store.path) as database:
        for statement in ("UPDATE revisions SET draft = ''", "DELETE FROM revisions"):
            with pytest.raises(sqlite3.IntegrityError, match="only added"):
                database.execute(statement)


def test_revisions_are_readable_with_sqlite(store: AnnotationStore) -> None:
    append(store, submit=True)
    with sqlite3.connect(store.path) as database:
        ((clip_id, annotator, status, text),) = database.execute("SELECT clip_id, annotator, status, draft FROM newest")
    assert (clip_id, annotator, status) == ("cup", "ann", "submitted")
    (span,) = json.loads(text)["events"][0]["spans"]
    assert span == {"start_s": 0.5, "end_s": 1.0, "frames": [8, 16]}  # 16 fps, the last frame exclusive


def test_threads_add_revisions_in_sequence(store: AnnotationStore) -> None:
    added: list[int | None] = []
    threads = [threading.Thread(target=lambda: added.append(append(store))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, added)) == ["1"] + ["None"] * 7


def test_two_processes_may_use_it(store: AnnotationStore) -> None:
    other = open_store(store.path)
    assert (append(store), append(other, base=1), append(store, base=1)) == (1, 2, None)
    other.close()


def test_the_record_of_a_clip_is_kept_until_its_file_changes(store: AnnotationStore) -> None:
    store.add_clip(CLIP, "key")
    assert store.clip("cup", "key") == store.clip("cup") == CLIP
    assert (store.clip("cup", "other"), store.clip("pot")) == (None, None)


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\0" + b"x" * 200])
def test_a_file_that_is_no_database_is_unchanged(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.sqlite"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"other\.sqlite .*--store"):
        open_store(path)
    assert path.read_bytes() == content


def test_a_foreign_database_is_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE revisions (x)")
    with pytest.raises(InputError, match="is not a store of annotations"):
        open_store(path)


def test_reading_a_missing_store_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run robogaze annotate to create it"):
        open_store(tmp_path / "none.sqlite", must_exist=True)


def test_a_damaged_revision_is_named(store: AnnotationStore) -> None:
    append(store)
    with sqlite3.connect(store.path) as database:
        database.execute("DROP TRIGGER no_update")
        database.execute("UPDATE revisions SET draft = '{\"events\": 3}'")
    with pytest.raises(InputError, match="revision 1 of cup by ann is damaged"):
        store.newest("cup", ANN)


def test_a_store_that_cannot_be_written_is_an_error(store: AnnotationStore) -> None:
    store.close()
    with pytest.raises(RunError, match=r"annotations\.sqlite cannot be used"):
        append(store)


_WRITER = """
import sys
from datetime import UTC, datetime
from making import make_clip
from pathlib import Path
from robogaze.web.annotation_store import Authorship, open_store
from robogaze.web.drafts import ClipDraft
store = open_store(Path(sys.argv[1]))
clip = make_clip(id="cup")
for base in range(10_000):
    now = datetime.now(UTC)
    draft = ClipDraft(seconds_spent=base)
    print(store.append(clip, Authorship("ann"), draft, base=base, status="draft", now=now), flush=True)
"""


def test_a_killed_process_loses_nothing_that_it_confirmed(store: AnnotationStore) -> None:
    paths = os.pathsep.join([*sys.path, str(Path(__file__).parent.parent)])
    arguments = [sys.executable, "-c", _WRITER, str(store.path)]
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths}
    ) as writer:
        assert writer.stdout is not None
        confirmed = [int(writer.stdout.readline()) for _ in range(30)]
        os.kill(writer.pid, signal.SIGKILL)
        confirmed += [int(line) for line in writer.stdout if line.endswith("\n")]
    newest = store.newest("cup", ANN)
    assert newest is not None
    assert newest.number >= confirmed[-1]
    assert append(store, base=newest.number) == newest.number + 1
