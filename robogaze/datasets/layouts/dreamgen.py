"""DreamGen Bench: `<model>/<number>_<Instruction_in_words>.mp4`. The folder of a clip is its checkpoint."""

import re
from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState, make_entry

_NAME = re.compile(r"\d+_(?P<words>.*[^\W\d_].*)")


def recognises(source: ImportSource) -> bool:
    """Every video is named `<number>_<Instruction_in_words>`, and at least one has an instruction of several words."""
    instructions = [_instruction(video) for video in source.videos]
    return all(instructions) and any(" " in instruction for instruction in instructions)


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per video."""
    for video in source.videos:
        instruction = _instruction(video)
        if not instruction:
            state.ignore(video, "its name is not a number followed by an instruction")
            continue
        folder = video.parent.as_posix()
        checkpoint = None if folder == "." else folder
        path = source.at(video)
        state.add(make_entry(f"{path}", path=path, instruction=instruction, checkpoint=checkpoint), video)


def _instruction(video: PurePosixPath) -> str:
    """The instruction in a file's name; empty if there is none."""
    match = _NAME.fullmatch(video.stem)
    return "" if match is None else match["words"].replace("_", " ").strip()


LAYOUT = FolderLayout("dreamgen", "<model>/<number>_<Instruction_in_words>.mp4", recognises, read)
