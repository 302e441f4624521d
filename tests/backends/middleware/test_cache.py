"""The cache of answers and its file."""

import random
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from backends.samples import FakeBackend, request
from robogaze.backends import AnswerStore, Completion
from robogaze.backends.middleware.cache import Cache
from robogaze.errors import RunError, ServerFault


async def test_answered_request_is_not_sent_again(tmp_path: Path) -> None:
    backend, store = FakeBackend(prompt_tokens=5), AnswerStore(tmp_path / "a.sqlite")
    first = await Cache(backend, store).complete(request())
    store.close()
    store = AnswerStore(tmp_path / "a.sqlite")
    assert await Cache(backend, store).complete(request()) == first
    assert backend.calls == 1
    store.close()


async def test_errors_are_not_cached(tmp_path: Path) -> None:
    backend, store = FakeBackend(ServerFault("f")), AnswerStore(tmp_path / "a.sqlite")
    with pytest.raises(ServerFault):
        await Cache(backend, store).complete(request())
    assert (await Cache(backend, store).complete(request())).text == "yes"
    store.close()


@pytest.mark.parametrize("fields", [{"finish_reason": "length"}, {"refusal": "no"}])
async def test_completion_that_is_not_an_answer_is_not_cached(tmp_path: Path, fields: dict[str, Any]) -> None:
    backend, store = FakeBackend(**fields), AnswerStore(tmp_path / "a.sqlite")
    await Cache(backend, store).complete(request())
    assert len(store) == 0
    store.close()


async def test_forgotten_answer_is_requested_again(tmp_path: Path) -> None:
    backend, store = FakeBackend(), AnswerStore(tmp_path / "a.sqlite")
    await Cache(backend, store).complete(request())
    store.forget([request().key(backend.identity)])
    await Cache(backend, store).complete(request())
    assert backend.calls == 2
    store.close()


@pytest.mark.parametrize("stored", ['{"text": "yes", "model": "m"}', "0123456789abcdef {}", "{", "", None, 5])
async def test_row_without_a_valid_checksum_is_requested_again(tmp_path: Path, stored: Any) -> None:
    backend, store = FakeBackend(), AnswerStore(tmp_path / "a.sqlite")
    await Cache(backend, store).complete(request())
    store._database.execute("UPDATE answers SET completion = coalesce(?, x'ff')", (stored,))
    for _ in range(2):
        assert (await Cache(backend, store).complete(request())).text == "yes"
    assert backend.calls == 2
    store.close()


def test_merged_answers_are_added_and_their_usage_is_counted_once(tmp_path: Path) -> None:
    shard, whole = AnswerStore(tmp_path / "shard.sqlite"), AnswerStore(tmp_path / "whole.sqlite")
    shard.put("k", request(), Completion("yes", model="m"))
    shard.usage("eyes").add_call()
    whole.usage("eyes").add_call()
    for _ in range(2):
        whole.merge(tmp_path / "shard.sqlite")
    assert (len(whole), whole.usage("eyes").calls) == (1, 2)
    shard.usage("eyes").add_call()
    whole.merge(tmp_path / "shard.sqlite")
    assert whole.usage("eyes").calls == 3
    for store in (shard, whole):
        store.close()


# Damaged and unusable files.


def test_file_that_is_not_a_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite").write_text("hello, this is not a database at all, but a letter " * 40)
    with pytest.raises(RunError, match=r"a\.sqlite cannot be opened .* delete it or use another `out`"):
        AnswerStore(tmp_path / "a.sqlite")


def filled(path: Path) -> dict[str, Completion]:
    """A file of 300 answers, by their keys."""
    store = AnswerStore(path)
    answers = {f"{number:064}": Completion(f"answer {number}", model="m") for number in range(300)}
    for key, completion in answers.items():
        store.put(key, request(), completion)
    store.usage("m").add_call()
    store.first_name("m", "answers", "m")
    store.close()
    return answers


def damaged(data: bytes, rng: random.Random) -> bytes:
    """A file that is truncated, or has one bit or some hundred bits flipped."""
    kind, broken = rng.randrange(3), bytearray(data)
    if kind == 0:
        return data[: rng.randrange(len(data))]
    for _ in range(1 if kind == 1 else rng.randrange(1, 400)):
        broken[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(broken)


def use(path: Path, answers: dict[str, Completion]) -> list[Completion | None]:
    """Do with a file what a run does; the completions that it holds for the keys."""
    store = AnswerStore(path)
    try:
        found = [store.get(key) for key in answers]
        assert store.usage("m").calls >= 0
        assert isinstance(store.first_name("m", "answers", "m"), str)
        store.put("new", request(), Completion("new", model="m"))
        store.forget(answers)
        assert len(store) >= 0
    finally:
        store.close()
    return found


def test_damage_is_reported_or_the_answer_is_requested_again(tmp_path: Path) -> None:
    path, rng, missing = tmp_path / "calls.sqlite", random.Random(11), 0
    messages: list[str] = []
    answers = filled(path)
    whole = path.read_bytes()
    assert use(path, answers) == list(answers.values())
    for _ in range(60):
        path.write_bytes(damaged(whole, rng))
        try:
            found = use(path, answers)
        except RunError as error:
            messages.append(str(error))
        else:
            missing += found.count(None)
            assert all(completion in (None, known) for completion, known in zip(found, answers.values(), strict=True))
        for file in tmp_path.iterdir():
            file.unlink()
    assert len(messages) > 8
    assert all(str(path) in message and "delete" in message for message in messages)
    assert missing > 8


def test_damaged_usage_is_refused(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "calls.sqlite")
    store.usage("m").add_call()
    store._database.execute("UPDATE usage SET calls = 'many'")
    with pytest.raises(RunError, match=r"calls\.sqlite cannot be read \(.*\); delete the file"):
        store.usage("m")
    store.close()


async def test_full_disk_is_reported(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    store._database.execute("PRAGMA max_page_count=3")

    def fill() -> None:
        for number in range(200):
            store.put(f"{number}", request(), Completion("x" * 4000, model="m"))

    with pytest.raises(RunError, match="free disk space and resume"):
        fill()
    store.close()


def test_two_processes_can_read_one_file(tmp_path: Path) -> None:
    store = AnswerStore(tmp_path / "a.sqlite")
    store.put("k", request(), Completion("yes", model="m"))
    other = sqlite3.connect(tmp_path / "a.sqlite")
    assert other.execute("SELECT COUNT(*) FROM answers").fetchone() == (1,)
    other.close()
    store.close()
