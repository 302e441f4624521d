"""DreamGen Bench: `<model>/<number>_<Instruction_in_words>.mp4`. The folder a clip lies in names the checkpoint."""

import re
from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import Importer, ImportState, make_entry
from robogaze.datasets.layouts.source import ImportSource

_NAME = re.compile(r"\d+_(?P<words>.*[^\W\d_].*)")


def recognises(source: ImportSource) -> bool:
    """Every video is named so, and one has an instruction of several words."""
    words = [_words(video) for video in source.videos]
    return all(words) and any(" " in one for one in words)


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a video."""
    for video in source.videos:
        words = _words(video)
        if not words:
            found.ignore(video, "its name is no number with an instruction after it")
            continue
        folder = video.parent.as_posix()
        checkpoint = None if folder == "." else folder
        path = source.at(video)
        found.add(make_entry(f"{path}", path=path, instruction=words, checkpoint=checkpoint), video)


def _words(video: PurePosixPath) -> str:
    """The instruction in a name; empty for none."""
    named = _NAME.fullmatch(video.stem)
    return "" if named is None else named["words"].replace("_", " ").strip()


IMPORTER = Importer("dreamgen", "<model>/<number>_<Instruction_in_words>.mp4", recognises, read)
