"""A play that was killed, or that waits for the answers of a batch, arrives where an uninterrupted one does."""

import json
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from interactive.cellar import Cellar
from interactive.plays import FINDING, NOTES, RULES, numbered, played, ruling, script
from robogaze.core.report import Report
from robogaze.errors import AnswersPending

KILLED = """
import asyncio, os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from interactive.cellar import Cellar
from interactive.plays import played

class Deadly(Cellar):
    left = int(sys.argv[4])

    async def act(self, command):
        Deadly.left -= 1
        if Deadly.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return await super().act(command)

asyncio.run(played(Path(sys.argv[2]), sys.argv[3], cellar=Deadly))
"""


def play_until(actions: int, out: Path, model: str) -> subprocess.CompletedProcess[bytes]:
    """Play in another process, which is killed at the action after so many."""
    tests = str(Path(__file__).parent.parent)
    command = [sys.executable, "-c", KILLED, tests, str(out), model, str(actions)]
    return subprocess.run(command, capture_output=True)


def essence(report: Report) -> Any:
    """What a report says, without the times of its calls."""
    return report.model_dump(exclude={"usage": {"wall_s"}, "provenance": {"calls"}})


@pytest.mark.parametrize("actions", [0, 5, 8])
async def test_a_killed_play_arrives_where_an_uninterrupted_one_does(tmp_path: Path, actions: int) -> None:
    model = f"scripted:{script(tmp_path / 'script.yaml', numbered(FINDING), RULES)}"
    killed = play_until(actions, tmp_path / "run", model)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    trace = tmp_path / "run" / "plays" / "cellar 1" / "trace.jsonl"
    resumed = await played(tmp_path / "run", model)
    whole = await played(tmp_path / "whole", model)
    assert essence(resumed.reports[0]) == essence(whole.reports[0])
    assert trace.read_bytes() == (tmp_path / "whole" / "plays" / "cellar 1" / "trace.jsonl").read_bytes()
    assert sorted(path.name for path in trace.parent.iterdir()) == ["report.json", "report.md", "trace.jsonl"]


@pytest.mark.usefixtures("one_scripted_model")
async def test_answered_calls_are_not_sent_again(tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path / 'script.yaml', numbered(FINDING), RULES)}"
    stopped = await played(tmp_path / "run", model, max_calls=3)
    assert "the limit" in str(stopped.stopped)
    script(tmp_path / "script.yaml", numbered(FINDING)[3:], RULES)
    resumed = await played(tmp_path / "run", model)
    assert [len(report.events) for report in resumed.reports] == [1]


async def test_a_finished_play_is_not_played_again(tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path / 'script.yaml', numbered(FINDING), RULES)}"
    first = await played(tmp_path / "run", model)
    page = tmp_path / "run" / "index.html"
    page.write_text("1 play")
    again = await played(tmp_path / "run", model, cellar=partial(Cellar, mended=True))
    assert again.reports == first.reports
    assert page.exists()


async def test_more_sessions_and_environments_continue_a_run(tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path / 'script.yaml', numbered(FINDING), RULES)}"
    await played(tmp_path / "run", model)
    page = tmp_path / "run" / "index.html"
    page.write_text("1 play")
    more = await played(tmp_path / "run", model, ("cellar", "vault"), sessions=2)
    assert not page.exists(), "its numbers are no longer those of the run"
    assert [report.clip.id for report in more.reports] == ["cellar 1", "cellar 2", "vault 1", "vault 2"]


def answer(folder: Path, replies: list[Any]) -> int:
    """Answer the pending requests of a batch in order; the number of answers."""
    requests = sorted(folder.glob("requests-*.jsonl"))[-1]
    lines = []
    for line in requests.read_text().splitlines():
        message = {"role": "assistant", "content": json.dumps(replies.pop(0))}
        body = {"model": "m", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
        response = {"status_code": 200, "body": body}
        lines.append(json.dumps({"custom_id": json.loads(line)["custom_id"], "response": response}) + "\n")
    requests.with_name(requests.name.replace("requests", "answers")).write_text("".join(lines))
    return len(lines)


async def test_a_batch_model_writes_its_requests_and_continues_with_the_answers(tmp_path: Path) -> None:
    replies = [*FINDING, ruling(), NOTES]
    rounds = 0
    while True:
        result = await played(tmp_path / "run", f"batch:m@{tmp_path / 'post'}")
        if result.stopped is None:
            break
        assert isinstance(result.stopped, AnswersPending)
        assert result.reports == ()
        assert answer(tmp_path / "post", replies) == 1
        rounds += 1
    assert (rounds, replies) == (6, [])
    (report,) = result.reports
    assert (report.status, len(report.events)) == ("complete", 1)


async def test_plays_side_by_side_share_the_rounds_of_a_batch(tmp_path: Path) -> None:
    replies = [reply for reply in [*FINDING, ruling()] for _ in range(2)]
    options: dict[str, Any] = {"sessions": 2, "memory": "in_session"}
    for _ in range(5):
        await played(tmp_path / "run", f"batch:m@{tmp_path / 'post'}", **options)
        assert answer(tmp_path / "post", replies) == 2
    result = await played(tmp_path / "run", f"batch:m@{tmp_path / 'post'}", **options)
    assert [len(report.events) for report in result.reports] == [1, 1]
