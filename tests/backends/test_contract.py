"""The contract of every backend."""

import json
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from stub_server import Stub, running

from backends.samples import batch_backend, image, openai_backend, request
from robogaze.backends import BACKENDS, Decoding
from robogaze.backends.base import Backend, Completion
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.backends.scripted import ScriptedBackend, ScriptedReply


def _scripted(tmp_path: Path, url: str) -> Backend:
    return ScriptedBackend([ScriptedReply(reply={"cup": True, "word": "cup"}, repeat=True)])


def _batch(tmp_path: Path, url: str) -> Backend:
    key = request().key(batch_backend(tmp_path).identity)
    message = {"content": '{"cup": true, "word": "cup"}'}
    body = {"model": "m", "choices": [{"finish_reason": "stop", "message": message}]}
    line = {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line) + "\n")
    return batch_backend(tmp_path)


MAKERS: dict[str, Callable[[Path, str], Backend]] = {
    "openai": lambda tmp_path, url: openai_backend(url),
    "batch": _batch,
    "scripted": _scripted,
    "rehearsal": lambda tmp_path, url: RehearsalBackend(),
}
ELSEWHERE = {"transformers"}
"""Tested in tests/servers, where its packages are installed."""


def test_every_backend_is_tested() -> None:
    assert set(BACKENDS.own) >= ELSEWHERE
    missing = set(BACKENDS.own) - set(MAKERS) - ELSEWHERE
    assert missing == set(), f"add a function that makes it to MAKERS: {missing}"


@pytest.fixture(params=sorted(MAKERS))
async def backend(request: Any, tmp_path: Path) -> AsyncIterator[Backend]:
    with running(Stub()) as url:
        backend = MAKERS[request.param](tmp_path, url)
        yield backend
        await backend.close()


async def test_request_is_answered_by_a_completion(backend: Backend) -> None:
    await backend.ready()
    completion = await backend.complete(request())
    assert isinstance(completion, Completion)
    assert set(json.loads(completion.text)) == {"cup", "word"}
    assert completion.latency_s >= 0


def test_identity_is_json_without_secrets(backend: Backend) -> None:
    written = json.dumps(dict(backend.identity))
    assert json.loads(written)["kind"]
    assert "key" not in json.loads(written)


def test_cache_key_covers_everything_an_answer_depends_on_and_nothing_else() -> None:
    identity = {"kind": "openai", "name": "m", "url": "u"}
    original = request()
    key = original.key(identity)
    changed = [
        replace(original, system="Answer in prose."),
        replace(original, parts=(image(0), image(4), "Is there a pot?")),
        replace(original, parts=(image(0), image(4, 129), "Is there a cup?")),
        replace(original, parts=(image(0), image(5), "Is there a cup?")),
        replace(original, parts=(image(4), image(0), "Is there a cup?")),
        replace(original, schema=None),
        replace(original, decoding=Decoding(max_tokens=65)),
        replace(original, decoding=Decoding(max_tokens=64, temperature=1)),
        replace(original, sample=1),
    ]
    keys = [other.key(identity) for other in changed] + [original.key({**identity, "url": "v"})]
    assert len({key, *keys}) == len(keys) + 1
    same = [
        replace(original, stage="s"),
        replace(original, subject="s"),
        replace(original, clip="s"),
        replace(original, attempt=2),
    ]
    assert {other.key(identity) for other in same} == {key}
