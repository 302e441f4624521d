"""`robogaze score --watch`: its options, its output and its exit codes."""

import json
import shutil
from functools import partial
from pathlib import Path
from typing import Any, Self

import pytest

from cli.running import Shell
from robogaze.reporting import trackers
from robogaze.run.watch import WatchOptions

GATE = "rules:\n  - unscored: {at_most: 0.1}\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files are complete after 0.2 s, and paths are looked at every 0.05 s."""
    monkeypatch.setattr("robogaze.run.watch.WatchOptions", partial(WatchOptions, settled_s=0.2, poll_s=0.05))


@pytest.fixture
def clips(video: Path, tmp_path: Path) -> Path:
    for step in (1000, 2000):
        (tmp_path / "clips" / f"step_{step}").mkdir(parents=True)
        shutil.copy(video, tmp_path / "clips" / f"step_{step}" / "cup.mp4")
    return tmp_path / "clips"


@pytest.fixture
def done(tmp_path: Path) -> Path:
    """A file that says that no more clips come."""
    (tmp_path / "done").touch()
    return tmp_path / "done"


class Notes:
    """A tracker that keeps what it is given; at step `refuses` it refuses."""

    def __init__(self, refuses: int = 0) -> None:
        self.place, self.refusals, self.refuses = "notes:mine", (ConnectionError,), refuses
        self.kept: list[Any] = []

    def start(self, name: str, configuration: Any) -> Self:
        self.kept.append(name)
        return self

    def log(self, numbers: Any, step: int) -> None:
        if step == self.refuses:
            raise ConnectionError("no network")
        self.kept.append(
            (step, numbers["clips/undecided"] + numbers["clips/faulty"], "nothing_found_rate_low" in numbers)
        )

    def finish(self) -> None:
        self.kept.append("finished")


def test_a_line_for_each_checkpoint(robogaze: Shell, clips: Path, tmp_path: Path, done: Path) -> None:
    ran = robogaze("score", clips, "--watch", "--out", tmp_path / "out", "--until", done)
    assert ran.code == 0, ran.err
    first, second = ran.out.splitlines()
    assert first.startswith("step_1000  1 clip: ")
    assert "; nothing-found rate " in second
    assert second.endswith(" n=1")
    assert f"report: {tmp_path / 'out' / 'index.html'}" in ran.err
    assert "step_2000: 1 clip scored" in ran.err


def test_a_gate_that_fails_is_exit_code_3(robogaze: Shell, clips: Path, tmp_path: Path, done: Path) -> None:
    (tmp_path / "gate.yaml").write_text(GATE)
    (clips / "step_2000" / "cut.mp4").write_bytes(b"\0" * 100)
    command = (
        "score",
        clips,
        "--watch",
        "--out",
        tmp_path / "out",
        "--until-idle",
        1,
        "--gate",
        tmp_path / "gate.yaml",
    )
    ran = robogaze(*command, "--json")
    assert ran.code == 3
    first, second = map(json.loads, ran.out.splitlines())
    assert (first["gate"], first["numbers"]["clips/unreadable"]) == ([], 0)
    assert [(rule["rule"], rule["passed"]) for rule in second["gate"]] == [("unscored", False)]
    assert "gate: step_2000: unscored: 50.0% of the clips" in ran.err


def test_a_gate_without_its_baseline_is_an_error(robogaze: Shell, clips: Path, tmp_path: Path, done: Path) -> None:
    (tmp_path / "gate.yaml").write_text(GATE)
    command = ("score", clips, "--watch", "--out", tmp_path / "out", "--until", done, "--gate", tmp_path / "gate.yaml")
    ran = robogaze(*command, "--baseline", "step_900")
    assert ran.code == 2
    assert "--gate checked no checkpoint: --baseline step_900 is neither one of the checkpoints" in ran.err


def test_a_gate_with_one_checkpoint_says_that_nothing_was_checked(
    robogaze: Shell, clips: Path, tmp_path: Path, done: Path
) -> None:
    (tmp_path / "gate.yaml").write_text(GATE)
    shutil.rmtree(clips / "step_2000")
    command = ("score", clips, "--watch", "--out", tmp_path / "out", "--until", done, "--gate", tmp_path / "gate.yaml")
    ran = robogaze(*command)
    assert ran.code == 0
    assert "--gate checked no checkpoint: step_1000 is the baseline" in ran.err


def test_a_clip_that_cannot_be_read_is_exit_code_4(robogaze: Shell, clips: Path, tmp_path: Path, done: Path) -> None:
    (clips / "step_2000" / "cut.mp4").write_bytes(b"\0" * 100)
    ran = robogaze("score", clips, "--watch", "--out", tmp_path / "out", "--until", done)
    assert ran.code == 4
    assert "step_2000  2 clips" in ran.out
    assert ", 1 unreadable; nothing-found rate " in ran.out


def test_a_watch_without_a_clip_is_an_error(robogaze: Shell, tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    ran = robogaze("score", tmp_path / "clips", "--watch", "--out", tmp_path / "out", "--until-idle", 0.1)
    assert (ran.code, ran.err) == (1, "no clip has arrived\n")


def test_a_damaged_manifest_is_an_error_at_the_end(robogaze: Shell, tmp_path: Path) -> None:
    (tmp_path / "clips.jsonl").write_text('{"path": 3}\n')
    ran = robogaze("score", tmp_path / "clips.jsonl", "--watch", "--out", tmp_path / "out", "--until-idle", 0.1)
    assert ran.code == 1
    assert "clips.jsonl:1: path" in ran.err.splitlines()[-1]


def test_every_checkpoint_is_a_step_of_one_run_of_the_tracker(
    robogaze: Shell, clips: Path, tmp_path: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes()
    monkeypatch.setattr(trackers, "open_tracker", lambda text: notes)
    command = ("score", clips, "--watch", "--out", tmp_path / "out", "--until", done, "--track", "notes:mine")
    ran = robogaze(*command)
    assert ran.code == 0
    assert notes.kept == ["out", (1000, 1, True), (2000, 1, True), "finished"]
    assert "sent to notes:mine: step_2000 at step 2000" in ran.err


def test_a_tracker_that_refuses_does_not_end_the_watch(
    robogaze: Shell, clips: Path, tmp_path: Path, done: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = Notes(refuses=1000)
    monkeypatch.setattr(trackers, "open_tracker", lambda text: notes)
    command = ("score", clips, "--watch", "--out", tmp_path / "out", "--until", done, "--track", "notes:mine")
    ran = robogaze(*command)
    assert ran.code == 1
    assert "error: notes:mine refused the numbers of out: no network" in ran.err
    assert notes.kept == ["out", (2000, 1, True), "finished"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--until-idle", "5"], "--until-idle needs --watch"),
        (["--baseline", "step_1"], "--baseline needs --watch"),
        (["--watch"], "--watch needs --out"),
        (["--watch", "--out", "OUT", "--shard", "1/2"], "--watch cannot be used with"),
        (["--watch", "--out", "OUT", "--estimate"], "--watch cannot be used with"),
        (["--watch", "--out", "OUT", "-i", "Move"], "--watch cannot be used with"),
        (["--watch", "--out", "OUT", "--engine", "datatrove"], "--watch cannot be used with --engine datatrove"),
        (["--watch", "--out", "OUT", "--limit", "3"], "--watch scores every clip"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together_are_refused(
    robogaze: Shell, clips: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    given = [str(tmp_path / "out") if argument == "OUT" else argument for argument in arguments]
    ran = robogaze("score", clips, *given)
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "out").exists()
