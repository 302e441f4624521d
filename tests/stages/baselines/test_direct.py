"""direct: one request about the whole clip."""

from typing import Any

import pytest
from making import examined, make_clip, scripted

from robogaze.backends import ModelConfig
from robogaze.domains import Domain
from robogaze.stages.baselines.direct import Direct


def fault(**fields: Any) -> dict[str, Any]:
    return {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [16, 20],
        "dimension": "visual_quality", "type": "blur", "span_s": [1.0, 1.5],
        "severity_proposal": 2, "confidence": 0.8, **fields,
    }  # fmt: skip


async def test_a_sample_reports_events_of_any_dimension(client_for: Any) -> None:
    event = {**fault(), "severity": 3}
    del event["severity_proposal"], event["confidence"]
    models, _ = scripted({"reply": {"events": [{**event, "type": "failed_grasp"}]}}, {"reply": {"events": [event]}})
    client, context = client_for(models)
    context = await Direct(prompt="vanilla").run(context, client)
    assert [hypothesis.type for hypothesis in context.hypotheses] == ["blur"], (
        "a type of another dimension is asked again"
    )
    assert context.hypotheses[0].confidence is None


async def test_reasoning_is_removed_before_the_answer_is_read(client_for: Any) -> None:
    models, backend = scripted({"text": '<think>{"events": "maybe"}</think>{"events": []}'})
    client, context = client_for(models)
    context = await Direct(prompt="cot", reasoning=True).run(context, client)
    assert backend.asked[0].schema is None
    assert context.hypotheses == ()
    assert examined(context) == set(context.dimensions)


async def test_a_look_that_others_follow_examines_nothing(client_for: Any) -> None:
    models, _ = scripted({"reply": {"events": []}})
    client, context = client_for(models)
    context = await Direct(prompt="control", counts_as_examined=False).run(context, client)
    assert examined(context) == set()
    assert context.whole_clip_frames == frozenset(client.frames("vlm"))


async def test_a_look_without_an_answer_is_silent_about_nothing(client_for: Any) -> None:
    models, _ = scripted({"text": "no"}, {"text": "no"}, {"text": "no"})
    client, context = client_for(models)
    context = await Direct(prompt="control").run(context, client)
    assert context.whole_clip_frames is None


async def test_an_event_has_a_place(client_for: Any) -> None:
    event = {**fault(), "severity": 3, "box": [100, 200, 300, 400], "box_frame": 16, "box_view": None}
    del event["severity_proposal"], event["confidence"]
    models, _ = scripted({"reply": {"events": [{**event, "box_frame": None}]}}, {"reply": {"events": [event]}})
    client, context = client_for(models)
    context = await Direct(prompt="control", boxes=True).run(context, client)
    (hypothesis,) = context.hypotheses
    seen, place = hypothesis.evidence
    assert (seen.source, place.source, place.frames) == ("direct", "direct", (16,))
    assert place.box is not None
    assert (place.box.left, place.box.bottom) == (0.1, 0.4)


def test_an_event_with_several_spans_has_no_single_place(robot: Domain) -> None:
    with pytest.raises(ValueError, match="boxes: an event with several spans may be in several places"):
        Direct(prompt="vanilla", boxes=True, recurring=True).check(robot)


async def test_a_missing_sample_is_a_failure_but_the_others_count(client_for: Any) -> None:
    lines = [{"when": {"sample": n}, "reply": {"events": []}} for n in (0, 2)]
    models, _ = scripted(*lines)
    client, context = client_for(models)
    context = await Direct(prompt="vanilla", samples=3, temperature=0.7).run(context, client)
    assert len(context.failures) == 1
    assert examined(context) == set(context.dimensions)


@pytest.mark.parametrize(
    ("settings", "pictures"),
    [
        ({"present": "sheets", "frames": "uniform 4"}, [(0,), (0, 21, 42, 63)]),
        ({"present": "frames", "frames": "uniform 2"}, [(0,), (63,)]),
    ],
    ids=["sheets", "frames"],
)
async def test_the_first_frame_is_shown_once_before_the_others(
    client_for: Any, settings: dict[str, Any], pictures: list[tuple[int, ...]]
) -> None:
    models, backend = scripted({"reply": {"events": []}}, config=ModelConfig(kind="scripted", **settings))
    client, context = client_for(models)
    await Direct(prompt="control", first_frame=True).run(context, client)
    assert [image.picture.frames for image in backend.asked[0].images] == pictures


@pytest.mark.parametrize(
    ("seconds", "state", "reason"),
    [
        (4.0, "partial", "one call about all dimensions, 4 of 64 frames; up to 1.2 s without a shown frame"),
        (2.0, "examined", "one call about all dimensions, 4 of 32 frames"),
    ],
)
async def test_coverage_says_how_much_of_the_clip_was_not_shown(
    client_for: Any, seconds: float, state: str, reason: str
) -> None:
    models, _ = scripted({"reply": {"events": []}}, config=ModelConfig(kind="scripted", frames="uniform 4"))
    client, context = client_for(models, make_clip(seconds))
    context = await Direct(prompt="vanilla").run(context, client)
    assert {(coverage.state, coverage.reason) for coverage in context.coverage.values()} == {(state, reason)}


async def test_control_has_definitions_contrasts_rubric_and_conventions(client_for: Any) -> None:
    models, backend = scripted({"reply": {"events": []}, "repeat": True})
    client, context = client_for(models)
    taxonomy = client.domain.taxonomy
    for prompt in ("control", "generic"):
        await Direct(prompt=prompt, first_frame=True).run(context, client)
    control, generic = (str(request.parts[-1]) for request in backend.asked)
    kinds = [kind for dimension in taxonomy.dimensions for kind in dimension.types]
    assert all(kind.id in control and kind.id in generic for kind in kinds)
    definitions = [kind.definition for kind in kinds]
    assert all(text in control for text in (*definitions, *taxonomy.not_annotated, taxonomy.cascade.strip()))
    assert not any(text in generic for text in definitions)
