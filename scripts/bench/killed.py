"""A run that is killed (-9) at random times, compared with an undisturbed one: the figures in docs/score.md
("Measured").

Prints how often it was killed, whether an answered request was sent again, and whether the reports are equal: byte by
byte to those of an undisturbed run that is given the same answers, and, except for latencies, to those of a run that
sends its own requests.

    python scripts/bench/killed.py [--clips 100] [--kills 60]

The kills are divided between as many runs as they need.
"""

import argparse
import json
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from stub_server import Stub, running
from synthetic import write_clip

AT_ONCE = 16
EARLY = 0.15
"""The share of the kills that may come before a start has sent a request."""


@dataclass(frozen=True)
class Trial:
    """The result of a run; `sent_again` counts requests beyond those answered and those in flight at a kill."""

    clips: int
    kills: int
    code: int
    requests: int
    needed: int
    sent_again: int
    reports: int
    same: bool
    same_bytes: bool

    @property
    def holds(self) -> bool:
        """Whether the result is that of an undisturbed run."""
        whole = self.code == 0 and self.reports == self.clips
        return whole and not self.sent_again and self.same and self.same_bytes


def trial(folder: Path, clips: int, kills: int, rng: random.Random, longest_s: float) -> Trial:
    """Run short clips undisturbed, and again with `kills` kills.

    A kill comes up to `longest_s` after the first request of a start, or, for a few, after the start itself.
    """
    clip = write_clip(folder / "bar.mp4", frames=32, width=64, height=48)
    rows = [{"path": clip.name, "instruction": f"Move bar {number}"} for number in range(clips)]
    (folder / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    stub, done, sent_again, code = Stub(latency_s=0.05, keep=False), 0, 0, None
    with running(stub) as url:
        assert _start(folder, "whole", url).wait() == 0
        needed = stub.requests
        while code is None:
            known, sent = _answered(folder / "killed"), stub.requests
            run = _start(folder, "killed", url)
            if rng.random() >= EARLY:
                _wait_for_requests(run, stub, sent)
            try:
                code = run.wait(timeout=rng.uniform(0, longest_s) if done < kills else None)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
                done += 1
            _receive(url)
            under_way = AT_ONCE if code is None else 0
            fresh = _answered(folder / "killed") - known
            sent_again += max(0, stub.requests - sent - fresh - under_way)
        requests = stub.requests - needed
        (folder / "again").mkdir()
        shutil.copy(folder / "killed" / "calls.sqlite", folder / "again")
        assert _start(folder, "again", url).wait() == 0
    return Trial(
        clips=clips,
        kills=done,
        code=code,
        requests=requests,
        needed=needed,
        sent_again=sent_again,
        reports=len(_written(folder / "killed")),
        same=_less_clocks(folder / "killed") == _less_clocks(folder / "whole"),
        same_bytes=_written(folder / "killed") == _written(folder / "again"),
    )


def _wait_for_requests(run: subprocess.Popen[bytes], stub: Stub, sent: int) -> None:
    """Wait until a run sends a request, or ends."""
    while stub.requests == sent and run.poll() is None:
        time.sleep(0.005)


def _receive(url: str) -> None:
    """Let the server take what was under way: it arrives after a kill all the same."""
    for _ in range(4):
        time.sleep(0.05)
        with urlopen(f"{url}/models") as reply:
            reply.read()


def _start(folder: Path, out: str, url: str) -> subprocess.Popen[bytes]:
    models = folder / "models.yaml"
    models.write_text(
        "models:\n  stub:\n    kind: openai\n    name: stub\n"
        f"    url: {url}\n    frames: uniform 4\n    retry: {{first_wait_s: 0.01}}\nroles: {{vlm: stub}}\n"
    )
    arguments = [str(folder / "clips.jsonl"), "--out", str(folder / out), "--model", str(models)]
    started = [sys.executable, "-m", "robogaze", "score", *arguments, "--no-page"]
    return subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _written(out: Path) -> dict[str, bytes]:
    """Every report of a run as it is on disk."""
    return {path.name: path.read_bytes() for path in out.glob("reports/*.json")}


def _less_clocks(out: Path) -> dict[str, Any]:
    """Every report of a run without latencies."""
    found = {}
    for name, text in _written(out).items():
        report = json.loads(text)
        report["usage"].pop("wall_s")
        for call in report["provenance"]["calls"]:
            call.pop("latency_s")
        found[name] = report
    return found


def _answered(out: Path) -> int:
    """The number of answers in a run folder."""
    if not (out / "calls.sqlite").exists():
        return 0
    with closing(sqlite3.connect(out / "calls.sqlite")) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        return int(database.execute("SELECT COUNT(*) FROM answers").fetchone()[0]) if tables else 0


def trials(clips: int, kills: int, rng: random.Random, longest_s: float) -> list[Trial]:
    """As many runs as needed for `kills` kills."""
    found: list[Trial] = []
    while (left := kills - sum(trial.kills for trial in found)) > 0:
        with tempfile.TemporaryDirectory() as folder:
            found.append(trial(Path(folder), clips, left, rng, longest_s))
    return found


def main() -> None:
    """Measure and print; exit code 1 if a result differs from that of an undisturbed run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=100, help="of each run")
    parser.add_argument("--kills", type=int, default=60, help="in all runs")
    parser.add_argument("--longest", type=float, default=0.5, help="the seconds after which a kill comes at the latest")
    parser.add_argument("--seed", type=int, default=4)
    options = parser.parse_args()
    found = trials(options.clips, options.kills, random.Random(options.seed), options.longest)
    codes = ", ".join(f"{code}" for code in sorted({trial.code for trial in found}))
    kills = sum(trial.kills for trial in found)
    print(f"{kills} kills in {len(found)} runs of {options.clips} clips, which ended with exit code {codes}")
    needed, sent, again = (
        sum(getattr(trial, name) for trial in found) for name in ("needed", "requests", "sent_again")
    )
    print(f"    {needed} requests needed, {sent} sent, {again} of them for known answers")
    reports, same_bytes = sum(trial.reports for trial in found), sum(trial.same_bytes for trial in found)
    same = sum(trial.same for trial in found)
    print(f"    {reports} reports: same bytes in {same_bytes} runs of {len(found)}, same but for clocks in {same}")
    holds = all(trial.holds for trial in found)
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
