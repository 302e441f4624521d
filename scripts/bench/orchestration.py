"""How close a run comes to the throughput of its server: the figures in docs/score.md ("Measured") and docs/cost.md.

Clips are scored with the full pipeline; a stub server in another process answers after a fixed time. No schedule can be
faster than the bound: the rounds of a clip in sequence, or all calls at the given concurrency, whichever is longer.
Prints the wall time, its ratio to the bound, and RoboGaze's own CPU time per clip (with decoding and encoding).

    python scripts/bench/orchestration.py [--clips 64] [--concurrency 64] [--latency 2.0]
"""

import argparse
import socket
import subprocess
import sys
import tempfile
import time
from math import ceil
from pathlib import Path

from synthetic import write_clip

import robogaze


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds the server takes for each answer")
    options = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = [sys.executable, str(Path(__file__).with_name("stub_server.py")), f"--port={port}"]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen([*server, f"--latency={options.latency}"]) as stub,
    ):
        try:
            folder = Path(name)
            clip = write_clip(folder / "clip.mp4", frames=64, width=320, height=240)
            lines = [f'{{"path": "{clip}", "instruction": "Put bar {n} to the right"}}\n' for n in range(options.clips)]
            (folder / "clips.jsonl").write_text("".join(lines))
            wait_for(port)
            measure(folder, f"http://127.0.0.1:{port}/v1", options)
        finally:
            stub.terminate()


def wait_for(port: int) -> None:
    """Wait until the stub server accepts connections."""
    for _ in range(1200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the stub server did not start")


def measure(folder: Path, url: str, options: argparse.Namespace) -> None:
    """Score the clips and print the figures."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    run = robogaze.score(
        folder / "clips.jsonl",
        model=f"openai:stub@{url}",
        pipeline="full",
        concurrency=options.concurrency,
        out=folder / "run",
    )
    wall_s, cpu_s = time.perf_counter() - wall_s, time.process_time() - cpu_s
    assert all(report.status == "complete" for report in run), "the stub answers every request"
    calls, rounds = sum(report.usage.calls for report in run), max(report.usage.rounds for report in run)
    rounds_s, calls_s = rounds * options.latency, ceil(calls / options.concurrency) * options.latency
    bound_s = max(rounds_s, calls_s)
    print(f"{options.clips} clips, {calls} calls, {rounds} rounds, concurrency {options.concurrency}")
    print(f"bound {bound_s:.1f} s (rounds {rounds_s:.1f} s, calls {calls_s:.1f} s at {options.latency:g} s each)")
    print(f"wall  {wall_s:.1f} s = {wall_s / bound_s:.2f} x bound; {1000 * cpu_s / options.clips:.0f} ms CPU per clip")


if __name__ == "__main__":
    main()
