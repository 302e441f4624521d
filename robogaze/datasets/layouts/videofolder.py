"""Hugging Face's videofolder: `metadata.csv`, `.jsonl` or `.parquet` with a column `file_name`, beside the videos.

There may be one in every folder; the name is relative to it. The first folder below the source is the split where it is
called as one.
"""

from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import Importer, ImportState
from robogaze.datasets.layouts.rows import ImportedRow, add_rows, rows_of
from robogaze.datasets.layouts.source import ImportSource
from robogaze.errors import InputError

_NAMES = ("metadata.csv", "metadata.jsonl", "metadata.parquet")
_COLUMN = "file_name"
_SPLITS = {"train": "train", "validation": "validation", "valid": "validation", "dev": "validation", "test": "test"}


def recognises(source: ImportSource) -> bool:
    """A table with the column, and videos."""
    return bool(source.videos) and any(
        any(_COLUMN in row.cells for row in rows_of(source.at(table))[:1]) for table in _tables(source)
    )


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a row."""
    for table in _tables(source):
        path = source.at(table)
        rows = [_with_split(row, table) for row in rows_of(path)]
        if lacking := next((row for row in rows if _COLUMN not in row.cells), None):
            raise InputError(f"{lacking.where}: {_COLUMN}: the name of a video is wanted")
        add_rows(rows, path, path.parent, found, table.parent)
        found.use(table)
    for video in source.videos:
        found.ignore(video, "is not listed in the metadata")


def _tables(source: ImportSource) -> list[PurePosixPath]:
    return [file for file in source.files if file.name in _NAMES]


def _with_split(row: ImportedRow, table: PurePosixPath) -> ImportedRow:
    split = _SPLITS.get(table.parts[0])
    return row if split is None else ImportedRow(row.where, {"split": split, **row.cells})


IMPORTER = Importer("videofolder", "metadata.csv, .jsonl or .parquet with file_name beside videos", recognises, read)
