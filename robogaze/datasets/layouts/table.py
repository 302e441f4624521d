"""Tables of clips, one row per clip: JSONL, JSON, CSV, TSV or Parquet. Paths are relative to the table.

The columns are the fields of an entry. Some columns may have other names:

    path          path, file_name, video, video_path
    instruction   instruction, prompt, text, caption
    checkpoint    checkpoint; with a column model, MODEL/CHECKPOINT, or MODEL alone

Of several columns for one field, the first non-empty column is used. Columns that are not fields of an entry are left
out, with a remark.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from robogaze.datasets.layouts.base import FolderLayout, ImportSource, ImportState, make_entry
from robogaze.datasets.manifest import ManifestEntry
from robogaze.datasets.parquet_files import read_parquet
from robogaze.datasets.rows import table_rows
from robogaze.errors import InputError

_SUFFIXES = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
_PATHS = ("path", "file_name", "video", "video_path")
_INSTRUCTIONS = ("instruction", "prompt", "text", "caption")
_MODEL = "model"
_OTHER_FIELDS = tuple(name for name in ManifestEntry.model_fields if name not in ("path", "instruction"))


@dataclass(frozen=True)
class ClipRow:
    """A row of a table. `source` is its place, which messages mention."""

    source: str
    cells: Mapping[str, Any]


def recognises(source: ImportSource) -> bool:
    """A file with the suffix of a table."""
    return source.is_file and source.path.suffix.lower() in _SUFFIXES


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per row."""
    add_rows(read_rows(source.path), source.path, source.path.parent, state, PurePosixPath())


def read_rows(path: Path) -> list[ClipRow]:
    """The rows of a table, without empty cells. Raises InputError if the file is not a table."""
    rows: Iterable[tuple[str, Mapping[str, Any]]] = table_rows(path)
    if path.suffix.lower() == ".parquet":
        rows = ((f"{path}, row {number}", cells) for number, cells in enumerate(read_parquet(path), start=1))
    return [
        ClipRow(source, {name: cell for name, cell in cells.items() if cell is not None and cell != ""})
        for source, cells in rows
    ]


def add_rows(rows: Sequence[ClipRow], table: Path, folder: Path, state: ImportState, inner: PurePosixPath) -> None:
    """Add an entry for each row. Paths in the rows are relative to `folder`; `inner` is the path of `folder` within the
    source.
    """
    if rows and not any(name in row.cells for row in rows for name in _PATHS):
        raise InputError(
            f"{table}: no column contains the paths of the videos; give this column one of these names: "
            f"{', '.join(_PATHS)}"
        )
    for row in rows:
        path = _first(row, _PATHS)
        if not isinstance(path, str):
            raise InputError(f"{row.source}: {' or '.join(_PATHS)} must be the path of a video")
        if not (folder / path).is_file():
            state.ignore(inner / path, f"is listed in {table.name}, but does not exist")
            continue
        fields = {**entry_fields(row), "path": folder / path}
        if isinstance(initial_frame := row.cells.get("initial_frame"), str):
            fields["initial_frame"] = folder / initial_frame
        state.add(make_entry(row.source, **fields), inner / path)
    known = {*_PATHS, *_INSTRUCTIONS, _MODEL, *_OTHER_FIELDS}
    if others := sorted({name for row in rows for name in row.cells} - known):
        state.remark(
            f"{table.name}: columns that were left out, because a manifest does not have them: {', '.join(others)}"
        )


def entry_fields(row: ClipRow) -> dict[str, Any]:
    """The fields of a manifest entry that a row contains, except the path."""
    fields = {name: _as_text(row.cells[name]) for name in _OTHER_FIELDS if name in row.cells}
    instruction = _first(row, _INSTRUCTIONS)
    if instruction is not None:
        fields["instruction"] = instruction
    if _MODEL in row.cells:
        names = (_as_text(row.cells[_MODEL]), fields.get("checkpoint"))
        fields["checkpoint"] = "/".join(str(name) for name in names if name is not None)
    return fields


def _first(row: ClipRow, names: Sequence[str]) -> Any:
    return next((row.cells[name] for name in names if name in row.cells), None)


def _as_text(value: Any) -> Any:
    """A whole number as text: names of checkpoints and clips are often numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


LAYOUT = FolderLayout("table", "a JSONL, CSV or Parquet file, one row per clip", recognises, read)
