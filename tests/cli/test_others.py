"""`robogaze domain`, `serve`, `report`, and the command line itself."""

import json
import math
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from stub_server import stage_of

from cli.running import Shell
from robogaze.backends import BACKENDS
from robogaze.domains import domain_folders


def test_no_arguments_are_a_usage_error_with_help(robogaze: Shell) -> None:
    ran = robogaze()
    assert ran.code == 2
    assert "Commands:" in ran.err


def test_an_unknown_command_is_a_usage_error(robogaze: Shell) -> None:
    assert robogaze("scor").code == 2


def test_every_command_has_help(robogaze: Shell) -> None:
    for command in ("score", "report", "domain", "doctor", "serve"):
        ran = robogaze(command, "--help")
        assert ran.code == 0
        assert len(ran.out) > 100


@pytest.mark.parametrize("command", [("score",), ("play",), ("env", "new")])
def test_the_help_of_model_names_every_kind(robogaze: Shell, command: tuple[str, ...]) -> None:
    assert f"kinds: {', '.join(BACKENDS.own)}" in " ".join(robogaze(*command, "--help").out.split())


def test_the_version_is_printed(robogaze: Shell) -> None:
    assert "0.1.0" in robogaze("--version").out


def test_the_built_in_domains_are_listed(robogaze: Shell) -> None:
    listed = [line.split()[0] for line in robogaze("domain", "list").out.splitlines()]
    assert listed == list(domain_folders())
    written = json.loads(robogaze("domain", "list", "--json").out)["domains"]
    assert [entry["id"] for entry in written] == listed
    assert {"robot", "game", "egocentric"} <= set(listed)


def test_a_domain_is_shown(robogaze: Shell) -> None:
    shown = robogaze("domain", "show", "robot").out
    assert "object_teleportation [5]: " in shown
    assert "occlusion [2, evidence-limiting]: " in shown
    assert "span (outcome). Start: the moment at which success should have become visible. End: the end of" in shown
    assert "5 catastrophic" in shown
    described = json.loads(robogaze("domain", "show", "robot", "--json").out)
    assert len(described["taxonomy"]["dimensions"]) == 6


@pytest.mark.parametrize(("name", "types"), [("robot", 30), ("game", 19), ("egocentric", 25)])
def test_a_built_in_domain_is_valid(robogaze: Shell, name: str, types: int) -> None:
    ran = robogaze("domain", "check", name)
    assert (ran.code, f"{name} is valid: {types} types" in ran.out) == (0, True)
    assert ran.out.endswith(" simulated faults\n") == (name == "robot")


def test_a_new_domain_is_valid_and_an_error_in_it_is_named_with_its_line(robogaze: Shell, tmp_path: Path) -> None:
    assert robogaze("domain", "new", tmp_path / "kitchen").code == 0
    checked = robogaze("domain", "check", tmp_path / "kitchen")
    assert (checked.code, checked.out) == (0, "kitchen is valid: 1 type, 2 pipelines rehearsed\n")
    assert robogaze("domain", "new", tmp_path / "kitchen").code == 1
    path = tmp_path / "kitchen" / "taxonomy.yaml"
    path.write_text(path.read_text().replace("definition: Something visible", "definitoin: Something visible"))
    ran = robogaze("domain", "check", tmp_path / "kitchen")
    assert ran.code == 1
    assert "taxonomy.yaml:" in ran.err
    assert "definitoin: unknown key" in ran.err


def test_serve_accepts_the_default_requests(robogaze: Shell) -> None:
    from robogaze.backends import ModelConfig

    words = shlex.split(robogaze("serve", "m", "--print").out)
    allowed = json.loads(words[words.index("--limit-mm-per-prompt") + 1])
    assert allowed["image"] == ModelConfig(kind="scripted").max_pictures


def test_serve_has_room_for_the_largest_request_of_the_papers_pipeline(robogaze: Shell) -> None:
    from robogaze.backends import ModelConfig
    from robogaze.core.pictures import PictureSettings
    from robogaze.stages.robogaze.verify import CLOSE_UP_FRAMES

    model = ModelConfig(kind="scripted")
    pictures = (model.frames.at_most or 0) + CLOSE_UP_FRAMES
    a_picture = math.ceil(PictureSettings().max_side_px / 28) ** 2  # a square clip, and the smaller patches in use
    text = 16_000  # measured: 12,700 for 36 wordy hypotheses about a clip of 17 s
    words = shlex.split(robogaze("serve", "m", "--print").out)
    room = int(words[words.index("--max-model-len") + 1])
    assert pictures * a_picture + text + model.decoding.max_tokens <= room


def test_serve_prints_the_command_with_the_flags_requests_need(robogaze: Shell) -> None:
    ran = robogaze("serve", "Qwen/Qwen3-VL-8B-Instruct", "--print", "--gpus", "2", "--seed", "7")
    assert ran.code == 0
    assert ran.out.startswith("vllm serve Qwen/Qwen3-VL-8B-Instruct --host 127.0.0.1 --port 8000")
    for flag in ("--tensor-parallel-size 2", "--enable-prefix-caching", "--enable-prompt-tokens-details", "--seed 7"):
        assert flag in ran.out


def test_serve_without_vllm_says_how_to_install_it(robogaze: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    ran = robogaze("serve", "m")
    assert ran.code == 1
    assert "uv tool install vllm" in ran.err


def test_report_writes_the_page_again(robogaze: Shell, video: Path, tmp_path: Path) -> None:
    robogaze("score", video, "--out", tmp_path / "out")
    (tmp_path / "out" / "index.html").unlink()
    ran = robogaze("report", tmp_path / "out")
    assert ran.code == 0
    assert (tmp_path / "out" / "index.html").exists()
    assert robogaze("report", tmp_path).code == 1


def test_debug_shows_the_traceback(robogaze: Shell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from robogaze.cli import main
    from robogaze.errors import InputError

    monkeypatch.setattr(sys, "argv", ["robogaze", "--debug", "domain", "show", "nowhere"])
    with pytest.raises(InputError):
        main()


def run_apart(*arguments: object, stdout: Path) -> tuple[int, str]:
    """The command line in a process of its own, its output going to a file."""
    command = [sys.executable, "-m", "robogaze", *map(str, arguments)]
    with stdout.open("w") as file:
        ran = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    return ran.returncode, ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_output_that_cannot_be_written_is_one_sentence() -> None:
    code, said = run_apart("domain", "show", "robot", "--json", stdout=Path("/dev/full"))
    assert (code, said) == (1, "error: No space left on device\n")


@pytest.mark.parametrize("grouped", [False, True])
def test_an_internal_error_is_one_sentence_and_a_traceback_only_with_debug(
    robogaze: Shell, monkeypatch: pytest.MonkeyPatch, grouped: bool
) -> None:
    from robogaze.cli import main

    def fail(*_: object) -> None:
        fault = ZeroDivisionError("division\nby zero")
        raise ExceptionGroup("in a task", [fault]) if grouped else fault

    monkeypatch.setattr("robogaze.domains.load_domain", fail)
    ran = robogaze("domain", "show", "robot")
    assert ran.code == 1
    assert ran.err.startswith("error: ZeroDivisionError: division by zero; ")
    assert ran.err.count("\n") == 1
    monkeypatch.setattr(sys, "argv", ["robogaze", "--debug", "domain", "show", "robot"])
    with pytest.raises((ZeroDivisionError, ExceptionGroup)):
        main()


def test_the_stub_distinguishes_stages() -> None:
    assert stage_of({}) == ""
