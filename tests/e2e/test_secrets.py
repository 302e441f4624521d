"""A key is never on the disk, on a page or in a message, whatever a server does; files are as the umask says."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.conftest import robogaze as robogaze
from cli.running import Shell
from stub_server import Body, Reply, Stub, answer, completion_of, running, stage_of
from synthetic import write_clip

KEY = "sk-live/0123456789abcdef"


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("clips") / "bar.mp4", frames=24, width=64, height=48)


def in_an_error(status: int) -> Callable[[Body], Reply]:
    said = json.dumps({"error": {"message": f"the key {KEY} is not welcome"}})
    return lambda body: Reply(status=status, raw=said.encode())


def in_an_answer(body: Body) -> Reply:
    """Every text of a good answer is the key, and so are the names."""
    said = json.dumps(answer(body)).replace('"rehearsed"', json.dumps(KEY))
    reply = completion_of(body, Reply(content=said), KEY)
    return Reply(raw=json.dumps({**reply, "system_fingerprint": KEY}).encode())


def in_a_broken_answer(body: Body) -> Reply:
    return (
        Reply(content=f"Your key is {KEY}") if stage_of(body) == "segment" else Reply(content=json.dumps(answer(body)))
    )


def in_a_redirect(body: Body) -> Reply:
    return Reply(status=307, raw=b"", headers={"location": f"http://elsewhere/?key={KEY}"})


ECHOES = {
    "401": in_an_error(401),
    "400": in_an_error(400),
    "500": in_an_error(500),
    "an answer": in_an_answer,
    "a broken answer": in_a_broken_answer,
    "a redirect": in_a_redirect,
}


@pytest.mark.parametrize("name", ECHOES)
def test_a_key_that_a_server_repeats_is_never_written(
    robogaze: Shell, clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("ROBOGAZE_API_KEY", KEY)
    stub = Stub(behave=ECHOES[name])
    with running(stub) as url:
        models = tmp_path / "models.yaml"
        models.write_text(
            f"models: {{m: {{kind: openai, name: stub, url: '{url}', retry: {{attempts: 1}}}}}}\nroles: {{vlm: m}}\n"
        )
        ran = robogaze("score", clip, "-i", "Move", "--model", models, "--json", "--out", tmp_path / "out")
    assert set(stub.keys) == {f"Bearer {KEY}"}
    kept = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert {path.name for path in kept} >= {"run.json", "index.html", "calls.sqlite"}
    for written in (ran.out.encode(), ran.err.encode(), *kept.values()):
        assert KEY.encode() not in written
        assert KEY.replace("/", "\\/").encode() not in written


@pytest.mark.parametrize("mask", [0o077, 0o027, 0o022])
def test_every_file_of_a_run_has_the_permissions_that_the_umask_leaves(
    robogaze: Shell, clip: Path, tmp_path: Path, mask: int
) -> None:
    before = os.umask(mask)
    try:
        with running(Stub()) as url:
            model = ("-i", "Move", "--model", f"openai:stub@{url}")
            assert robogaze("score", clip, *model, "--out", tmp_path / "out").code in (0, 4)
    finally:
        os.umask(before)
    modes = {path: path.stat().st_mode & 0o777 for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]}
    assert len(modes) > 5
    for path, mode in modes.items():
        assert mode == (0o777 if path.is_dir() else 0o666) & ~mask, f"{path}: {mode:o}"
