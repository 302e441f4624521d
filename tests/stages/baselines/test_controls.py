"""The controls of the robot domain, as pipelines."""

from typing import Any

import pytest

from robogaze.domains import Domain, load_domain
from robogaze.stages.pipeline import Pipeline


@pytest.fixture(scope="module")
def robot() -> Domain:
    return load_domain("robot")


def stages(domain: Domain, name: str) -> dict[str, dict[str, Any]]:
    return {stage: made.model_dump() for stage, made in Pipeline.build(domain, name).stages}


def test_b1_is_one_call_with_the_first_frame_beside(robot: Domain) -> None:
    found = stages(robot, "b1")
    assert list(found) == ["direct", "compose"]
    assert (found["direct"]["prompt"], found["direct"]["samples"], found["direct"]["first_frame"]) == (
        "control", 1, True
    )  # fmt: skip


def test_b2_is_nine_answers_to_the_request_of_b1_and_a_vote_of_five(robot: Domain) -> None:
    one, nine = stages(robot, "b1"), stages(robot, "b2")
    changed = {name for name, value in nine["direct"].items() if value != one["direct"][name]}
    assert changed == {"samples", "temperature"}
    assert nine["direct"]["samples"] == 9
    assert 4 / 9 < nine["vote"]["min_share"] <= 5 / 9


def test_b3_has_no_specialists_and_no_memory(robot: Domain) -> None:
    assert list(stages(robot, "b3")) == ["direct", "verify", "compose"]


def test_b4b_is_b4a_with_the_schema(robot: Domain) -> None:
    without, whole = stages(robot, "b4a"), stages(robot, "b4b")
    assert list(without) == list(whole) == ["scan", "remember", "investigate", "trace", "compose"]
    differing = {name: {key for key in whole[name] if whole[name][key] != without[name][key]} for name in whole}
    assert differing == {
        "scan": {"types"},
        "remember": set(),
        "investigate": {"types"},
        "trace": {"types"},
        "compose": set(),
    }
    assert whole["scan"]["first_frame"]


def test_b5_is_full_without_the_critic(robot: Domain) -> None:
    whole, without = stages(robot, "full"), stages(robot, "b5")
    assert list(without) == [name for name in whole if name != "verify"]
    compose = {**whole["compose"], "accept_unverified": True}
    assert without == {**{name: whole[name] for name in without}, "compose": compose}
