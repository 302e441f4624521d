"""ground: the task memory and the scene memory, from one request about the initial scene."""

from typing import Any

import pytest
from making import make_clip, scripted

from robogaze.stages.client import NoAnswer
from robogaze.stages.robogaze.ground import Ground

TASK = {
    "goal": "the cup stands in the pot",
    "objects": ["cup"],
    "target_locations": ["pot"],
    "expected_effectors": [],
    "subtasks": [{"name": "grasp", "expected_outcome": "held", "completion_criterion": "off the table"}],
}
SCENE = {
    "visible_objects": ["cup"], "robot_parts": ["hand"], "spatial_relations": [], "support_relations": [],
    "occlusions": [], "uncertainty": [],
}  # fmt: skip


async def test_both_memories_come_from_one_request_about_the_first_frame(client_for: Any) -> None:
    models, backend = scripted({"reply": {"task_memory": TASK, "scene_memory": SCENE}})
    client, context = client_for(models)
    context = await Ground().run(context, client)
    assert (context.task, context.scene) == (TASK, SCENE)
    assert [shot.picture.id for shot in backend.asked[0].images] == ["F0"]


async def test_without_an_instruction_there_is_no_task_memory(client_for: Any) -> None:
    models, backend = scripted({"reply": {"scene_memory": SCENE}})
    client, context = client_for(models, make_clip(instruction=None))
    context = await Ground().run(context, client)
    assert context.task is None
    assert "task_memory: what" not in backend.asked[0].parts[-1]


async def test_the_ablation_requests_one_memory(client_for: Any) -> None:
    models, _ = scripted({"reply": {"scene_memory": SCENE}})
    client, context = client_for(models)
    context = await Ground(memories=("scene_memory",)).run(context, client)
    assert context.task is None
    assert context.scene == SCENE


async def test_without_memories_the_diagnosis_ends(client_for: Any) -> None:
    models, _ = scripted({"error": {"kind": "refused"}})
    client, context = client_for(models)
    with pytest.raises(NoAnswer):
        await Ground().run(context, client)
