"""scan and remember: every window is looked at once, and what they show is put together."""

from typing import Any

import pytest
from making import examined, make_clip, scripted

from robogaze.core.time import Span
from robogaze.stages.client import NoAnswer
from robogaze.stages.glide.remember import Remember
from robogaze.stages.glide.scan import Scan
from robogaze.stages.tools.zoom_in import REGIONS

MEMORY = {
    "scene": "a table", "things": ["a cup"], "rules": [{"rule": "things fall", "seen_in": ["W0", "W1"]}],
    "seen_once": [], "course": "a cup is moved",
}  # fmt: skip


def seen(name: str, *cues: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """What the scanner says of a window: by default that nothing is wrong."""
    said = {"context": f"{name} shows a table", "cues": list(cues)}
    return {"when": {"stage": "scan", "subject": name}, "reply": {**said, **fields}}


def floats(*frames: int, **fields: Any) -> dict[str, Any]:
    """Something that may be wrong in some frames."""
    known = {"what": "the cup hangs in the air", "region": "whole", "type": "object_floating", "confidence": 0.3}
    return {**known, "frames": [*frames[:1], *frames[-1:]], **fields}


async def scan(client_for: Any, *lines: dict[str, Any], clip: Any = None, **parameters: Any) -> Any:
    models, backend = scripted(*lines)
    client, context = client_for(models, clip)
    return await Scan(**parameters).run(context, client), client, backend


async def test_every_window_is_one_picture_and_all_are_asked_about_in_one_round(client_for: Any) -> None:
    _, client, backend = await scan(client_for, seen("W0"), seen("W1"))
    assert [[image.picture.frames for image in request.images] for request in backend.asked] == [
        [(0, 4, 8, 12, 16, 20, 24, 28, 32)],
        [(32, 36, 40, 44, 48, 52, 56, 60, 63)],
    ]
    assert client.usage().rounds == 1


async def test_a_finding_is_a_hypothesis_with_the_span_of_the_frames_it_names(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W0"), seen("W1", floats(44, 40)))
    (found,) = context.hypotheses
    assert (found.id, found.dimension, found.type) == ("H1", "physical_plausibility", "object_floating")
    assert found.spans == (Span((37 + 40) / 2 / 16, (45 + 48) / 2 / 16),), "between the samples"
    assert (found.severity, found.confidence, found.verdict) == (None, 0.3, "unverified")
    assert (found.evidence[0].frames, found.evidence[0].box) == ((40, 44), None)


async def test_a_window_can_hold_several_findings_of_several_types(client_for: Any) -> None:
    cues = (floats(36), floats(36, type="blur", what="soft"), floats(52, what="the lid hangs in the air"))
    context, _, _ = await scan(client_for, seen("W0"), seen("W1", *cues))
    assert [(found.type, found.evidence[0].frames) for found in context.hypotheses] == [
        ("object_floating", (36,)),
        ("blur", (36,)),
        ("object_floating", (52,)),
    ]


async def test_the_region_of_a_finding_is_the_box_of_its_evidence(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W0"), seen("W1", floats(40, region="top_left")))
    (piece,) = context.hypotheses[0].evidence
    assert (piece.view, piece.box) == ("main", REGIONS["top_left"])


async def test_a_finding_that_goes_on_in_the_next_window_is_one_hypothesis(client_for: Any) -> None:
    lines = seen("W0", floats(28, 32, confidence=0.7)), seen("W1", floats(32, 36, what="it still hangs"))
    (found,) = (await scan(client_for, *lines))[0].hypotheses
    assert found.spans == (Span((25 + 28) / 2 / 16, (37 + 40) / 2 / 16),)
    assert (found.confidence, [piece.text for piece in found.evidence]) == (
        0.7,
        ["the cup hangs in the air", "it still hangs"],
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [(floats(28), floats(32)), (floats(32), floats(36)), (floats(32), floats(32, type="blur"))],
    ids=["not to the boundary", "not from the boundary", "another type"],
)
async def test_findings_that_do_not_meet_are_two_hypotheses(
    client_for: Any, first: dict[str, Any], second: dict[str, Any]
) -> None:
    context, _, _ = await scan(client_for, seen("W0", first), seen("W1", second))
    assert len(context.hypotheses) == 2


async def test_the_first_frame_is_shown_beside_each_window_and_types_can_be_listed_by_name(client_for: Any) -> None:
    _, _, backend = await scan(client_for, seen("W0"), seen("W1"), types="named", first_frame=True)
    assert [request.images[0].picture.frames for request in backend.asked] == [(0,), (0,)]
    prompt = str(backend.asked[0].parts[-1])
    assert prompt.startswith("The first picture above shows the first frame of the clip.")
    assert "object_floating" in prompt
    assert "Not object_hallucination" not in prompt


async def test_every_window_says_what_it_shows(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W0"), seen("W1", floats(36)))
    assert [observation.notes["context"] for observation in context.scanned] == ["W0 shows a table", "W1 shows a table"]
    assert examined(context) == set(context.dimensions)


@pytest.mark.parametrize(
    "broken",
    [
        {"cues": [floats()]},
        {"cues": [floats(0)]},
        {"cues": [floats(36, type="floating")]},
        {"cues": [floats(36, confidence=1.2)]},
        {"cues": [floats(36, region="left")]},
        {"context": ""},
    ],
)
async def test_an_answer_that_contradicts_itself_is_sent_back(client_for: Any, broken: dict[str, Any]) -> None:
    context, client, _ = await scan(client_for, seen("W0"), seen("W1", **broken), seen("W1"))
    assert [call.outcome for call in client.ledger()] == ["answered", "invalid", "answered"]
    assert context.hypotheses == ()


async def test_a_window_without_an_answer_is_a_failure_and_the_others_count(client_for: Any) -> None:
    context, _, _ = await scan(client_for, seen("W1", floats(36)))
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
    (cue,) = (each for name, each in backend.asked[0].schema["$defs"].items() if name == "FindingAnswer")
    assert cue["properties"]["type"]["enum"] == [
        "blur", "occlusion", "frame_corruption", "camera_instability", "low_visibility"
    ]  # fmt: skip


async def remembered(client_for: Any, *lines: dict[str, Any], clip: Any = None) -> Any:
    models, backend = scripted(*lines, {"when": {"stage": "remember"}, "reply": MEMORY})
    client, context = client_for(models, clip)
    return await Remember().run(await Scan().run(context, client), client), backend


async def test_the_memory_is_one_question_over_all_windows_without_a_picture(client_for: Any) -> None:
    context, backend = await remembered(client_for, seen("W0"), seen("W1", floats(36)))
    assert context.memory == MEMORY
    asked = backend.asked[-1]
    assert asked.images == ()
    assert "You are shown no pictures of it here" in asked.parts[0]
    assert all(f'"{name} shows a table"' in asked.parts[1] for name in ("W0", "W1"))
    assert "the cup hangs in the air" not in asked.parts[1], "what is odd cannot become a rule"


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [((seen("W0"), seen("W1")), 4.0), ((seen("W0", floats(8)),), 2.0)],
    ids=["nothing to decide", "one window"],
)
async def test_a_memory_without_a_use_is_not_asked_for(client_for: Any, lines: Any, seconds: float) -> None:
    context, backend = await remembered(client_for, *lines, clip=make_clip(seconds))
    assert (context.memory, {request.stage for request in backend.asked}) == (None, {"scan"})


async def test_every_later_request_includes_the_memory(client_for: Any) -> None:
    models, backend = scripted(seen("W0"), seen("W1"))
    client, context = client_for(models, memory=MEMORY)
    await Scan().run(context, client)
    assert all('Memory of the whole clip: {"scene": "a table"' in request.parts[1] for request in backend.asked)
