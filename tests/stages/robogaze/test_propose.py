"""propose: a specialist for each routed dimension, shown its segments densely or the whole clip."""

from typing import Any

import pytest
from making import examined, make_clip, scripted

from robogaze.backends import ModelConfig
from robogaze.core.clip import Layout
from robogaze.core.context import ObjectTrack, Route, Segment, Window, WindowObservation
from robogaze.core.coverage import Coverage
from robogaze.core.events import Box
from robogaze.core.time import Span
from robogaze.stages.robogaze.propose import Propose

NOTHING = {"reply": {"hypotheses": []}, "repeat": True}


def fault(**fields: Any) -> dict[str, Any]:
    return {
        "description": "the picture softens", "evidence": "edges are soft", "frames": [16, 20],
        "dimension": "visual_quality", "type": "blur", "span_s": [1.0, 1.5],
        "severity_proposal": 2, "confidence": 0.8, "box": None, "box_frame": None, "box_view": None, **fields,
    }  # fmt: skip


async def specialists(
    client_for: Any,
    *lines: dict[str, Any],
    routes: Any = ("visual_quality",),
    spans: Any = ((0.0, 4.0),),
    seconds: float = 4.0,
    layout: Layout | None = None,
    known: Any = None,
    stage: Propose | None = None,
    **config: Any,
) -> Any:
    """The result of segments that are all routed to the same dimensions, the requests, and the client."""
    models, backend = scripted(*lines, config=ModelConfig(kind="scripted", **config))
    segments = tuple(Segment(id=f"S{n}", subtask=None, span=Span(*span)) for n, span in enumerate(spans, start=1))
    reasons = dict.fromkeys(("visual_quality", "physical_plausibility", "object_scene_consistency"), "x")
    listed = tuple(Route(segment=segment.id, dimensions=tuple(routes), reasons=reasons) for segment in segments)
    clip = make_clip(seconds, layout=layout or Layout())
    client, context = client_for(models, clip, segments=segments, routes=listed, **(known or {}))
    return await (stage or Propose()).run(context, client), backend, client


def frames_of(request: Any) -> list[tuple[int, ...]]:
    return [image.picture.frames for image in request.images]


async def test_only_routed_specialists_are_queried_and_the_others_are_ruled_out(client_for: Any) -> None:
    context, backend, _ = await specialists(client_for, {"reply": {"hypotheses": [fault()]}})
    assert [request.subject for request in backend.asked] == ["visual_quality"]
    assert context.coverage["visual_quality"] == Coverage(
        state="examined", reason="a specialist was shown 17 of 64 frames"
    )
    assert context.coverage["physical_plausibility"] == Coverage(
        state="ruled_out", reason="the router ruled it out: 0.00 to 4.00 s (x)"
    )
    (found,) = context.hypotheses
    assert (found.id, found.type, found.spans, found.severity) == ("H1", "blur", (Span(1.0, 1.5),), 2)
    assert found.evidence[0].frames == (16, 20)
    assert found.verdict == "unverified"


async def test_a_specialist_is_given_its_own_checklist_only(client_for: Any) -> None:
    _, backend, _ = await specialists(client_for, NOTHING)
    asked = backend.asked[0].parts[-1]
    assert "camera_instability" in asked
    assert "failed_grasp" not in asked
    types = backend.asked[0].schema["$defs"]["PlacedHypothesisAnswer"]["properties"]["type"]["enum"]
    assert types == ["blur", "occlusion", "frame_corruption", "camera_instability", "low_visibility"]


async def test_with_refer_a_plain_fault_of_a_dimension_that_was_ruled_out_may_be_proposed(client_for: Any) -> None:
    seen = fault(dimension="physical_plausibility", type="object_floating")
    context, backend, _ = await specialists(client_for, {"reply": {"hypotheses": [seen]}}, stage=Propose(refer=True))
    assert "object_floating" in backend.asked[0].parts[-1]
    (found,) = context.hypotheses
    assert (found.dimension, found.type) == ("physical_plausibility", "object_floating")
    assert found.proposed_by == "specialist visual_quality"
    assert context.coverage["physical_plausibility"].state == "ruled_out", "nobody searched for it"


async def test_with_refer_the_type_must_be_of_the_named_dimension(client_for: Any) -> None:
    mixed = fault(dimension="physical_plausibility", type="blur")
    _, backend, _ = await specialists(
        client_for, {"reply": {"hypotheses": [mixed]}}, NOTHING, stage=Propose(refer=True)
    )
    assert "blur is not a type of physical_plausibility" in backend.asked[1].parts[-1]


# What a specialist is shown.


async def test_its_segments_are_shown_densely_beside_the_first_and_the_last_frame(client_for: Any) -> None:
    #   8 s at 2 fps and more; the segment 2 to 4 s with half a second before and after it
    _, backend, _ = await specialists(client_for, NOTHING, spans=[(2, 4)], seconds=8.0, frames="uniform 3")
    assert frames_of(backend.asked[0]) == [(0,), (127,), (24, 32, 40, 48, 56, 64)]
    assert "2.00 to 4.00 s with a short time" in backend.asked[0].parts[-1]


