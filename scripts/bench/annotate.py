"""How long annotators wait: 20 at once behind one server on loopback, and a queue of 2,000 clips.

Each annotator opens clips, saves a clip with a growing number of events as the page does, and submits it. Printed are
the median and the 95th percentile of every kind of request, in milliseconds, and the time from start to the address.

    python scripts/bench/annotate.py [--annotators 20] [--clips 10] [--saves 10] [--queue 2000]
"""

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
from synthetic import write_clip

from robogaze.datasets.manifest import ManifestEntry, manifest_text

FRAMES, WIDTH, HEIGHT = 139, 320, 240
THINKING_S = 0.1

Times = dict[str, list[float]]


@contextmanager
def annotating(folder: Path, manifest: Path, names: list[str]) -> Iterator[tuple[list[str], float]]:
    """The command, running; yields the addresses that it printed, and the seconds until then."""
    command = [sys.executable, "-m", "robogaze", "annotate", str(manifest), "--annotators", ",".join(names)]
    command += ["--store", str(folder / f"{manifest.stem}.sqlite"), "--no-browser"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        try:
            addresses = [process.stdout.readline().strip() for _ in names]
            yield addresses, time.perf_counter() - start
        finally:
            process.kill()


def event(number: int) -> dict[str, Any]:
    """An incomplete event, as it is while somebody writes its description."""
    spans = [{"start_s": number % 80 / 10, "end_s": number % 80 / 10 + 0.5}]
    return {"id": f"e{number}", "spans": spans, "severity": 3, "description": "The cup hangs in the air. " * 4}


def annotate(address: str, clips: int, saves: int, times: Times) -> None:
    """What one annotator's browser asks."""
    root, _, token = address.partition("/?token=")
    with httpx2.Client(base_url=root, headers={"x-robogaze-token": token}, timeout=60) as client:

        def timed(kind: str, method: str, path: str, **content: Any) -> Any:
            start = time.perf_counter()
            answer = client.request(method, path, **content)
            times[kind].append(time.perf_counter() - start)
            answer.raise_for_status()
            return answer.json()

        queue = timed("queue", "GET", "/api/queue")["clips"]
        for row in queue[:clips]:
            path = f"/api/clips/{row['clip_id']}"
            timed("clip", "GET", path)
            for base in range(saves):
                body = {"base_revision": base, "clean": False, "events": [event(n) for n in range(base)]}
                timed("save", "PUT", path, json=body)
                time.sleep(THINKING_S)
            timed("save", "PUT", path, json={"base_revision": saves, "clean": True, "events": []})
            timed("submit", "POST", f"{path}/submit", json={"base_revision": saves + 1})


def measure(addresses: list[str], clips: int, saves: int) -> Times:
    """The seconds of every request of annotators who all work at once."""
    times: Times = defaultdict(list)
    threads = [threading.Thread(target=annotate, args=(address, clips, saves, times)) for address in addresses]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def show(title: str, times: Times) -> None:
    print(title)
    for kind, found in times.items():
        median, p95 = np.percentile(found, [50, 95]) * 1000
        print(f"  {kind:8} {median:8.1f} ms   p95 {p95:8.1f} ms   n={len(found)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--annotators", type=int, default=20)
    parser.add_argument("--clips", type=int, default=10)
    parser.add_argument("--saves", type=int, default=10)
    parser.add_argument("--queue", type=int, default=2000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        video = write_clip(folder / "clip.mp4", frames=FRAMES, width=WIDTH, height=HEIGHT)
        for name, count in (("few", options.clips), ("many", options.queue)):
            entries = [
                ManifestEntry(path=video, clip_id=f"clip-{n:04}", instruction="Lift the cup") for n in range(count)
            ]
            (folder / f"{name}.jsonl").write_text(manifest_text(entries, folder))
        names = [f"annotator-{number}" for number in range(options.annotators)]
        with annotating(folder, folder / "few.jsonl", names) as (addresses, _):
            show(
                f"{len(names)} annotators at once, {options.clips} clips each",
                measure(addresses, options.clips, options.saves),
            )
        with annotating(folder, folder / "many.jsonl", names[:1]) as (addresses, start_s):
            show(f"{options.queue} clips in the queue, address after {start_s:.1f} s", measure(addresses, 2, 3))


if __name__ == "__main__":
    main()
