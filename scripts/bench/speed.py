"""Memory, bytes and time of runs against a stub server: figures of docs/cost.md, docs/pixels.md and docs/score.md.

The server is in another process and answers after a fixed time. So no schedule can be faster than the bound: the rounds
of a clip in sequence, or all calls at the given concurrency, whichever is longer. Each run is in a process of its own;
at the end it is started again, which skips its finished clips. Without FOLDER, the clips are synthetic.

    python scripts/bench/speed.py [FOLDER] [--clips 44] [--in-flight 16 --in-flight 64] [--pipeline pixels]
    python scripts/bench/speed.py FOLDER --settings 'send: file, media_path: /dev/shm, reuse_pictures: true'

With PYTHONPATH, the code of another checkout is measured.
"""

import argparse
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path

from synthetic import write_clip

Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="real clips (.mp4)")
    parser.add_argument("--clips", type=int, default=44)
    parser.add_argument("--in-flight", type=int, action="append", help="default: 16 and 64")
    parser.add_argument("--pipeline", default="full")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds the server takes for each answer")
    parser.add_argument("--settings", default="", help="keys and values of the model")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options, options.measure)))
        return
    numbers = options.in_flight or [16, 64]
    found = [in_own_process(options, in_flight) for in_flight in numbers]
    print(f"| figure | {' | '.join(f'{in_flight} in flight' for in_flight in numbers)} |")
    print("|---" * (len(numbers) + 1) + "|")
    for name in found[0]:
        print(f"| {name} | {' | '.join(f'{figures[name]:,.2f}' for figures in found)} |")


def in_own_process(options: argparse.Namespace, in_flight: int) -> Figures:
    """Score the clips in another process."""
    with tempfile.NamedTemporaryFile() as log, serving(options.latency, Path(log.name)) as url:
        command = [sys.executable, __file__, *([options.folder] if options.folder else []), f"--measure={url}"]
        command += [f"--in-flight={in_flight}", f"--clips={options.clips}", f"--pipeline={options.pipeline}"]
        command += [f"--latency={options.latency}", f"--settings={options.settings}"]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        return {**json.loads(printed.splitlines()[-1]), **received(Path(log.name))}


@contextmanager
def serving(latency_s: float, log: Path) -> Iterator[str]:
    """The address of a stub server in another process."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = [sys.executable, Path(__file__).with_name("stub_server.py"), f"--port={port}"]
    with subprocess.Popen([*server, f"--latency={latency_s}", f"--log={log}"]) as stub:
        try:
            while stub.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            stub.terminate()


def received(log: Path) -> Figures:
    """MiB that the server received: bodies, pictures, and pictures that differ."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    distinct = {name: size for line in lines for name, size in line["pictures"]}
    return {
        "bodies, MiB": sum(line["body"] for line in lines) / 2**20,
        "pictures, MiB": sum(size for line in lines for _, size in line["pictures"]) / 2**20,
        "distinct pictures, MiB": sum(distinct.values()) / 2**20,
    }


def measured(options: argparse.Namespace, url: str) -> Figures:
    """Score the clips in this process, twice into the same run folder."""
    import robogaze

    (in_flight,) = options.in_flight
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.folder is None:
            clips = [write_clip(folder / "clip.mp4", frames=64, width=320, height=240)] * options.clips
        else:
            clips = sorted(options.folder.resolve().glob("*.mp4"))[: options.clips]
        rows = [{"path": str(clip), "instruction": f"Do task {number}"} for number, clip in enumerate(clips)]
        (folder / "clips.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
        models = folder / "models.yaml"
        models.write_text(
            f"models: {{stub: {{kind: openai, name: stub, url: {url}, {options.settings}}}}}\nroles: {{vlm: stub}}\n"
        )

        def score() -> robogaze.RunResult:
            return robogaze.score(
                folder / "clips.jsonl",
                model=None if options.pipeline == "pixels" else str(models),
                pipeline=options.pipeline,
                concurrency=in_flight,
                out=folder / "run",
            )

        started, cpu_s = time.perf_counter(), time.process_time()
        reports = list(score())
        wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_s
        started = time.perf_counter()
        score()
        again_s = time.perf_counter() - started
    assert not any(failure.stage != "measure" for report in reports for failure in report.failures), "the stub answers"
    calls, rounds = sum(report.usage.calls for report in reports), max(report.usage.rounds for report in reports)
    return {
        "calls": calls,
        "wall time, s": wall_s,
        "bound, s": max(rounds, ceil(calls / in_flight)) * options.latency,
        "peak memory, MiB": peak_mib(),
        "processor, ms a clip": 1000 * cpu_s / len(reports),
        "processor, s for a second of video": cpu_s / sum(report.clip.duration_s for report in reports),
        "second start, s": again_s,
    }


def peak_mib() -> float:
    """The peak memory of this process; getrusage would include the parent's."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    main()
