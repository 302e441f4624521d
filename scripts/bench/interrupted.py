"""Ctrl-C while clips are decoded, measured, asked about and written: the seconds from the signal to the end.

Each command is started, waited for until it is where it is to be interrupted, and left alone for a random time more.

    python scripts/bench/interrupted.py [--times 20] [--seed 1]
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import av
import numpy as np
from stub_server import Stub, running
from synthetic import write_clip

PATIENCE_S = 60.0
"""How long a process may take to get where it is interrupted; others may share its cores."""

Process = subprocess.Popen[str]


@dataclass(frozen=True)
class Interrupted:
    """How a process ended: after how many seconds, with which exit code, and what it said on stderr."""

    seconds: float
    code: int
    err: str

    @property
    def sentence(self) -> str:
        """Its last line."""
        return self.err.strip().splitlines()[-1]

    @property
    def fault(self) -> str | None:
        """What is wrong with the end, but for its time; None where nothing is."""
        if self.code != 130:
            return f"exit code {self.code}: {self.err}"
        if "Traceback" in self.err or "Exception ignored" in self.err:
            return self.err
        said = sum(line.startswith("interrupted:") for line in self.err.splitlines())
        return None if said == 1 else f"{said} sentences: {self.err}"


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


def command(handler: object, *arguments: object) -> list[str]:
    """The command line, with a handler of SIGINT: a parent in the background ignores it, and children inherit that."""
    name = "SIG_IGN" if handler is signal.SIG_IGN else "default_int_handler"
    code = f"import signal; signal.signal(signal.SIGINT, signal.{name}); from robogaze.cli import main; main()"
    return [sys.executable, "-c", code, *map(str, arguments)]


@contextmanager
def started(*arguments: object) -> Iterator[Process]:
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


def wait_for(process: Process, reached: Callable[[], bool]) -> None:
    """Wait until a process is somewhere."""
    until = time.monotonic() + PATIENCE_S
    while not reached():
        assert process.poll() is None, f"the command ended before: {process.communicate(timeout=5)}"
        assert time.monotonic() < until, "the command did not get there"
        time.sleep(0.01)


def interrupt(process: Process) -> Interrupted:
    """Press Ctrl-C."""
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    process.wait(timeout=30)
    seconds = time.monotonic() - start
    _, err = process.communicate(timeout=5)
    return Interrupted(seconds, process.returncode, err)


@dataclass(frozen=True)
class Place:
    """Where a command is interrupted: its arguments, when it is there, and for how long at most it is left alone."""

    name: str
    arguments: tuple[object, ...]
    reached: Callable[[Path], bool]
    longest_s: float


def places(folder: Path, url: str, stub: Stub) -> list[Place]:
    """The four places."""
    long, short = noise(folder / "noise.mp4", 60), write_clip(folder / "bar.mp4", frames=24, width=64, height=48)
    manifest = folder / "clips.jsonl"
    rows = [{"path": str(short), "clip_id": f"c{number:03}"} for number in range(200)]
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    model = ("--model", f"openai:stub@{url}", "-i", "Move the bar")

    def begun(out: Path) -> bool:
        return (out / "run.json").is_file()

    def asked(out: Path) -> bool:
        return stub.requests > 0

    def written(out: Path) -> bool:
        return any(out.glob("reports/c*.json"))

    return [
        Place("decoding", ("score", long, "--pipeline", "vanilla", *model), begun, 0.5),
        Place("measuring", ("score", long), begun, 3.0),
        Place("asking", ("score", short, *model), asked, 1.0),
        Place("writing", ("score", manifest), written, 1.0),
    ]


def main() -> None:
    """Measure and print; exit code 1 where a command did not end as it should."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=20, help="how often each is interrupted")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng, faults = random.Random(options.seed), 0
    with tempfile.TemporaryDirectory() as name, running(stub := Stub(held=True, keep=False)) as url:
        folder = Path(name)
        for place in places(folder, url, stub):
            ends = []
            for number in range(options.times):
                out, stub.requests = folder / f"{place.name}-{number}", 0
                with started(*place.arguments, "--out", out) as process:
                    wait_for(process, lambda place=place, out=out: place.reached(out))
                    time.sleep(rng.uniform(0, place.longest_s))
                    assert process.poll() is None, "the command was over before it was interrupted"
                    ends.append(interrupt(process))
            taken = [end.seconds for end in ends]
            wrong = [end.fault for end in ends if end.fault is not None]
            faults += len(wrong)
            print(f"{place.name}: median {median(taken):.3f} s, max {max(taken):.3f} s, n {len(taken)}")
            print(f"    exit code 130 and one sentence: {len(taken) - len(wrong)} of {len(taken)}")
            print(f"    {ends[-1].sentence.replace(name, '.')}")
            for fault in wrong:
                print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
