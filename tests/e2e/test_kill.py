"""kill -9 at random moments: nothing that was answered is asked again, and the reports are the same in the end."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from stub_server import Stub, running
from synthetic import write_clip

CLIPS = 20
AT_ONCE = 16


def start(folder: Path, out: Path, url: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "robogaze", "score", str(folder / "clips.jsonl"), "--out", str(out)]
    models = folder / "models.yaml"
    models.write_text(
        "models:\n  stub:\n    kind: openai\n    name: stub\n"
        f"    url: {url}\n    frames: uniform 4\n    patience: {{first_wait_s: 0.01}}\nroles: {{vlm: stub}}\n"
    )
    return subprocess.Popen([*command, "--model", str(models)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def reports(out: Path) -> dict[str, Any]:
    """Every report of a run, less what a clock decides."""
    found = {}
    for path in sorted(out.glob("*/report.json")):
        report = json.loads(path.read_text())
        report["usage"].pop("wall_s")
        for call in report["provenance"]["calls"]:
            call.pop("latency_s")
        found[path.parent.name] = report
    return found


def answered(out: Path) -> int:
    """How many answers the run folder holds."""
    if not (out / "calls.sqlite").exists():
        return 0
    with closing(sqlite3.connect(out / "calls.sqlite")) as database:
        tables = database.execute("SELECT name FROM sqlite_master").fetchall()
        return database.execute("SELECT COUNT(*) FROM answers").fetchone()[0] if tables else 0


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    clip = write_clip(tmp_path / "bar.mp4", frames=32, width=64, height=48)
    rows = [{"path": clip.name, "instruction": f"Move bar {number}"} for number in range(CLIPS)]
    (tmp_path / "clips.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rng, kills, code = random.Random(4), 0, None
    stub = Stub(latency_s=0.05)
    with running(stub) as url:
        assert start(tmp_path, tmp_path / "whole", url).wait() == 0
        needed = stub.requests
        while code is None:
            known, sent = answered(tmp_path / "killed"), stub.requests
            run = start(tmp_path, tmp_path / "killed", url)
            try:
                code = run.wait(timeout=rng.uniform(0.8, 1.8) if kills < 5 else None)
            except subprocess.TimeoutExpired:
                run.send_signal(signal.SIGKILL)
                run.wait()
                kills += 1
            time.sleep(0.2)  # what was under way arrives at the server all the same
            fresh = answered(tmp_path / "killed") - known
            # Every request that was sent is answered anew, save those under way when the process died.
            assert fresh <= stub.requests - sent <= fresh + (AT_ONCE if code is None else 0)
    assert code == 0
    assert kills >= 3, "the run was over before it could be killed"
    assert answered(tmp_path / "killed") == needed

    assert len(reports(tmp_path / "whole")) == CLIPS
    assert reports(tmp_path / "killed") == reports(tmp_path / "whole")
