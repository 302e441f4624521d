"""A backend of another package: the example of docs/models.md, installed with its entry point."""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli.running import Shell

from backends.samples import request
from robogaze.backends import BACKENDS, Models, ModelsConfig
from robogaze.errors import InputError, ServerFault, Unreachable

PAGE = Path(__file__).parents[2] / "docs" / "models.md"

MODEL = f"""#!{sys.executable}
import json, sys
from robogaze.backends.rehearsal import plainest
prompt = json.load(sys.stdin)
assert prompt["system"] and prompt["jpegs"]
print(json.dumps(plainest(prompt["schema"])))
"""
FAULTY = "#!/bin/sh\nexit 3\n"


def example(language: str) -> str:
    section = PAGE.read_text().partition("## Add a backend")[2]
    found = re.search(rf"```{language}\n(.*?)```", section, re.DOTALL)
    assert found is not None
    return found[1]


@pytest.fixture(autouse=True)
def _installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the example package."""
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "command.py").write_text(example("py"))
    metadata = tmp_path / "my_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n")
    group, entry = example("toml").strip().splitlines()
    assert group == '[project.entry-points."robogaze.backends"]'
    (metadata / "entry_points.txt").write_text(f"[robogaze.backends]\n{entry.replace(chr(34), '')}\n")
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Writes an executable program."""

    def write(text: str) -> Path:
        path = tmp_path / "program"
        path.write_text(text)
        path.chmod(0o755)
        return path

    return write


def test_kind_is_one_of_the_backends() -> None:
    assert BACKENDS.names() == (*BACKENDS.own, "command")
    with pytest.raises(InputError, match=f"KIND one of {', '.join(BACKENDS.own)}, command, or the path"):
        ModelsConfig.read("commnad:x")


async def test_request_is_answered_through_all_middleware(program: Callable[[str], Path]) -> None:
    models = Models.open(ModelsConfig.read(f"command:{program(MODEL)}"), None, {})
    await models.ready()
    completion = await models["vlm"].backend.complete(request())
    assert set(json.loads(completion.text)) == {"cup", "word"}
    await models.close()


async def test_errors_are_those_of_backends(program: Callable[[str], Path]) -> None:
    spec = {"kind": "command", "name": str(program(FAULTY)), "retry": {"attempts": 1}}
    faulty = Models.open(ModelsConfig.model_validate({"models": {"m": spec}, "roles": {"vlm": "m"}}), None, {})
    with pytest.raises(ServerFault, match="exit code 3"):
        await faulty["vlm"].backend.complete(request())
    with pytest.raises(Unreachable, match="nowhere is not installed"):
        await Models.open(ModelsConfig.read("command:nowhere"), None, {}).ready()


def test_clip_is_scored_by_it(
    program: Callable[[str], Path],
    video: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    robogaze, out = Shell(monkeypatch, capsys), tmp_path / "out"
    ran = robogaze("score", video, "--model", f"command:{program(MODEL)}", "--pipeline", "vanilla", "--out", out)
    assert ran.code == 0, ran.err
    (report,) = (found for path in out.rglob("*.json") if "provenance" in (found := json.loads(path.read_text())))
    assert [call["outcome"] for call in report["provenance"]["calls"]] == ["answered"]
    assert report["provenance"]["calls"][0]["answered_by"].endswith("program")