async def test_the_rate_of_the_regime_is_used_if_it_is_higher(client_for: Any) -> None:
    _, backend, _ = await specialists(client_for, NOTHING, spans=[(0, 1)], frames="8 fps, at most 4")
    assert frames_of(backend.asked[0])[2:] == [tuple(range(0, 18, 2)), (18, 20, 22)]


async def test_twice_as_many_frames_are_shown_where_something_happens(client_for: Any) -> None:
    window = Window(id=0, span=Span(0, 4), frames=(0,))
    known = {"observations": (WindowObservation(window=window, notes={}, busy=(Span(1, 2),)),)}
    _, backend, _ = await specialists(client_for, NOTHING, frames="2 fps", known=known)
    shown = [frame for frames in frames_of(backend.asked[0])[2:] for frame in frames]
    assert shown == [0, 8, 16, 20, 24, 28, 32, 40, 48, 56]


async def test_the_end_of_the_clip_is_shown_densely_to_a_dimension_that_is_always_examined(client_for: Any) -> None:
    _, backend, _ = await specialists(client_for, NOTHING, routes=["task_progress"], frames="2 fps")
    shown = [frame for frames in frames_of(backend.asked[0])[2:] for frame in frames]
    assert shown == [0, 8, 16, 24, 32, 36, 40, 44, 48, 52, 56, 60]


async def test_specialists_share_the_first_part_of_their_requests(client_for: Any) -> None:
    _, backend, client = await specialists(client_for, NOTHING, routes=["visual_quality", "physical_plausibility"])
    first, second = backend.asked
    assert first.system == second.system
    assert first.parts[:3] == second.parts[:3], "the first and the last frame, and what is known about the clip"
    assert first.parts[-1] != second.parts[-1]
    assert client.usage().rounds == 1


async def test_a_long_stretch_is_divided_into_queries_of_one_round(client_for: Any) -> None:
    context, backend, client = await specialists(client_for, NOTHING, spans=[(0, 50)], seconds=50.0)
    assert [request.subject for request in backend.asked] == [f"visual_quality, part {n} of 3" for n in (1, 2, 3)]
    assert client.usage().rounds == 1
    assert "16.67 to 33.33 s" in backend.asked[1].parts[-1]
    assert context.coverage["visual_quality"].state == "examined"


async def test_a_clip_of_17_s_needs_one_query_whatever_is_busy(client_for: Any) -> None:
    window = Window(id=0, span=Span(0, 17), frames=(0,))
    known = {"observations": (WindowObservation(window=window, notes={}, busy=(Span(0, 17),)),)}
    for frames in ("4 fps, at most 32", "uniform 16", "every frame"):
        _, backend, _ = await specialists(
            client_for, NOTHING, spans=[(0, 17)], seconds=17.0, known=known, frames=frames
        )
        assert len(backend.asked) == 1


async def test_a_query_has_no_more_pictures_than_the_model_accepts(client_for: Any) -> None:
    config = {"frames": "4 fps", "max_pictures": 4}
    _, backend, _ = await specialists(client_for, NOTHING, spans=[(0, 8)], seconds=8.0, **config)
    assert len(backend.asked) == 2
    assert all(len(request.images) <= 4 for request in backend.asked)


TRACK = ObjectTrack(name="the cup", view="main", boxes={0: Box(left=0.2, top=0.2, right=0.5, bottom=0.5)})


async def test_objects_are_shown_over_time_to_the_dimensions_that_need_it(client_for: Any) -> None:
    routes = ["object_scene_consistency", "visual_quality"]
    _, backend, _ = await specialists(client_for, NOTHING, routes=routes, known={"tracks": (TRACK,)})
    with_strips, without = backend.asked
    assert len(with_strips.images) == len(without.images) + 1
    assert "the cup in view main" in with_strips.images[-1].label
    assert 'crops of single objects over time: ["the cup"]' in with_strips.parts[-1]
    assert "crops of single objects" not in without.parts[-1]


async def test_an_object_of_several_views_is_one_picture(client_for: Any) -> None:
    routes = ["object_scene_consistency"]
    layout = Layout.parse("1x2:left,right")
    tracks = tuple(TRACK.with_(view=view) for view in layout.active)
    _, backend, _ = await specialists(client_for, NOTHING, routes=routes, known={"tracks": tracks}, layout=layout)
    (asked,) = backend.asked
    assert "the cup in views left, right" in asked.images[-1].label
    assert "the cup" not in asked.images[-2].label


async def test_with_the_whole_clip_specialists_share_everything_but_their_prompt(client_for: Any) -> None:
    stage = Propose(show="clip", boxes=False)
    routes = ["object_scene_consistency", "physical_plausibility"]
    known = {"tracks": (TRACK,)}
    _, backend, _ = await specialists(client_for, NOTHING, routes=routes, spans=[(1, 2)], stage=stage, known=known)
    first, second = backend.asked
    assert first.parts[:-1] == second.parts[:-1]
    assert frames_of(first) == [(frame,) for frame in range(0, 64, 4)]
    assert "box" not in str(first.schema)
    assert "box" not in first.parts[-1]


