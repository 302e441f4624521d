"""An environment is built from a proposal: by whom, what is proved, what is sent back, and how a build resumes."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from interactive.builder.scripted_vault import CODE, SLOT, STALE, accepted, entry, plan, script, studio
from interactive.plays import ALWAYS, RULES, after, stale, step
from robogaze.errors import BuildFailed, InputError, OptionError
from robogaze.interactive.builder.build import BuildOptions, BuiltEnvironment, build_environment
from robogaze.interactive.environments import load_folder, open_environment
from robogaze.interactive.environments.check import check_folder, check_protocol

ASKED = "A clerk is locked in a bank. A vault opens for a coin."


def build(folder: Path, entries: Sequence[Mapping[str, Any]], said: list[str] | None = None, **options: Any) -> Any:
    model = script(folder / "script.yaml", entries)
    chosen = BuildOptions(**{"bugs": {"easy": 1, "medium": 1}, **options})
    return asyncio.run(
        build_environment(
            ASKED, model=model, out=folder / "vault", options=chosen, environ={},
            say=(said if said is not None else []).append,
        )
    )  # fmt: skip


def problems(folder: Path) -> list[str]:
    checks = asyncio.run(check_folder(load_folder(str(folder))))
    return [check.problem for check in (*checks, *asyncio.run(check_protocol(str(folder)))) if check.problem]


def test_a_proposal_becomes_an_environment_that_is_won_and_whose_bugs_show(tmp_path: Path) -> None:
    said: list[str] = []
    built: BuiltEnvironment = build(tmp_path, studio(SLOT, STALE), said)
    assert (built.title, built.walkthrough) == ("The Vault", ("take coin", "open vault"))
    assert [(bug.answer.id, bug.difficulty) for bug in built.bugs] == [("slot", "easy"), ("stale", "medium")]
    assert problems(tmp_path / "vault") == []
    assert said == [
        "concept: The Vault",
        "design team: 2 sections",
        "programming team: 9 parts",
        "won with 2 commands",
        "bug slot (easy): proved in 1 commands",
        "bug stale (medium): proved in 2 commands",
    ]
    assert "only for who carries the coin" in (tmp_path / "vault" / "design.md").read_text()


def test_the_bugs_are_in_gbqas_form_and_the_source_an_agent_reads_is_what_runs(tmp_path: Path) -> None:
    build(tmp_path, studio(SLOT, STALE))
    listed = json.loads((tmp_path / "vault" / "bugs" / "1.json").read_text())
    assert [bug["difficulty"] for bug in listed["bugs"]] == ["easy", "medium"]
    with_bug = asyncio.run(_source(f"{tmp_path / 'vault'}:+stale"))
    assert "def open_vault(state):" in with_bug
    assert "The slot asks for a coin." in with_bug
    assert "The floor is empty." not in with_bug


async def _source(spec: str) -> str:
    environment = open_environment(spec, mode="qa")
    documents = environment.documents()
    assert documents is not None
    return await documents.read("world.json")


def test_workers_work_side_by_side_but_only_when_what_a_task_needs_is_done(tmp_path: Path) -> None:
    """Concept; design: plan, two tasks in turn, review; program: plan, eight parts at once, `act`, review; the
    winning commands; two bugs.
    """
    usage = build(tmp_path, studio(SLOT, STALE)).usage
    assert (usage.calls, usage.rounds) == (1 + 4 + 11 + 1 + 2, 1 + 4 + 4 + 1 + 2)


def test_what_a_leader_does_not_accept_is_made_again(tmp_path: Path) -> None:
    entries = studio(SLOT, STALE)
    for place, given in enumerate(entries):
        if given["when"] == {"stage": "build_review", "subject": "design 1"}:
            entries[place] = entry("build_review", "design 1", accepted("places", "rules", rules="too vague"))
    entries.append(entry("build_section", "rules 1", {"paragraphs": ["Only the coin opens it."]}))
    build(tmp_path, entries)
    assert "Only the coin opens it." in (tmp_path / "vault" / "design.md").read_text()


def test_a_program_that_cannot_be_won_is_corrected(tmp_path: Path) -> None:
    broken = ["def finished(state):", "    return state['opened']"]
    repair = {
        "cause": "a wrong key",
        "parts": [{"name": "finished", "lines": [*CODE["finished"]]}],
        "walkthrough": None,
    }
    said: list[str] = []
    build(tmp_path, [*studio(SLOT, STALE, finished=broken), entry("build_repair", None, repair)], said)
    assert "correction 1: a wrong key" in said
    assert problems(tmp_path / "vault") == []


def test_a_program_that_stays_broken_is_no_environment(tmp_path: Path) -> None:
    broken = ["def finished(state):", "    return False"]
    repair = {"cause": "no idea", "parts": [], "walkthrough": None}
    with pytest.raises(BuildFailed, match="cannot be won after 6 corrections: the walkthrough wins in"):
        build(tmp_path, [*studio(finished=broken), entry("build_repair", None, repair, repeat=True)])
    assert not (tmp_path / "vault" / "world.yaml").exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"minimal_reproduction": ["look"]}, "with and without the bug all replies are the same"),
        ({"minimal_reproduction": ["open vault", "look"]}, "it shows already after 1 of 2 commands"),
        ({"lines": ["def open_vault(state):", "    return state['key']"]}, "KeyError"),
        ({"lines": ["def open_vault(state):", "    return 'It is stuck.'"]}, "the walkthrough wins in"),
    ],
)
def test_a_bug_that_cannot_be_proved_is_sent_back(change: dict[str, Any], problem: str, tmp_path: Path) -> None:
    said: list[str] = []
    build(tmp_path, studio({**SLOT, **change}, SLOT), said, bugs={"easy": 1})
    assert any(line.startswith("bug slot (easy) is not proved: ") and problem in line for line in said)
    assert said[-1] == "bug slot (easy): proved in 1 commands"


def test_two_bugs_are_never_in_one_part(tmp_path: Path) -> None:
    second = {**SLOT, "id": "other"}
    built = build(tmp_path, studio(SLOT, second, STALE))
    assert [bug.answer.id for bug in built.bugs] == ["slot", "stale"]


def test_a_bug_that_is_never_proved_ends_the_build(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match="no easy bug could be proved in 4 tries"):
        build(tmp_path, [*studio(), entry("build_bug", None, {**SLOT, "minimal_reproduction": ["look"]}, repeat=True)])


@pytest.mark.usefixtures("one_scripted_model")
def test_a_killed_build_resumes_from_its_answers(tmp_path: Path) -> None:
    with pytest.raises(BuildFailed, match="build_bug"):
        build(tmp_path, studio(SLOT))  # the script ends before the second bug
    said: list[str] = []
    built = build(tmp_path, [entry("build_bug", None, STALE)], said)
    assert [bug.answer.id for bug in built.bugs] == ["slot", "stale"]
    assert problems(tmp_path / "vault") == []


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    build(tmp_path, studio(SLOT, STALE))
    with pytest.raises(InputError, match="already contains a build with other options"):
        build(tmp_path, studio(SLOT, STALE), bugs={"easy": 2})
    other = tmp_path / "other"
    (other / "vault").mkdir(parents=True)
    (other / "vault" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="is not empty and contains no build"):
        build(other, studio(SLOT, STALE))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bugs": {"trivial": 1}}, "the difficulty of a bug must be one of easy, medium, hard; found: trivial"),
        ({"bugs": {"easy": 0}}, "the total number of bugs must be from 1 to 12"),
        ({"target": 1.5}, r"target must be in \[0, 1\], not 1.5"),
    ],
)
def test_options_are_checked_first(options: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=message):
        build(tmp_path, [], **options)


@pytest.mark.parametrize(
    ("planned", "fault"),
    [
        (plan("start", "start"), "two tasks have one id"),
        (plan("start"), "there is no task opening, act, visible, finished"),
        (plan(*CODE, needs={"act": ["magic"]}), "a task needs magic, which is no task"),
        (plan(*CODE, needs={"act": ["look"], "look": ["act"]}), "act, look|look, act"),
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_asked_again(planned: Any, fault: str, tmp_path: Path) -> None:
    entries = [entry("build_plan", "programming", planned) for _ in range(3)]
    with pytest.raises(BuildFailed, match=fault):
        build(tmp_path, [*entries, *studio(SLOT, STALE)])


# The preliminary agent.

SAME = [{"when": {"stage": "judge"}, "reply": {"rationale": "the same", "same_defect": 0.9}, "repeat": True}]
DROPPED = {
    "id": "glue",
    "bug_type": "state error",
    "part": "drop",
    "lines": [
        "def drop(state):",
        "    return 'You drop the coin.' if state['coin'] == 'carried' else 'You carry nothing.'",
    ],
    "minimal_reproduction": ["take coin", "drop coin", "look"],
    "observed_fault": "A coin that was dropped is still carried.",
}
NAMED = {
    "id": "name",
    "bug_type": "wrong text",
    "part": "take",
    "lines": [line.replace("You take the coin.", "You take the key.") for line in CODE["take"]],
    "minimal_reproduction": ["take coin"],
    "observed_fault": "The reply to taking the coin names a key.",
}
EXTENSION = {
    "section": {"title": "A hint", "paragraphs": ["There is a hint."]},
    "parts": [{"name": "HINT", "lines": ["HINT = 'Think of the coin.'"]}],
    "walkthrough": ["take coin", "open vault"],
}
FOUND = stale(
    1, 1, type="unmet_condition", title="opens without the coin", reproduction=["open vault"],
    evidence=[{"step": 1, "text": "The vault opens."}],
)  # fmt: skip
FINDS = [step("open vault"), step(tool="finish", **after(False, "it opened"), candidate=FOUND)]


def playing(*steps: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [*({"when": {"stage": "play_step"}, "reply": dict(given)} for given in steps), RULES, *ALWAYS, *SAME]


def test_an_environment_whose_bugs_the_agent_finds_is_ready(tmp_path: Path) -> None:
    entries = [*studio(SLOT), *playing(*FINDS)]
    said: list[str] = []
    built = build(tmp_path, entries, said, bugs={"easy": 1}, target=1.0)
    assert (built.found, built.reached) == ((1.0,), True)
    assert said[-1] == "bugs that the preliminary agent found: 1 of 1"
    assert (tmp_path / "vault" / "build" / "preliminary-0" / "run" / "reports").is_dir()


def test_an_environment_is_extended_while_the_agent_finds_too_little(tmp_path: Path) -> None:
    entries = [
        *studio(SLOT, STALE, DROPPED, NAMED),
        entry("build_extension", None, EXTENSION, repeat=True),
        *playing(step(tool="finish")),
    ]
    built = build(tmp_path, entries, bugs={"easy": 1}, target=0.5)
    assert (built.found, built.reached) == ((0.0, 0.0, 0.0, 0.0), False)
    assert [(bug.answer.id, bug.difficulty) for bug in built.bugs] == [
        ("slot", "easy"), ("stale", "easy"), ("glue", "medium"), ("name", "hard"),
    ]  # fmt: skip
    assert problems(tmp_path / "vault") == []
    assert "There is a hint." in (tmp_path / "vault" / "design.md").read_text()
