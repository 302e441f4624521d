"""A file that lists clips: JSONL, JSON, CSV, TSV or Parquet; see `rows` for its columns. Paths are relative to it."""

from pathlib import PurePosixPath

from robogaze.datasets.layouts.base import Importer, ImportState
from robogaze.datasets.layouts.rows import SUFFIXES, add_rows, rows_of
from robogaze.datasets.layouts.source import ImportSource


def recognises(source: ImportSource) -> bool:
    """A file whose name ends as that of a table."""
    return source.is_file and source.path.suffix.lower() in SUFFIXES


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a row."""
    add_rows(rows_of(source.path), source.path, source.path.parent, found, PurePosixPath())


IMPORTER = Importer("table", "a JSONL, CSV or Parquet file, a row a clip", recognises, read)
