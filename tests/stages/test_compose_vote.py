"""From hypotheses to events: duplicates, secondary dimensions, majorities."""

from typing import Any

import pytest
from making import examined, scripted

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.stages.compose import Compose
from robogaze.stages.direct import Direct
from robogaze.stages.vote import Vote


def claim(name: str, start: float, end: float, **fields: Any) -> Hypothesis:
    known = {
        "id": name,
        "dimension": "visual_quality",
        "type": "blur",
        "spans": (Span(start, end),),
        "severity": 2,
        "confidence": None,
        "description": name,
        "evidence": (Evidence(text=name, frames=(1,), source="direct"),),
        "proposed_by": "sample 1",
        "verdict": "accepted",
    }
    return Hypothesis(**{**known, **fields})


async def test_a_dimension_with_an_event_is_covered_at_least_partially(desk_for: Any) -> None:
    desk, context = desk_for(None, hypotheses=(claim("H1", 0, 1),))
    context = await Compose().run(context, desk)
    assert context.coverage["visual_quality"].state == "partial"
    assert context.coverage["visual_quality"].reason.startswith("an event was found, but ")
    assert {each.state for name, each in context.coverage.items() if name != "visual_quality"} == {"not_examined"}


async def events(desk_for: Any, *claims: Hypothesis, **parameters: Any) -> Any:
    desk, context = desk_for(None, hypotheses=claims)
    context = await Compose(**parameters).run(context, desk)
    return context.events, {one.id: one for one in context.hypotheses}


async def test_accepted_hypotheses_become_events_by_onset(desk_for: Any) -> None:
    found, _ = await events(desk_for, claim("H1", 2, 3), claim("H2", 0, 1, type="occlusion"))
    assert [(event.id, event.type, event.onset_s) for event in found] == [("E1", "occlusion", 0), ("E2", "blur", 2)]


async def test_the_same_type_at_the_same_time_from_two_sources_is_one_event(desk_for: Any) -> None:
    found, after = await events(desk_for, claim("H1", 0, 2), claim("H2", 1, 3, proposed_by="signal x"), merge_iou=0.3)
    assert [event.spans for event in found] == [(Span(0, 3),)]
    assert after["H2"].merged_into == "H1"


@pytest.mark.parametrize(
    "other",
    [
        {"proposed_by": "sample 1"},  # one answer lists them apart: they are apart
        {"proposed_by": "sample 2", "type": "occlusion"},
        {"proposed_by": "sample 2", "spans": (Span(1.5, 4.0),)},  # IoU 0.125
    ],
)
async def test_independent_failures_stay_separate(desk_for: Any, other: dict[str, Any]) -> None:
    found, _ = await events(desk_for, claim("H1", 0, 2), claim("H2", 0, 2, **other))
    assert len(found) == 2


async def test_a_merged_hypothesis_lends_its_dimension_and_evidence(desk_for: Any) -> None:
    merged = claim(
        "H2", 0, 1, dimension="physical_plausibility", type="object_floating", verdict="merged", merged_into="H1"
    )
    found, _ = await events(desk_for, claim("H1", 0, 1), merged)
    assert found[0].secondary == ("physical_plausibility",)
    assert [piece.text for piece in found[0].evidence] == ["H1", "H2"]


async def test_a_merge_follows_when_its_target_is_merged_itself(desk_for: Any) -> None:
    first, second = claim("H1", 0, 1), claim("H2", 0, 1, proposed_by="sample 2")
    third = claim("H3", 0, 1, verdict="merged", merged_into="H2")
    _, after = await events(desk_for, first, second, third)
    assert after["H3"].merged_into == "H1"


async def test_unverified_is_no_event_unless_the_pipeline_has_no_critic(desk_for: Any) -> None:
    open_ = claim("H1", 0, 1, verdict="unverified")
    assert (await events(desk_for, open_))[0] == ()
    found, after = await events(desk_for, open_, accept_unverified=True)
    assert len(found) == 1
    assert after["H1"].reason == "this pipeline has no critic"


def seen(start: float, end: float, kind: str = "blur") -> dict[str, Any]:
    """A fault as one look tells it."""
    return {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [16],
        "dimension": "visual_quality", "type": kind, "span_s": [start, end], "severity": 2,
    }  # fmt: skip


async def vote(desk_for: Any, *looks: list[dict[str, Any]] | None, before: tuple[Hypothesis, ...] = ()) -> Any:
    """The context after a vote over looks, each a list of faults, or None for one that was never answered."""
    answered = [(number, said) for number, said in enumerate(looks) if said is not None]
    models, _ = scripted(*({"when": {"sample": number}, "reply": {"events": said}} for number, said in answered))
    desk, context = desk_for(models, hypotheses=before)
    context = await Direct(prompt="vanilla", samples=len(looks), temperature=0.7).run(context, desk)
    return await Vote().run(context, desk)


