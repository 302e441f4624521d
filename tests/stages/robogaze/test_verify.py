"""The critic: what it decides, what stays open, and that nothing undecided is accepted."""

from typing import Any

import pytest
from making import scripted

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.stages.robogaze.verify import Verify


def hypothesis(name: str, start: float = 1.0, end: float = 2.0, **fields: Any) -> Hypothesis:
    known = {
        "id": name,
        "dimension": "physical_plausibility",
        "type": "object_floating",
        "spans": (Span(start, end),),
        "severity": 4,
        "confidence": 0.8,
        "description": f"{name}: the cup hangs in the air",
        "evidence": (Evidence(text="nothing is under it", frames=(16, 20), source="propose"),),
        "proposed_by": "specialist",
    }
    return Hypothesis(**{**known, **fields})


def decision(name: str, **fields: Any) -> tuple[str, dict[str, Any]]:
    return name, {
        "verified_evidence": "a gap under the cup",
        "frames": [16],
        "rationale": "it can be seen",
        "decision": "ACCEPT",
        "merge_with": None,
        "primary_dimension": None,
        "type": None,
        "refined_span_s": None,
        "severity": 3,
        "confidence": 0.9,
        **fields,
    }


def reply(*decisions: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"reply": {"decisions": dict(decisions)}}


async def judge(client_for: Any, hypotheses: list[Hypothesis], *lines: dict[str, Any], **parameters: Any) -> Any:
    models, backend = scripted(*lines)
    client, context = client_for(models, hypotheses=tuple(hypotheses))
    context = await Verify(**parameters).run(context, client)
    return {hypothesis.id: hypothesis for hypothesis in context.hypotheses}, context, client, backend


def undecided(context: Any) -> set[str]:
    """What the report's failures say of hypotheses that were left undecided."""
    found = [failure for failure in context.failures if failure.kind == "undecided"]
    assert all((failure.stage, failure.dimension) == ("verify", "physical_plausibility") for failure in found)
    return {failure.message for failure in found}


async def test_accept_takes_the_critics_severity_confidence_span_and_evidence(client_for: Any) -> None:
    said = decision("H1", refined_span_s=[1.0, 2.2], severity=5, confidence=0.7)
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert after["H1"].verdict == "accepted"
    assert after["H1"].spans == (Span(1.0, 2.2),)
    assert (after["H1"].severity, after["H1"].confidence) == (5, 0.7)
    assert [piece.source for piece in after["H1"].evidence] == ["verify", "propose"]


async def test_reject_keeps_the_hypothesis_with_the_reason(client_for: Any) -> None:
    said = decision("H1", decision="REJECT", frames=[], rationale="the hand hides it", severity=None)
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert (after["H1"].verdict, after["H1"].reason) == ("rejected", "the hand hides it")


async def test_an_accept_below_the_least_confidence_is_a_rejection(client_for: Any) -> None:
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(decision("H1", confidence=0.49)))
    assert after["H1"].verdict == "rejected"
    assert "confidence 0.49, under 0.50" in after["H1"].reason


CONTRADICTIONS = [
    ({"frames": []}, "H1: ACCEPT needs frames"),
    ({"decision": "REJECT", "confidence": 1.0}, "H1: REJECT says that the fault is not there, and confidence 1"),
]


@pytest.mark.parametrize(("fields", "says"), CONTRADICTIONS)
async def test_a_contradiction_is_sent_back(client_for: Any, fields: Any, says: str) -> None:
    lines = [reply(decision("H1", **fields)), reply(decision("H1"))]
    after, context, _, backend = await judge(client_for, [hypothesis("H1")], *lines)
    assert (after["H1"].verdict, context.failures) == ("accepted", ())
    assert says in str(backend.asked[1].parts[-1])


@pytest.mark.parametrize(("fields", "says"), CONTRADICTIONS)
async def test_a_contradiction_that_lasts_decides_nothing(client_for: Any, fields: Any, says: str) -> None:
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], *[reply(decision("H1", **fields))] * 3)
    assert after["H1"].verdict == "unverified"
    assert says in after["H1"].reason
    assert undecided(context)


