"""A play of an environment behind HTTP: a hub with the public one's peculiarities, and one that dies."""

import json
import socket
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from cli.running import Shell

from interactive.castle_agent import agent
from interactive.environments.hubs import PublicHub, serving
from robogaze.interactive.environments.http import HttpEnvironment


@pytest.fixture
def robogaze(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


def test_the_faults_of_the_castle_are_found_behind_the_public_hub(robogaze: Shell, tmp_path: Path) -> None:
    model = agent(tmp_path / "agent.yaml", finds=True)
    with serving(PublicHub().app) as address:
        ran = robogaze(
            "play", address, "--model", f"scripted:{model}", "--budget", 100, "--out", tmp_path / "run", "--json"
        )
    (report,) = json.loads(ran.out)["reports"]
    assert (ran.code, report["status"]) == (0, "complete"), ran.err
    assert [event["reproduction"]["reproduced"] for event in report["events"]] == [True, True, True]
    assert report["clip"]["id"] == f"{address.removeprefix('http://')} 1"


def test_a_hub_that_dies_during_the_play_leaves_a_partial_report(
    robogaze: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = agent(tmp_path / "agent.yaml", finds=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    hub = subprocess.Popen([sys.executable, "-m", "robogaze", "env", "serve", "castle", "--port", str(port)])
    acted, act = count(1), HttpEnvironment.act

    async def dying(self: HttpEnvironment, command: str) -> object:
        if next(acted) == 9:
            hub.kill()
            hub.wait()
        return await act(self, command)

    address = f"http://127.0.0.1:{port}"
    try:
        while robogaze("env", "check", address).code == 5:
            assert hub.poll() is None
        monkeypatch.setattr(HttpEnvironment, "act", dying)
        ran = robogaze("play", address, "--model", f"scripted:{model}", "--out", tmp_path / "run", "--json")
    finally:
        hub.kill()
        hub.wait()
    (report,) = json.loads(ran.out)["reports"]
    assert (ran.code, report["status"], len(report["events"])) == (4, "partial", 1), ran.err
    assert {failure["kind"] for failure in report["failures"]} == {"unreachable"}
    assert report["events"][0]["reproduction"]["reproduced"] is None, "it could not be replayed after the play"


def test_a_hub_that_is_not_there_is_reported_as_not_played(robogaze: Shell, tmp_path: Path) -> None:
    model = agent(tmp_path / "agent.yaml", finds=True)
    ran = robogaze("play", "http://127.0.0.1:9", "--model", f"scripted:{model}", "--out", tmp_path / "run", "--json")
    (unplayed,) = json.loads(ran.out)["unplayed"]
    assert (ran.code, unplayed["id"], unplayed["kind"]) == (5, "127.0.0.1:9 1", "unreachable")
    assert "is the server running?" in unplayed["reason"]
