"""ground: what the task requires and what the scene contains, before the execution is judged (RoboGaze, eq. 1).

Both memories come from one request, about one picture of the initial scene. The front matter of the prompt declares
what they contain, under the keys of `MEMORIES`.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypedDict

from pydantic import Field

from robogaze.domains import Domain
from robogaze.domains.contract import record
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot

MEMORIES: Mapping[str, Slot] = {"task_memory": "task", "scene_memory": "scene"}


class GroundVariables(TypedDict):
    """The variables of the prompt `ground`: the keys of the memories to write."""

    memories: tuple[str, ...]


class Ground(Stage):
    """Writes the task memory, the scene memory, or both; without an instruction there is no task memory."""

    prompts: ClassVar[Mapping[str, type]] = {"ground": GroundVariables}

    memories: tuple[Literal["task_memory", "scene_memory"], ...] = Field(
        default=("task_memory", "scene_memory"), min_length=1
    )

    def writes(self) -> frozenset[Slot]:
        return frozenset(MEMORIES[name] for name in self.memories)

    def role(self) -> str:
        return "vlm"

    def check(self, domain: Domain) -> None:
        """Raise ValueError if the prompt does not declare a memory, or no named subtasks in the task memory."""
        declared = domain.prompts.contract("ground")
        for name in self.memories:
            if not isinstance(declared.get(name), dict):
                raise ValueError(f"the prompt ground.md.j2 declares no record {name!r} in its answer")
        if "task_memory" in self.memories:
            subtasks = declared["task_memory"].get("subtasks")
            if not (
                isinstance(subtasks, list)
                and isinstance(subtasks[0], dict)
                and subtasks[0].get("name") in ("text", "phrase")
            ):
                raise ValueError("the prompt ground.md.j2 must declare task_memory.subtasks as a list of named records")

    async def run(self, context: Context, client: ModelClient) -> Context:
        wanted = [name for name in self.memories if name != "task_memory" or context.clip.instruction is not None]
        if not wanted:
            return context
        declared = client.domain.prompts.contract("ground")
        query = Query(
            stage="ground",
            subject="clip",
            role=self.role(),
            prompt="ground",
            variables=GroundVariables(memories=tuple(wanted)),
            images=(client.decoded_clip.initial or client.decoded_clip.frame_image(0),),
            contract=record("Memories", {name: declared[name] for name in wanted}),
        )
        answer = await client.ask(query, context)
        memories: dict[str, Any] = {MEMORIES[name]: answer.model_dump()[name] for name in wanted}
        return replace(context, **memories)
