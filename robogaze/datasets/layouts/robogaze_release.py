"""The input of the RoboGaze release: `metadata.csv`, `videos/`, `conditioning_frame/<stem>.{jpg,jpeg,png}`.

The table's `file_name` is a video in `videos/`, its `text` the instruction; the picture of the same name is the initial
frame.
"""

from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import Importer, ImportState, make_entry
from robogaze.datasets.layouts.rows import ImportedRow, rows_of
from robogaze.datasets.layouts.source import ImportSource
from robogaze.errors import InputError

_TABLE, _VIDEOS, _PICTURES = "metadata.csv", "videos", "conditioning_frame"
_ENDINGS = (".jpg", ".jpeg", ".png")
_LAYOUT = "video_layout.txt"


def recognises(source: ImportSource) -> bool:
    """The table, and a folder of conditioning frames."""
    return source.has(_TABLE) and bool(source.within(_PICTURES))


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a row of the table."""
    if not source.has(_TABLE):
        raise InputError(f"{source.at(_TABLE)} does not exist; it lists the clips")
    for row in rows_of(source.at(_TABLE)):
        _add(row, source, found)
    found.use(_TABLE)
    for video in source.within(_VIDEOS):
        found.ignore(video, f"is not listed in {_TABLE}")
    if source.has(_LAYOUT):
        found.ignore(_LAYOUT, "words about the views, which are not read; name the layout in the manifest")


def _add(row: ImportedRow, source: ImportSource, found: ImportState) -> None:
    name = row.cells.get("file_name")
    if name is None:
        raise InputError(f"{row.where}: file_name: the name of a video is wanted")
    video = PurePosixPath(_VIDEOS, name.removeprefix(f"{_VIDEOS}/"))
    if not source.has(video):
        found.ignore(video, f"is listed in {_TABLE}, but not there")
        return
    pictures = [PurePosixPath(_PICTURES, f"{video.stem}{ending}") for ending in _ENDINGS]
    initial = next((picture for picture in pictures if source.has(picture)), None)
    if initial is None:
        found.remark(f"some clips have no picture in {_PICTURES}/; their first frame serves")
    entry = make_entry(
        row.where,
        path=source.at(video),
        instruction=row.cells.get("text"),
        initial_frame=None if initial is None else source.at(initial),
    )
    found.add(entry, video, *([initial] if initial else []))


IMPORTER = Importer("robogaze", "metadata.csv, videos/ and conditioning_frame/", recognises, read)
