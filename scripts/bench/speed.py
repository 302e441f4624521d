"""Memory, bytes and processor time of a run on real clips, before and after a change: the tables of docs/cost.md.

Each figure comes from a process of its own that scores the clips with a pipeline and a stub server in another process.
Two states of the source take turns, so that the load of the machine changes both.

    python scripts/bench/speed.py FOLDER --before OTHER_CHECKOUT [--clips 44] [--in-flight 16 --in-flight 64]
    python scripts/bench/speed.py FOLDER --before OTHER_CHECKOUT --pipeline pixels
    python scripts/bench/speed.py FOLDER --settings 'send: file, media_path: /dev/shm, reuse_pictures: true'
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from orchestration import wait_for

HERE = Path(__file__).parents[2]

Figures = dict[str, float]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=lambda path: Path(path).resolve(), help="real clips, or a manifest")
    parser.add_argument("--before", type=Path, help="another checkout, for comparison")
    parser.add_argument("--clips", type=int, default=44)
    parser.add_argument("--in-flight", type=int, action="append", help="default: 16 and 64")
    parser.add_argument("--pipeline", default="full")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds the server takes for each answer")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--settings", default="", help="keys and values of the model, for the state after")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measured(options, options.measure)))
        return
    states = {"after": HERE} if options.before is None else {"before": options.before, "after": HERE}
    for in_flight in options.in_flight or (16, 64):
        found: dict[str, list[Figures]] = {name: [] for name in states}
        for _ in range(options.repeat):
            for name, source in states.items():
                found[name].append(in_own_process(options, source, in_flight))
        print(f"\n{options.clips} clips, {in_flight} in flight, median of {options.repeat}")
        print(table(found))


def table(found: dict[str, list[Figures]]) -> str:
    """A row for each figure, a column for each state, and the ratio of the second to the first."""
    lines = [f"| figure | {' | '.join(found)} | ratio |", "|---" * (len(found) + 2) + "|"]
    for key in next(iter(found.values()))[0]:
        values = [median(figures[key] for figures in measured) for measured in found.values()]
        ratio = f"{values[-1] / values[0]:.2f}" if len(values) > 1 and values[0] else "-"
        lines.append(f"| {key} | {' | '.join(f'{value:,.2f}' for value in values)} | {ratio} |")
    return "\n".join(lines)


def in_own_process(options: argparse.Namespace, source: Path, in_flight: int) -> Figures:
    """Score the clips with one state of the source."""
    with counting_server(options.latency) as (url, counts):
        command = [sys.executable, __file__, str(options.folder), f"--measure={url}", f"--in-flight={in_flight}"]
        command += [f"--clips={options.clips}", f"--pipeline={options.pipeline}"]
        command += [f"--settings={options.settings}"] if source == HERE else []
        environment = {**os.environ, "PYTHONPATH": f"{source}:{source / 'scripts' / 'bench'}"}
        printed = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=source)
        figures: Figures = json.loads(printed.stdout.splitlines()[-1])
        return {**figures, **counts()}


@contextmanager
def counting_server(latency_s: float) -> Iterator[tuple[str, Callable[[], Figures]]]:
    """A stub server in another process; the second value reads what it received."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    server = [sys.executable, str(Path(__file__).with_name("stub_server.py")), f"--port={port}"]
    with (
        tempfile.NamedTemporaryFile() as log,
        subprocess.Popen([*server, f"--latency={latency_s}", f"--log={log.name}"]) as stub,
    ):
        try:
            wait_for(port)
            yield f"http://127.0.0.1:{port}/v1", lambda: received(Path(log.name))
        finally:
            stub.terminate()


def received(log: Path) -> Figures:
    """MiB that the server received: bodies, pictures, and pictures that differ."""
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    distinct = {name: size for line in lines for name, size in line["pictures"]}
    sent = sum(size for line in lines for _, size in line["pictures"])
    sizes = {
        "bodies": sum(line["body"] for line in lines),
        "pictures": sent,
        "distinct pictures": sum(distinct.values()),
    }
    return {"calls": len(lines), **{f"{name}, MiB": size / 2**20 for name, size in sizes.items()}}


def measured(options: argparse.Namespace, url: str) -> Figures:
    """Score the clips in this process."""
    import robogaze

    spent = timed()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        clips = sorted(options.folder.glob("*.mp4"))[: options.clips] if options.folder.is_dir() else None
        lines = (json.dumps({"path": str(clip), "instruction": "Do the task"}) + "\n" for clip in clips or ())
        manifest = options.folder if clips is None else folder / "clips.jsonl"
        if clips is not None:
            manifest.write_text("".join(lines))
        started, cpu_s = time.perf_counter(), time.process_time()
        models = folder / "models.yaml"
        models.write_text(
            f"models: {{stub: {{kind: openai, name: stub, url: {url}, {options.settings}}}}}\nroles: {{vlm: stub}}\n"
        )
        run = robogaze.score(
            manifest,
            model=None if options.pipeline == "pixels" else str(models),
            pipeline=options.pipeline,
            concurrency=options.in_flight[0],
            out=folder / "run",
        )
        wall_s, cpu_s = time.perf_counter() - started, time.process_time() - cpu_s
        reports = list(run)
    assert not any(failure.stage != "measure" for report in reports for failure in report.failures), "the stub answers"
    count = len(reports)
    a_clip = {f"{name}, ms of processor a clip": 1000 * s / count for name, s in spent.items()}
    return {
        "peak memory, MiB": peak_mib(),
        "clips a minute": 60 * count / wall_s,
        "all, ms of processor a clip": 1000 * cpu_s / count,
        "processor, s for a second of video": cpu_s / sum(report.clip.duration_s for report in reports),
        **a_clip,
    }


def timed() -> Counter[str]:
    """Count processor time from now on: decoding (without the threads of FFmpeg and, since pictures are converted when
    they are read, without converting), encoding frames and contact sheets, asking (making bodies and reading replies,
    without the HTTP client), and writing reports.
    """
    from robogaze.backends import openai
    from robogaze.media import compose, decode, decoded_clip
    from robogaze.store import folder

    spent: Counter[str] = Counter({"decode": 0.0, "encode": 0.0, "ask": 0.0, "write": 0.0})

    def around(name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            start = time.thread_time()
            try:
                return work(*args, **kwargs)
            finally:
                spent[name] += time.thread_time() - start

        return call

    read = decode.read_frames

    def read_frames(*args: Any, **kwargs: Any) -> Iterator[Any]:
        frames = read(*args, **kwargs)
        following = around("decode", lambda: next(frames, None))
        while (frame := following()) is not None:
            yield frame

    decoded_clip.read_frames = read_frames
    decoded_clip.encode_jpeg = around("encode", compose.encode_jpeg)
    openai.StreamedBody.of = around("ask", openai.StreamedBody.of)  # type: ignore[method-assign]
    openai.parse_completion = around("ask", openai.parse_completion)
    folder.RunFolder.write = around("write", folder.RunFolder.write)  # type: ignore[method-assign]
    return spent


def peak_mib() -> float:
    """The peak memory of this process; getrusage would include the parent's."""
    found = re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


if __name__ == "__main__":
    main()