async def test_two_of_three_looks_make_an_event_with_the_union_of_spans(desk_for: Any) -> None:
    #   look 1   [0    2)
    #   look 2    [0.5     2.5)     IoU 1.5 / 2.5
    #   look 3                 [3  4)
    context = await vote(desk_for, [seen(0, 2)], [seen(0.5, 2.5)], [seen(3, 4)])
    first, second, third = context.hypotheses
    assert (first.verdict, first.spans, first.confidence) == ("accepted", (Span(0, 2.5),), 2 / 3)
    assert second.merged_into == "H1"
    assert (third.verdict, third.reason) == ("rejected", "reported by 1 of 3 looks")


async def test_a_look_that_finds_nothing_counts_as_a_look(desk_for: Any) -> None:
    context = await vote(desk_for, [seen(0, 2)], [], [])
    assert [(one.verdict, one.reason) for one in context.hypotheses] == [("rejected", "reported by 1 of 3 looks")]


@pytest.mark.parametrize(("looks", "enough"), [(2, 2), (3, 2), (4, 3), (5, 4), (6, 4)])
async def test_two_thirds_of_the_looks_there_were_are_a_majority(desk_for: Any, looks: int, enough: int) -> None:
    for agreeing, verdict in ((enough - 1, "rejected"), (enough, "accepted")):
        said = [[seen(0, 2)] if number < agreeing else [] for number in range(looks)]
        context = await vote(desk_for, *said)
        assert (context.hypotheses[0].verdict, context.hypotheses[0].reason) == (
            verdict,
            f"reported by {agreeing} of {looks} looks",
        )


async def test_one_look_that_says_it_twice_is_one_vote(desk_for: Any) -> None:
    context = await vote(desk_for, [seen(0, 2), seen(0, 2)], [], [])
    assert {one.verdict for one in context.hypotheses} == {"rejected"}


async def test_a_look_without_an_answer_is_no_vote_and_still_a_look(desk_for: Any) -> None:
    context = await vote(desk_for, [seen(0, 2)], [seen(0, 2)], None)
    assert context.hypotheses[0].reason == "reported by 2 of 3 looks"
    assert examined(context) == set(context.dimensions)
    context = await vote(desk_for, [seen(0, 2)], [], None)
    assert [one.verdict for one in context.hypotheses] == ["rejected"]


async def test_too_few_answers_for_a_majority_decide_nothing(desk_for: Any) -> None:
    context = await vote(desk_for, [seen(0, 2)], None, None)
    (claim,) = context.hypotheses
    why = "1 of 3 looks gave an answer, and 2 would have to agree"
    assert (claim.verdict, claim.reason) == ("unverified", why)
    assert {each.state for each in context.coverage.values()} == {"not_examined"}
    assert [(one.stage, one.dimension, one.kind) for one in context.failures[-1:]] == [
        ("vote", "visual_quality", "undecided")
    ]
    assert context.failures[-1].message == f"H1 (blur) is undecided: {why}"


async def test_only_what_the_looks_report_is_voted_on(desk_for: Any) -> None:
    before = (
        claim("H1", 0, 2, verdict="unverified", proposed_by="signal x"),
        claim("H2", 0, 2, verdict="rejected", reason="weak", proposed_by="specialist y"),
    )
    context = await vote(desk_for, [seen(0, 2)], [], [], before=before)
    assert context.hypotheses[:2] == before
    assert context.hypotheses[2].reason == "reported by 1 of 3 looks"


async def test_looks_of_two_stages_are_told_apart_and_counted_together(desk_for: Any) -> None:
    models, backend = scripted({"reply": {"events": [seen(0, 2)]}, "repeat": True})
    desk, context = desk_for(models)
    for prompt in ("vanilla", "taxonomy"):
        context = await Direct(prompt=prompt).run(context, desk)
    assert [one.id for one in context.hypotheses] == ["H1", "H2"]
    assert [one.proposed_by for one in context.hypotheses] == ["sample 1", "sample 2"]
    assert [request.sample for request in backend.asked] == [0, 1]
    context = await Vote().run(context, desk)
    assert [(one.verdict, one.reason) for one in context.hypotheses] == [
        ("accepted", "reported by 2 of 2 looks"),
        ("merged", "reported by 2 of 2 looks"),
    ]
