"""A run that is killed (-9) at random moments, beside one that is left alone.

Printed: how often it was killed, whether any answered request was sent again, and whether the reports are the same:
byte by byte as those of an undisturbed run that is given the same answers, and, but for what a clock says (latencies),
as those of one that asks for itself.

    python scripts/bench/killed.py [--clips 300] [--kills 5]
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

from stub_server import Stub, running
from synthetic import write_clip

AT_ONCE = 16


@dataclass(frozen=True)
class Trial:
    """What came of it. `sent_again` counts requests beyond those answered and those under way when a process died."""

    kills: int
    code: int
    requests: int
    needed: int
    sent_again: int
    reports: int
    same: bool
    same_bytes: bool


def trial(folder: Path, clips: int, kills: int, rng: random.Random, seconds: tuple[float, float]) -> Trial:
    """Do a run of short clips undisturbed, and once more with `kills` kills, each after some of those seconds."""
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
            try:
                code = run.wait(timeout=rng.uniform(*seconds) if done < kills else None)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
                done += 1
            time.sleep(0.2)  # what was under way arrives at the server all the same
            under_way = AT_ONCE if code is None else 0
            fresh = _answered(folder / "killed") - known
            sent_again += max(0, stub.requests - sent - fresh - under_way)
        requests = stub.requests - needed
        (folder / "again").mkdir()
        shutil.copy(folder / "killed" / "calls.sqlite", folder / "again")
        assert _start(folder, "again", url).wait() == 0
    return Trial(
        kills=done,
        code=code,
        requests=requests,
        needed=needed,
        sent_again=sent_again,
        reports=len(_written(folder / "killed")),
        same=_less_clocks(folder / "killed") == _less_clocks(folder / "whole"),
        same_bytes=_written(folder / "killed") == _written(folder / "again"),
    )


def _start(folder: Path, out: str, url: str) -> subprocess.Popen[bytes]:
    models = folder / "models.yaml"
    models.write_text(
        "models:\n  stub:\n    kind: openai\n    name: stub\n"
        f"    url: {url}\n    frames: uniform 4\n    patience: {{first_wait_s: 0.01}}\nroles: {{vlm: stub}}\n"
    )
    command = [sys.executable, "-m", "robogaze", "bench", str(folder / "clips.jsonl"), "--out", str(folder / out)]
    options = ["--model", str(models), "--no-page"]
    return subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _written(out: Path) -> dict[str, bytes]:
    """Every report of a run as it stands on the disk."""
    return {path.name: path.read_bytes() for path in out.glob("reports/*.json")}


def _less_clocks(out: Path) -> dict[str, Any]:
    """Every report of a run, less what a clock decides."""
    found = {}
    for name, text in _written(out).items():
        report = json.loads(text)
        report["usage"].pop("wall_s")
        for call in report["provenance"]["calls"]:
            call.pop("latency_s")
        found[name] = report
    return found


def _answered(out: Path) -> int:
    """How many answers a run folder holds."""
    if not (out / "calls.sqlite").exists():
        return 0
    with closing(sqlite3.connect(out / "calls.sqlite")) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        return int(database.execute("SELECT COUNT(*) FROM answers").fetchone()[0]) if tables else 0


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clips", type=int, default=300)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = trial(Path(folder), options.clips, options.kills, random.Random(options.seed), (4.0, 15.0))
    print(f"{options.clips} clips, {found.kills} kills, exit code {found.code}")
    print(f"{found.needed} requests needed, {found.requests} sent, {found.sent_again} of them for known answers")
    print(f"{found.reports} reports: same bytes {found.same_bytes}, same but for clocks {found.same}")


if __name__ == "__main__":
    main()
