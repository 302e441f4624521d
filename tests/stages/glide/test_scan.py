"""scan and remember: every window is looked at once, and what they show is put together."""

from typing import Any

import pytest
from making import examined, make_clip, scripted

from robogaze.core.time import Span
from robogaze.stages.client import NoAnswer
from robogaze.stages.glide.remember import Remember
from robogaze.stages.glide.scan import Scan

MEMORY = {"scene": "a table", "things": ["a cup"], "rules": ["things fall"], "course": "a cup is moved"}


def seen(name: str, **fields: Any) -> dict[str, Any]:
    """What the scanner says of a window: by default that nothing is wrong."""
    said = {"context": f"{name} shows a table", "cues": "Nothing", "frames": [], "type": "none", "confidence": 0.1}
    return {"when": {"stage": "scan", "subject": name}, "reply": {**said, **fields}}


FLOATS: dict[str, Any] = {"cues": "the cup hangs in the air", "frames": [36, 32], "type": "object_floating"}


async def scan(client_for: Any, *lines: dict[str, Any], clip: Any = None) -> Any:
    models, backend = scripted(*lines)
    client, context = client_for(models, clip)
    return await Scan().run(context, client), client, backend


async def test_every_window_is_one_picture_and_all_are_asked_about_in_one_round(client_for: Any) -> None:
    _, client, backend = await scan(client_for, seen("W0"), seen("W1"))
    assert [[shot.picture.frames for shot in request.images] for request in backend.asked] == [
        [(0, 4, 8, 12, 16, 20, 24, 28)],
        [(32, 36, 40, 44, 48, 52, 56, 60)],
    ]
    assert client.usage().rounds == 1


async def test_a_suspicion_is_a_hypothesis_as_long_as_its_window(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W0"), seen("W1", **FLOATS, confidence=0.3))
    (found,) = context.hypotheses
    assert (found.id, found.dimension, found.type) == ("H1", "physical_plausibility", "object_floating")
    assert (found.spans, found.severity, found.confidence) == ((Span(2, 4),), None, 0.3)
    assert (found.evidence[0].frames, found.verdict) == ((32, 36), "unverified")


async def test_every_window_says_what_it_shows(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W0"), seen("W1", **FLOATS))
    assert [observation.notes["context"] for observation in context.scanned] == ["W0 shows a table", "W1 shows a table"]
    assert examined(context) == set(context.dimensions)


@pytest.mark.parametrize(
    "broken",
    [
        {**FLOATS, "frames": []},
        {"frames": [32]},
        {**FLOATS, "frames": [0]},
        {**FLOATS, "type": "floating"},
        {**FLOATS, "confidence": 1.2},
        {"context": ""},
    ],
)
async def test_an_answer_that_contradicts_itself_is_sent_back(client_for: Any, broken: dict[str, Any]) -> None:
    context, client, _ = await scan(client_for, seen("W0"), seen("W1", **broken), seen("W1"))
    assert [call.outcome for call in client.ledger()] == ["answered", "invalid", "answered"]
    assert context.hypotheses == ()


async def test_a_window_without_an_answer_is_a_failure_and_the_others_count(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W1", **FLOATS))
    assert [hypothesis.id for hypothesis in context.hypotheses] == ["H1"]
    assert [failure.stage for failure in context.failures] == ["scan"]
    assert [bool(observation.notes) for observation in context.scanned] == [False, True]


async def test_without_any_answer_the_diagnosis_does_not_go_on(client_for: Any) -> None:
    with pytest.raises(NoAnswer):
        await scan(client_for, {"text": "no glitch here", "repeat": True})


async def test_the_scanner_can_name_only_what_is_examined(client_for: Any) -> None:
    models, backend = scripted({**seen("W0"), "repeat": True}, {**seen("W1"), "repeat": True})
    client, context = client_for(models, make_clip(instruction=None), dimensions=("visual_quality",))
    await Scan().run(context, client)
    schema = backend.asked[0].schema["properties"]["type"]["enum"]
    assert schema == ["blur", "occlusion", "frame_corruption", "camera_instability", "low_visibility", "none"]


async def test_the_memory_is_one_question_over_all_windows_without_a_picture(client_for: Any) -> None:
    models, backend = scripted(seen("W0"), seen("W1"), {"when": {"stage": "remember"}, "reply": MEMORY})
    client, context = client_for(models)
    context = await Remember().run(await Scan().run(context, client), client)
    assert context.memory == MEMORY
    asked = backend.asked[-1]
    assert asked.images == ()
    assert "You are shown no pictures of it here" in asked.parts[0]
    assert all(f'"{name} shows a table"' in asked.parts[1] for name in ("W0", "W1"))


async def test_every_later_request_includes_the_memory(client_for: Any) -> None:
    models, backend = scripted(seen("W0"), seen("W1"))
    client, context = client_for(models, memory=MEMORY)
    await Scan().run(context, client)
    assert all('Memory of the whole clip: {"scene": "a table"' in request.parts[1] for request in backend.asked)
