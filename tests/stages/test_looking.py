"""ground, observe, route, propose, direct: what they ask and what they make of the answers."""

from typing import Any

import pytest
from making import examined, make_clip, scripted

from robogaze.backends import ModelConfig
from robogaze.core.context import Route, Segment
from robogaze.core.coverage import Coverage
from robogaze.core.time import Span
from robogaze.stages import NoAnswer
from robogaze.stages.direct import Direct
from robogaze.stages.ground import Ground
from robogaze.stages.observe import Observe, group_windows
from robogaze.stages.propose import Propose
from robogaze.stages.route import RouteStage

TASK = {
    "goal": "the cup stands in the pot",
    "objects": ["cup"],
    "target_locations": ["pot"],
    "expected_effectors": [],
    "subtasks": [{"name": "grasp", "expected_outcome": "held", "completion_criterion": "off the table"}],
}
SCENE = {
    "visible_objects": ["cup"], "robot_parts": ["hand"], "spatial_relations": [], "support_relations": [],
    "occlusions": [], "uncertainty": [],
}  # fmt: skip
NOTES = {
    "observed_actions": ["reaches"], "object_state_changes": [], "robot_state_changes": [], "task_progress": "early",
    "candidate_anomalies": [], "normal_occlusion_or_ambiguity": [], "uncertainty_cues": [],
}  # fmt: skip


async def test_both_memories_come_from_one_call_about_the_first_frame(desk_for: Any) -> None:
    models, backend = scripted({"reply": {"task_memory": TASK, "scene_memory": SCENE}})
    desk, context = desk_for(models)
    context = await Ground().run(context, desk)
    assert (context.task, context.scene) == (TASK, SCENE)
    assert [shot.picture.id for shot in backend.asked[0].images] == ["F0"]


async def test_without_an_instruction_there_is_no_task_memory(desk_for: Any) -> None:
    models, backend = scripted({"reply": {"scene_memory": SCENE}})
    desk, context = desk_for(models, make_clip(instruction=None))
    context = await Ground().run(context, desk)
    assert context.task is None
    assert "task_memory: what" not in backend.asked[0].parts[-1]


async def test_the_ablation_asks_for_one_memory(desk_for: Any) -> None:
    models, _ = scripted({"reply": {"scene_memory": SCENE}})
    desk, context = desk_for(models)
    context = await Ground(memories=("scene_memory",)).run(context, desk)
    assert context.task is None
    assert context.scene == SCENE


async def test_without_memories_the_diagnosis_does_not_go_on(desk_for: Any) -> None:
    models, _ = scripted({"error": {"kind": "refused"}})
    desk, context = desk_for(models)
    with pytest.raises(NoAnswer):
        await Ground().run(context, desk)


def windows_reply(first: int, last: int) -> dict[str, Any]:
    reply = {"windows": {f"W{number}": NOTES for number in range(first, last + 1)}}
    return {"when": {"subject": f"windows W{first} to W{last}"}, "reply": reply}


async def test_a_call_holds_no_more_frames_than_the_model_takes(desk_for: Any) -> None:
    replies = windows_reply(0, 2), windows_reply(3, 5), windows_reply(6, 6)
    config = ModelConfig(kind="scripted", frames="4 fps", max_pictures=16)
    models, backend = scripted(*replies, config=config)
    desk, context = desk_for(models, make_clip(8.0))
    await Observe(frames_a_call=32).run(context, desk)
    assert [len(request.images) for request in backend.asked] == [16, 16, 8]


async def test_windows_share_calls_and_frames_are_sent_once(desk_for: Any) -> None:
    #   8 s at 4 fps: 32 frames; windows 0-2, 1-3, ... 6-8 s of 8 frames, half of them shared with the next
    models, backend = scripted(windows_reply(0, 2), windows_reply(3, 5), windows_reply(6, 6))
    desk, context = desk_for(models, make_clip(8.0))
    context = await Observe(frames_a_call=16).run(context, desk)
    assert [one.window.id for one in context.observations] == [0, 1, 2, 3, 4, 5, 6]
    assert [len(request.images) for request in backend.asked] == [16, 16, 8]
    assert desk.usage().rounds == 1
    shown = {frame for request in backend.asked for shot in request.images for frame in shot.picture.frames}
    assert shown == set(range(0, 128, 4))


