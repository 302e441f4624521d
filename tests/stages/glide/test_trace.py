"""trace: windows become events, which are followed through the clip and told in one piece."""

from typing import Any

import pytest
from making import make_clip, scripted

from robogaze.core.context import Observation
from robogaze.core.events import Hypothesis
from robogaze.core.time import Span
from robogaze.stages.glide.trace import Trace
from robogaze.stages.glide.windows import cut


def found(name: str, window: int, **fields: Any) -> Hypothesis:
    """What was accepted in a window of two seconds."""
    known = {
        "id": name, "dimension": "physical_plausibility", "type": "object_floating",
        "spans": (Span(2.0 * window, 2.0 * window + 2),), "severity": None, "confidence": 0.9,
        "description": f"the cup of {name} floats", "evidence": (), "proposed_by": "scan", "verdict": "accepted",
        "reason": "seen",
    }  # fmt: skip
    return Hypothesis(**{**known, **fields})


def same(**groups: str) -> dict[str, Any]:
    said = {name: {"reasoning": "the same cup", "same_as": other} for name, other in groups.items()}
    return {"when": {"subject": "same"}, "reply": {"same": said}}


def visible(name: str, window: int, answer: str = "yes") -> dict[str, Any]:
    said = {"reasoning": f"W{window}: {answer}", "visible": answer}
    return {"when": {"subject": f"{name} W{window}"}, "reply": said}


def summary(name: str, text: str) -> dict[str, Any]:
    return {"when": {"subject": f"{name} summary"}, "reply": {"description": text}}


TOLD = summary("H1", "A red cup floats.")
REST = {"when": {"stage": "trace"}, "reply": {"reasoning": "not here", "visible": "no"}, "repeat": True}


async def trace(client_for: Any, hypotheses: list[Hypothesis], *lines: dict[str, Any], seconds: float = 12.0) -> Any:
    models, backend = scripted(*lines)
    clip = make_clip(seconds)
    scanned = tuple(Observation(window=window, notes={"context": "x"}) for window in cut(clip, 4, 8))
    client, context = client_for(models, clip, hypotheses=tuple(hypotheses), scanned=scanned)
    context = await Trace().run(context, client)
    return {hypothesis.id: hypothesis for hypothesis in context.hypotheses}, context, client, backend


def subjects(backend: Any) -> list[str]:
    return [request.subject for request in backend.asked]


async def test_a_fault_is_followed_both_ways_until_it_is_not_seen(client_for: Any) -> None:
    #   windows   0   1   2   3   4   5
    #   seen      no  yes [H1] yes no
    lines = [visible("H1", 1), visible("H1", 3), REST]
    after, _, client, backend = await trace(client_for, [found("H1", 2)], *lines)
    assert after["H1"].spans == (Span(2, 8),)
    assert sorted(subjects(backend)) == ["H1 W0", "H1 W1", "H1 W3", "H1 W4"]
    assert client.usage().rounds == 2, "both directions side by side"


async def test_windows_that_mean_one_event_are_one_with_disjoint_spans(client_for: Any) -> None:
    after, _, client, _ = await trace(client_for, [found("H1", 1), found("H2", 4)], same(H2="H1"), TOLD, REST)
    assert after["H1"].spans == (Span(2, 4), Span(8, 10))
    assert (after["H2"].verdict, after["H2"].merged_into, after["H2"].reason) == ("merged", "H1", "the same cup")
    assert (client.usage().calls, client.usage().rounds) == (1 + 4 + 1, 2), "they are told while they are followed"


async def test_a_gap_in_which_it_is_seen_after_all_is_closed_from_both_ends(client_for: Any) -> None:
    #   windows   0   1    2   3   4    5
    #   seen      no [H1] yes yes [H2]  no
    lines = [same(H2="H1"), TOLD, visible("H1", 2), visible("H1", 3), REST]
    after, _, _, backend = await trace(client_for, [found("H1", 1), found("H2", 4)], *lines)
    assert after["H1"].spans == (Span(2, 10),)
    assert sorted(subjects(backend)) == ["H1 W0", "H1 W2", "H1 W3", "H1 W5", "H1 summary", "same"]


async def test_events_that_differ_stay_apart_and_may_share_time(client_for: Any) -> None:
    lines = [same(H2="H2"), visible("H1", 1), visible("H2", 0), REST]
    after, _, _, _ = await trace(client_for, [found("H1", 0), found("H2", 1)], *lines, seconds=6.0)
    assert [after[name].verdict for name in ("H1", "H2")] == ["accepted", "accepted"]
    assert after["H1"].spans == after["H2"].spans == (Span(0, 4),)


