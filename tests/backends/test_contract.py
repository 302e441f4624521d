"""What holds for every backend."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from backends.asking import request
from stub_server import Stub, running

from robogaze.backends.base import Backend, Completion
from robogaze.backends.batch import BatchBackend
from robogaze.backends.config import KINDS
from robogaze.backends.openai import OpenAIBackend
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.backends.scripted import ScriptedBackend, ScriptedReply


def _scripted(tmp_path: Path, url: str) -> Backend:
    return ScriptedBackend([ScriptedReply(reply={"cup": True, "word": "cup"}, repeat=True)])


def _batch(tmp_path: Path, url: str) -> Backend:
    key = request().key(BatchBackend("m", tmp_path).identity)
    message = {"content": '{"cup": true, "word": "cup"}'}
    body = {"model": "m", "choices": [{"finish_reason": "stop", "message": message}]}
    line = {"custom_id": key, "response": {"status_code": 200, "body": body}, "error": None}
    (tmp_path / "answers.jsonl").write_text(json.dumps(line) + "\n")
    return BatchBackend("m", tmp_path)


MAKERS: dict[str, Callable[[Path, str], Backend]] = {
    "openai": lambda tmp_path, url: OpenAIBackend("stub", url, "key", timeout_s=5),
    "batch": _batch,
    "scripted": _scripted,
    "rehearsal": lambda tmp_path, url: RehearsalBackend(),
}
ELSEWHERE = {"transformers"}
"""Tested in tests/servers, where its packages are installed."""


def test_no_kind_is_forgotten() -> None:
    assert set(KINDS) - set(MAKERS) == ELSEWHERE


@pytest.fixture(params=sorted(MAKERS))
async def backend(request: Any, tmp_path: Path) -> AsyncIterator[Backend]:
    with running(Stub()) as url:
        made = MAKERS[request.param](tmp_path, url)
        yield made
        await made.close()


async def test_a_request_is_answered_by_a_completion(backend: Backend) -> None:
    await backend.ready()
    completion = await backend.complete(request())
    assert isinstance(completion, Completion)
    assert set(json.loads(completion.text)) == {"cup", "word"}
    assert completion.latency_s >= 0


def test_the_identity_can_be_written_down_and_holds_no_secret(backend: Backend) -> None:
    written = json.dumps(dict(backend.identity))
    assert json.loads(written)["kind"]
    assert "key" not in json.loads(written)


def test_the_key_covers_everything_an_answer_depends_on_and_nothing_else() -> None:
    from dataclasses import replace

    from backends.asking import shot

    from robogaze.backends import Decoding

    identity = {"kind": "openai", "name": "m", "url": "u"}
    asked = request()
    key = asked.key(identity)
    changed = [
        replace(asked, system="Answer in prose."),
        replace(asked, parts=(shot(0), shot(4), "Is there a pot?")),
        replace(asked, parts=(shot(0), shot(4, 129), "Is there a cup?")),
        replace(asked, parts=(shot(0), shot(5), "Is there a cup?")),
        replace(asked, parts=(shot(4), shot(0), "Is there a cup?")),
        replace(asked, schema=None),
        replace(asked, decoding=Decoding(max_tokens=65)),
        replace(asked, decoding=Decoding(max_tokens=64, temperature=1)),
        replace(asked, sample=1),
    ]
    keys = [one.key(identity) for one in changed] + [asked.key({**identity, "url": "v"})]
    assert len({key, *keys}) == len(keys) + 1
    same = [replace(asked, stage="s"), replace(asked, subject="s"), replace(asked, clip="s"), replace(asked, attempt=2)]
    assert {one.key(identity) for one in same} == {key}
