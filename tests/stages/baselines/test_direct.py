"""direct: one request about the whole clip."""

from typing import Any

from making import examined, scripted

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


async def test_a_missing_sample_is_a_failure_but_the_others_count(client_for: Any) -> None:
    lines = [{"when": {"sample": n}, "reply": {"events": []}} for n in (0, 2)]
    models, _ = scripted(*lines)
    client, context = client_for(models)
    context = await Direct(prompt="vanilla", samples=3, temperature=0.7).run(context, client)
    assert len(context.failures) == 1
    assert examined(context) == set(context.dimensions)
