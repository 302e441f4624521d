"""A play that breaks off: nothing is lost, and it never counts as one without faults."""

from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from interactive.cellar import Cellar
from interactive.plays import FINDING, RULES, after, numbered, played, script, step
from robogaze.core.report import Report
from robogaze.interactive.environments import EnvironmentFault
from robogaze.store import StoredRun

DEAD = EnvironmentFault("no server answers at http://127.0.0.1:9", "unreachable")
HANGS = EnvironmentFault("cellar did not reply within 30 s", "timeout")
ANY_STEP: dict[str, Any] = {"when": {"stage": "play_step"}, "repeat": True}


def failing(fault: Exception, *actions: int) -> Callable[..., Cellar]:
    """Opens sessions of which some actions, counted over all of them, raise a fault."""
    return partial(Cellar, fails=dict.fromkeys(actions, fault), actions=count(1))


async def broken(tmp_path: Path, steps: list[Any], cellar: Any = Cellar, *more: Any, **options: Any) -> Report:
    """The report of a play that has a failure."""
    model = script(tmp_path / "script.yaml", steps, *more)
    result = await played(tmp_path / "run", f"scripted:{model}", cellar=cellar, **options)
    (report,) = result.reports
    assert not report.clean
    assert not report.nothing_found, "a play that broke off shows nothing"
    return report


# The environment.


async def test_an_environment_that_dies_leaves_a_partial_play(tmp_path: Path) -> None:
    report = await broken(tmp_path, FINDING, failing(DEAD, 3), RULES)
    (failure,) = report.failures
    assert (report.status, failure.stage, failure.kind) == ("partial", "environment", "unreachable")
    lines = (tmp_path / "run" / report.clip.uri).read_text().splitlines()
    assert len(lines) == 3, "the steps before are kept"


async def test_what_was_found_before_the_environment_died_is_kept(tmp_path: Path) -> None:
    """It dies in the replay after the play, so the report has not been replayed."""
    report = await broken(tmp_path, FINDING, failing(DEAD, 7), RULES)
    (event,) = report.events
    assert event.reproduction is not None
    assert (event.reproduction.reproduced, report.status) == (None, "partial")


async def test_a_claim_whose_replay_broke_off_is_undecided(tmp_path: Path) -> None:
    report = await broken(tmp_path, FINDING, failing(DEAD, 5), RULES)
    (claim,) = report.hypotheses
    assert (claim.verdict, claim.reason) == ("unverified", "the play ended before it was verified")


async def test_the_next_start_plays_a_broken_play_again(tmp_path: Path) -> None:
    await broken(tmp_path, FINDING, failing(DEAD, 3), RULES)
    result = await played(tmp_path / "run", f"scripted:{tmp_path / 'script.yaml'}")
    (report,) = result.reports
    assert (report.status, len(report.events)) == ("complete", 1)


async def test_an_environment_that_cannot_be_started_is_not_played(tmp_path: Path) -> None:
    class Dead(Cellar):
        async def reset(self) -> Any:
            raise DEAD

    model = script(tmp_path / "script.yaml", FINDING, RULES)
    result = await played(tmp_path / "run", f"scripted:{model}", cellar=Dead)
    assert result.reports == ()
    assert [(play.id, play.fault) for play in result.unplayed] == [("cellar 1", DEAD)]
    assert [(play.uri, play.reason) for play in StoredRun(tmp_path / "run").unreadable] == [("cellar 1", str(DEAD))]


async def test_a_command_without_a_reply_is_shown_to_the_agent_and_may_be_a_fault(tmp_path: Path) -> None:
    crash = {
        "title": "take lamp crashes", "type": "crashed_command", "action": "take lamp", "observed": "An error status.",
        "expected": "The lamp is taken.", "evidence": [{"step": 2, "text": "status 500"}],
        "reproduction": ["down", "take lamp"], "severity": 5, "confidence": 1.0,
    }  # fmt: skip
    steps = [step("down"), step("take lamp", **after()), step(tool="finish", **after(False), candidate=crash)]
    model = script(tmp_path / "script.yaml", steps, RULES)
    fault = EnvironmentFault("the reply has the status 500", "invalid_reply")
    result = await played(tmp_path / "run", f"scripted:{model}", cellar=failing(fault, *range(2, 99, 2)))
    (report,) = result.reports
    assert (report.status, [event.type for event in report.events]) == ("complete", ["crashed_command"])


