"""`robogaze score --watch` as a process: killed and started again while clips are written, and ended."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from e2e.interrupting import TIMEOUT_S, interrupt, started, wait_for
from stub_server import Reply, Stub, running
from synthetic import write_clip

CHECKPOINTS, CLIPS = 3, 6
KILLS = 5
MOST = (CHECKPOINTS - 1) * CLIPS
"""With so many reports the server answers no more until the kills are over: a kill comes before the last report. Only
clips of one checkpoint are scored at the same time.
"""


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_clip(tmp_path_factory.mktemp("video") / "bar.mp4", frames=16, width=64, height=48)


@pytest.fixture
def stub() -> Stub:
    return Stub(latency_s=0.1)


@pytest.fixture
def models(stub: Stub, tmp_path: Path) -> Iterator[Path]:
    with running(stub) as url:
        path = tmp_path / "models.yaml"
        path.write_text(
            "models:\n  stub:\n    kind: openai\n    name: stub\n    frames: uniform 4\n"
            f"    url: {url}\n    retry: {{attempts: 1, first_wait_s: 0.01}}\nroles: {{vlm: stub}}\n"
        )
        yield path


def arguments(folder: Path, models: Path, *more: object) -> tuple[object, ...]:
    command = ("score", folder / "clips", "--watch", "--out", folder / "out", "--model", models)
    return (*command, "--pipeline", "vanilla", *more)


def generate(video: Path, clips: Path, pause_s: float) -> None:
    """Write clips as a training does: in pieces, and under their final names from the start."""
    data = video.read_bytes()
    for step in range(1, CHECKPOINTS + 1):
        folder = clips / f"step_{step}"
        folder.mkdir()
        for number in range(CLIPS):
            (folder / f"clip_{number}.txt").write_text(f"Move bar {number} of step {step}")
            with (folder / f"clip_{number}.mp4").open("wb") as file:
                for part in range(4):
                    file.write(data[part * len(data) // 4 : (part + 1) * len(data) // 4])
                    file.flush()
                    time.sleep(pause_s / 4)


def reports(out: Path) -> dict[Path, int]:
    """When each report was written."""
    return {path: path.stat().st_mtime_ns for path in out.glob("*/reports/*.json")}


def test_a_watch_that_is_killed_scores_nothing_twice_and_loses_nothing(
    tmp_path: Path, video: Path, stub: Stub, models: Path
) -> None:
    rng, clips, out = random.Random(0), tmp_path / "clips", tmp_path / "out"
    clips.mkdir()
    stub.behave = lambda body: Reply(content="{}", delay_s=600) if len(reports(out)) >= MOST else None
    writer = Thread(target=generate, args=(video, clips, 0.5))
    writer.start()
    known: dict[Path, int] = {}
    for kill in range(KILLS):
        with started(*arguments(tmp_path, models)) as process:
            before = stub.requests
            wait_for(process, lambda: stub.requests > before or not writer.is_alive())  # noqa: B023
            if kill == KILLS - 1:
                wait_for(process, lambda: bool(reports(out)))
            stub.away = kill == 2
            time.sleep(rng.uniform(0.0, 1.0))
            process.send_signal(signal.SIGKILL)
            process.wait()
            stub.away = False
        assert known.items() <= reports(out).items()
        known = reports(out)
    writer.join()
    stub.behave = lambda body: None
    assert 0 < len(known) < CHECKPOINTS * CLIPS, "killed in the middle"
    (tmp_path / "done").touch()
    with started(*arguments(tmp_path, models, "--until", tmp_path / "done", "--json")) as process:
        printed, err = process.communicate(timeout=2 * TIMEOUT_S)
    assert process.returncode in (0, 4), err
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [(line["checkpoint"], line["step"]) for line in lines] == [("step_1", 1), ("step_2", 2), ("step_3", 3)]
    assert [sum(line["numbers"][f"clips/{name}"] for name in VERDICTS) for line in lines] == [CLIPS] * CHECKPOINTS
    assert known.items() <= reports(out).items()
    assert len(reports(out)) == CHECKPOINTS * CLIPS
    asked = stub.requests - CHECKPOINTS * CLIPS
    assert asked <= KILLS * CLIPS, "only requests in flight at a kill were sent again"


VERDICTS = ("faulty", "clean", "undecided", "unreadable")


def test_ctrl_c_ends_a_watch_and_says_how_to_resume(tmp_path: Path, video: Path, models: Path) -> None:
    clips, out = tmp_path / "clips", tmp_path / "out"
    (clips / "step_1").mkdir(parents=True)
    shutil.copy(video, clips / "step_1" / "cup.mp4")
    with started(*arguments(tmp_path, models)) as process:
        wait_for(process, lambda: len(reports(out)) == 1)
        end = interrupt(process)
    assert end.fault is None
    assert end.is_quick
    assert end.sentence == f"interrupted: finished clips are kept in {out}; run the same command again to resume"


@pytest.mark.parametrize("end", ["\n", ""])
def test_until_dash_ends_with_a_line_or_at_the_end_of_stdin(
    tmp_path: Path, video: Path, models: Path, end: str
) -> None:
    clips = tmp_path / "clips"
    (clips / "step_1").mkdir(parents=True)
    shutil.copy(video, clips / "step_1" / "cup.mp4")
    command = [sys.executable, "-m", "robogaze", *map(str, arguments(tmp_path, models, "--until", "-", "--json"))]
    streams: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, **streams) as process:
        time.sleep(0.5)
        printed, err = process.communicate(end, timeout=2 * TIMEOUT_S)
    assert process.returncode in (0, 4), err
    assert json.loads(printed)["checkpoint"] == "step_1"
