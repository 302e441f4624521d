"""A play: an agent in an environment, from the first step to the report."""

import json
from functools import partial
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest

import robogaze
from interactive.cellar import Cellar
from interactive.plays import FINDING, NOTES, RULES, SUMMARY, after, played, ruling, script, stale, step
from robogaze.backends.scripted import ScriptedBackend
from robogaze.core.report import Report
from robogaze.errors import InputError, OptionError
from robogaze.interactive.play_options import PlayOptions


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every request that a scripted model gets."""
    requests: list[Any] = []
    complete = ScriptedBackend.complete

    async def record(self: ScriptedBackend, request: Any) -> Any:
        requests.append(request)
        return await complete(self, request)

    monkeypatch.setattr(ScriptedBackend, "complete", record)
    return requests


async def report_of(tmp_path: Path, steps: list[Any], *more: Any, **options: Any) -> Report:
    """The report of one play with scripted answers."""
    model = script(tmp_path / "script.yaml", steps, *more)
    result = await played(tmp_path / "run", f"scripted:{model}", **options)
    (report,) = result.reports
    assert (result.stopped, result.unplayed) == (None, ())
    return report


# Finding a fault.


async def test_a_fault_is_found_reproduced_and_reported(tmp_path: Path) -> None:
    report = await report_of(tmp_path, FINDING, RULES)
    (event,) = report.events
    assert (report.status, report.verdict) == ("complete", "faulty")
    assert (event.type, event.dimension, event.severity, event.confidence) == ("stale_content", "shown_content", 2, 0.9)
    assert [(span.start, span.end) for span in event.spans] == [(2, 4)]
    assert event.reproduction is not None
    assert (event.reproduction.commands, event.reproduction.reproduced) == (("down", "take lamp", "look"), True)
    assert report.provenance.media["steps"] == 6, "the commands of the replay are steps"


async def test_the_trace_has_each_step_and_gbqas_files_are_beside_it(tmp_path: Path) -> None:
    report = await report_of(tmp_path, FINDING, RULES)
    lines = [json.loads(line) for line in (tmp_path / "run" / report.clip.uri).read_text().splitlines()]
    assert [(line["step"], line["kind"], line["command"]) for line in lines] == [
        (0, "start", None), (1, "act", "down"), (2, "act", "take lamp"), (3, "act", "look"),
        (4, "replay", "down"), (5, "replay", "take lamp"), (6, "replay", "look"),
    ]  # fmt: skip
    looked = lines[3]
    assert (looked["rationale"], looked["expected"]) == ("to see what it does", "it is done")
    assert (looked["as_expected"], looked["difference"]) == (False, "the lamp is still listed")
    assert (looked["message"], looked["state"]["sack"], looked["claims"]) == ("Here lie: lamp.", ["lamp"], ["H1"])
    folder = (tmp_path / "run" / report.clip.uri).parent
    written = json.loads((folder / "report.json").read_text())
    assert [bug["evidence"]["minimal_reproduction"] for bug in written["bugs"]] == [["down", "take lamp", "look"]]
    assert len(written["steps"]) == 6
    assert "## Bugs\n### E1: the cellar still lists the lamp" in (folder / "report.md").read_text()


async def test_the_commands_of_a_report_are_the_fewest_that_end_in_the_same_reply(tmp_path: Path) -> None:
    commands = ["look", "down", "up", "down", "take lamp", "look"]
    steps = [step(command, **(after() if number else {})) for number, command in enumerate(commands)]
    found = stale(5, 6, reproduction=commands)
    report = await report_of(tmp_path, [*steps, step(tool="finish", **after(), candidate=found)], RULES)
    (event,) = report.events
    assert event.reproduction is not None
    assert (event.reproduction.commands, event.reproduction.recorded) == (("down", "take lamp", "look"), 6)


async def test_fewer_commands_that_end_in_another_reply_need_a_ruling(tmp_path: Path) -> None:
    """The coin stays in the sack at the end, so that leaving it out changes the state and not what is cited."""
    commands = ["take coin", "down", "take lamp", "look"]
    steps = [step(command, **(after() if number else {})) for number, command in enumerate(commands)]
    finish = step(tool="finish", **after(), candidate=stale(3, 4, reproduction=commands))
    for verdict, fewest in (("bug", 3), ("no_bug", 4)):
        rulings = [{"when": {"stage": "play_ruling"}, "reply": ruling(name)} for name in ("bug", verdict)]
        folder = tmp_path / verdict
        folder.mkdir()
        report = await report_of(folder, [*steps, finish], *rulings)
        reproduction = report.events[0].reproduction
        assert reproduction is not None
        assert len(reproduction.commands) == fewest


async def test_wrong_commands_are_replaced_by_those_of_the_session(tmp_path: Path) -> None:
    finish = step(tool="finish", **after(), candidate=stale(2, 3, reproduction=["look"]))
    report = await report_of(tmp_path, [*FINDING[:3], finish], RULES)
    (event,) = report.events
    assert event.reproduction is not None
    assert event.reproduction.commands == ("down", "take lamp", "look")
    assert [evidence.text for evidence in event.evidence if evidence.source == "replay"] == [
        "not shown by: look",
        "shown by: down; take lamp; look",
    ]


# Rejecting what is no fault.


@pytest.mark.parametrize(
    ("evidence", "reason"),
    [
        ([{"step": 3, "text": "Here lies a dragon"}], "step 3 does not show 'Here lies a dragon'"),
        ([{"step": 99, "text": "You take the lamp."}], "step 99 is no step of the session since its last start"),
        ([{"step": 3, "text": "Here lie"}, {"step": 2, "text": "You take"}], "not in the order of the steps"),
        ([{"step": 3, "text": None}], "step 3 has no picture"),
    ],
)
async def test_a_claim_that_cites_what_was_not_observed_is_rejected(
    tmp_path: Path, evidence: list[Any], reason: str
) -> None:
    finish = step(tool="finish", **after(), candidate={**stale(2, 3), "evidence": evidence})
    report = await report_of(tmp_path, [*FINDING[:3], finish, finish])
    (claim,) = report.hypotheses
    assert (report.events, claim.verdict) == ((), "rejected")
    assert reason in claim.reason


async def test_evidence_that_was_not_observed_is_sent_back_once(tmp_path: Path) -> None:
    wrong = step(tool="finish", **after(), candidate=stale(1, 3))
    report = await report_of(tmp_path, [*FINDING[:3], wrong, FINDING[3]], RULES)
    assert len(report.events) == 1
    assert [call.error for call in report.provenance.calls if call.outcome == "invalid"] == [
        "candidate: step 1 does not show 'You take the lamp.'; cite exactly what was observed, or give null"
    ]


async def test_a_claim_that_does_not_show_again_is_rejected_without_a_ruling(tmp_path: Path) -> None:
    """The environment lies: each reply has another number, and the claim cites it."""
    claim = {**stale(2, 3), "evidence": [{"step": 3, "text": "Here lie: lamp. (3)"}]}
    finish = step(tool="finish", **after(), candidate=claim)
    report = await report_of(tmp_path, [*FINDING[:3], finish], cellar=partial(Cellar, lies=True, actions=SHARED()))
    (rejected,) = report.hypotheses
    assert (report.events, rejected.verdict) == ((), "rejected")
    assert rejected.reason == "it did not show again on a fresh session (replays: 1)"


class SHARED:
    """A count that all sessions share."""

    def __init__(self) -> None:
        self.number = 0

    def __next__(self) -> int:
        self.number += 1
        return self.number


@pytest.mark.parametrize(
    ("answer", "verdict", "status"),
    [
        (ruling("no_bug"), "rejected", "complete"),
        (ruling("bug", 0.3), "rejected", "complete"),
        (ruling("unclear"), "unverified", "partial"),
    ],
)
async def test_a_ruling_decides_what_showed_again(
    tmp_path: Path, answer: dict[str, Any], verdict: str, status: str
) -> None:
    report = await report_of(tmp_path, FINDING, {"when": {"stage": "play_ruling"}, "reply": answer})
    (claim,) = report.hypotheses
    assert (report.events, claim.verdict, report.status) == ((), verdict, status)


async def test_the_same_claim_is_reported_once(tmp_path: Path) -> None:
    again = step(tool="finish", **after(), candidate=stale(2, 3))
    steps = [*FINDING[:3], step("look", **after(), candidate=stale(2, 3)), again]
    report = await report_of(tmp_path, steps, RULES)
    assert len(report.events) == 1
    assert [(claim.verdict, claim.merged_into) for claim in report.hypotheses] == [("accepted", None), ("merged", "H1")]


async def test_no_play_shows_that_there_is_no_fault(tmp_path: Path) -> None:
    steps = [*FINDING[:3], step(tool="finish", **after())]
    report = await report_of(tmp_path, steps, cellar=partial(Cellar, mended=True))
    assert (report.status, report.nothing_found, report.verdict) == ("complete", True, "undecided")
    assert {dimension.state for dimension in report.coverage.values()} == {"partial"}


# Steps and tools.


async def test_a_play_ends_when_its_steps_are_used_up_after_a_last_reflection(tmp_path: Path, asked: list[Any]) -> None:
    finish = step(tool="finish", **after(), candidate=stale(2, 3))
    report = await report_of(tmp_path, [*FINDING[:3], finish], budget=3)
    assert report.provenance.media["stopped"] == "steps used up"
    (claim,) = report.hypotheses
    assert (claim.verdict, claim.reason) == ("unverified", "0 steps were left to replay 3 commands")
    assert report.status == "partial", "what could not be verified is not left out"
    assert "act" not in json.dumps(asked[-1].schema["properties"]["tool"]) if asked[-1].stage == "play_step" else True


async def test_in_quality_assurance_documents_are_read_without_a_step(tmp_path: Path, asked: list[Any]) -> None:
    steps = [
        step("design.md", tool="read_document"),
        step("sack", tool="search_documents"),
        step("design.md:1-1", tool="read_document"),
        step(tool="read_log"),
        step("no.md", tool="read_document"),
        step(tool="finish"),
    ]
    report = await report_of(tmp_path, steps)
    assert report.provenance.media["steps"] == 0
    lines = [json.loads(line) for line in (tmp_path / "run" / report.clip.uri).read_text().splitlines()]
    assert [line["message"] for line in lines[2:5]] == [
        "design.md:1: The sack holds two things.",
        "The sack holds two things.",
        "ready",
    ]
    assert lines[5]["fault"] == "refused: there is no document no.md"
    known = asked[-2].parts[0]
    assert '"design.md"' in known
    assert 'Found: "The sack holds two things.' in known


async def test_a_player_sees_no_documents(tmp_path: Path, asked: list[Any]) -> None:
    await report_of(tmp_path, [step(tool="finish")], mode="player")
    assert "You see only what a player sees." in asked[0].parts[0]
    assert "read_document" not in json.dumps(asked[0].schema)
    assert "read_document" not in asked[0].parts[-1]


async def test_readings_in_a_row_are_limited(tmp_path: Path, asked: list[Any]) -> None:
    steps = [step("sack", tool="search_documents") for _ in range(3)] + [step(tool="read_log") for _ in range(3)]
    await report_of(tmp_path, [*steps, step(tool="finish")])
    last = [request for request in asked if request.stage == "play_step"][-1]
    assert "read_log" not in json.dumps(last.schema)


async def test_after_the_end_only_a_restart_is_possible(tmp_path: Path, asked: list[Any]) -> None:
    steps = [step("win"), step(tool="restart", **after()), step("look", **after()), step(tool="finish", **after())]
    report = await report_of(tmp_path, steps)
    tools = asked[1].schema["properties"]["tool"]["enum"]
    assert "restart" in tools
    assert "act" not in tools
    assert report.provenance.media["steps"] == 3, "a restart is a step"


async def test_a_claim_after_a_restart_is_reproduced_from_there(tmp_path: Path) -> None:
    steps = [step("take coin"), step(tool="restart", **after()), step("down", **after()), step("take lamp", **after())]
    steps += [step("look", **after()), step(tool="finish", **after(), candidate=stale(4, 5, reproduction=["look"]))]
    report = await report_of(tmp_path, steps, RULES)
    reproduction = report.events[0].reproduction
    assert reproduction is not None
    assert (reproduction.commands, reproduction.recorded) == (("down", "take lamp", "look"), 3)


# Agents and memory.


async def test_the_plain_agent_reports_at_once_and_does_not_reflect(tmp_path: Path, asked: list[Any]) -> None:
    steps = [step("down"), step("take lamp"), step("look"), step(tool="finish", candidate=stale(2, 3))]
    report = await report_of(tmp_path, steps, agent="plain")
    (event,) = report.events
    assert {request.stage for request in asked} == {"play_step"}
    assert (report.pipeline, report.hypotheses[0].reason) == ("plain", "reported without verification")
    assert event.reproduction is not None
    assert event.reproduction.reproduced, "what it reports is replayed after the play as well"
    assert report.provenance.media["steps"] == 3


async def test_older_steps_are_summarised(tmp_path: Path, asked: list[Any]) -> None:
    steps = [step("look")] + [step(f"look {number}", **after()) for number in range(24)]
    summary = {"when": {"stage": "play_summary"}, "reply": {**SUMMARY, "causes": ["looking shows things"]}}
    await report_of(tmp_path, [*steps, step(tool="finish", **after())], summary, budget=40)
    known = [request for request in asked if request.stage == "play_step"][-1].parts[0]
    assert "Summary of this session up to step" in known
    assert "looking shows things" in known
    assert 'Command: "look 0"' not in known
    assert 'Command: "look 23"' in known


async def test_without_memory_only_the_last_steps_are_shown(tmp_path: Path, asked: list[Any]) -> None:
    steps = [step("look")] + [step(f"look {number}", **after()) for number in range(24)]
    await report_of(tmp_path, [*steps, step(tool="finish", **after())], budget=40, memory="none")
    assert {request.stage for request in asked} == {"play_step"}
    assert asked[-1].parts[0].count("Command: ") == 4


@pytest.mark.parametrize(("memory", "is_shown"), [("both", True), ("in_session", False)])
async def test_a_session_starts_with_what_the_earlier_ones_found_out(
    tmp_path: Path, asked: list[Any], memory: str, is_shown: bool
) -> None:
    notes = {"when": {"stage": "play_memory"}, "reply": {**NOTES, "priorities": ["the deep well"]}, "repeat": True}
    steps = [{"when": {"stage": "play_step"}, "reply": step(tool="finish"), "repeat": True}]
    model = script(tmp_path / "script.yaml", steps, notes)
    result = await played(tmp_path / "run", f"scripted:{model}", sessions=2, memory=memory, seed=3)
    assert [report.clip.id for report in result.reports] == ["cellar 1", "cellar 2"]
    second = next(request for request in asked if request.clip == "cellar 2")
    assert ("the deep well" in second.parts[0]) is is_shown
    assert second.decoding.seed == 4
    assert (tmp_path / "run" / "memory" / "cellar.json").is_file() is is_shown


async def test_every_session_of_an_environment_is_closed(tmp_path: Path) -> None:
    cellars: list[Cellar] = []

    def opened(**fields: Any) -> Cellar:
        cellars.append(Cellar(**fields))
        return cellars[-1]

    await report_of(tmp_path, [step(tool="finish")], cellar=opened)
    assert [cellar.closed for cellar in cellars] == [1] * len(cellars)


async def test_prompts_explain_every_field_of_the_answer(tmp_path: Path, asked: list[Any]) -> None:
    steps = [step("look")] + [step(f"look {number}", **after()) for number in range(24)]
    last = step(tool="finish", **after(), candidate=stale(2, 3) | {"evidence": [{"step": 1, "text": "Here lie"}]})
    await report_of(tmp_path, [*steps, last], RULES, budget=40)
    assert {request.stage for request in asked} == {"play_step", "play_ruling", "play_summary", "play_memory"}
    for request in asked:
        text = "\n".join(part for part in request.parts if isinstance(part, str))
        assert "\n\n\n" not in text
        lines = request.parts[-1].splitlines()
        for field in request.schema["properties"]:
            assert any(line.startswith(f"- {field}:") for line in lines), (request.stage, field)


async def test_requests_share_their_beginning_and_a_bug_without_a_ruling_has_no_reason(
    tmp_path: Path, asked: list[Any]
) -> None:
    await report_of(tmp_path, FINDING, RULES)
    first, second = (request.parts[0] for request in asked[:2])
    assert second.startswith(first)
    (ruled,) = [request.parts[0] for request in asked if request.stage == "play_ruling"]
    assert "(unverified)" in ruled
    assert "the play ended" not in ruled


@pytest.mark.parametrize("number", [nan, inf, -1.0])
@pytest.mark.parametrize("name", ["timeout_s", "outage_s", "max_cost_usd"])
def test_numbers_out_of_their_range_are_refused(name: str, number: float) -> None:
    with pytest.raises(OptionError, match=f"{name} must be .* finite, not {number}"):
        PlayOptions(**{name: number}).check()  # type: ignore[arg-type]


def test_unknown_modes_and_memories_are_refused() -> None:
    with pytest.raises(OptionError, match="mode must be one of player, qa, not 'QA'"):
        PlayOptions(mode="QA").check()  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="memory must be one of none, in_session, cross_session, both, not 'all'"):
        PlayOptions(memory="all").check()  # type: ignore[arg-type]


def test_no_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no environment is given"):
        robogaze.play([], model="scripted:replies.yaml", out=tmp_path / "run")


def test_environments_may_be_paths(tmp_path: Path) -> None:
    (tmp_path / "replies.yaml").write_text("[]\n")
    with pytest.raises(InputError, match=r"none' is neither a built-in environment"):
        robogaze.play(tmp_path / "none", model=f"scripted:{tmp_path / 'replies.yaml'}", out=tmp_path / "run")
