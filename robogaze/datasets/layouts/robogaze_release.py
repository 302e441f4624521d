"""The input of the RoboGaze release: `metadata.csv`, `videos/`, `conditioning_frame/<stem>.{jpg,jpeg,png}`.

The table's `file_name` is a video in `videos/`, and its `text` is the instruction; the image with the same stem is the
initial frame.
"""

from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState, make_entry
from robogaze.datasets.layouts.table import ClipRow, read_rows
from robogaze.errors import InputError

_TABLE, _VIDEOS, _IMAGES = "metadata.csv", "videos", "conditioning_frame"
_SUFFIXES = (".jpg", ".jpeg", ".png")
_VIEWS = "video_layout.txt"


def recognises(source: ImportSource) -> bool:
    """The table, and a folder of conditioning frames."""
    return source.has(_TABLE) and bool(source.within(_IMAGES))


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per row of the table."""
    if not source.has(_TABLE):
        raise InputError(f"{source.at(_TABLE)} does not exist; this file lists the clips")
    for row in read_rows(source.at(_TABLE)):
        _add(row, source, state)
    state.use(_TABLE)
    for video in source.within(_VIDEOS):
        state.ignore(video, f"is not listed in {_TABLE}")
    if source.has(_VIEWS):
        state.ignore(_VIEWS, "text about the views (this text is not read; give the layout in the manifest)")


def _add(row: ClipRow, source: ImportSource, state: ImportState) -> None:
    name = row.cells.get("file_name")
    if name is None:
        raise InputError(f"{row.source}: file_name: the name of a video is missing")
    video = PurePosixPath(_VIDEOS, name.removeprefix(f"{_VIDEOS}/"))
    if not source.has(video):
        state.ignore(video, f"is listed in {_TABLE}, but does not exist")
        return
    images = [PurePosixPath(_IMAGES, f"{video.stem}{suffix}") for suffix in _SUFFIXES]
    initial_frame = next((image for image in images if source.has(image)), None)
    if initial_frame is None:
        state.remark(f"some clips have no image in {_IMAGES}/; their first frame is used instead")
    entry = make_entry(
        row.source,
        path=source.at(video),
        instruction=row.cells.get("text"),
        initial_frame=None if initial_frame is None else source.at(initial_frame),
    )
    state.add(entry, video, *([initial_frame] if initial_frame else []))


LAYOUT = FolderLayout("robogaze", "metadata.csv, videos/ and conditioning_frame/", recognises, read)