async def test_a_merge_points_to_an_accepted_hypothesis(client_for: Any) -> None:
    merged = decision("H2", decision="MERGE", merge_with="H1", severity=None)
    after, _, _, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], reply(decision("H1"), merged))
    assert (after["H2"].verdict, after["H2"].merged_into) == ("merged", "H1")


async def test_a_chain_of_merges_ends_at_an_accepted_hypothesis(client_for: Any) -> None:
    chain = [decision("H3", decision="MERGE", merge_with="H2"), decision("H2", decision="MERGE", merge_with="H1")]
    after, _, _, _ = await judge(
        client_for, [hypothesis("H1"), hypothesis("H2"), hypothesis("H3")], reply(decision("H1"), *chain)
    )
    assert after["H3"].merged_into == "H1"


async def test_what_the_critic_leaves_out_is_asked_once_more_and_then_unverified(client_for: Any) -> None:
    lines = [reply(decision("H1")), reply()]
    after, context, _, backend = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], *lines)
    assert after["H1"].verdict == "accepted"
    assert after["H2"].verdict == "unverified"
    assert after["H2"].reason == "the critic gave no decision on it"
    assert undecided(context) == {"H2 (object_floating) is undecided: the critic gave no decision on it"}
    assert len(backend.asked) == 2
    assert "H2: the cup" in str(backend.asked[1].parts[-1])


async def test_a_second_round_is_no_repetition_of_the_first(client_for: Any) -> None:
    """With nothing decided the prompt is the same; a cache must not answer it with what the critic said before."""
    _, _, client, backend = await judge(client_for, [hypothesis("H1")], reply(), reply(decision("H1")))
    first, second = (request.key(backend.identity) for request in backend.asked)
    assert first != second
    assert [call.key for call in client.calls] == [first, second]


@pytest.mark.parametrize(
    "second",
    [
        decision("H2", decision="MERGE", merge_with="H1"),  # ... into one that was rejected
        decision("H2", decision="MERGE", merge_with="H3"),  # ... in a circle
    ],
)
async def test_a_merge_without_an_accepted_target_is_requested_again(
    client_for: Any, second: tuple[str, dict[str, Any]]
) -> None:
    first = reply(
        decision("H1", decision="REJECT", frames=[]), second, decision("H3", decision="MERGE", merge_with="H2")
    )
    again = reply(decision("H2"), decision("H3", decision="MERGE", merge_with="H2"))
    after, _, _, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2"), hypothesis("H3")], first, again)
    assert after["H2"].verdict == "accepted"
    assert (after["H3"].verdict, after["H3"].merged_into) == ("merged", "H2")


async def test_events_that_never_overlap_are_not_merged(client_for: Any) -> None:
    merged = decision("H2", decision="MERGE", merge_with="H1")
    hypotheses = [hypothesis("H1", 0, 1), hypothesis("H2", 2, 3)]
    after, context, _, _ = await judge(client_for, hypotheses, reply(decision("H1"), merged), reply(merged))
    assert after["H2"].verdict == "unverified"
    assert after["H2"].reason == "the critic merged it into H1, which is not accepted at an overlapping time"
    assert len(undecided(context)) == 1


async def test_a_much_changed_span_is_verified_again(client_for: Any) -> None:
    #   claimed 1-2 s, refined to 3-3.5 s: a new hypothesis; the next look agrees and settles it
    first, second = decision("H1", refined_span_s=[3.0, 3.5]), decision("H1", refined_span_s=[3.0, 3.6])
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], reply(first), reply(second))
    assert after["H1"].spans == (Span(3.0, 3.6),)
    assert len(backend.asked) == 2
    shown = [shot.picture.frames[0] for shot in backend.asked[1].images]
    assert set(range(48, 56)) <= set(shown), "the second look has close-ups of the refined span"


