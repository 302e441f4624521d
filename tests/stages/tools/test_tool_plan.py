"""Closer looks by critic and specialists: what they may ask for, what they get, and what a silent tool leaves."""

from typing import Any

import pytest
from making import examined, make_clip, scripted
from stages.hypotheses import make_hypothesis

from robogaze.backends import ModelConfig
from robogaze.stages.robogaze.propose import Propose
from robogaze.stages.robogaze.verify import Verify

TOOLS = ("vqa", "zoom_in", "object_tracking")
HYPOTHESIS = make_hypothesis("H1")
DECISION = {
    "verified_evidence": "a gap under the cup",
    "frames": [16],
    "rationale": "it can be seen",
    "decision": "ACCEPT",
    "merge_with": None,
    "primary_dimension": None,
    "type": None,
    "refined_span_s": [1.0, 2.0],
    "severity": 3,
    "confidence": 0.9,
}
DECIDED = {"when": {"subject": "round 1"}, "reply": {"decisions": {"H1": DECISION}}}
ZOOM = {"tool": "zoom_in", "frames": [16, 20], "view": "main", "region": "centre", "question": "what is under it?"}
ZOOMED = {"when": {"subject": "tool plan, H1 zoom_in"}, "reply": {"answer": "a shadow and a gap"}}


def plan(*uses: dict[str, Any], about: str = "H1", subject: str = "tool plan") -> dict[str, Any]:
    return {"when": {"subject": subject}, "reply": {"looks": [{"about": about, "use": use} for use in uses]}}


async def verified(client_for: Any, *lines: dict[str, Any], **parameters: Any) -> Any:
    models, backend = scripted(*lines)
    client, context = client_for(models, hypotheses=(HYPOTHESIS,))
    context = await Verify(tools=TOOLS, **parameters).run(context, client)
    return context, client, backend


async def test_the_critic_decides_with_the_tool_results(client_for: Any) -> None:
    context, client, backend = await verified(client_for, plan(ZOOM), ZOOMED, DECIDED)
    assert context.hypotheses[0].verdict == "accepted"
    assert context.failures == ()
    decide = backend.asked[-1]
    assert '- H1, zoom_in: "a shadow and a gap" (frames 16, 20)' in str(decide.parts[-1])
    assert decide.images[-1].picture.frames == (16, 20)
    assert client.usage().rounds == 3


async def test_tool_calls_run_in_parallel(client_for: Any) -> None:
    asked = {"tool": "vqa", "frames": [16], "question": "what is where?"}
    seen = {"when": {"subject": "tool plan, H1 vqa"}, "reply": {"answer": "a cup over a table"}}
    _, client, _ = await verified(client_for, plan(ZOOM, asked), ZOOMED, seen, DECIDED)
    assert [call.round for call in client.ledger()] == [1, 2, 2, 3]


async def test_a_plan_without_tool_calls_costs_one_request(client_for: Any) -> None:
    context, client, _ = await verified(client_for, plan(), DECIDED)
    assert context.hypotheses[0].verdict == "accepted"
    assert client.usage().calls == 2


async def test_too_many_tool_calls_are_sent_back(client_for: Any) -> None:
    _, client, _ = await verified(client_for, plan(ZOOM, ZOOM), plan(ZOOM), ZOOMED, DECIDED, max_tool_calls=1)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered", "answered", "answered"]


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ([{"when": {"subject": "tool plan"}, "error": {"kind": "refused"}}], "refused"),
        (
            [plan(ZOOM), {"when": {"subject": "tool plan, H1 zoom_in"}, "error": {"kind": "refused"}}],
            "refused",
        ),
    ],
    ids=["the plan", "the tool"],
)
async def test_a_failed_tool_call_is_a_failure_and_the_critic_decides_without_it(
    client_for: Any, lines: Any, kind: str
) -> None:
    context, _, _ = await verified(client_for, *lines, DECIDED)
    assert context.hypotheses[0].verdict == "accepted"
    assert [(failure.stage, failure.kind) for failure in context.failures] == [("verify", kind)]


