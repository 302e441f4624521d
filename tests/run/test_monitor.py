"""A Monitor in a training loop: its process scores without a model, or asks a server of fixed answers."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from math import inf
from pathlib import Path
from threading import Event
from typing import Any

import av
import numpy as np
import pytest
from stub_server import Stub, running
from synthetic import write_clip

import robogaze
from robogaze.errors import InputError, OptionError
from robogaze.run.frame_writer import FrameWriter
from robogaze.run.monitor import Monitor, MonitorCounts
from robogaze.run.scoring_process import ScoringProcess, lower_priority
from robogaze.store import StoredRun

Frames = np.ndarray[Any, np.dtype[np.uint8]]

LONGEST_S = 60.0


QUICK = """
from functools import partial
from math import inf
from robogaze.cli import main
from robogaze.run import watch
watch.WatchOptions = partial(watch.WatchOptions, settled_s=0.2, poll_s=0.1)
main()
"""


@pytest.fixture(autouse=True)
def usual_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside other tests, a process of low priority gets little of the processors."""
    monkeypatch.setattr("robogaze.run.scoring_process._NICE", 0)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process takes a clip as complete after 0.2 s instead of 2 s, and starts again after as short a pause."""
    command = Monitor._command
    monkeypatch.setattr(Monitor, "_command", lambda self: [sys.executable, "-c", QUICK, *command(self)[3:]])
    monkeypatch.setattr("robogaze.run.monitor.ScoringProcess", partial(ScoringProcess, pause_s=0.2))


def test_the_scoring_process_has_a_low_priority(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        lower_priority(process.pid)
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 10
        process.communicate(b"\n")


def frames(seed: int = 0, number: int = 16) -> Frames:
    """A bar that crosses a textured background."""
    made = np.repeat(np.random.default_rng(seed).integers(60, 200, (1, 48, 64, 3), dtype=np.uint8), number, axis=0)
    for place in range(number):
        made[place, 16:32, place : place + 12] = (220, 40, 40)
    return made


def wait_for(reached: Callable[[], bool]) -> None:
    until = time.monotonic() + LONGEST_S
    while not reached():
        assert time.monotonic() < until
        time.sleep(0.05)


def reports(out: Path) -> list[str]:
    return sorted(f"{path.parent.parent.name}/{path.stem}" for path in out.glob("*/reports/*.json"))


def test_frames_and_files_are_scored_and_their_rates_returned(tmp_path: Path) -> None:
    video = write_clip(tmp_path / "cup.mp4", frames=16, width=64, height=48)
    with robogaze.Monitor(tmp_path / "out") as monitor:
        assert monitor.submit(frames(), step=1000, prompt="Lift the cup")
        assert monitor.submit(video, step=1000, prompt="Lift the mug", prompt_id="mug")
        assert monitor.submit(frames(1), step=2000, prompt="Lift the cup", name="later", fps=8)
        counts = monitor.close()
        first, second = monitor.completed()
    assert counts == MonitorCounts(submitted=3, written=3, queued=0, dropped=0, failed=0, unscored=0,
                                   failures=counts.failures)  # fmt: skip
    assert (first.step, first.name, first.folder) == (1000, "step_001000", tmp_path / "out" / "step_001000")
    assert sum(first.numbers[f"clips/{verdict}"] for verdict in ("faulty", "clean", "undecided")) == 2
    assert (second.step, second.passed, monitor.should_stop, monitor.completed()) == (2000, True, False, ())
    by_id = {report.clip.id: report.clip for report in robogaze.load_reports(first.folder)}
    assert (by_id["clip_000"].instruction, by_id["clip_000"].frame_count) == ("Lift the cup", 16)
    assert (by_id["cup"].prompt_id, by_id["cup"].checkpoint) == ("mug", "step_001000")
    (later,) = robogaze.load_reports(second.folder)
    assert (later.clip.id, later.clip.fps) == ("later", 8.0)


@pytest.fixture
def released(monkeypatch: pytest.MonkeyPatch) -> Event:
    """No frames are written before this is set."""
    may_write, write = Event(), FrameWriter.write

    def write_later(self: FrameWriter, path: Path, frames: Frames, fps: float) -> None:
        may_write.wait(LONGEST_S)
        write(self, path, frames, fps)

    monkeypatch.setattr(FrameWriter, "write", write_later)
    return may_write


def test_submit_copies_the_frames_and_returns_at_once(tmp_path: Path, released: Event) -> None:
    given = frames()
    monitor = Monitor(tmp_path / "out")
    monitor.submit(given, step=1)
    assert monitor.counts.written == 0
    given[:] = 0
    released.set()
    wait_for(lambda: monitor.counts.written == 1)
    monitor.close(0.0)
    with av.open(str(tmp_path / "out" / "clips" / "step_000001" / "clip_000.mp4")) as container:
        assert next(container.decode(video=0)).to_ndarray(format="rgb24").mean() > 60


def test_a_clip_that_is_written_after_the_close_starts_no_process(tmp_path: Path, released: Event) -> None:
    monitor = Monitor(tmp_path / "out")
    monitor.submit(frames(), step=1)
    monitor.close(0.0)
    released.set()
    monitor._thread.join(LONGEST_S)
    assert monitor.counts.written == 1
    assert monitor._scorer.process is None


def test_invalid_input_is_counted_and_never_raised(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    monitor = Monitor(tmp_path / "out")
    floats, channels_first = frames().astype(np.float32), frames().transpose(0, 3, 1, 2)
    wrong: list[tuple[Any, int]] = [(floats, 1), (channels_first, 1), (object(), 1), (frames()[:0], 1), (frames(), "x")]  # type: ignore[list-item]
    assert [monitor.submit(clip, step=step) for clip, step in wrong] == [False] * 5
    assert not monitor.submit(frames(), step=1, name="a\nb")
    assert not monitor.submit(frames(), step=1, fps=0)
    assert not monitor.submit(frames(), step=1, fps=inf)
    counts = monitor.close()
    assert (counts.submitted, counts.failed, counts.written, counts.unscored) == (8, 8, 0, 0)
    refused = "frames have type float32 and shape (16, 48, 64, 3); give type uint8 and shape (frames, height, width, 3)"
    assert refused in caplog.text
    assert not (tmp_path / "out" / "monitor.log").exists(), "there was nothing to score"


def test_a_clip_that_cannot_be_written_is_counted(tmp_path: Path) -> None:
    monitor = Monitor(tmp_path / "out")
    (tmp_path / "out" / "clips").write_text("not a folder")
    assert monitor.submit(frames(), step=1)
    counts = monitor.close()
    assert (counts.written, counts.failed) == (0, 1)
    assert "step_000001: clip_000 cannot be written: " in counts.failures[0]


def test_a_full_queue_drops_the_new_clip_and_counts_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    large = np.zeros((64, 480, 640, 3), dtype=np.uint8)  # takes longer to encode than to submit
    monitor = Monitor(tmp_path / "out", queue_size=1)
    accepted = [monitor.submit(large, step=1) for _ in range(8)]
    counts = monitor.close(0.0)
    assert 0 < accepted.count(False) == counts.dropped < 8
    assert "a clip was dropped, because the queue of 1 clips is full; clips dropped so far: 1" in caplog.text
    assert counts.submitted == counts.written + counts.queued + counts.dropped == 8
    assert not monitor.submit(large, step=1)
    assert monitor.counts.dropped == counts.dropped + 1, "the Monitor is closed"


def test_a_process_that_is_killed_is_started_again_and_scores_nothing_twice(tmp_path: Path, quick: None) -> None:
    stub, out = Stub(latency_s=0.05), tmp_path / "out"
    with running(stub) as url:
        monitor = Monitor(out, model=f"openai:stub@{url}", pipeline="vanilla")
        monitor.submit(frames(), step=1, prompt="Lift the cup")
        wait_for(lambda: reports(out) == ["step_000001/clip_000"])
        process = monitor._scorer.process
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        monitor.submit(frames(1), step=2, prompt="Lift the cup")
        wait_for(lambda: len(reports(out)) == 2)
        counts = monitor.close()
    assert counts.unscored == 0
    assert any("the scoring process ended with exit code -9" in failure for failure in counts.failures)
    assert stub.requests == 2


def test_a_close_that_times_out_counts_what_is_left_and_the_next_monitor_scores_it(tmp_path: Path, quick: None) -> None:
    stub, out = Stub(held=True), tmp_path / "out"
    with running(stub) as url:
        monitor = Monitor(out, model=f"openai:stub@{url}", pipeline="vanilla")
        monitor.submit(frames(), step=1, prompt="Lift the cup")
        wait_for(lambda: stub.requests == 1)
        start = time.monotonic()
        counts = monitor.close(0.5)
        assert time.monotonic() - start < LONGEST_S
        assert (counts.written, counts.unscored) == (1, 1)
        stub.held = False
        again = Monitor(out, model=f"openai:stub@{url}", pipeline="vanilla")
        counts = again.close()
    assert counts.unscored == 0
    assert reports(out) == ["step_000001/clip_000"]


def test_a_failed_gate_says_that_the_training_should_stop(tmp_path: Path, quick: None) -> None:
    gate = tmp_path / "gate.yaml"
    gate.write_text("rules:\n  - unscored: {at_most: 0.1}\n")
    broken = tmp_path / "cut.mp4"
    broken.write_bytes(b"\0" * 100)
    with Monitor(tmp_path / "out", gate=gate, per_checkpoint=1) as monitor:
        monitor.submit(frames(), step=1, prompt="Lift")
        wait_for(lambda: len(reports(tmp_path / "out")) == 1)
        monitor.submit(broken, step=2, prompt="Lift")
        monitor.close()
        assert monitor.should_stop
        assert [(checkpoint.step, checkpoint.passed) for checkpoint in monitor.completed()] == [(1, True), (2, False)]


def test_wrong_arguments_are_refused_before_the_training_starts(tmp_path: Path) -> None:
    for name in ("queue_size", "per_checkpoint", "concurrency"):
        with pytest.raises(OptionError, match=f"{name} must be at least 1, not 0"):
            Monitor(tmp_path / "out", **{name: 0})  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="outage_s must be at least 0 and finite, not inf"):
        Monitor(tmp_path / "out", outage_s=inf)
    with pytest.raises(OptionError, match=r"the gate none\.yaml does not exist"):
        Monitor(tmp_path / "out", gate="none.yaml")
    (tmp_path / "clips.jsonl").write_text('{"path": 3}\n')
    with pytest.raises(InputError, match=r"clips\.jsonl:1"):
        Monitor(tmp_path)


def test_a_wrong_model_is_a_failure_and_is_not_retried(tmp_path: Path, quick: None) -> None:
    monitor = Monitor(tmp_path / "out", pipeline="full")
    monitor.submit(frames(), step=1)
    counts = monitor.close()
    assert counts.unscored == 1
    assert [failure for failure in counts.failures if "ended with exit code 2" in failure] == [
        f"the scoring process ended with exit code 2; {tmp_path / 'out' / 'monitor.log'} shows why"
    ]


def test_two_files_of_one_name_are_two_clips_and_a_resubmitted_one_is_replaced(
    tmp_path: Path, quick: None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "robogaze")
    for name in "ab":
        (tmp_path / name).mkdir()
        write_clip(tmp_path / name / "cup.mp4", frames=16, width=64, height=48, seed=ord(name))
    with Monitor(tmp_path / "out") as monitor:
        for name in "aba":
            monitor.submit(tmp_path / name / "cup.mp4", step=1)
    found = [report.rpartition("/")[2] for report in reports(tmp_path / "out")]
    assert len(found) == 2
    assert found[0] == "cup"


def test_a_killed_training_leaves_no_process_and_loses_no_clip(tmp_path: Path) -> None:
    program = (
        "import sys, time, numpy as np, robogaze\n"
        "monitor = robogaze.Monitor(sys.argv[1])\n"
        "monitor.submit(np.full((16, 48, 64, 3), 90, np.uint8), step=1)\n"
        "while not monitor.counts.written: time.sleep(0.01)\n"
        "while monitor._scorer.process is None: time.sleep(0.01)\n"
        "print(monitor._scorer.process.pid, flush=True); time.sleep(60)\n"
    )
    out = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", program, str(out)], stdout=subprocess.PIPE, text=True) as training:
        assert training.stdout is not None
        scorer = int(training.stdout.readline())
        training.kill()
    wait_for(lambda: not is_running(scorer))
    assert reports(out) == ["step_000001/clip_000"]


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_the_messages_of_the_process_are_in_its_log(tmp_path: Path, quick: None) -> None:
    with Monitor(tmp_path / "out") as monitor:
        monitor.submit(frames(), step=1)
    assert "step_000001: 1 clip scored" in (tmp_path / "out" / "monitor.log").read_text()
    assert StoredRun(tmp_path / "out" / "step_000001").lines[0].checkpoint == "step_000001"
