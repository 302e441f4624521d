"""How close a run comes to the throughput of its server: the figures in docs/bench.md ("Measured") and docs/cost.md.

64 clips under the full pipeline against a stub server with fixed latency in a separate process. The bound is what no
scheduler can beat: the rounds of a clip in sequence, or all calls at the given concurrency, whichever is longer. Prints
the wall time, its ratio to the bound, and the CPU time per clip of RoboGaze itself (with decoding and encoding), which
shows a slow machine.

    python scripts/bench/orchestration.py [--clips 64] [--concurrency 64] [--latency 2.0]
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
import time
from math import ceil
from pathlib import Path

from synthetic import write_clip

from robogaze.backends import Models, ModelsConfig
from robogaze.datasets import ManifestEntry
from robogaze.domains import default_domain, load_domain
from robogaze.run import run_clips
from robogaze.run.engines.base import ClipWorker
from robogaze.run.engines.local import Local
from robogaze.stages.pipeline import Pipeline


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=64)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=2.0, help="seconds the server takes for each answer")
    options = parser.parse_args()
    port = _free_port()
    server = [sys.executable, str(Path(__file__).with_name("stub_server.py")), f"--port={port}"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen([*server, f"--latency={options.latency}"]) as stub,
    ):
        try:
            path = write_clip(Path(folder) / "clip.mp4", frames=64, width=320, height=240)
            entries = [
                ManifestEntry(path=path, instruction=f"Put bar {number} to the right")
                for number in range(options.clips)
            ]
            _wait_for(port)
            _report(asyncio.run(_measure(entries, options.concurrency, port)), options)
        finally:
            stub.terminate()


async def _measure(entries: list[ManifestEntry], concurrency: int, port: int) -> tuple[float, float, int, int]:
    """Wall seconds, CPU seconds, calls of all clips, and rounds of the longest."""
    config = ModelsConfig.read(f"openai:stub@http://127.0.0.1:{port}/v1").with_concurrency(concurrency)
    models = Models.open(config, None, os.environ)
    unit = ClipWorker(Pipeline.build(load_domain(default_domain()), "full"), models)
    wall, cpu = time.perf_counter(), time.process_time()
    outcome = await run_clips(entries, Local(unit, in_flight=concurrency))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await models.close()
    usages = [digest.usage for digest in outcome.digests.values()]
    assert all(digest.status == "complete" for digest in outcome.digests.values()), "the stub answers everything"
    return wall, cpu, sum(usage.calls for usage in usages), max(usage.rounds for usage in usages)


def _report(measured: tuple[float, float, int, int], options: argparse.Namespace) -> None:
    wall, cpu, calls, rounds = measured
    in_sequence = rounds * options.latency
    in_turn = ceil(calls / options.concurrency) * options.latency
    bound = max(in_sequence, in_turn)
    print(f"{options.clips} clips, {calls} calls, {rounds} rounds, concurrency {options.concurrency}")
    print(f"bound {bound:.1f} s (rounds {in_sequence:.1f} s, calls {in_turn:.1f} s at {options.latency:g} s each)")
    print(
        f"wall  {wall:.1f} s = {wall / bound:.2f} x bound; orchestrator {1000 * cpu / options.clips:.0f} ms CPU a clip"
    )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int) -> None:
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError("the stub server did not start")


if __name__ == "__main__":
    main()
