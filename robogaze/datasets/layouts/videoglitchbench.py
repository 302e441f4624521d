"""VideoGlitchBench: `<title>/<clip>.mp4`, with the annotations in a JSON file beside the titles.

A clip's id is `<title>/<clip>`, as the annotations are read (`robogaze.datasets.formats.videoglitchbench`), so that
predictions and references meet. The title is what models are told (`instruction`), and the family of tasks.
"""

from pathlib import PurePosixPath

from robogaze.datasets.documents import FormatError, documents
from robogaze.datasets.formats import videoglitchbench
from robogaze.datasets.layouts.base import Importer, ImportState, make_entry
from robogaze.datasets.layouts.source import ImportSource


def recognises(source: ImportSource) -> bool:
    """Videos in folders, and annotations beside the folders."""
    return any(len(video.parts) == 2 for video in source.videos) and bool(_annotations(source))


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a video that lies in the folder of its title."""
    for video in source.videos:
        if len(video.parts) != 2:
            found.ignore(video, "does not lie in the folder of a title")
            continue
        title, path = video.parts[0], source.at(video)
        name = f"{title}/{video.stem}"
        found.add(make_entry(f"{path}", path=path, clip_id=name, instruction=title, task_family=title), video)
    for file in _annotations(source):
        found.ignore(file, "annotations; name them to robogaze evaluate --reference")


def _annotations(source: ImportSource) -> list[PurePosixPath]:
    beside = [file for file in source.files if len(file.parts) == 1 and file.suffix == ".json"]
    return [file for file in beside if _is_annotation(source, file)]


def _is_annotation(source: ImportSource, file: PurePosixPath) -> bool:
    try:
        return all(videoglitchbench.FORMAT.recognises(one.value) for one in documents(source.at(file)))
    except FormatError:
        return False  # no JSON at all, so no annotation


IMPORTER = Importer("videoglitchbench", "<title>/<clip>.mp4 beside a JSON file of annotations", recognises, read)