# What was examined.


async def test_coverage_says_what_was_examined_and_what_was_ruled_out(client_for: Any) -> None:
    models, _ = scripted(NOTHING)
    segments = tuple(
        Segment(id=name, subtask=None, span=Span(*span)) for name, span in (("S1", (0, 2)), ("S2", (2, 4)))
    )
    routes = (
        Route(segment="S1", dimensions=("visual_quality",), reasons={"visual_quality": "soft edges"}),
        Route(segment="S2", dimensions=(), reasons={"visual_quality": "sharp"}),
    )
    client, context = client_for(models, segments=segments, routes=routes)
    context = await Propose().run(context, client)
    assert context.coverage["visual_quality"] == Coverage(
        state="examined",
        reason="a specialist was shown 11 of 64 frames of 0.00 to 2.00 s; ruled out: 2.00 to 4.00 s (sharp)",
    )


async def test_a_stretch_of_over_a_second_that_was_not_shown_makes_the_coverage_partial(client_for: Any) -> None:
    stage = Propose(show="clip", boxes=False)
    config = {"frames": "uniform 3"}
    context, _, _ = await specialists(client_for, NOTHING, stage=stage, **config)
    assert context.coverage["visual_quality"] == Coverage(
        state="partial",
        reason="a specialist was shown 3 of 64 frames; gaps of more than 1 s without a shown frame: "
        "0.06 to 2.00 s, 2.06 to 3.94 s",
    )
    context, _, _ = await specialists(client_for, NOTHING, **config)
    assert context.coverage["visual_quality"].state == "examined"


async def test_a_part_without_an_answer_makes_the_coverage_partial(client_for: Any) -> None:
    lines = [{"when": {"subject": f"visual_quality, part {n} of 3"}, "reply": {"hypotheses": []}} for n in (1, 3)]
    context, _, _ = await specialists(client_for, *lines, spans=[(0, 50)], seconds=50.0)
    found = context.coverage["visual_quality"]
    assert found.state == "partial"
    assert "no answer about 16.67 to 33.33 s: " in found.reason
    assert "gaps of more than 1 s without a shown frame: 17." in found.reason
    assert [failure.dimension for failure in context.failures] == ["visual_quality"]


# What it answers.


async def test_the_place_of_a_fault_is_evidence_with_a_box(client_for: Any) -> None:
    placed = fault(box=[100, 200, 300, 400], box_frame=16)
    context, _, _ = await specialists(client_for, {"reply": {"hypotheses": [placed]}})
    said, place = context.hypotheses[0].evidence
    assert said.box is None
    assert (place.frames, place.view, place.text, place.source) == ((16,), "main", "", "propose")
    assert place.box == Box(left=0.1, top=0.2, right=0.3, bottom=0.4)


GRID = Layout(rows=1, columns=2, views=("left", "right"))


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"box": [1, 2, 3, 4]}, "box and box_frame go together"),
        ({"box_frame": 16}, "box and box_frame go together"),
        ({"box": [1, 2, 3, 4], "box_frame": 16}, "box needs box_view"),
        ({"box": [1, 2, 3, 4], "box_frame": 16, "box_view": "top"}, "box_view"),
        ({"box": [1, 2, 3, 4], "box_frame": 17, "box_view": "left"}, "box_frame"),
        ({"box": [3, 2, 1, 4], "box_frame": 16, "box_view": "left"}, "left < right"),
        ({"box": [1, 2, 3, 1001], "box_frame": 16, "box_view": "left"}, "less than or equal to 1000"),
    ],
)
async def test_a_place_that_cannot_be_is_sent_back(client_for: Any, fields: dict[str, Any], error: str) -> None:
    lines = [{"reply": {"hypotheses": [fault(**fields)]}}, {"reply": {"hypotheses": []}}]
    _, backend, _ = await specialists(client_for, *lines, layout=GRID)
    assert error in backend.asked[1].parts[-1]


async def test_a_weak_hypothesis_is_kept_as_rejected(client_for: Any) -> None:
    context, _, _ = await specialists(client_for, {"reply": {"hypotheses": [fault(confidence=0.29)]}})
    (found,) = context.hypotheses
    assert (found.verdict, found.reason) == ("rejected", "proposed with confidence 0.29, below the minimum of 0.30")


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
        {"span_s": [1.5, 1.0]},
        {"span_s": [1.0, 99.0]},
        {"frames": []},
        {"frames": [17]},
        {"severity_proposal": "5/5"},
    ],
)
async def test_an_invalid_field_is_sent_back_and_never_corrected(client_for: Any, fields: dict[str, Any]) -> None:
    lines = [{"reply": {"hypotheses": [fault(**fields)]}}, {"reply": {"hypotheses": []}}]
    context, _, client = await specialists(client_for, *lines)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]
    assert context.hypotheses == ()
