"""Which clips are candidates of one prompt.

Clips are grouped by the prompts that the user gives for them. If the user gives none, they are grouped by the first of
the following keys that is known for every clip with a report:

prompt_id                       the field `prompt_id` of the clip
instruction and initial frame   the instruction that the generator got, together with the initial frame
instruction                     the instruction alone
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from robogaze.datasets.manifest import stem_of
from robogaze.datasets.rows import read_rows
from robogaze.errors import InputError
from robogaze.ranking.reading import ReadClip

GIVEN = "the prompts that were given"


def _with_initial_frame(clip: ReadClip) -> str | None:
    if clip.instruction is None or clip.initial_frame is None:
        return None
    return f"{clip.instruction} | {clip.initial_frame}"


KEYS: Mapping[str, Callable[[ReadClip], str | None]] = {
    "prompt_id": lambda clip: clip.prompt_id,
    "instruction and initial frame": _with_initial_frame,
    "instruction": lambda clip: clip.instruction,
}
"""The keys by name, in the order of preference."""


class _PromptRow(BaseModel):
    """A line of a manifest, or a row with `clip_id` and `prompt_id`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    prompt_id: Annotated[str, Field(min_length=1)]
    clip_id: str | None = None
    path: Path | None = None


def read_prompts(path: Path) -> dict[str, str]:
    """The prompt of each clip id. Raises InputError with file and line for a row that does not fit."""
    found: dict[str, str] = {}
    for source, row in read_rows(path, _PromptRow):
        clip_id = row.clip_id or (None if row.path is None else stem_of(row.path.stem))
        if clip_id is None:
            raise InputError(f"{source}: a row needs a field 'clip_id' or, as in a manifest, a field 'path'")
        if found.setdefault(clip_id, row.prompt_id) != row.prompt_id:
            raise InputError(f"{source}: {clip_id} has two prompts, {found[clip_id]} and {row.prompt_id}")
    return found


def prompt_key(clips: Sequence[ReadClip]) -> str:
    """The name of the first key in KEYS that is known for every clip with a report. Raises InputError if there is no
    such key.
    """
    scored = [clip for clip in clips if clip.candidate is not None]
    for name, key in KEYS.items():
        if all(key(clip) is not None for clip in scored):
            return name
    missing = next(clip for clip in scored if clip.instruction is None)
    raise InputError(
        f"the prompt of {missing.id} is not known, because the clip has no prompt_id and no instruction; give "
        "a file with the clip_id and prompt_id of every clip (`prompts`)"
    )
