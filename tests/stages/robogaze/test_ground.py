"""ground: the memories of task and scene and the boxes of what matters, from one request about the initial scene."""

from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from making import make_clip, scripted

from robogaze.core.clip import Layout
from robogaze.core.context import ObjectTrack
from robogaze.core.events import Box
from robogaze.domains import Domain, load_domain
from robogaze.stages.robogaze.ground import Ground

TASK = {
    "goal": "the cup stands in the pot",
    "demanded": [{"quote": "into the pot", "visible_sign": "the cup is inside the rim of the pot"}],
    "inferred": ["the hand lets go of the cup"],
    "ambiguous": [{"words": "the cup", "candidates": ["the red cup", "the blue cup"]}],
    "objects": ["red cup", "blue cup"],
    "target_locations": ["pot"],
    "effectors": [],
    "subtasks": [{"name": "grasp", "expected_outcome": "held", "completion_criterion": "off the table"}],
}
SCENE = {
    "visible_objects": ["cup"], "robot_parts": ["hand"], "spatial_relations": [], "support_relations": [],
    "occlusions": [], "uncertainty": [],
}  # fmt: skip
CUP = {"name": "red cup", "view": "main", "box": [100, 250, 200, 1000]}
BOTH = {"task_memory": TASK, "scene_memory": SCENE, "boxes": [CUP]}


def asked_text(request: Any) -> str:
    """The prompt of the stage: the last part of a request."""
    return str(request.parts[-1])


async def test_everything_comes_from_one_request_about_the_first_frame(client_for: Any) -> None:
    models, backend = scripted({"reply": BOTH})
    client, context = client_for(models)
    context = await Ground().run(context, client)
    assert (context.task, context.scene) == (TASK, SCENE)
    assert [shot.picture.id for shot in backend.asked[0].images] == ["F0"]
    assert len(backend.asked) == 1


async def test_a_box_is_a_track_with_the_first_frame_alone(client_for: Any) -> None:
    models, _ = scripted({"reply": BOTH})
    client, context = client_for(models)
    context = await Ground().run(context, client)
    box = Box(left=0.1, top=0.25, right=0.2, bottom=1.0)
    assert context.tracks == (ObjectTrack(name="red cup", view="main", boxes={0: box}),)


async def test_an_object_has_a_box_in_each_view(client_for: Any) -> None:
    layout = Layout(rows=1, columns=2, views=("left", "wrist"))
    boxes = [CUP | {"view": "left"}, CUP | {"view": "wrist"}]
    models, backend = scripted({"reply": BOTH | {"boxes": boxes}})
    client, context = client_for(models, make_clip(layout=layout))
    context = await Ground().run(context, client)
    assert context.tracks is not None
    assert [(track.name, track.view) for track in context.tracks] == [("red cup", "left"), ("red cup", "wrist")]
    assert backend.asked[0].schema["$defs"]["Located"]["properties"]["view"]["enum"] == ["left", "wrist"]


async def test_there_is_room_for_twelve_boxes_in_each_view(client_for: Any) -> None:
    layout = Layout(rows=1, columns=2, views=("left", "wrist"))
    models, backend = scripted({"reply": BOTH | {"boxes": []}})
    client, context = client_for(models, make_clip(layout=layout))
    await Ground().run(context, client)
    assert backend.asked[0].schema["properties"]["boxes"]["maxItems"] == 24
    assert "at most 12 in each view" in asked_text(backend.asked[0])


@pytest.mark.parametrize(
    ("boxes", "error"),
    [
        ([CUP, CUP], "'red cup' has 2 boxes in the view 'main'; give things that differ different names"),
        ([CUP | {"view": "wrist"}], "boxes.0.view: Input should be 'main'"),
        ([CUP | {"box": [200, 250, 100, 1000]}], "a box is [left, top, right, bottom] with left < right"),
    ],
)
async def test_boxes_that_cannot_be_used_are_sent_back(client_for: Any, boxes: list[Any], error: str) -> None:
    models, backend = scripted({"reply": BOTH | {"boxes": boxes}}, {"reply": BOTH})
    client, context = client_for(models)
    context = await Ground().run(context, client)
    assert context.tracks is not None
    assert len(context.tracks) == 1
    assert error in asked_text(backend.asked[1])


async def test_without_boxes_there_are_no_tracks(client_for: Any) -> None:
    models, backend = scripted({"reply": {"task_memory": TASK, "scene_memory": SCENE}})
    client, context = client_for(models)
    stage = Ground(boxes=False)
    context = await stage.run(context, client)
    assert context.tracks is None
    assert "tracks" not in stage.writes()
    assert "boxes:" not in asked_text(backend.asked[0])


async def test_boxes_are_of_the_first_frame_also_where_a_picture_comes_before_it(
    client_for: Any, tmp_path: Path
) -> None:
    path = tmp_path / "before.png"
    cv2.imwrite(str(path), np.full((48, 64, 3), 200, np.uint8))
    models, backend = scripted({"reply": BOTH})
    client, context = client_for(models)
    client.decoded_clip.add_initial_frame(path, np.zeros((48, 64, 3), np.uint8))
    await Ground().run(context, client)
    assert [shot.picture.id for shot in backend.asked[0].images] == ["I0", "F0"]
    models, backend = scripted({"reply": {"task_memory": TASK, "scene_memory": SCENE}})
    client.models = models
    await Ground(boxes=False).run(context, client)
    assert [shot.picture.id for shot in backend.asked[0].images] == ["I0"]


async def test_without_an_instruction_there_is_no_task_memory(client_for: Any) -> None:
    models, backend = scripted({"reply": {"scene_memory": SCENE, "boxes": []}})
    client, context = client_for(models, make_clip(instruction=None))
    context = await Ground().run(context, client)
    assert context.task is None
    assert "task_memory: what" not in asked_text(backend.asked[0])


async def test_without_a_memory_and_without_boxes_nothing_is_asked(client_for: Any) -> None:
    models, backend = scripted()
    client, context = client_for(models, make_clip(instruction=None))
    await Ground(memories=("task_memory",), boxes=False).run(context, client)
    assert backend.asked == []


async def test_the_ablation_requests_one_memory(client_for: Any) -> None:
    models, _ = scripted({"reply": {"scene_memory": SCENE, "boxes": []}})
    client, context = client_for(models)
    context = await Ground(memories=("scene_memory",)).run(context, client)
    assert context.task is None
    assert context.scene == SCENE


@pytest.mark.parametrize("name", ["robot", "egocentric"])
def test_the_prompt_keeps_demands_assumptions_and_ambiguities_apart(name: str) -> None:
    domain: Domain = load_domain(name)
    declared = domain.prompts.contract("ground")["task_memory"]
    assert declared["demanded"] == [{"quote": "phrase", "visible_sign": "phrase"}]
    assert declared["inferred"] == ["phrase"]
    assert declared["ambiguous"] == [{"words": "phrase", "candidates": ["phrase"]}]


def test_a_prompt_without_boxes_is_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    (folder / "prompts").mkdir(parents=True)
    (folder / "domain.yaml").write_text(
        (load_domain("robot").pipelines["full"].path.parents[1] / "domain.yaml").read_text()
    )
    (folder / "prompts" / "ground.md.j2").write_text(
        "---\nanswer: {task_memory: {subtasks: [{name: phrase}]}, scene_memory: {things: [phrase]}}\n---\nLook.\n"
    )
    domain = load_domain(folder)
    with pytest.raises(ValueError, match=r"set 'ground: \{boxes: false\}' to ask for no boxes"):
        Ground().check(domain)
    Ground(boxes=False).check(domain)
