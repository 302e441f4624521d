"""trace: confirmed hypotheses become events, which are followed where nobody has seen their edges."""

from typing import Any

import pytest
from making import make_clip, scripted
from stages.hypotheses import make_hypothesis

from robogaze.core.context import WindowObservation
from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.stages.glide.investigate import Investigate
from robogaze.stages.glide.trace import Trace
from robogaze.stages.glide.windows import cut


def found(name: str, window: int, **fields: Any) -> Hypothesis:
    """What was accepted, by nobody who saw more than a window of two seconds."""
    known = {"severity": None, "description": f"the cup of {name} floats", "evidence": (), "verdict": "accepted"}
    return make_hypothesis(name, 2.0 * window, 2.0 * window + 2, **{**known, "reason": "seen", **fields})


def same(**groups: str | tuple[str, str]) -> dict[str, Any]:
    said = {}
    for name, other in groups.items():
        root, description = other if isinstance(other, tuple) else (other, None)
        said[name] = {"reasoning": "the same cup", "same_as": root, "description": description}
    return {"when": {"subject": "same"}, "reply": {"same": said}}


def visible(name: str, window: int, *frames: int) -> dict[str, Any]:
    """The frames of a window in which an event is visible; without any, it is not."""
    return {"when": {"subject": f"{name} W{window}"}, "reply": {"reasoning": f"W{window}", "visible": list(frames)}}


def edge(name: str, which: str, frame: int) -> dict[str, Any]:
    """The first or the last frame of an event; `which` is "start 1.00 s" or "end 1.00 s"."""
    return {"when": {"subject": f"{name} {which}"}, "reply": {"reasoning": "it changes", "frame": frame}}


def whole(window: int) -> range:
    """The samples of a window."""
    return range(32 * window, 32 * window + 33, 4)


def nowhere(*names: str, windows: int = 6) -> list[dict[str, Any]]:
    return [visible(name, window) for name in names for window in range(windows)]


async def trace(client_for: Any, hypotheses: list[Hypothesis], *lines: dict[str, Any], seconds: float = 12.0) -> Any:
    models, backend = scripted(*lines)
    clip = make_clip(seconds)
    scanned = tuple(WindowObservation(window=window, notes={"context": "x"}) for window in cut(clip, 4, 8))
    client, context = client_for(models, clip, hypotheses=tuple(hypotheses), scanned=scanned)
    context = await Trace().run(context, client)
    return {hypothesis.id: hypothesis for hypothesis in context.hypotheses}, context, client, backend


def subjects(backend: Any) -> list[str]:
    return [request.subject for request in backend.asked]


# Following.


async def test_a_fault_is_followed_both_ways_until_it_is_not_seen(client_for: Any) -> None:
    #   windows   0   1       2    3       4     5
    #   seen      no  from 48 [H1] all     to 140
    lines = [
        visible("H1", 1, *range(48, 65, 4)), visible("H1", 3, *whole(3)), visible("H1", 4, *range(128, 141, 4)),
        edge("H1", "start 2.91 s", 47), edge("H1", "end 8.91 s", 142),
    ]  # fmt: skip
    after, context, client, backend = await trace(client_for, [found("H1", 2)], *lines)
    assert after["H1"].spans == (Span(47 / 16, 143 / 16),), "its edges are those of every frame between the samples"
    assert subjects(backend) == ["H1 W1", "H1 W3", "H1 W4", "H1 start 2.91 s", "H1 end 8.91 s"]
    assert client.usage().rounds == 3, "both directions side by side"
    assert context.failures == ()


async def test_edges_are_looked_for_between_the_last_sample_without_it_and_the_first_with_it(client_for: Any) -> None:
    lines = [visible("H1", 1, *range(48, 65, 4)), visible("H1", 3), edge("H1", "start 2.91 s", 45)]
    after, _, _, backend = await trace(client_for, [found("H1", 2)], *lines)
    assert [image.picture.frames for image in backend.asked[-1].images] == [(44, 45, 46, 47, 48)]
    assert after["H1"].spans == (Span(45 / 16, 6.0),)


async def test_an_event_that_nobody_sees_further_keeps_its_edges(client_for: Any) -> None:
    after, _, _, backend = await trace(client_for, [found("H1", 2)], *nowhere("H1"))
    assert after["H1"].spans == (Span(4, 6),)
    assert subjects(backend) == ["H1 W1", "H1 W3"]


async def test_edges_that_the_judge_has_seen_are_not_followed(client_for: Any) -> None:
    ruling = {
        "directly_seen": "a gap", "visible": [[64, 80]], "ordinary": None, "reasoning": "seen", "ruling": "fault",
        "type": "object_floating", "severity": 3, "description": "It floats.", "confidence": 0.9, "next_look": None,
    }  # fmt: skip
    models, backend = scripted({"when": {"subject": "H1 step 1 judge"}, "reply": ruling})
    clip = make_clip(12.0)
    scanned = tuple(WindowObservation(window=window, notes={"context": "x"}) for window in cut(clip, 4, 8))
    claim = found("H1", 2, verdict="unverified", evidence=(Evidence(text="a gap", frames=(64,), source="scan"),))
    client, context = client_for(models, clip, hypotheses=(claim,), scanned=scanned)
    context = await Trace().run(await Investigate().run(context, client), client)
    assert subjects(backend) == ["H1 step 1 judge"]
    assert context.hypotheses[0].spans[0].start == 4.0


async def test_a_fault_that_is_seen_again_further_on_has_two_spans(client_for: Any) -> None:
    lines = [visible("H1", 1, 44, 48), edge("H1", "start 2.66 s", 42), edge("H1", "end 3.16 s", 49)]
    after, _, _, _ = await trace(client_for, [found("H1", 0)], *lines)
    assert after["H1"].spans == (Span(0, 2), Span(42 / 16, 50 / 16))