async def test_a_window_left_out_is_asked_again(desk_for: Any) -> None:
    short = {"reply": {"windows": {"W0": NOTES, "W2": NOTES}}}
    models, backend = scripted(short, windows_reply(0, 2))
    desk, context = desk_for(models)
    context = await Observe().run(context, desk)
    assert "windows.W1: Field required" in backend.asked[1].parts[-1]
    assert len(context.observations) == 3


async def test_one_group_without_an_answer_ends_it(desk_for: Any) -> None:
    models, _ = scripted(windows_reply(0, 0))
    desk, context = desk_for(models)
    with pytest.raises(NoAnswer):
        await Observe(frames_a_call=8).run(context, desk)


def test_a_window_larger_than_a_call_still_gets_one() -> None:
    from robogaze.core.sampling import Regime, windows

    clip = make_clip(4.0)
    found = windows(clip.frame_times_s, clip.duration_s, 2.0, 1.0, Regime.parse("every frame"))
    assert [len(group) for group in group_windows(found, frames_a_call=10)] == [1, 1, 1]


def claim(**fields: Any) -> dict[str, Any]:
    return {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [16, 20],
        "dimension": "visual_quality", "type": "blur", "span_s": [1.0, 1.5],
        "severity_proposal": 2, "confidence": 0.8, **fields,
    }  # fmt: skip


async def specialists(desk_for: Any, *lines: dict[str, Any], routes: Any = ("visual_quality",)) -> Any:
    models, backend = scripted(*lines)
    route = Route(segment="S1", dimensions=tuple(routes), rationale="x")
    segment = Segment(id="S1", subtask=None, span=Span(0, 4))
    desk, context = desk_for(models, segments=(segment,), routes=(route,))
    return await Propose().run(context, desk), backend, desk


async def test_only_routed_specialists_are_asked_and_the_rest_is_ruled_out(desk_for: Any) -> None:
    context, backend, _ = await specialists(desk_for, {"reply": {"hypotheses": [claim()]}})
    assert [request.subject for request in backend.asked] == ["visual_quality"]
    assert context.coverage.pop("visual_quality") == Coverage(
        state="examined", reason="a specialist was shown 16 of 64 frames"
    )
    assert set(context.coverage.values()) == {
        Coverage(state="ruled_out", reason="the router chose other dimensions: x")
    }
    (found,) = context.hypotheses
    assert (found.id, found.type, found.spans, found.severity) == ("H1", "blur", (Span(1.0, 1.5),), 2)
    assert found.evidence[0].frames == (16, 20)
    assert found.verdict == "unverified"


async def test_a_specialist_knows_its_own_checklist_only(desk_for: Any) -> None:
    _, backend, _ = await specialists(desk_for, {"reply": {"hypotheses": []}})
    asked = backend.asked[0].parts[-1]
    assert "camera_instability" in asked
    assert "failed_grasp" not in asked
    types = backend.asked[0].schema["$defs"]["HypothesisAnswer"]["properties"]["type"]["enum"]
    assert types == ["blur", "occlusion", "frame_corruption", "camera_instability", "low_visibility"]


async def test_specialists_share_everything_but_their_question(desk_for: Any) -> None:
    lines = [{"reply": {"hypotheses": []}, "repeat": True}]
    _, backend, desk = await specialists(desk_for, *lines, routes=("visual_quality", "physical_plausibility"))
    first, second = backend.asked
    assert first.system == second.system
    assert first.parts[:-1] == second.parts[:-1]
    assert first.parts[-1] != second.parts[-1]
    assert desk.usage().rounds == 1


async def test_a_weak_hypothesis_is_kept_as_rejected(desk_for: Any) -> None:
    context, _, _ = await specialists(desk_for, {"reply": {"hypotheses": [claim(confidence=0.29)]}})
    (found,) = context.hypotheses
    assert (found.verdict, found.reason) == ("rejected", "proposed with confidence 0.29, under 0.30")


