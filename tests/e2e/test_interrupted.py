"""Ctrl-C in every command and stage: over within 2 s, exit code 130, one sentence, no traceback, and resumable."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import av
import numpy as np
import pytest
from stub_server import Stub, running
from synthetic import write_clip

WITHIN_S = 2.0
PATIENCE_S = 60.0
"""How long a process may take to get where it is interrupted; the tests share their cores with others."""


def noise(path: Path, seconds: int, width: int = 320, height: int = 240) -> Path:
    """The hardest texture: every pixel is drawn anew in every frame."""
    rng = np.random.default_rng(0)
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=16, options={"preset": "ultrafast", "crf": "30"})
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for _ in range(16 * seconds):
            image = rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
            for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                container.mux(packet)
        for packet in stream.encode():
            container.mux(packet)
    return path


@pytest.fixture(scope="module")
def long_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return noise(tmp_path_factory.mktemp("long") / "noise.mp4", 60)


@pytest.fixture(scope="module")
def short_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("short") / "bar.mp4", frames=24, width=64, height=48)


def command(handler: object, *arguments: object) -> list[str]:
    """The command line, with a handler of SIGINT: a parent in the background ignores it, and children inherit that."""
    name = "SIG_IGN" if handler is signal.SIG_IGN else "default_int_handler"
    code = f"import signal; signal.signal(signal.SIGINT, signal.{name}); from robogaze.cli import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


@contextmanager
def started(*arguments: object) -> Iterator["subprocess.Popen[str]"]:
    """A command under way, in a session of its own; nothing of it is left behind."""
    process = subprocess.Popen(
        command(signal.default_int_handler, *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)


def wait_for(process: "subprocess.Popen[str]", reached: Callable[[], bool]) -> None:
    until = time.monotonic() + PATIENCE_S
    while not reached():
        assert process.poll() is None, f"the command ended before: {process.communicate(timeout=5)}"
        assert time.monotonic() < until, "the command did not get there"
        time.sleep(0.01)


def interrupted(process: "subprocess.Popen[str]") -> tuple[float, str]:
    """Press Ctrl-C; how long the end took, and what stderr says."""
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    took_s = time.monotonic() - start
    assert process.returncode == 130, err
    assert took_s < WITHIN_S, f"{took_s:.1f} s"
    assert "Traceback" not in err, err
    assert "Exception ignored" not in err, err
    assert sum(line.startswith("interrupted:") for line in err.splitlines()) == 1, err
    return took_s, err.strip().splitlines()[-1]


@pytest.mark.parametrize("after_s", [0.05, 1.0, 2.5])
def test_while_pixels_are_decoded_and_measured(long_clip: Path, tmp_path: Path, after_s: float) -> None:
    out = tmp_path / "out"
    with started("score", long_clip, "--out", out) as process:
        wait_for(process, (out / "run.json").is_file)
        time.sleep(after_s)
        _, said = interrupted(process)
    assert said == f"interrupted: finished clips are kept in {out}; run the same command again to resume"


def test_without_a_folder_nothing_is_kept(long_clip: Path) -> None:
    with started("score", long_clip) as process:
        time.sleep(3.0)
        _, said = interrupted(process)
    assert said == "interrupted: no report is kept without --out; with --out FOLDER a run can be resumed"


def test_while_a_model_is_asked_and_the_rest_follows(short_clip: Path, tmp_path: Path) -> None:
    stub, out = Stub(held=True), tmp_path / "out"
    with running(stub) as url:
        arguments = ("score", short_clip, "-i", "Move", "--model", f"openai:stub@{url}", "--out", out)
        with started(*arguments) as process:
            wait_for(process, lambda: stub.requests > 0)
            _, said = interrupted(process)
        assert f"kept in {out}" in said
        stub.held = False
        with started(*arguments) as process:
            process.communicate(timeout=PATIENCE_S)
        assert process.returncode in (0, 4)


@pytest.mark.parametrize("after", [1, 3, 8])
def test_while_reports_are_written(short_clip: Path, tmp_path: Path, after: int) -> None:
    rows = [{"path": str(short_clip), "clip_id": f"c{number}"} for number in range(60)]
    manifest, out = tmp_path / "clips.jsonl", tmp_path / "out"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with started("bench", manifest, "--out", out) as process:
        wait_for(process, lambda: len(list(out.glob("reports/c*.json"))) >= after)
        _, said = interrupted(process)
    assert said == f"interrupted: finished clips are kept in {out}; run the same command again to resume"
    done = list(out.glob("reports/c*.json"))
    assert all(json.loads(path.read_bytes())["clip"] for path in done)


def test_where_nothing_can_be_resumed_it_says_so(long_clip: Path, tmp_path: Path) -> None:
    manifest = tmp_path / "clips.jsonl"
    manifest.write_text("".join(json.dumps({"path": str(long_clip), "clip_id": f"c{n}"}) + "\n" for n in range(9)))
    with started("dataset", "check", manifest) as process:
        time.sleep(2.0)
        _, said = interrupted(process)
    assert said == "interrupted: this command keeps nothing of what it began; run it again"


def test_while_clips_are_planted(long_clip: Path, tmp_path: Path) -> None:
    out = tmp_path / "planted"
    with started("forge", "plant", long_clip, "--out", out) as process:
        wait_for(process, out.is_dir)
        time.sleep(1.0)
        _, said = interrupted(process)
    assert said == f"interrupted: finished clips are kept in {out}; run the same command again to resume"


def test_a_signal_that_the_parent_ignores_stays_ignored(short_clip: Path) -> None:
    process = subprocess.Popen(
        command(signal.SIG_IGN, "score", short_clip),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_S) in (0, 4)
    finally:
        process.kill()
        process.wait(timeout=10)
