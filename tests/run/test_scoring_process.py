"""The process of a Monitor, which two threads start and end."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from robogaze.run.scoring_process import ScoringProcess


@pytest.fixture
def messages() -> list[str]:
    """What went wrong."""
    return []


@pytest.fixture
def scorer(tmp_path: Path, messages: list[str]) -> Iterator[ScoringProcess]:
    """A process that waits for the end of its input, and then for long."""
    waits = [sys.executable, "-c", "import time; input(); time.sleep(60)"]
    scorer = ScoringProcess(waits, tmp_path / "log", lambda line: None, messages.append, pause_s=0.0)
    yield scorer
    if scorer.process is not None:
        scorer.process.kill()
        scorer.process.wait()


def test_a_process_that_was_ended_is_not_started_again(scorer: ScoringProcess, messages: list[str]) -> None:
    scorer.keep_running()
    scorer.finish(time.monotonic(), start=True)
    for _ in range(2):  # the thread of the Monitor still writes clips
        scorer.keep_running()
    assert scorer.process is not None
    assert scorer.process.poll() is not None
    assert messages == ["the scoring process did not finish within the time limit of `close` and is ended"]


def test_only_one_thread_at_a_time_ends_the_input(scorer: ScoringProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    locked: list[bool] = []
    end_input = scorer._end_input

    def noted(process: subprocess.Popen[str] | None) -> None:
        locked.append(scorer.lock.locked())
        end_input(process)

    monkeypatch.setattr(scorer, "_end_input", noted)
    scorer.finish(time.monotonic(), start=True)
    assert locked == [True, True]


def test_two_threads_start_one_process(scorer: ScoringProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def slowly(*args: Any, **options: Any) -> subprocess.Popen[str]:
        time.sleep(0.3)
        started.append(popen(*args, **options))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", slowly)
    thread = Thread(target=scorer.keep_running)
    thread.start()
    scorer.finish(time.monotonic(), start=True)
    thread.join()
    ended = [process.poll() is not None for process in started]
    for process in started:
        process.kill()
        process.wait()
    assert ended == [True]
