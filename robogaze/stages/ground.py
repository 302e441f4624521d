"""ground: what the task wants and what the scene holds, before the execution is judged (RoboGaze, eq. 1).

Both memories come from one call, since both rest on the same picture of the initial scene. What they hold is declared
in the prompt's front matter, under the keys of `MEMORIES`.
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
    """`memories` are the keys asked for."""

    memories: tuple[str, ...]


class Ground(Stage):
    """Writes the task memory, the scene memory, or both; without an instruction there is no task memory."""

    prompts: ClassVar[Mapping[str, type]] = {"ground": GroundVariables}

    memories: tuple[Literal["task_memory", "scene_memory"], ...] = Field(
        default=("task_memory", "scene_memory"), min_length=1
    )

    def writes(self) -> frozenset[Slot]:
        """The memories."""
        return frozenset(MEMORIES[name] for name in self.memories)

    def role(self) -> str:
        """The model that looks."""
        return "vlm"

    def check(self, domain: Domain) -> None:
        """Raise ValueError when the prompt does not declare a memory, or a task memory without named subtasks."""
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

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask once about the initial scene."""
        wanted = [name for name in self.memories if name != "task_memory" or context.clip.instruction is not None]
        if not wanted:
            return context
        declared = desk.domain.prompts.contract("ground")
        question = Query(
            stage="ground",
            subject="clip",
            role=self.role(),
            prompt="ground",
            variables=GroundVariables(memories=tuple(wanted)),
            shots=(desk.footage.initial or desk.footage.frame_image(0),),
            contract=record("Memories", {name: declared[name] for name in wanted}),
        )
        answer = await desk.ask(question, context)
        memories: dict[str, Any] = {MEMORIES[name]: answer.model_dump()[name] for name in wanted}
        return replace(context, **memories)
