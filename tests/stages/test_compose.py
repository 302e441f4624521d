"""compose: accepted hypotheses become events; duplicates are merged."""

from typing import Any

import pytest
from stages.hypotheses import make_hypothesis

from robogaze.core.events import Evidence, Hypothesis
from robogaze.core.time import Span
from robogaze.stages.compose import Compose


def hypothesis(name: str, start: float, end: float, **fields: Any) -> Hypothesis:
    known = {
        "dimension": "visual_quality",
        "type": "blur",
        "confidence": None,
        "evidence": (Evidence(text=name, frames=(1,), source="direct"),),
        "proposed_by": "sample 1",
        "verdict": "accepted",
    }
    return make_hypothesis(name, start, end, **{**known, **fields})


async def test_a_dimension_with_an_event_is_covered_at_least_partially(client_for: Any) -> None:
    client, context = client_for(None, hypotheses=(hypothesis("H1", 0, 1),))
    context = await Compose().run(context, client)
    assert context.coverage["visual_quality"].state == "partial"
    assert context.coverage["visual_quality"].reason.startswith("an event was found, but ")
    assert {each.state for name, each in context.coverage.items() if name != "visual_quality"} == {"not_examined"}


async def events(client_for: Any, *hypotheses: Hypothesis, **parameters: Any) -> Any:
    client, context = client_for(None, hypotheses=hypotheses)
    context = await Compose(**parameters).run(context, client)
    return context.events, {hypothesis.id: hypothesis for hypothesis in context.hypotheses}


async def test_accepted_hypotheses_become_events_by_onset(client_for: Any) -> None:
    found, _ = await events(client_for, hypothesis("H1", 2, 3), hypothesis("H2", 0, 1, type="occlusion"))
    assert [(event.id, event.type, event.onset_s) for event in found] == [("E1", "occlusion", 0), ("E2", "blur", 2)]


async def test_the_same_type_at_the_same_time_from_two_sources_is_one_event(client_for: Any) -> None:
    found, after = await events(
        client_for, hypothesis("H1", 0, 2), hypothesis("H2", 1, 3, proposed_by="signal x"), merge_iou=0.3
    )
    assert [event.spans for event in found] == [(Span(0, 3),)]
    assert after["H2"].merged_into == "H1"


@pytest.mark.parametrize(
    "other",
    [
        {"proposed_by": "sample 1"},  # one answer lists them apart: they are apart
        {"proposed_by": "sample 2", "type": "occlusion"},
        {"proposed_by": "sample 2", "type": "object_floating", "dimension": "physical_plausibility"},
        {"proposed_by": "sample 2", "spans": (Span(1.5, 4.0),)},  # IoU 0.125
    ],
)
async def test_independent_failures_stay_separate(client_for: Any, other: dict[str, Any]) -> None:
    found, _ = await events(client_for, hypothesis("H1", 0, 2), hypothesis("H2", 0, 2, **other))
    assert len(found) == 2


async def test_an_event_has_the_highest_confidence_of_its_duplicates(client_for: Any) -> None:
    look, specialist = hypothesis("H1", 0, 2), hypothesis("H2", 0, 2, proposed_by="specialist a", confidence=0.35)
    (event,), _ = await events(client_for, look, specialist)
    assert event.confidence == 0.35
    (event,), _ = await events(client_for, look, hypothesis("H2", 0, 2, proposed_by="specialist a"))
    assert event.confidence is None


async def test_a_merged_hypothesis_lends_its_dimension_and_evidence(client_for: Any) -> None:
    merged = hypothesis(
        "H2", 0, 1, dimension="physical_plausibility", type="object_floating", verdict="merged", merged_into="H1"
    )
    found, _ = await events(client_for, hypothesis("H1", 0, 1), merged)
    assert found[0].secondary == ("physical_plausibility",)
    assert [piece.text for piece in found[0].evidence] == ["H1", "H2"]


async def test_a_merge_follows_when_its_target_is_merged_itself(client_for: Any) -> None:
    first, second = hypothesis("H1", 0, 1), hypothesis("H2", 0, 1, proposed_by="sample 2")
    third = hypothesis("H3", 0, 1, verdict="merged", merged_into="H2")
    _, after = await events(client_for, first, second, third)
    assert after["H3"].merged_into == "H1"


async def test_unverified_is_no_event_unless_the_pipeline_has_no_critic(client_for: Any) -> None:
    open_ = hypothesis("H1", 0, 1, verdict="unverified")
    assert (await events(client_for, open_))[0] == ()
    found, after = await events(client_for, open_, accept_unverified=True)
    assert len(found) == 1
    assert after["H1"].reason == "this pipeline has no critic"