async def test_three_rounds_are_the_most(client_for: Any) -> None:
    moving = [reply(decision("H1", refined_span_s=[s, s + 0.3])) for s in (3.0, 0.2, 2.0, 1.0)]
    after, _, _, backend = await judge(client_for, [hypothesis("H1")], *moving)
    assert len(backend.asked) == 3
    assert after["H1"].spans == (Span(2.0, 2.3),)


async def test_one_round_is_enough_when_all_is_decided(client_for: Any) -> None:
    _, _, client, backend = await judge(client_for, [hypothesis("H1")], reply(decision("H1")))
    assert len(backend.asked) == client.usage().rounds == 1


async def test_no_hypothesis_asks_nobody(client_for: Any) -> None:
    _, _, _, backend = await judge(client_for, [hypothesis("H1", verdict="rejected", reason="weak")])
    assert backend.asked == []


async def test_without_an_answer_of_the_critic_everything_is_unverified_with_a_failure(client_for: Any) -> None:
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], {"error": {"kind": "refused"}})
    assert after["H1"].verdict == "unverified"
    assert after["H1"].reason.startswith("the critic did not answer: ")
    assert [(failure.stage, failure.kind) for failure in context.failures] == [
        ("verify", "undecided"),
        ("verify", "refused"),
    ]


async def test_what_is_left_out_of_the_last_round_is_a_failure_with_its_reason(client_for: Any) -> None:
    after, context, _, _ = await judge(client_for, [hypothesis("H1")], reply(), max_rounds=1)
    assert after["H1"].reason == "the critic gave no decision on it"
    assert len(undecided(context)) == 1


async def test_without_any_decision_every_hypothesis_is_a_failure(client_for: Any) -> None:
    hypotheses = [hypothesis("H1"), hypothesis("H2")]
    _, context, _, _ = await judge(client_for, hypotheses, {**reply(), "repeat": True})
    assert {message.partition(" ")[0] for message in undecided(context)} == {"H1", "H2"}


async def test_a_decided_hypothesis_is_no_failure(client_for: Any) -> None:
    rejected = decision("H2", decision="REJECT", frames=[])
    _, context, _, _ = await judge(client_for, [hypothesis("H1"), hypothesis("H2")], reply(decision("H1"), rejected))
    assert context.failures == ()


@pytest.mark.parametrize(
    "broken",
    [
        reply(decision("H9")),
        reply(decision("H1", frames=[63, 999])),
        reply(decision("H1", refined_span_s=[2.0, 1.0])),
        reply(decision("H1", refined_span_s=[0.0, 99.0])),
        reply(decision("H1", type="blur", primary_dimension="physical_plausibility")),
        reply(decision("H1", type="blur")),
        reply(decision("H1", severity=6)),
        {"text": '{"decisions": {"H1": {}, "H1": {}}}'},
        reply(decision("H1", decision="MERGE", merge_with="H1")),
        {"reply": {"rejected": ["H1"]}},
        {"reply": ["H1"]},
        {"text": "{}"},
    ],
)
async def test_an_answer_that_breaks_the_contract_is_sent_back(client_for: Any, broken: Any) -> None:
    after, _, client, _ = await judge(client_for, [hypothesis("H1")], broken, reply(decision("H1")))
    assert after["H1"].verdict == "accepted"
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]


async def test_the_critic_may_move_a_claim_to_another_type(client_for: Any) -> None:
    said = decision("H1", type="blur", primary_dimension="visual_quality")
    after, _, _, _ = await judge(client_for, [hypothesis("H1")], reply(said))
    assert (after["H1"].dimension, after["H1"].type) == ("visual_quality", "blur")


async def test_close_ups_are_frames_nobody_was_shown(client_for: Any) -> None:
    _, _, _, backend = await judge(client_for, [hypothesis("H1")], reply(decision("H1")))
    numbers = [shot.picture.frames[0] for shot in backend.asked[0].images]
    overview, closer = numbers[:16], numbers[16:]
    assert overview == list(range(0, 64, 4))
    assert closer == [17, 18, 19, 21, 22, 23, 25, 26, 27, 29, 30, 31]
