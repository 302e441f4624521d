"""Starts a command in its own process group and interrupts it with Ctrl-C, which ends it within 2 s."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import av
import numpy as np

TIMEOUT_S = 60.0
"""The time limit for a process to reach the place where it is interrupted; other processes may share its cores."""

WITHIN_S = 2.0
"""The time limit for the end of a command on a machine with a core for each task."""

Process = subprocess.Popen[str]


@dataclass(frozen=True)
class Interrupted:
    """How a process ended: the seconds from the signal to the end, the exit code, and the text on stderr."""

    seconds: float
    code: int
    err: str

    @property
    def is_quick(self) -> bool:
        """Whether it ended within the time limit; with more tasks than cores, everything takes as many times longer."""
        return self.seconds < WITHIN_S * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))

    @property
    def sentence(self) -> str:
        """The last line on stderr."""
        return self.err.strip().splitlines()[-1]

    @property
    def fault(self) -> str | None:
        """What is wrong with the end, apart from its time; None if nothing is."""
        if self.code != 130:
            return f"exit code {self.code}: {self.err}"
        if "Traceback" in self.err or "Exception ignored" in self.err:
            return self.err
        messages = sum(line.startswith("interrupted:") for line in self.err.splitlines())
        return None if messages == 1 else f"{messages} messages: {self.err}"


def noise(path: Path, seconds: int, width: int = 320, height: int = 240) -> Path:
    """A clip of noise, which takes longest to decode and measure."""
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


def command(handler: object, *arguments: object) -> list[str]:
    """The command line with a handler of SIGINT, because children inherit that of a parent in the background."""
    name = "SIG_IGN" if handler is signal.SIG_IGN else "default_int_handler"
    code = f"import signal; signal.signal(signal.SIGINT, signal.{name}); from robogaze.cli import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


@contextmanager
def started(*arguments: object) -> Iterator[Process]:
    """A command in its own session; its processes are killed at the end."""
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
        process.communicate(timeout=TIMEOUT_S)


def wait_for(process: Process, reached: Callable[[], bool]) -> None:
    """Wait until a process has reached a place."""
    until = time.monotonic() + TIMEOUT_S
    while not reached():
        assert process.poll() is None, f"the command ended too early: {process.communicate(timeout=TIMEOUT_S)}"
        assert time.monotonic() < until, "the command did not reach the place"
        time.sleep(0.01)


def computed_s(process: Process) -> float:
    """The seconds that a process has computed so far, in all its threads; it takes 1 to 1.5 to import and start."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def interrupt(process: Process) -> Interrupted:
    """Press Ctrl-C."""
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=TIMEOUT_S)
    seconds = time.monotonic() - start
    _, err = process.communicate(timeout=TIMEOUT_S)
    return Interrupted(seconds, process.returncode, err)
