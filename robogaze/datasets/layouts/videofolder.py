"""Hugging Face's videofolder: `metadata.csv`, `.jsonl` or `.parquet` with a column `file_name`, next to the videos.

Every folder can have a table like this; `file_name` is relative to the folder. If the first folder below the source has
the name of a split (such as `train`), the clips in this folder get this split, unless the table gives another one.
"""

from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState
from robogaze.datasets.layouts.table import ClipRow, add_rows, read_rows
from robogaze.errors import InputError

_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_COLUMN = "file_name"
_SPLITS = {"train": "train", "validation": "validation", "valid": "validation", "dev": "validation", "test": "test"}


def recognises(source: ImportSource) -> bool:
    """A table with the column `file_name`, and videos."""
    return bool(source.videos) and any(
        any(_COLUMN in row.cells for row in read_rows(source.at(table))[:1]) for table in _tables(source)
    )


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per row."""
    for table in _tables(source):
        path = source.at(table)
        rows = [_with_split(row, table) for row in read_rows(path)]
        if incomplete := next((row for row in rows if _COLUMN not in row.cells), None):
            raise InputError(f"{incomplete.source}: {_COLUMN}: the name of a video is missing")
        add_rows(rows, path, path.parent, state, table.parent)
        state.use(table)
    for video in source.videos:
        state.ignore(video, "is not listed in the metadata")


def _tables(source: ImportSource) -> list[PurePosixPath]:
    return [file for file in source.files if file.name in _NAMES]


def _with_split(row: ClipRow, table: PurePosixPath) -> ClipRow:
    split = _SPLITS.get(table.parts[0])
    return row if split is None else ClipRow(row.source, {"split": split, **row.cells})


LAYOUT = FolderLayout("videofolder", "videos, and metadata.csv, .jsonl or .parquet with file_name", recognises, read)
