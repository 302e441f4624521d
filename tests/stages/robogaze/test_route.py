"""route: the dimensions to examine each segment for, in one request, with a reason for each."""

from typing import Any

import pytest
from making import make_clip, scripted

from robogaze.core.context import Segment
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.stages.context import Context
from robogaze.stages.robogaze.route import Ratings, RelevanceAnswer, Router, RouteStage

RATED = (
    "instruction_consistency", "object_scene_consistency", "robot_body_consistency", "physical_plausibility",
    "visual_quality",
)  # fmt: skip


def ratings(**relevances: int) -> dict[str, Any]:
    """The ratings of a segment; a dimension that is not named has relevance 0."""
    return {name: {"reason": f"why {name}", "relevance": relevances.get(name, 0)} for name in RATED}


def routed(robot: Domain, *rated: dict[str, Any], seconds: float = 8.0, **parameters: Any) -> list[tuple[str, ...]]:
    """The dimensions kept for segments of equal length."""
    return [route.dimensions for route in routes(robot, *rated, seconds=seconds, **parameters)]


def routes(robot: Domain, *rated: dict[str, Any], seconds: float = 8.0, **parameters: Any) -> Any:
    context = Context(clip=make_clip(seconds), dimensions=tuple(robot.dimensions))
    length = seconds / len(rated)
    answers: list[tuple[Segment, Ratings]] = [
        (
            Segment(id=f"S{number}", subtask=None, span=Span(number * length, (number + 1) * length)),
            {name: RelevanceAnswer(**rating) for name, rating in given.items()},
        )
        for number, given in enumerate(rated)
    ]
    return Router(**parameters).routes(answers, context, robot)


def test_the_most_relevant_dimensions_are_kept_beside_those_always_examined(robot: Domain) -> None:
    found = routed(robot, ratings(visual_quality=2, physical_plausibility=9, robot_body_consistency=1), keep=3)
    assert found == [("task_progress", "physical_plausibility", "visual_quality")]


def test_of_equally_relevant_dimensions_the_first_of_the_taxonomy_are_kept(robot: Domain) -> None:
    assert routed(robot, ratings(), keep=3) == [
        ("task_progress", "instruction_consistency", "object_scene_consistency")
    ]


def test_without_a_number_to_keep_a_dimension_needs_a_relevance_of_5(robot: Domain) -> None:
    given = ratings(visual_quality=5, physical_plausibility=4)
    assert routed(robot, given) == [("task_progress", "visual_quality")]


def test_every_dimension_has_a_reason_kept_or_ruled_out(robot: Domain) -> None:
    (route,) = routes(robot, ratings(visual_quality=5), keep=2)
    assert route.reasons == {
        "task_progress": "this dimension is always examined",
        **{name: f"why {name}" for name in RATED},
    }


def test_all_segments_together_keep_a_number_for_each_part_of_the_clip(robot: Domain) -> None:
    #   S0 keeps the two most relevant of its own, S1 two others: five with task progress; the least weighty one goes
    given = (
        ratings(object_scene_consistency=9, robot_body_consistency=8),
        ratings(physical_plausibility=7, visual_quality=1),
    )
    kept = routed(robot, *given, keep=3, keep_in_all=4)
    assert kept == [
        ("task_progress", "object_scene_consistency", "robot_body_consistency"),
        ("task_progress", "physical_plausibility"),
    ]
    (_, second) = routes(robot, *given, keep=3, keep_in_all=4)
    assert (
        second.reasons["visual_quality"] == "not among the 4 most relevant dimensions of the clip; why visual_quality"
    )
    assert [len(names) for names in routed(robot, *given, keep=3, keep_in_all=4, seconds=20.0)] == [3, 3]


def test_if_the_segments_keep_the_same_dimensions_the_next_most_relevant_are_examined_everywhere(robot: Domain) -> None:
    both = {"object_scene_consistency": 9, "physical_plausibility": 8}
    given = ratings(**both, visual_quality=4), ratings(**both, robot_body_consistency=5)
    found = routes(robot, *given, keep=3, keep_in_all=5)
    assert [route.dimensions for route in found] == 2 * [
        (
            "task_progress", "object_scene_consistency", "robot_body_consistency", "physical_plausibility",
            "visual_quality",
        ),
    ]  # fmt: skip
    assert found[0].reasons["robot_body_consistency"] == "why robot_body_consistency"
    kept = routed(robot, *given, keep=3, keep_in_all=4)
    assert kept == 2 * [
        ("task_progress", "object_scene_consistency", "robot_body_consistency", "physical_plausibility")
    ]
    assert [len(names) for names in routed(robot, *given, keep=3, keep_in_all=9)] == [6, 6], "there are no more"


async def test_the_router_answers_for_every_segment(client_for: Any) -> None:
    given = ratings(visual_quality=9)
    models, backend = scripted({"reply": {"routes": {}}}, {"reply": {"routes": {"S1": given}}})
    client, context = client_for(models)
    context = await RouteStage(keep=2).run(context, client)
    assert [route.dimensions for route in context.routes] == [("task_progress", "visual_quality")]
    assert context.segments[0].span == context.clip.span
    assert "routes.S1: Field required" in backend.asked[1].parts[-1]
    assert [len(image.picture.frames) for image in backend.asked[0].images] == [9, 7]


@pytest.mark.parametrize("fields", [{"relevance": 11}, {"relevance": "high"}, {"relevance": True}, {"reason": ""}])
async def test_an_invalid_rating_is_sent_back(client_for: Any, fields: dict[str, Any]) -> None:
    bad = {**ratings(), "visual_quality": {"reason": "x", "relevance": 3, **fields}}
    models, _ = scripted({"reply": {"routes": {"S1": bad}}}, {"reply": {"routes": {"S1": ratings()}}})
    client, context = client_for(models)
    await RouteStage(keep=2).run(context, client)
    assert [call.outcome for call in client.ledger()] == ["invalid", "answered"]


async def test_everything_can_be_examined_without_a_request(client_for: Any) -> None:
    models, backend = scripted()
    segment = Segment(id="S1", subtask="lift", span=Span(0, 4))
    client, context = client_for(models, segments=(segment,))
    stage = RouteStage(examine="all")
    context = await stage.run(context, client)
    assert [route.dimensions for route in context.routes] == [context.dimensions]
    assert set(context.routes[0].reasons) == set(context.dimensions)
    assert (backend.asked, stage.role(), context.segments) == ([], None, (segment,))
