"""Ctrl-C in every command and stage: over within 2 s, exit code 130, one sentence, no traceback, and resumable."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest
from e2e.interrupting import TIMEOUT_S, Process, command, computed_s, interrupt, noise, started, wait_for
from stub_server import Stub, running
from synthetic import write_clip


@pytest.fixture(scope="module")
def long_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return noise(tmp_path_factory.mktemp("long") / "noise.mp4", 60)


@pytest.fixture(scope="module")
def short_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("short") / "bar.mp4", frames=24, width=64, height=48)


def interrupted(process: Process) -> str:
    """Press Ctrl-C; return the message."""
    end = interrupt(process)
    assert end.fault is None, end.fault
    assert end.is_quick, f"{end.seconds:.1f} s"
    return end.sentence


@pytest.mark.parametrize("after_s", [0.05, 1.0])
def test_while_pixels_are_decoded_and_measured(long_clip: Path, tmp_path: Path, after_s: float) -> None:
    out = tmp_path / "out"
    with started("score", long_clip, "--out", out) as process:
        wait_for(process, (out / "run.json").is_file)
        time.sleep(after_s)
        message = interrupted(process)
    assert message == f"interrupted: finished clips are kept in {out}; run the same command again to resume"


def test_without_a_folder_nothing_is_kept(long_clip: Path) -> None:
    with started("score", long_clip) as process:
        wait_for(process, lambda: computed_s(process) > 2.0)
        message = interrupted(process)
    assert message == "interrupted: without --out no report is kept; with --out FOLDER a run can be resumed"


def test_while_a_model_is_asked_and_the_rest_follows(short_clip: Path, tmp_path: Path) -> None:
    stub, out = Stub(held=True), tmp_path / "out"
    with running(stub) as url:
        arguments = ("score", short_clip, "-i", "Move", "--model", f"openai:stub@{url}", "--out", out)
        with started(*arguments) as process:
            wait_for(process, lambda: stub.requests > 0)
            message = interrupted(process)
        assert f"kept in {out}" in message
        stub.held = False
        with started(*arguments) as process:
            process.communicate(timeout=TIMEOUT_S)
        assert process.returncode in (0, 4)


@pytest.mark.parametrize("after", [1, 8])
def test_while_reports_are_written(short_clip: Path, tmp_path: Path, after: int) -> None:
    rows = [{"path": str(short_clip), "clip_id": f"c{number}"} for number in range(200)]
    manifest, out = tmp_path / "clips.jsonl", tmp_path / "out"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out.mkdir()
    (out / "index.html").write_text("the page of an earlier state")
    with started("score", manifest, "--out", out) as process:
        wait_for(process, lambda: len(list(out.glob("reports/c*.json"))) >= after)
        message = interrupted(process)
    assert message == f"interrupted: finished clips are kept in {out}; run the same command again to resume"
    done = list(out.glob("reports/c*.json"))
    assert all(json.loads(path.read_bytes())["clip"] for path in done)
    assert not (out / "index.html").exists(), "its numbers are no longer those of the run"


def test_the_message_says_if_nothing_can_be_resumed(long_clip: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "clips.jsonl"
    manifest.write_text("".join(json.dumps({"path": str(long_clip), "clip_id": f"c{n}"}) + "\n" for n in range(9)))
    with started("dataset", "check", manifest) as process:
        wait_for(process, lambda: computed_s(process) > 1.0)
        message = interrupted(process)
    assert message == "interrupted: nothing was saved; run the command again"


def test_while_clips_are_planted(long_clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "planted"
    with started("forge", "plant", long_clip, "--out", out) as process:
        wait_for(process, out.is_dir)
        time.sleep(1.0)
        message = interrupted(process)
    assert message == f"interrupted: finished clips are kept in {out}; run the same command again to resume"


def test_a_signal_that_the_parent_ignores_stays_ignored(short_clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(signal.SIG_IGN, "score", short_clip, "--out", out),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(process, (out / "run.json").is_file)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=TIMEOUT_S) in (0, 4)
    finally:
        process.kill()
        process.wait(timeout=TIMEOUT_S)