async def test_a_fault_is_followed_to_the_end_of_the_clip(client_for: Any) -> None:
    after, _, _, backend = await trace(client_for, [found("H1", 0)], visible("H1", 1, *range(32, 64, 4), 63), seconds=4)
    assert after["H1"].spans == (Span(0, 4.0),)
    assert subjects(backend) == ["H1 W1"], "an edge of the clip is exact"


async def test_what_was_seen_where_is_evidence(client_for: Any) -> None:
    lines = [visible("H1", 1, 32, 36), edge("H1", "end 2.41 s", 36)]
    after, _, _, _ = await trace(client_for, [found("H1", 0)], *lines)
    (piece,) = after["H1"].evidence
    assert (piece.source, piece.text, piece.frames) == ("trace", "W1", (32, 36))


async def test_what_is_not_accepted_is_not_followed(client_for: Any) -> None:
    open_ = found("H1", 0, verdict="unverified")
    after, _, _, backend = await trace(client_for, [open_])
    assert (after["H1"], backend.asked) == (open_, [])


# One event of several hypotheses.


async def test_hypotheses_of_one_event_are_one_with_disjoint_spans_and_one_description(client_for: Any) -> None:
    lines = [same(H2=("H1", "A red cup floats.")), *nowhere("H1")]
    after, _, client, _ = await trace(client_for, [found("H1", 1), found("H2", 4)], *lines)
    assert (after["H1"].spans, after["H1"].description) == ((Span(2, 4), Span(8, 10)), "A red cup floats.")
    assert (after["H2"].verdict, after["H2"].merged_into, after["H2"].reason) == ("merged", "H1", "the same cup")
    assert (client.usage().calls, client.usage().rounds) == (1 + 4, 2)


async def test_hypotheses_are_compared_by_their_pictures(client_for: Any) -> None:
    lines = [same(H2="H2"), *nowhere("H1", "H2")]
    _, _, _, backend = await trace(client_for, [found("H1", 1), found("H2", 4)], *lines)
    assert [image.picture.frames for image in backend.asked[0].images] == [(48, 144)]


async def test_a_gap_in_which_it_is_seen_after_all_is_closed_from_both_ends(client_for: Any) -> None:
    #   windows   0   1    2   3   4    5
    #   seen      no [H1] yes yes [H2]  no
    lines = [
        same(H2=("H1", "It floats.")), visible("H1", 2, *whole(2)), visible("H1", 3, *whole(3)), *nowhere("H1"),
    ]  # fmt: skip
    after, _, _, backend = await trace(client_for, [found("H1", 1), found("H2", 4)], *lines)
    assert after["H1"].spans == (Span(2, 10),)
    assert {"H1 W0", "H1 W2", "H1 W3", "H1 W5", "same"} <= set(subjects(backend))
    assert len(subjects(backend)) == len(set(subjects(backend))), "no window is queried twice"


async def test_a_window_between_two_spans_is_queried_once(client_for: Any) -> None:
    lines = [same(H2=("H1", "It floats.")), *nowhere("H1")]
    _, _, _, backend = await trace(client_for, [found("H1", 0), found("H2", 2)], *lines, seconds=6.0)
    assert subjects(backend) == ["same", "H1 W1"]


async def test_a_chain_of_sameness_ends_at_the_first(client_for: Any) -> None:
    hypotheses = [found("H1", 0), found("H2", 2), found("H3", 4)]
    after, _, _, _ = await trace(client_for, hypotheses, same(H2="H1", H3="H2"), *nowhere("H1"))
    assert after["H3"].merged_into == after["H2"].merged_into == "H1"
    assert after["H1"].spans == (Span(0, 2), Span(4, 6), Span(8, 10))
    assert after["H1"].description == "the cup of H1 floats", "without another one, the first stands"


async def test_the_first_hypothesis_represents_the_event(client_for: Any) -> None:
    after, _, _, _ = await trace(client_for, [found("H1", 4), found("H2", 1)], same(H1="H2"), *nowhere("H2"))
    assert (after["H1"].merged_into, after["H2"].verdict) == ("H2", "accepted")


async def test_sameness_points_backward_only(client_for: Any) -> None:
    hypotheses = [found("H1", 0), found("H2", 2), found("H3", 4)]
    wrong, right = same(H2="H3", H3="H2"), same(H2="H2", H3="H2")
    _, _, client, _ = await trace(client_for, hypotheses, wrong, right, *nowhere("H1", "H2"))
    assert [call.outcome for call in client.ledger() if call.subject == "same"] == ["invalid", "answered"]


# Failures.


@pytest.mark.parametrize("silent", ["same", "H1 W0"])
async def test_what_is_known_stands_and_what_is_not_is_a_failure(client_for: Any, silent: str) -> None:
    lines = [same(H2="H2"), *nowhere("H1", "H2")]
    heard = [line for line in lines if line["when"]["subject"] != silent]
    after, context, _, _ = await trace(client_for, [found("H1", 1), found("H2", 4)], *heard)
    assert [hypothesis.verdict for hypothesis in after.values()] == ["accepted", "accepted"]
    assert after["H1"].spans == (Span(2, 4),)
    assert [(failure.stage, failure.kind) for failure in context.failures] == [("trace", "refused")]


async def test_without_an_answer_about_its_edges_those_of_the_samples_stand(client_for: Any) -> None:
    lines = [visible("H1", 1, 32, 36), visible("H1", 0)]
    after, context, _, _ = await trace(client_for, [found("H1", 0)], *lines)
    assert after["H1"].spans == (Span(0, (37 + 40) / 2 / 16),)
    assert [failure.stage for failure in context.failures] == ["trace"]