async def test_a_chain_of_sameness_ends_at_the_first(client_for: Any) -> None:
    hypotheses = [found("H1", 0), found("H2", 2), found("H3", 4)]
    after, _, _, _ = await trace(client_for, hypotheses, same(H2="H1", H3="H2"), TOLD, REST)
    assert after["H3"].merged_into == after["H2"].merged_into == "H1"
    assert after["H1"].spans == (Span(0, 2), Span(4, 6), Span(8, 10))


async def test_the_first_hypothesis_represents_the_event(client_for: Any) -> None:
    after, _, _, _ = await trace(
        client_for, [found("H1", 4), found("H2", 1)], same(H1="H2"), summary("H2", "It floats."), REST
    )
    assert (after["H1"].merged_into, after["H2"].verdict) == ("H2", "accepted")


async def test_sameness_points_backward_only(client_for: Any) -> None:
    hypotheses = [found("H1", 0), found("H2", 2), found("H3", 4)]
    wrong, right = same(H2="H3", H3="H2"), same(H2="H2", H3="H2")
    _, _, client, _ = await trace(client_for, hypotheses, wrong, right, REST)
    assert [call.outcome for call in client.ledger() if call.subject == "same"] == ["invalid", "answered"]


async def test_the_last_window_may_be_short(client_for: Any) -> None:
    after, _, _, _ = await trace(client_for, [found("H1", 0)], visible("H1", 1), REST, seconds=2.5)
    assert after["H1"].spans == (Span(0, 2.5),)


async def test_spans_that_are_no_windows_keep_their_own_ends(client_for: Any) -> None:
    after, _, _, _ = await trace(client_for, [found("H1", 0, spans=(Span(0.5, 1.25),))], REST, seconds=4.0)
    assert after["H1"].spans == (Span(0.5, 1.25),)


async def test_what_was_seen_where_is_evidence(client_for: Any) -> None:
    after, _, _, _ = await trace(client_for, [found("H1", 0)], visible("H1", 1), REST)
    (piece,) = after["H1"].evidence
    assert (piece.source, piece.text, piece.frames[0]) == ("trace", "W1: yes", 32)


async def test_what_is_not_accepted_is_not_followed(client_for: Any) -> None:
    open_ = found("H1", 0, verdict="unverified")
    after, _, _, backend = await trace(client_for, [open_])
    assert (after["H1"], backend.asked) == (open_, [])


@pytest.mark.parametrize("silent", ["same", "H1 W0"])
async def test_what_is_known_stands_and_what_is_not_is_a_failure(client_for: Any, silent: str) -> None:
    lines = [same(H2="H2"), *(visible(name, n, "no") for name in ("H1", "H2") for n in range(6))]
    heard = [line for line in lines if line["when"]["subject"] != silent]
    after, context, _, _ = await trace(client_for, [found("H1", 1), found("H2", 4)], *heard)
    assert [hypothesis.verdict for hypothesis in after.values()] == ["accepted", "accepted"]
    assert after["H1"].spans == (Span(2, 4),)
    assert [(failure.stage, failure.kind) for failure in context.failures] == [("trace", "refused")]


# One description.


async def test_an_event_of_several_windows_gets_one_description(client_for: Any) -> None:
    after, context, _, backend = await trace(client_for, [found("H1", 1), found("H2", 4)], same(H2="H1"), TOLD, REST)
    assert after["H1"].description == "A red cup floats."
    assert after["H2"].description == "the cup of H2 floats"
    asked = next(request for request in backend.asked if request.subject == "H1 summary")
    assert '- "the cup of H1 floats"\n- "the cup of H2 floats"' in asked.parts[-1]
    assert context.failures == ()


async def test_an_event_that_fills_the_clip_is_described_without_being_followed(client_for: Any) -> None:
    hypotheses = [found("H1", 0), found("H2", 1)]
    after, _, _, backend = await trace(client_for, hypotheses, same(H2="H1"), TOLD, seconds=4.0)
    assert after["H1"].description == "A red cup floats."
    assert subjects(backend) == ["same", "H1 summary"]


async def test_an_event_of_one_description_keeps_it(client_for: Any) -> None:
    after, _, _, backend = await trace(client_for, [found("H1", 1)], REST)
    assert after["H1"].description == "the cup of H1 floats"
    assert "H1 summary" not in subjects(backend)


async def test_without_an_answer_the_first_description_stands_and_a_failure_says_so(client_for: Any) -> None:
    followed = [visible("H1", window, "no") for window in (0, 2, 3, 5)]
    after, context, _, _ = await trace(client_for, [found("H1", 1), found("H2", 4)], same(H2="H1"), *followed)
    assert after["H1"].description == "the cup of H1 floats"
    assert after["H1"].spans == (Span(2, 4), Span(8, 10))
    assert [failure.stage for failure in context.failures] == ["trace"]
