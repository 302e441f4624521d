"""Segments cover the clip; routes follow the windows."""

from typing import Any

import pytest
from making import make_clip, scripted

from robogaze.core.context import Observation, Window
from robogaze.core.sampling import Regime, windows
from robogaze.core.time import Span
from robogaze.stages.client import NoAnswer
from robogaze.stages.robogaze.segment import SegmentStage, cover


def windows_of(seconds: float) -> tuple[Window, ...]:
    clip = make_clip(seconds)
    return windows(clip.frame_times_s, clip.duration_s, 2.0, 1.0, Regime.parse("4 fps"))


def test_subtasks_become_segments_that_touch() -> None:
    #   windows   0    1    2    3        subtask a holds 0 and 1, b holds 2 and 3
    #   time      0    1    2    3    5
    segments = cover(windows_of(5), [("a", [0, 1]), ("b", [2, 3])])
    assert [(s.id, s.subtask, s.span) for s in segments] == [("S1", "a", Span(0, 2)), ("S2", "b", Span(2, 5))]


def test_what_no_subtask_claims_is_a_segment_of_its_own() -> None:
    segments = cover(windows_of(6), [("a", [1]), ("b", [3])])
    assert [(s.subtask, s.span.start, s.span.end) for s in segments] == [
        (None, 0, 1), ("a", 1, 2), (None, 2, 3), ("b", 3, 4), (None, 4, 6),
    ]  # fmt: skip


def test_an_interrupted_subtask_is_two_segments() -> None:
    segments = cover(windows_of(5), [("a", [0, 2]), ("b", [1, 3])])
    assert [s.subtask for s in segments] == ["a", "b", "a", "b"]


def test_without_segments_in_the_answer_the_clip_is_one_segment() -> None:
    (segment,) = cover(windows_of(5), [])
    assert segment.subtask is None
    assert segment.span == Span(0, 5)


def context_of(client_for: Any, *lines: dict[str, Any], seconds: float = 5.0, **more: Any) -> tuple[Any, Any, Any]:
    models, backend = scripted(*lines)
    observations = tuple(Observation(window=window, notes={"seen": "x"}) for window in windows_of(seconds))
    client, context = client_for(models, make_clip(seconds), observations=observations, **more)
    return client, context, backend


TASK = {"subtasks": [{"name": "grasp"}, {"name": "place"}]}


async def test_segmentation_and_routing_share_a_call(client_for: Any) -> None:
    reply = {
        "segments": [
            {"subtask": "grasp", "window_ids": [0, 1], "candidate_dimensions": ["visual_quality"], "rationale": "dim"},
            {"subtask": "place", "window_ids": [3], "candidate_dimensions": [], "rationale": "nothing"},
        ]
    }
    client, context, backend = context_of(client_for, {"when": {"stage": "segment"}, "reply": reply}, task=TASK)
    context = await SegmentStage(route=True).run(context, client)
    assert [segment.subtask for segment in context.segments] == ["grasp", None, "place"]
    assert [route.dimensions for route in context.routes] == [("visual_quality",), context.dimensions, ()]
    assert len(backend.asked) == 1
    assert backend.asked[0].images


async def test_without_routing_only_text_is_sent(client_for: Any) -> None:
    reply = {"segments": [{"subtask": None, "window_ids": [0, 1, 2, 3]}]}
    client, context, backend = context_of(client_for, {"reply": reply}, task=TASK)
    context = await SegmentStage().run(context, client)
    assert context.routes is None
    assert backend.asked[0].images == ()


async def test_a_window_in_two_segments_is_sent_back(client_for: Any) -> None:
    bad = {"segments": [{"subtask": "grasp", "window_ids": [0, 1]}, {"subtask": "place", "window_ids": [1, 2]}]}
    good = {"segments": [{"subtask": "grasp", "window_ids": [0, 1]}]}
    client, context, backend = context_of(client_for, {"reply": bad}, {"reply": good}, task=TASK)
    context = await SegmentStage().run(context, client)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]
    assert "these are in several: [1]" in str(backend.asked[1].parts[-1])
    assert context.segments[0].windows == (0, 1)


@pytest.mark.parametrize("subtask", ["wave", 3])
async def test_a_subtask_that_is_not_in_the_task_memory_is_refused(client_for: Any, subtask: Any) -> None:
    bad = {"reply": {"segments": [{"subtask": subtask, "window_ids": [0]}]}, "repeat": True}
    client, context, _ = context_of(client_for, bad, task=TASK)
    with pytest.raises(NoAnswer):
        await SegmentStage().run(context, client)
    assert [call.outcome for call in client.ledger()] == ["invalid"] * 3


async def test_without_a_task_memory_subtasks_are_named_freely(client_for: Any) -> None:
    reply = {"reply": {"segments": [{"subtask": "waves at the pot", "window_ids": [0, 1, 2, 3]}]}}
    client, context, _ = context_of(client_for, reply)
    context = await SegmentStage().run(context, client)
    assert context.segments[0].subtask == "waves at the pot"
