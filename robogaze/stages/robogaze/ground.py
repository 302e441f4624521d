"""ground: what the task requires, what the scene contains, and where the relevant things are (RoboGaze, eq. 1).

One request about one picture of the scene before the execution gives all this information. The front matter of the
prompt declares the answer: the contents of the memories under the keys of `MEMORIES`, and a list of boxes in the first
frame under the key `boxes`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypedDict

from pydantic import BaseModel, Field

from robogaze.core.context import ObjectTrack
from robogaze.core.events import Box
from robogaze.domains import Domain
from robogaze.domains.contract import LIST_LIMIT, list_of, record
from robogaze.stages.answers import narrowed, one_of
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot

MEMORIES: Mapping[str, Slot] = {"task_memory": "task", "scene_memory": "scene"}

BOXES = "boxes"

_LOCATED = {"name": "phrase", "view": "phrase", "box": "box"}
"""What the prompt declares for a box, at least."""


class GroundVariables(TypedDict):
    """The variables of the prompt `ground`: the keys of the memories to write, and the views in which to give boxes.

    `views` is empty if no boxes are wanted. `max_boxes` is the largest number of boxes in a view.
    """

    memories: tuple[str, ...]
    views: tuple[str, ...]
    max_boxes: int


class Ground(Stage):
    """Writes the task memory, the scene memory, or both; without an instruction there is no task memory.

    With `boxes` it also writes the tracks: the box of each object in frame 0, in each view in which it is visible.
    """

    prompts: ClassVar[Mapping[str, type]] = {"ground": GroundVariables}

    memories: tuple[Literal["task_memory", "scene_memory"], ...] = Field(
        default=("task_memory", "scene_memory"), min_length=1
    )
    boxes: bool = True

    def writes(self) -> frozenset[Slot]:
        slots = {MEMORIES[name] for name in self.memories}
        return frozenset(slots | {"tracks"} if self.boxes else slots)

    def role(self) -> str:
        return "vlm"

    def check(self, domain: Domain) -> None:
        """Raise ValueError if the prompt does not declare a memory, the boxes, or a list of named subtasks in the task
        memory.
        """
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
        if self.boxes and declared.get(BOXES) != [_LOCATED]:
            raise ValueError(
                "the prompt ground.md.j2 must declare 'boxes: [{name: phrase, view: phrase, box: box}]'; "
                "or set 'ground: {boxes: false}' to ask for no boxes"
            )

    async def run(self, context: Context, client: ModelClient) -> Context:
        wanted = [name for name in self.memories if name != "task_memory" or context.clip.instruction is not None]
        if not wanted and not self.boxes:
            return context
        views = context.clip.layout.active if self.boxes else ()
        query = Query(
            stage="ground",
            subject="clip",
            role=self.role(),
            prompt="ground",
            variables=GroundVariables(memories=tuple(wanted), views=views, max_boxes=LIST_LIMIT),
            images=self._images(client),
            contract=_contract(client.domain.prompts.contract("ground"), wanted, views),
            check=_repeated,
        )
        answer = (await client.ask(query, context)).model_dump()
        written: dict[str, Any] = {MEMORIES[name]: answer[name] for name in wanted}
        if self.boxes:
            written["tracks"] = tuple(_track(located) for located in answer[BOXES])
        return replace(context, **written)

    def _images(self, client: ModelClient) -> tuple[Any, ...]:
        """The picture from before the clip, or the first frame if there is none; both if boxes are wanted."""
        first, initial = client.decoded_clip.frame_image(0), client.decoded_clip.initial
        if initial is None:
            return (first,)
        return (initial, first) if self.boxes else (initial,)


def _contract(declared: Mapping[str, Any], memories: Sequence[str], views: Sequence[str]) -> type[BaseModel]:
    answer: type[BaseModel] = record("Memories", {name: declared[name] for name in memories})
    if not views:
        return answer
    located = narrowed(record("Located", _LOCATED), view=one_of(views))
    return narrowed(answer, boxes=list_of(located, LIST_LIMIT * len(views)))


def _repeated(answer: Any) -> str | None:
    """An error for two boxes of one name in one view, or None."""
    counts = Counter((located.name, located.view) for located in getattr(answer, BOXES, ()))
    for (name, view), count in counts.items():
        if count > 1:
            return f"boxes: {name!r} has {count} boxes in the view {view!r}; give things that differ different names"
    return None


def _track(located: Mapping[str, Any]) -> ObjectTrack:
    left, top, right, bottom = (side / 1000 for side in located["box"])
    box = Box(left=left, top=top, right=right, bottom=bottom)
    return ObjectTrack(name=located["name"], view=located["view"], boxes={0: box})
