"""propose: a specialist for each routed dimension."""

from typing import Any

import pytest
from making import examined, scripted

from robogaze.core.context import Route, Segment
from robogaze.core.coverage import Coverage
from robogaze.core.time import Span
from robogaze.stages.robogaze.propose import Propose


def fault(**fields: Any) -> dict[str, Any]:
    return {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [16, 20],
        "dimension": "visual_quality", "type": "blur", "span_s": [1.0, 1.5],
        "severity_proposal": 2, "confidence": 0.8, **fields,
    }  # fmt: skip


async def specialists(client_for: Any, *lines: dict[str, Any], routes: Any = ("visual_quality",)) -> Any:
    models, backend = scripted(*lines)
    route = Route(segment="S1", dimensions=tuple(routes), rationale="x")
    segment = Segment(id="S1", subtask=None, span=Span(0, 4))
    client, context = client_for(models, segments=(segment,), routes=(route,))
    return await Propose().run(context, client), backend, client


async def test_only_routed_specialists_are_queried_and_the_others_are_ruled_out(client_for: Any) -> None:
    context, backend, _ = await specialists(client_for, {"reply": {"hypotheses": [fault()]}})
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


async def test_a_specialist_is_given_its_own_checklist_only(client_for: Any) -> None:
    _, backend, _ = await specialists(client_for, {"reply": {"hypotheses": []}})
    asked = backend.asked[0].parts[-1]
    assert "camera_instability" in asked
    assert "failed_grasp" not in asked
    types = backend.asked[0].schema["$defs"]["HypothesisAnswer"]["properties"]["type"]["enum"]
    assert types == ["blur", "occlusion", "frame_corruption", "camera_instability", "low_visibility"]


async def test_specialists_share_everything_but_their_prompt(client_for: Any) -> None:
    lines = [{"reply": {"hypotheses": []}, "repeat": True}]
    _, backend, client = await specialists(client_for, *lines, routes=("visual_quality", "physical_plausibility"))
    first, second = backend.asked
    assert first.system == second.system
    assert first.parts[:-1] == second.parts[:-1]
    assert first.parts[-1] != second.parts[-1]
    assert client.usage().rounds == 1


async def test_a_weak_hypothesis_is_kept_as_rejected(client_for: Any) -> None:
    context, _, _ = await specialists(client_for, {"reply": {"hypotheses": [fault(confidence=0.29)]}})
    (found,) = context.hypotheses
    assert (found.verdict, found.reason) == ("rejected", "proposed with confidence 0.29, under 0.30")


async def test_a_dimension_whose_specialist_gives_no_answer_is_not_examined(client_for: Any) -> None:
    lines = [{"when": {"subject": "visual_quality"}, "reply": {"hypotheses": []}}]
    context, _, _ = await specialists(client_for, *lines, routes=("visual_quality", "physical_plausibility"))
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
async def test_an_invalid_field_is_sent_back_and_never_corrected(client_for: Any, fields: dict[str, Any]) -> None:
    lines = [{"reply": {"hypotheses": [fault(**fields)]}}, {"reply": {"hypotheses": []}}]
    context, _, client = await specialists(client_for, *lines)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]
    assert context.hypotheses == ()