async def test_an_environment_that_hangs_again_and_again_ends_the_play(tmp_path: Path) -> None:
    steps = [step("look"), *(step(f"look {number}", **after()) for number in range(5))]
    report = await broken(tmp_path, steps, failing(HANGS, *range(2, 99)))
    (failure,) = report.failures
    assert (report.status, failure.kind) == ("partial", "stalled")
    message = "3 commands in a row had no usable reply; the first failure: cellar did not reply within 30 s"
    assert failure.message == message
    assert report.provenance.media["steps"] == 4


# The model.


async def test_a_model_that_repeats_itself_ends_the_play(tmp_path: Path) -> None:
    steps = [step("look"), {**ANY_STEP, "reply": step("look", **after())}]
    report = await broken(tmp_path, steps)
    (failure,) = report.failures
    assert (report.status, failure.kind, report.provenance.media["stopped"]) == ("partial", "looped", "a loop")
    assert report.provenance.media["steps"] == 4


async def test_two_steps_in_turn_are_a_loop_as_well(tmp_path: Path) -> None:
    steps = [step("down"), *(step(command, **after()) for command in ["up", "down"] * 8)]
    report = await broken(tmp_path, steps)
    assert [failure.kind for failure in report.failures] == ["looped"]
    assert report.provenance.media["steps"] == 8


async def test_the_same_command_with_new_replies_is_no_loop(tmp_path: Path) -> None:
    steps = [step("look"), *(step("look", **after()) for _ in range(6)), step(tool="finish", **after())]
    model = script(tmp_path / "script.yaml", steps)
    result = await played(tmp_path / "run", f"scripted:{model}", cellar=partial(Cellar, lies=True))
    assert result.reports[0].status == "complete"


async def test_an_invalid_answer_is_asked_for_again_as_another_sample(tmp_path: Path) -> None:
    steps = [{"when": {"stage": "play_step"}, "text": "I look around."} for _ in range(5)]
    model = script(tmp_path / "script.yaml", [*steps, step("look"), step(tool="finish", **after())])
    result = await played(tmp_path / "run", f"scripted:{model}")
    assert (result.reports[0].status, result.reports[0].provenance.media["steps"]) == ("complete", 1)


async def test_a_model_without_a_usable_answer_leaves_an_unscored_play(tmp_path: Path) -> None:
    report = await broken(tmp_path, [{**ANY_STEP, "text": "I look around."}])
    (failure,) = report.failures
    assert (report.status, failure.kind, report.usage.calls) == ("unscored", "invalid_answer", 9)


async def test_a_model_that_is_gone_leaves_an_unscored_play_that_is_played_again(tmp_path: Path) -> None:
    gone = {**ANY_STEP, "error": {"kind": "unreachable", "message": "gone"}}
    name = script(tmp_path / "script.yaml", [gone])
    model = tmp_path / "models.yaml"
    model.write_text(f"""
models: {{m: {{kind: scripted, name: {name}, retry: {{attempts: 1}}}}}}
roles: {{vlm: m}}
""")
    (report,) = (await played(tmp_path / "run", str(model))).reports
    assert (report.status, report.failures[0].kind) == ("unscored", "unreachable")
    script(name, FINDING, RULES)
    (report,) = (await played(tmp_path / "run", str(model))).reports
    assert report.status == "complete"


async def test_unusable_answers_are_asked_for_again_on_request(tmp_path: Path) -> None:
    await broken(tmp_path, [{**ANY_STEP, "text": "I look around."}])
    model = f"scripted:{script(tmp_path / 'script.yaml', FINDING, RULES)}"
    same = await played(tmp_path / "run", model)
    assert same.reports[0].status == "unscored"
    retried = await played(tmp_path / "run", model, retry_failed=True)
    assert retried.reports[0].status == "complete"


async def test_an_act_without_a_prediction_is_asked_for_again(tmp_path: Path) -> None:
    steps = [step("look", expected=None), step("look"), step(tool="finish", **after())]
    model = script(tmp_path / "script.yaml", steps)
    result = await played(tmp_path / "run", f"scripted:{model}")
    calls = result.reports[0].provenance.calls
    assert calls[0].error == "expected: predict what the reply and the state should be"
    assert result.reports[0].status == "complete"


# The run.


async def test_another_budget_is_another_run(tmp_path: Path) -> None:
    model = f"scripted:{script(tmp_path / 'script.yaml', numbered(FINDING), RULES)}"
    await played(tmp_path / "run", model)
    with pytest.raises(Exception, match=r"play\.budget was 20 and is now 30; choose another `out`"):
        await played(tmp_path / "run", model, budget=30)