async def test_an_object_is_followed_from_a_second_before_the_hypothesis_to_a_second_after(client_for: Any) -> None:
    follow = {"tool": "object_tracking", "object_description": "the cup", "frame": 24, "view": "main"}
    located = {
        "when": {"subject": "tool plan, H1 object_tracking"},
        "reply": {"seen": "a cup", "box": [300, 300, 600, 600]},
    }
    models, backend = scripted(plan(follow), located, DECIDED)
    client, context = client_for(models, clip=make_clip(6.0), hypotheses=(HYPOTHESIS,))
    await Verify(tools=TOOLS).run(context, client)
    assert "through frame 0 to 47, 0.00 to 2.94 s" in str(backend.asked[-1].parts[-1])


async def test_a_frame_that_only_a_tool_showed_can_be_evidence(client_for: Any) -> None:
    follow = {"tool": "object_tracking", "object_description": "the cup", "frame": 24, "view": "main"}
    none = {"when": {"subject": "tool plan, H1 object_tracking"}, "reply": {"seen": "no cup", "box": None}}
    shown = {**DECIDED, "reply": {"decisions": {"H1": {**DECISION, "frames": [24]}}}}
    context, client, _ = await verified(client_for, plan(follow), none, shown)
    assert context.hypotheses[0].evidence[0].frames == (24,)
    assert [call.outcome for call in client.ledger()] == ["answered"] * 3


async def test_where_a_model_takes_no_more_pictures_a_look_is_told_in_words_alone(client_for: Any) -> None:
    config = ModelConfig(kind="scripted", max_pictures=3, frames="uniform 3")
    models, backend = scripted(plan({**ZOOM, "frames": [0, 32]}), ZOOMED, DECIDED, config=config)
    client, context = client_for(models, hypotheses=(HYPOTHESIS,))
    context = await Verify(tools=TOOLS).run(context, client)
    assert context.hypotheses[0].verdict == "accepted"
    assert [image.picture.id[:2] for image in backend.asked[-1].images] == ["F0", "F6", "K_"]
    assert "a shadow and a gap" in str(backend.asked[-1].parts[-1])


async def test_specialists_call_tools_in_parallel_and_each_gets_its_own_results(client_for: Any) -> None:
    names = ("visual_quality", "physical_plausibility")
    lines = [plan(ZOOM, about="S1", subject=f"{names[0]}, tool plan"), plan(subject=f"{names[1]}, tool plan")]
    lines.append({"when": {"subject": f"{names[0]}, tool plan, S1 zoom_in"}, "reply": {"answer": "soft edges"}})
    lines += [{"when": {"subject": name}, "reply": {"hypotheses": []}} for name in names]
    models, backend = scripted(*lines)
    client, context = client_for(models, dimensions=names)
    context = await Propose(tools=TOOLS).run(context, client)
    asked = {request.subject: str(request.parts[-1]) for request in backend.asked}
    assert "soft edges" in asked[names[0]]
    assert "soft edges" not in asked[names[1]]
    assert examined(context) == set(names)
    assert [call.round for call in client.ledger()] == [1, 1, 2, 3, 3]


async def test_a_specialist_whose_plan_fails_is_still_queried(client_for: Any) -> None:
    lines = [
        {"when": {"subject": "visual_quality, tool plan"}, "error": {"kind": "refused"}},
        {"when": {"subject": "visual_quality"}, "reply": {"hypotheses": []}},
    ]
    client, context = client_for(scripted(*lines)[0], dimensions=("visual_quality",))
    context = await Propose(tools=TOOLS).run(context, client)
    assert examined(context) == {"visual_quality"}
    assert [failure.kind for failure in context.failures] == ["refused"]


def test_an_unknown_tool_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="there is no tool 'hammer'; the tools are: vqa, zoom_in, object_tracking"):
        Verify(tools=("hammer",))
