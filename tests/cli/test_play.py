"""`robogaze play` on the built-in environments."""

import json
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import yaml
from interactive.castle_agent import agent
from interactive.environments.hubs import PublicHub, serving
from interactive.plays import step

from cli.running import Shell
from robogaze.domains import domain_folders


def played(robogaze: Shell, tmp_path: Path, environment: str, *, finds: bool = True) -> Any:
    """The report of a play by the scripted agent, which ends without an error."""
    model = agent(tmp_path / "agent.yaml", finds=finds)
    out = tmp_path / "run"
    ran = robogaze("play", environment, "--model", f"scripted:{model}", "--budget", 100, "--out", out, "--json")
    assert ran.code == 0, ran.err
    (report,) = json.loads(ran.out)["reports"]
    return report


def test_the_three_faults_of_the_castle_are_found_and_a_false_alarm_is_rejected(
    robogaze: Shell, tmp_path: Path
) -> None:
    report = played(robogaze, tmp_path, "castle")
    assert (report["status"], report["verdict"]) == ("complete", "faulty")
    found = {event["type"]: event["reproduction"] for event in report["events"]}
    assert {kind: reproduction["reproduced"] for kind, reproduction in found.items()} == dict.fromkeys(
        ("stale_content", "early_disclosure", "unmet_condition"), True
    )
    assert found["early_disclosure"]["commands"] == ["go north", "go east"]
    assert found["stale_content"]["commands"] == ["take matches", "drop matches", "look"]
    assert [hypothesis["verdict"] for hypothesis in report["hypotheses"]] == [
        "accepted", "accepted", "rejected", "accepted",
    ]  # fmt: skip


def test_the_faults_of_the_castle_are_found_behind_the_public_hub(robogaze: Shell, tmp_path: Path) -> None:
    with serving(PublicHub().app) as address:
        report = played(robogaze, tmp_path, address)
    assert report["status"] == "complete"
    assert [event["reproduction"]["reproduced"] for event in report["events"]] == [True, True, True]
    assert report["clip"]["id"] == f"{address.removeprefix('http://')} 1"


def test_an_unreachable_hub_is_reported_as_not_played(robogaze: Shell, tmp_path: Path) -> None:
    model = agent(tmp_path / "agent.yaml", finds=True)
    ran = robogaze("play", "http://127.0.0.1:9", "--model", f"scripted:{model}", "--out", tmp_path / "run", "--json")
    (unplayed,) = json.loads(ran.out)["unplayed"]
    assert (ran.code, unplayed["id"], unplayed["kind"]) == (5, "127.0.0.1:9 1", "unreachable")
    assert "is the server running?" in unplayed["reason"]


def test_nothing_is_reported_of_the_clean_castle(robogaze: Shell, tmp_path: Path) -> None:
    report = played(robogaze, tmp_path, "castle:clean", finds=False)
    assert (report["events"], report["status"], report["verdict"]) == ([], "complete", "undecided")


def test_the_terminal_shows_how_plays_ended_and_what_reproduces_a_fault(robogaze: Shell, tmp_path: Path) -> None:
    model = agent(tmp_path / "agent.yaml", finds=True)
    ran = robogaze("play", "castle", "--model", f"scripted:{model}", "--budget", 100, "--out", tmp_path / "run")
    assert "54 of 100" in ran.out
    assert "finished by the agent" in ran.out
    assert "take matches; drop matches; look" in ran.out
    assert "castle 1: 54 of 100 steps, 3 reports, complete" in ran.err
    assert (tmp_path / "run" / "index.html").is_file()


def test_a_batch_stops_with_its_requests_written(robogaze: Shell, tmp_path: Path) -> None:
    post = tmp_path / "post"
    ran = robogaze("play", "castle", "warehouse", "--model", f"batch:m@{post}", "--out", tmp_path / "run")
    assert ran.code == 4
    assert f"stopped: 2 requests are pending in {post}" in ran.err
    assert len((post / "requests-001.jsonl").read_text().splitlines()) == 2


def test_the_screen_of_the_warehouse_is_shown_and_kept(robogaze: Shell, tmp_path: Path) -> None:
    steps = [step("east"), step(tool="finish", last_step={"as_expected": True, "difference": None})]
    lines: list[Any] = [{"when": {"stage": "play_step"}, "reply": reply} for reply in steps]
    model = tmp_path / "agent.yaml"
    model.write_text(yaml.safe_dump(lines))
    ran = robogaze(
        "play", "warehouse", "--mode", "player", "--memory", "none", "--model", f"scripted:{model}", "--out",
        tmp_path / "run", "--json",
    )  # fmt: skip
    (report,) = json.loads(ran.out)["reports"]
    assert ran.code == 0, ran.err
    assert [call["pictures"] for call in report["provenance"]["calls"]] == [["step-0"], ["step-1"]]
    assert sorted(path.name for path in (tmp_path / "run" / "frames" / "warehouse 1").iterdir()) == [
        "000000.jpg", "000001.jpg",
    ]  # fmt: skip


def test_agents_and_prompts_of_a_folder(robogaze: Shell, tmp_path: Path) -> None:
    own = copytree(domain_folders()["interactive"], tmp_path / "own")
    plain = (own / "agents" / "plain.yaml").read_text()
    (own / "agents" / "short.yaml").write_text(plain.replace("loop_steps: 4", "loop_steps: 2"))
    model = tmp_path / "agent.yaml"
    model.write_text(yaml.safe_dump([{"reply": step("look"), "repeat": True}]))
    ran = robogaze(
        "play", "castle", "--domain", own, "--agent", "short", "--model", f"scripted:{model}", "--out",
        tmp_path / "run", "--json",
    )  # fmt: skip
    (report,) = json.loads(ran.out)["reports"]
    assert (ran.code, report["status"], report["provenance"]["media"]["steps"]) == (4, "partial", 2)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["moon"], 1, "'moon' is neither a built-in environment ("),
        (["castle:+dragon"], 1, "'dragon' is not one of the bugs: fragments, drawer, dropped"),
        (["castle", "castle"], 1, "an environment is listed twice; use --sessions"),
        (["castle", "--agent", "fast"], 1, "the domain interactive has no agent 'fast'; its agents are: full, plain"),
        (["castle", "--domain", "robot"], 1, "the domain robot has no agent 'full'; its agents are: none"),
        (["castle", "--budget", "0"], 2, "--budget"),
        (["castle", "--max-cost", "1"], 2, "--max-cost needs the price of every model in the models file"),
        ([], 2, "ENVIRONMENT"),
    ],
)
def test_an_invalid_environment_is_an_error_before_a_model_is_asked(
    robogaze: Shell, tmp_path: Path, arguments: list[str], code: int, message: str
) -> None:
    ran = robogaze("play", *arguments, "--model", f"batch:m@{tmp_path / 'post'}", "--out", tmp_path / "run")
    assert ran.code == code
    assert message in ran.err
    assert not list((tmp_path / "post").glob("*"))
