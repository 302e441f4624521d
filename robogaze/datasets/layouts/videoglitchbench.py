"""VideoGlitchBench: `<title>/<clip>.mp4`, with the annotations in a JSON file next to the title folders.

A clip's id is `<title>/<clip>`, as in the annotations (`robogaze.datasets.formats.videoglitchbench`), so that
predictions and references can be paired. The title is the instruction for models, and the task family.
"""

from pathlib import PurePosixPath

from robogaze.datasets.documents import FormatError, documents
from robogaze.datasets.formats import videoglitchbench
from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState, make_entry


def recognises(source: ImportSource) -> bool:
    """Videos in folders, and annotations next to the folders."""
    return any(len(video.parts) == 2 for video in source.videos) and bool(_annotations(source))


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per video in a title folder."""
    for video in source.videos:
        if len(video.parts) != 2:
            state.ignore(video, "is not directly in a folder that is named after a title")
            continue
        title, path = video.parts[0], source.at(video)
        clip_id = f"{title}/{video.stem}"
        state.add(make_entry(f"{path}", path=path, clip_id=clip_id, instruction=title, task_family=title), video)
    for file in _annotations(source):
        state.ignore(file, "annotations; use them with robogaze evaluate --reference")


def _annotations(source: ImportSource) -> list[PurePosixPath]:
    files = [file for file in source.files if len(file.parts) == 1 and file.suffix == ".json"]
    return [file for file in files if _is_annotation(source, file)]


def _is_annotation(source: ImportSource, file: PurePosixPath) -> bool:
    try:
        return all(videoglitchbench.recognises(document.value) for document in documents(source.at(file)))
    except FormatError:
        return False  # not JSON


LAYOUT = FolderLayout("videoglitchbench", "<title>/<clip>.mp4 and a JSON file of annotations", recognises, read)
