"""The process that scores the clips of a Monitor: started, started again when it dies, and ended."""

import json
import os
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any

_FINAL_CODES = (0, 2, 3, 4)
"""The exit codes after which the process is not started again: done, wrong options, a gate failed, clips incomplete."""
_GATE_FAILED = 3
_FIRST_RESTART_S, _LONGEST_RESTART_S = 2.0, 60.0
_MOST_DEATHS = 3
"""How often the process may die while the Monitor is closed."""

_KILL_AFTER_S = 5.0
_NICE = 10


@dataclass
class ScoringProcess:
    """The process that scores. `receive` is called with each line of JSON that the process prints; `fail` is called
    with a message if the process fails.

    `keep_running` and `finish` may be called in different threads at the same time.
    """

    command: list[str]
    log: Path
    receive: Callable[[Mapping[str, Any]], None]
    fail: Callable[[str], None]
    process: subprocess.Popen[str] | None = None
    restart_s: float = 0.0
    pause_s: float = _FIRST_RESTART_S
    reader: Thread | None = None
    deaths: int = 0
    is_finished: bool = False
    lock: Lock = field(default_factory=Lock)

    def keep_running(self) -> None:
        """Start the process; start it again after a pause if it has died. After `finish`, do nothing."""
        with self.lock:
            if not self.is_finished:
                self._keep_running()

    def _keep_running(self) -> None:
        if self.process is None:
            if time.monotonic() >= self.restart_s:
                self._start()
        elif (code := self.process.poll()) is not None and code not in _FINAL_CODES:
            self.fail(f"the scoring process ended with exit code {code} ({self._last_message()}); it starts again")
            self._end_input(self.process)
            self.process = None
            self.deaths += 1
            self.restart_s = time.monotonic() + self.pause_s
            self.pause_s = min(2 * self.pause_s, _LONGEST_RESTART_S)

    def finish(self, end_s: float | None, *, start: bool) -> None:
        """Wait until the process has scored the clips that have arrived, but stop it at `end_s`."""
        self.is_finished = False
        most_deaths = self.deaths + _MOST_DEATHS
        while start and not self._has_ended() and self.deaths < most_deaths:
            self.keep_running()
            with self.lock:
                self._end_input(self.process)
            if end_s is not None and time.monotonic() >= end_s:
                break
            time.sleep(0.05)
        with self.lock:
            self.is_finished = True
            self._end_input(self.process)
        if self.process is not None and self.process.poll() is None:
            self.fail("the scoring process did not finish within the time limit of `close` and is ended")
            self.process.terminate()
            try:
                self.process.wait(_KILL_AFTER_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.reader is not None:
            self.reader.join(_KILL_AFTER_S)

    def _has_ended(self) -> bool:
        return self.process is not None and self.process.poll() in _FINAL_CODES

    def _start(self) -> None:
        try:
            with self.log.open("a", encoding="utf-8") as log:
                self.process = subprocess.Popen(
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    process_group=0,  # Ctrl-C ends the training; the end of its stdin ends this process
                )
        except OSError as error:
            self.fail(f"the scoring process cannot be started: {error}")
            self.restart_s = time.monotonic() + self.pause_s
            return
        lower_priority(self.process.pid)
        self.reader = Thread(target=self._read, args=(self.process,), daemon=True, name="robogaze monitor")
        self.reader.start()

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                if line.startswith("{"):  # anything else was printed by a library
                    self.receive(json.loads(line))
        if process.wait() not in (0, _GATE_FAILED) and process.returncode in _FINAL_CODES:
            self.fail(f"the scoring process ended with exit code {process.returncode}; {self.log} shows why")

    @staticmethod
    def _end_input(process: subprocess.Popen[str] | None) -> None:
        """Signal the end of the input with a line: the end of the pipe would not be seen while child processes of the
        training hold it open. The caller holds the lock, because another thread may close the pipe.
        """
        if process is None:
            return
        assert process.stdin is not None
        if process.stdin.closed:
            return
        try:
            process.stdin.write("\n")
            process.stdin.flush()
        except OSError:
            pass  # it has died; `keep_running` notices
        finally:
            with suppress(OSError):  # the process may have died
                process.stdin.close()

    def _last_message(self) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines() if self.log.exists() else []
        return lines[-1] if lines else "no message"


def lower_priority(pid: int) -> None:
    """Lower the priority of the process, where the system allows it, so that the training gets the cores first."""
    # It counts among the processes of one session only; a process of another session would get an equal share.
    if hasattr(os, "setpriority"):
        os.setpriority(os.PRIO_PROCESS, pid, _NICE)
