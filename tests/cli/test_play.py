"""`robogaze play` on the built-in environments."""

import json
from pathlib import Path

from interactive.castle_agent import agent

from cli.running import Shell


def test_the_three_faults_of_the_castle_are_found_and_what_is_none_is_rejected(robogaze: Shell, tmp_path: Path) -> None:
    model = agent(tmp_path / "agent.yaml", finds=True)
    ran = robogaze(
        "play", "castle", "--model", f"scripted:{model}", "--budget", 100, "--out", tmp_path / "run", "--json"
    )
    (report,) = json.loads(ran.out)["reports"]
    assert (ran.code, report["status"], report["verdict"]) == (0, "complete", "faulty"), ran.err
    found = {event["type"]: event["reproduction"] for event in report["events"]}
    assert {kind: reproduction["reproduced"] for kind, reproduction in found.items()} == dict.fromkeys(
        ("stale_content", "early_disclosure", "unmet_condition"), True
    )
    assert found["early_disclosure"]["commands"] == ["go north", "go east"]
    assert found["stale_content"]["commands"] == ["take matches", "drop matches", "look"]
    assert [hypothesis["verdict"] for hypothesis in report["hypotheses"]] == [
        "accepted", "accepted", "rejected", "accepted",
    ]  # fmt: skip


def test_nothing_is_reported_of_the_clean_castle(robogaze: Shell, tmp_path: Path) -> None:
    model = agent(tmp_path / "agent.yaml", finds=False)
    ran = robogaze(
        "play", "castle:clean", "--model", f"scripted:{model}", "--budget", 100, "--out", tmp_path / "run", "--json"
    )
    (report,) = json.loads(ran.out)["reports"]
    assert (ran.code, report["events"], report["status"], report["verdict"]) == (0, [], "complete", "undecided")
