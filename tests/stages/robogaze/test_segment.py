"""Segments have times and cover the clip; routes follow them."""

from typing import Any

import pytest
from making import make_clip, scripted
from stages.robogaze.test_route import ratings

from robogaze.core.context import WindowObservation
from robogaze.core.sampling import Regime, windows
from robogaze.core.time import Span
from robogaze.stages.client import NoAnswer
from robogaze.stages.robogaze.segment import SegmentAnswer, SegmentStage, cover

STRETCH = Span(0, 8)
TASK = {"subtasks": [{"name": "grasp"}, {"name": "place"}]}


def covered(*claims: tuple[str, float, float]) -> list[tuple[str | None, float, float]]:
    answers = [SegmentAnswer(subtask=name, span_s=[start, end], departure=None) for name, start, end in claims]
    return [(claim and claim.subtask, span.start, span.end) for span, claim in cover(STRETCH, answers)]


def test_segments_that_touch_are_kept_as_they_are() -> None:
    assert covered(("a", 0, 3.5), ("b", 3.5, 8)) == [("a", 0, 3.5), ("b", 3.5, 8)]


def test_a_stretch_without_a_segment_is_one_without_a_subtask() -> None:
    assert covered(("a", 1, 2), ("b", 5, 6)) == [
        (None, 0, 1), ("a", 1, 2), (None, 2, 5), ("b", 5, 6), (None, 6, 8),
    ]  # fmt: skip


def test_short_gaps_and_overlaps_are_closed() -> None:
    assert covered(("a", 0.2, 3.5), ("b", 3.7, 5), ("c", 4.9, 7.9)) == [("a", 0, 3.5), ("b", 3.5, 5), ("c", 5, 8)]


def test_a_subtask_may_be_repeated_and_the_answer_need_not_be_in_order() -> None:
    assert [name for name, *_ in covered(("b", 3, 5), ("a", 5, 8), ("a", 0, 3))] == ["a", "b", "a"]


def context_of(client_for: Any, *lines: dict[str, Any], seconds: float = 8.0, **more: Any) -> tuple[Any, Any, Any]:
    models, backend = scripted(*lines)
    clip = make_clip(seconds)
    found = windows(clip.frame_times_s, clip.duration_s, 4.0, 4.0, Regime.parse("4 fps"))
    observations = tuple(WindowObservation(window=window, notes={"seen": "x"}) for window in found)
    client, context = client_for(models, clip, observations=observations, **more)
    return client, context, backend


def part(subtask: str | None, start: float, end: float, **fields: Any) -> dict[str, Any]:
    return {"subtask": subtask, "span_s": [start, end], "departure": None, **fields}


def reply(*parts: dict[str, Any], subject: str = "clip") -> dict[str, Any]:
    return {"when": {"stage": "segment", "subject": subject}, "reply": {"segments": list(parts)}}


async def test_segmentation_and_routing_share_a_call(client_for: Any) -> None:
    line = reply(
        part("grasp", 0, 3, dimensions=ratings(visual_quality=9), departure="with another cup"),
        part("place", 4, 8, dimensions=ratings(physical_plausibility=9)),
    )
    client, context, backend = context_of(client_for, line, task=TASK)
    context = await SegmentStage(route=True, keep=2).run(context, client)
    assert [(segment.id, segment.subtask, segment.departure) for segment in context.segments] == [
        ("S1", "grasp", "with another cup"), ("S2", None, None), ("S3", "place", None),
    ]  # fmt: skip
    assert [(route.segment, route.dimensions) for route in context.routes] == [
        ("S1", ("task_progress", "visual_quality")),
        ("S2", ("task_progress", "visual_quality")),
        ("S3", ("task_progress", "physical_plausibility")),
    ], "what is in no segment of the answer is examined as the segment before it"
    assert len(backend.asked) == 1
    assert [len(image.picture.frames) for image in backend.asked[0].images] == [9, 9, 9, 5]
    assert "(Examined in any case: Task Progress.)" in backend.asked[0].parts[-1]


async def test_a_long_clip_is_divided_into_stretches_in_one_round(client_for: Any) -> None:
    lines = [
        reply(part("grasp", 0, 35), subject="part 1 of 2"),
        reply(part("grasp", 35, 40), part("place", 40, 70), subject="part 2 of 2"),
    ]
    client, context, backend = context_of(client_for, *lines, seconds=70.0, task=TASK)
    context = await SegmentStage().run(context, client)
    assert [(segment.id, segment.subtask, segment.span) for segment in context.segments] == [
        ("S1", "grasp", Span(0, 35)), ("S2", "grasp", Span(35, 40)), ("S3", "place", Span(40, 70)),
    ]  # fmt: skip
    assert (client.usage().calls, client.usage().rounds) == (2, 1)
    assert "from 35.00 to 70.00 s" in backend.asked[1].parts[-1]


async def test_without_routing_only_text_is_sent(client_for: Any) -> None:
    client, context, backend = context_of(client_for, reply(part(None, 0, 8)), task=TASK)
    context = await SegmentStage().run(context, client)
    assert context.routes is None
    assert backend.asked[0].images == ()
    assert "dimensions" not in backend.asked[0].parts[-1]


@pytest.mark.parametrize(
    ("bad", "error"),
    [
        ([part("grasp", 0, 5), part("place", 3, 8)], "[3.0, 8.0] begins before [0.0, 5.0] ends"),
        ([part("grasp", 0, 99)], "segments.0.span_s.1: Input should be less than or equal to 8"),
        ([part("grasp", 5, 2)], "a span must end after it starts"),
        ([part("wave", 0, 8)], "segments.0.subtask"),
        ([], "segments: List should have at least 1 item"),
    ],
)
async def test_segments_that_cannot_be_are_sent_back(client_for: Any, bad: Any, error: str) -> None:
    client, context, backend = context_of(client_for, reply(*bad), reply(part("grasp", 0, 8)), task=TASK)
    context = await SegmentStage().run(context, client)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]
    assert error in backend.asked[1].parts[-1]
    assert [segment.span for segment in context.segments] == [STRETCH]


async def test_the_end_of_the_clip_may_be_given_with_two_decimals(client_for: Any) -> None:
    client, context, _ = context_of(client_for, reply(part("grasp", 0, 8.69)), seconds=139 / 16, task=TASK)
    context = await SegmentStage().run(context, client)
    assert [segment.span for segment in context.segments] == [Span(0, 8.6875)]


async def test_without_a_task_memory_subtasks_are_named_freely(client_for: Any) -> None:
    client, context, _ = context_of(client_for, reply(part("waves at the pot", 0, 8)))
    context = await SegmentStage().run(context, client)
    assert context.segments[0].subtask == "waves at the pot"


async def test_a_stretch_without_an_answer_ends_the_stage(client_for: Any) -> None:
    client, context, _ = context_of(client_for, reply(part("grasp", 0, 35), subject="part 1 of 2"), seconds=70.0)
    with pytest.raises(NoAnswer):
        await SegmentStage().run(context, client)
