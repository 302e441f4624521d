"""From hypotheses to events: duplicates, secondary dimensions, majorities."""

from typing import Any

import pytest

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.stages.compose import Compose
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


async def vote(desk_for: Any, *claims: Hypothesis) -> dict[str, Hypothesis]:
    desk, context = desk_for(None, hypotheses=claims)
    context = await Vote(samples=3).run(context, desk)
    return {one.id: one for one in context.hypotheses}


async def test_two_of_three_looks_make_an_event_with_the_union_of_spans(desk_for: Any) -> None:
    #   look 1   [0    2)
    #   look 2    [0.5     2.5)     IoU 1.5 / 2.5
    #   look 3                 [3  4)
    looks = [
        claim("H1", 0, 2, verdict="unverified"),
        claim("H2", 0.5, 2.5, verdict="unverified", proposed_by="sample 2"),
        claim("H3", 3, 4, verdict="unverified", proposed_by="sample 3"),
    ]
    after = await vote(desk_for, *looks)
    assert (after["H1"].verdict, after["H1"].spans, after["H1"].confidence) == ("accepted", (Span(0, 2.5),), 2 / 3)
    assert after["H2"].merged_into == "H1"
    assert (after["H3"].verdict, after["H3"].reason) == ("rejected", "reported by 1 of 3 looks")


async def test_one_look_that_says_it_twice_is_one_vote(desk_for: Any) -> None:
    twice = [claim("H1", 0, 2, verdict="unverified"), claim("H2", 0, 2, verdict="unverified")]
    after = await vote(desk_for, *twice)
    assert {one.verdict for one in after.values()} == {"rejected"}