async def test_a_dimension_whose_specialist_gives_no_answer_is_not_examined(desk_for: Any) -> None:
    lines = [{"when": {"subject": "visual_quality"}, "reply": {"hypotheses": []}}]
    context, _, _ = await specialists(desk_for, *lines, routes=("visual_quality", "physical_plausibility"))
    left = context.coverage["physical_plausibility"]
    assert (left.state, left.reason.startswith("the specialist gave no answer: ")) == ("not_examined", True)
    assert examined(context) == {"visual_quality"}
    assert [failure.dimension for failure in context.failures] == ["physical_plausibility"]


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "Motion Blur"},
        {"type": "failed_grasp"},
        {"dimension": "task_progress"},
        {"span_s": [1.5, 1.0]},
        {"span_s": [1.0]},
        {"span_s": [1.0, 99.0]},
        {"span_s": ["1.0", "2.0"]},
        {"frames": []},
        {"frames": [17]},
        {"severity_proposal": "5/5"},
        {"severity_proposal": 0},
        {"confidence": 1.2},
        {"evidence": ""},
    ],
)
async def test_nothing_wrong_is_quietly_put_right(desk_for: Any, fields: dict[str, Any]) -> None:
    lines = [{"reply": {"hypotheses": [claim(**fields)]}}, {"reply": {"hypotheses": []}}]
    context, _, desk = await specialists(desk_for, *lines)
    assert [call.outcome for call in desk.ledger()] == ["invalid", "answered"]
    assert context.hypotheses == ()


async def test_the_router_answers_for_every_segment(desk_for: Any) -> None:
    said = {"candidate_dimensions": ["visual_quality"], "rationale": "soft edges"}
    models, backend = scripted({"reply": {"routes": {}}}, {"reply": {"routes": {"S1": said}}})
    desk, context = desk_for(models)
    context = await RouteStage().run(context, desk)
    assert context.routes == (Route(segment="S1", dimensions=("visual_quality",), rationale="soft edges"),)
    assert context.segments[0].span == context.clip.span
    assert "routes.S1: Field required" in backend.asked[1].parts[-1]


async def test_a_direct_look_reports_events_of_any_dimension(desk_for: Any) -> None:
    event = {**claim(), "severity": 3}
    del event["severity_proposal"], event["confidence"]
    models, _ = scripted({"reply": {"events": [{**event, "type": "failed_grasp"}]}}, {"reply": {"events": [event]}})
    desk, context = desk_for(models)
    context = await Direct(prompt="vanilla").run(context, desk)
    assert [one.type for one in context.hypotheses] == ["blur"], "a type of another dimension is asked again"
    assert context.hypotheses[0].confidence is None


async def test_reasoning_is_let_happen_and_set_aside(desk_for: Any) -> None:
    models, backend = scripted({"text": '<think>{"events": "maybe"}</think>{"events": []}'})
    desk, context = desk_for(models)
    context = await Direct(prompt="cot", reasoning=True).run(context, desk)
    assert backend.asked[0].schema is None
    assert context.hypotheses == ()
    assert examined(context) == set(context.dimensions)


async def test_a_missing_sample_is_a_failure_but_the_others_count(desk_for: Any) -> None:
    lines = [{"when": {"sample": n}, "reply": {"events": []}} for n in (0, 2)]
    models, _ = scripted(*lines)
    desk, context = desk_for(models)
    context = await Direct(prompt="vanilla", samples=3, temperature=0.7).run(context, desk)
    assert len(context.failures) == 1
    assert examined(context) == set(context.dimensions)


async def test_the_regime_of_the_model_decides_which_frames_it_is_shown(desk_for: Any) -> None:
    for regime, wanted in (
        ("uniform 4", (0, 21, 42, 63)),
        ("1 fps", (0, 16, 32, 48)),
        ("2 fps, at most 3", (0, 32, 63)),
    ):
        models, backend = scripted({"reply": {"events": []}}, config=ModelConfig(kind="scripted", frames=regime))
        desk, context = desk_for(models)
        await Direct(prompt="vanilla").run(context, desk)
        assert tuple(shot.picture.frames[0] for shot in backend.asked[0].images) == wanted
