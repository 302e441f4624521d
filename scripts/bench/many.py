"""Runs of many clips: the time to skip finished ones, and the memory by number of clips: the figures in docs/bench.md
("Measured").

    python scripts/bench/many.py [--finished 10000] [--clips 100 2000]

Memory is the peak of the process (`ru_maxrss`) that runs the pipeline with one call per clip against the stub server,
without its page.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from stub_server import Stub, running
from synthetic import write_clip

ROBOGAZE = [sys.executable, "-m", "robogaze"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--finished", type=int, default=10_000)
    parser.add_argument("--clips", type=int, nargs=2, default=(100, 2_000))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, running(Stub(keep=False)) as url:
        command = ["--pipeline", "vanilla", "--model", f"openai:stub@{url}", "--no-page"]
        _resume(Path(folder), options.finished, command)
        few, many = (_memory(Path(folder), clips, command) for clips in options.clips)
        print(f"memory: {options.clips[1]:,} clips take {many / few:.2f} x what {options.clips[0]:,} take")


def _resume(folder: Path, clips: int, command: list[str]) -> None:
    """Score one clip, copy its report for all others, and start the run again."""
    manifest, run = _listed(folder / "finished", clips), folder / "finished" / "run"
    print(f"first start, which reads every file: {_seconds(manifest, run, [*command, '--max-calls', '1']):.1f} s")
    done = next(run.glob("reports/*.json"))
    text, name = done.read_text(), done.stem
    for number in range(clips):
        (run / "reports" / f"bar-{number}.json").write_text(text.replace(f'"{name}"', f'"bar-{number}"'))
    print(f"{clips:,} finished clips are passed over in {_seconds(manifest, run, command):.1f} s")


def _memory(folder: Path, clips: int, command: list[str]) -> float:
    """The peak memory of a run, in MiB."""
    home = folder / f"run-{clips}"
    manifest = _listed(home, clips)
    arguments = [*ROBOGAZE, "score", str(manifest), "--out", str(home / "run"), *command]
    started = time.perf_counter()
    with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        _, code, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(code)
    assert process.returncode == 0, "the stub answers everything"
    peak = usage.ru_maxrss / 1024
    print(f"{clips:,} clips: peak {peak:.0f} MiB, {time.perf_counter() - started:.1f} s")
    return peak


def _seconds(manifest: Path, run: Path, command: list[str]) -> float:
    started = time.perf_counter()
    done = subprocess.run(
        [*ROBOGAZE, "score", str(manifest), "--out", str(run), *command], capture_output=True, text=True
    )
    assert done.returncode in (0, 4), done.stderr
    return time.perf_counter() - started


def _listed(folder: Path, clips: int) -> Path:
    """A manifest of clips, each in a file of its own."""
    folder.mkdir()
    first = write_clip(folder / "bar.mp4", frames=16, width=64, height=48)
    rows = []
    for number in range(clips):
        shutil.copy(first, folder / f"{number}.mp4")
        rows.append({"path": f"{number}.mp4", "clip_id": f"bar-{number}", "instruction": f"Move bar {number}"})
    manifest = folder / "clips.jsonl"
    manifest.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return manifest


if __name__ == "__main__":
    main()
