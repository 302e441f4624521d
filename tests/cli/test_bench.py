"""`robogaze bench`: several checkpoints on the same prompts, from folders to a decision."""

import json
from pathlib import Path

import pytest
from stub_server import Body, Reply, Stub, running, text_of
from synthetic import write_clip

from cli.running import Shell

PROMPTS = 4


@pytest.fixture
def checkpoints(tmp_path: Path) -> list[Path]:
    """Two checkpoints with a clip for each of the same prompts."""
    folders = []
    for step in (1000, 2000):
        folder = tmp_path / f"step_{step}"
        folder.mkdir()
        for number in range(PROMPTS):
            write_clip(folder / f"{number}.mp4", frames=16 + step // 500, width=64, height=48)
            sidecar = {"prompt_id": f"p{number}", "instruction": f"Move bar {number}", "checkpoint": f"{step}"}
            (folder / f"{number}.json").write_text(json.dumps(sidecar))
        folders.append(folder)
    return folders


def test_two_folders_become_two_runs_and_a_comparison(robogaze: Shell, checkpoints: list[Path], tmp_path: Path) -> None:
    out, stub = tmp_path / "out", Stub()
    with running(stub) as url:
        command = ("bench", f"old={checkpoints[0]}", f"new={checkpoints[1]}", "--out", out)
        model = ("--pipeline", "vanilla", "--model", f"openai:stub@{url}")
        ran = robogaze(*command, *model, "--baseline", "old", "--json")
        asked = stub.requests
        again = robogaze(*command, *model, "--baseline", "old", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert [run["name"] for run in found["runs"]] == ["old", "new"]
    assert asked == 2 * PROMPTS
    assert stub.requests == asked, "the same command resumes and asks nothing again"
    assert json.loads(again.out) == found
    for name in ("old", "new"):
        assert len(list((out / name / "reports").iterdir())) == PROMPTS
        assert (out / name / "index.html").is_file()
    assert (out / "comparison.json").is_file()
    assert (out / "index.html").is_file()


def test_clips_of_earlier_commands_are_compared_and_reported(
    robogaze: Shell, checkpoints: list[Path], tmp_path: Path
) -> None:
    command = ("bench", *checkpoints, "--out", tmp_path / "out", "--json")
    whole = robogaze(*command)
    assert "from earlier commands" not in whole.err
    part = robogaze(*command, "--limit", 1)
    said = f"{tmp_path / 'out' / 'step_1000'} also contains 3 clips from earlier commands; all 4 clips are compared"
    assert said in part.err
    assert json.loads(part.out) == json.loads(whole.out)


def test_path_gives_the_name(robogaze: Shell, checkpoints: list[Path], tmp_path: Path) -> None:
    with_dot = checkpoints[0].rename(tmp_path / "v1.0")
    ran = robogaze("bench", with_dot, checkpoints[1], "--out", tmp_path / "out", "--limit", 1)
    assert (tmp_path / "out" / "v1.0" / "run.json").is_file(), ran.err
    assert (tmp_path / "out" / "step_2000" / "run.json").is_file()


@pytest.mark.parametrize(
    ("names", "options", "why"),
    [
        (("a", "a"), (), "a is the name of two checkpoints; give another name: NAME=PATH"),
        (("", "b"), (), "cannot be the name of a folder; give another name: NAME=PATH"),
        (("..", "b"), (), "cannot be the name of a folder; give another name: NAME=PATH"),
        (("a", "b"), ("--baseline", "best"), "best is not one of a, b"),
    ],
)
def test_invalid_names_are_refused_before_anything_is_scored(
    robogaze: Shell,
    checkpoints: list[Path],
    tmp_path: Path,
    names: tuple[str, ...],
    options: tuple[str, ...],
    why: str,
) -> None:
    named = [f"{name}={path}" for name, path in zip(names, checkpoints, strict=True)]
    ran = robogaze("bench", *named, "--out", tmp_path / "out" / "inner", *options)
    assert ran.code == 2
    assert why in ran.err
    assert not (tmp_path / "out").exists()


def test_path_without_clips_is_refused_before_anything_is_scored(
    robogaze: Shell, checkpoints: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "none").mkdir()
    for path, why in ((tmp_path / "missing", "does not exist"), (tmp_path / "none", "has no video")):
        ran = robogaze("bench", checkpoints[0], path, "--out", tmp_path / "out")
        assert ran.code == 1
        assert why in ran.err
        assert not (tmp_path / "out").exists()


def test_checkpoint_without_a_report_is_named_and_nothing_is_compared(
    robogaze: Shell, checkpoints: list[Path], tmp_path: Path
) -> None:
    for path in checkpoints[1].glob("*.mp4"):
        path.write_bytes(b"no video")
    ran = robogaze("bench", *checkpoints, "--out", tmp_path / "out", "--limit", 1)
    assert ran.code == 1
    assert "not compared, because these checkpoints have no report: step_2000" in ran.err
    assert not (tmp_path / "out" / "comparison.json").exists()


def test_clips_of_one_checkpoint_that_fail_stay_in_the_comparison(
    robogaze: Shell, checkpoints: list[Path], tmp_path: Path
) -> None:
    (checkpoints[1] / "0.mp4").write_bytes(b"no video")

    def behave(body: Body) -> Reply | None:
        return Reply(content="no JSON") if "bar 1" in text_of(body) else None

    with running(Stub(behave=behave)) as url:
        model = ("--pipeline", "vanilla", "--model", f"openai:stub@{url}")
        ran = robogaze("bench", *checkpoints, "--out", tmp_path / "out", *model, "--json")
    assert ran.code == 4
    assert "0.mp4" in ran.err
    counts = {run["name"]: run["clips"] for run in json.loads(ran.out)["runs"]}
    assert {name: sum(count.values()) for name, count in counts.items()} == {"step_1000": 4, "step_2000": 4}
    assert counts["step_2000"]["unreadable"] == 1
    assert [run["unscored"] + run["partial"] for run in counts.values()] == [1, 1]


def test_unreachable_server_ends_the_command_at_once(robogaze: Shell, checkpoints: list[Path], tmp_path: Path) -> None:
    model = ("--pipeline", "vanilla", "--model", "openai:stub@http://127.0.0.1:9/v1")
    assert robogaze("bench", *checkpoints, "--out", tmp_path / "out", *model).code == 5
