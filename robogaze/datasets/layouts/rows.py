"""Rows that say of a clip where it lies and what it was generated for: JSONL, JSON, CSV, TSV or Parquet.

A row's columns are an entry's fields, or go by what others call them:

    path          path, file_name, video, video_path
    instruction   instruction, prompt, text, caption
    checkpoint    checkpoint; with a column model, MODEL/CHECKPOINT, or MODEL alone

The first that says something holds. Columns without a place in an entry are named, and left out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from robogaze.core.data import dotted
from robogaze.datasets.documents import Document, FormatError, Table, documents
from robogaze.datasets.layouts.base import ImportState, make_entry
from robogaze.datasets.manifest import ManifestEntry
from robogaze.datasets.parquet_files import read_parquet
from robogaze.errors import InputError

SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")

PATHS = ("path", "file_name", "video", "video_path")
INSTRUCTIONS = ("instruction", "prompt", "text", "caption")
_MODEL = "model"
_SAME = tuple(name for name in ManifestEntry.model_fields if name not in ("path", "instruction"))


@dataclass(frozen=True)
class ImportedRow:
    """A row, and where it stands."""

    where: str
    cells: Mapping[str, Any]


def rows_of(path: Path) -> list[ImportedRow]:
    """The rows of a file, without cells that say nothing. Raises InputError when it holds something else."""
    if path.suffix.lower() == ".parquet":
        parquet = (
            ImportedRow(f"{path}, row {number}", cells) for number, cells in enumerate(read_parquet(path), start=1)
        )
        return [ImportedRow(row.where, _said(row.cells)) for row in parquet]
    try:
        return [row for document in documents(path) for row in _rows(document)]
    except FormatError as fault:
        place = f": {dotted(fault.place)}" if fault.place else ""
        raise InputError(f"{path}{place}: {fault.message}") from fault


def add_rows(
    rows: Sequence[ImportedRow], listed_in: Path, folder: Path, found: ImportState, inner: PurePosixPath
) -> None:
    """Entries for rows whose paths begin at `folder`, which is `inner` as seen from the source."""
    if rows and not any(name in row.cells for row in rows for name in PATHS):
        raise InputError(f"{listed_in}: no column names the videos; it is called {', '.join(PATHS)}")
    for row in rows:
        path = _first(row, PATHS)
        if not isinstance(path, str):
            raise InputError(f"{row.where}: {' or '.join(PATHS)} must be the path of a video")
        if not (folder / path).is_file():
            found.ignore(inner / path, f"is listed in {listed_in.name}, but not there")
            continue
        initial = row.cells.get("initial_frame")
        beside = {} if not isinstance(initial, str) else {"initial_frame": folder / initial}
        found.add(make_entry(row.where, **{**fields_of(row), **beside, "path": folder / path}), inner / path)
    known = {*PATHS, *INSTRUCTIONS, _MODEL, *_SAME}
    if extra := sorted({name for row in rows for name in row.cells} - known):
        found.remark(f"{listed_in.name}: an entry has no place for {', '.join(extra)}")


def fields_of(row: ImportedRow) -> dict[str, Any]:
    """What a row says of its clip, but for where it lies."""
    fields = {name: _text(row.cells[name]) for name in _SAME if name in row.cells}
    instruction = _first(row, INSTRUCTIONS)
    if instruction is not None:
        fields["instruction"] = instruction
    if _MODEL in row.cells:
        named = (_text(row.cells[_MODEL]), fields.get("checkpoint"))
        fields["checkpoint"] = "/".join(str(one) for one in named if one is not None)
    return fields


def _rows(document: Document) -> Iterator[ImportedRow]:
    value = document.value
    if isinstance(value, Table):
        for row in value.rows:
            yield ImportedRow(f"{document.path}:{row.line}", row.cells)
        return
    for number, one in enumerate(value if isinstance(value, list) else [value]):
        where = document.source((number,) if isinstance(value, list) else ())
        if not isinstance(one, dict):
            raise InputError(f"{where}: an object with the fields of a clip is wanted, not {type(one).__name__}")
        yield ImportedRow(where, _said(one))


def _said(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if value is not None and value != ""}


def _first(row: ImportedRow, names: Sequence[str]) -> Any:
    return next((row.cells[name] for name in names if name in row.cells), None)


def _text(value: Any) -> Any:
    """A whole number as a text: names of checkpoints and clips are often numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
