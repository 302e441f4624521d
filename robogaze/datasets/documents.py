"""What is read at a time: a JSON file, a line of a JSONL file, or a table.

Which of them a file is follows from its content: a table begins neither with `{` nor with `[`; a JSONL file has a
whole object on its first line and more lines after it. A JSONL file is read line by line, the others as a whole.
"""

import csv
import io
import json
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from robogaze.core.data import dotted
from robogaze.datasets.places import Lines, Place

_DELIMITERS = (",", ";", "\t")


class FormatError(ValueError):
    """Something that does not fit, and its place in what was read."""

    def __init__(self, message: str, place: Place = ()) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass(frozen=True)
class TableRow:
    """A row of a table: the line it begins on, and its cells by column, without those that are empty."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """A table with a header."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True)
class Document:
    """One document.

    `folders` are those between the path that was asked for and the file; `line` is the line of a JSONL file.
    """

    path: Path
    folders: tuple[str, ...]
    raw: bytes
    line: int | None = None

    @cached_property
    def value(self) -> Any:
        """The JSON value, or the Table. Raises Fault."""
        if self.raw.lstrip()[:1] in (b"{", b"["):
            return _json(self.raw)
        return _table(self._text())

    def where(self, place: Place) -> tuple[int | None, str]:
        """The line and the key of a place. Of a table's place, the last number is the row."""
        if place and isinstance(self.value, Table):
            row = [step for step in place if isinstance(step, int)][-1]
            return self.value.rows[row].line, dotted(tuple(step for step in place if isinstance(step, str)))
        return self.line or (self._lines.of(place) if place else None), dotted(place)

    def source(self, place: Place) -> str:
        """A place as it is told to people."""
        if self.line is not None:
            return f"{self.path}:{self.line}"
        if place and isinstance(self.value, Table):
            return f"{self.path}:{self.where(place)[0]}"
        return f"{self.path}: {dotted(place)}" if place else f"{self.path}"

    @cached_property
    def _lines(self) -> Lines:
        return Lines(self._text())

    def _text(self) -> str:
        try:
            return self.raw.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"is not UTF-8 text: {error}") from error


def documents(path: Path, folders: tuple[str, ...] = ()) -> Iterator[Document]:
    """The documents of a file, in order. Raises Fault when it cannot be read or is empty."""
    try:
        with path.open("rb") as file:
            if _holds_a_document_a_line(file):
                for number, line in _lines(file):
                    yield Document(path, folders, line, number)
            else:
                yield Document(path, folders, _whole(file))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}") from error


def _holds_a_document_a_line(file: BinaryIO) -> bool:
    heads = [line for _, line in islice(_lines(file), 2)]
    if len(heads) < 2 or not heads[0].startswith(b"{"):
        return False
    # A damaged first line does not turn the rest of the lines into one document.
    return _is_object(heads[0]) or (_is_object(heads[1]) and not _is_object(_whole(file)))


def _lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers. A line ends with a newline and with nothing else."""
    file.seek(0)
    for number, line in enumerate(file, start=1):
        if content := (line.removeprefix(BOM_UTF8) if number == 1 else line).strip():
            yield number, content


def _whole(file: BinaryIO) -> bytes:
    file.seek(0)
    raw = file.read().removeprefix(BOM_UTF8)
    if not raw.strip():
        raise FormatError("is empty")
    return raw


def _is_object(raw: bytes) -> bool:
    raw = raw.strip()
    if not (raw.startswith(b"{") and raw.endswith(b"}")):
        return False
    try:
        from_json(raw)
    except ValueError:
        return False
    return True


def _json(raw: bytes) -> Any:
    """A JSON value. NaN passes, for whoever uses the value refuses it with its key."""
    try:
        value = from_json(raw)  # unlike json.loads, it refuses what cannot be written again
        json.loads(raw, object_pairs_hook=_each_key_once)
    except ValueError as error:
        raise error if isinstance(error, FormatError) else FormatError(f"is not JSON: {error}") from error
    return value


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"the key {twice!r} stands twice in one object")
    return found


def _table(text: str) -> Table:
    header = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[TableRow] = []
    try:
        columns = tuple(name.strip() for name in next(reader))
        line = reader.line_num + 1
        for cells in reader:
            if any(cells):
                rows.append(_row(line, columns, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(f"is no table: line {reader.line_num}: {error}") from error
    if len(set(columns)) < len(columns):
        raise FormatError(f"a column stands twice in the header: {', '.join(columns)}")
    return Table(columns, tuple(rows))


def _row(line: int, columns: tuple[str, ...], cells: list[str]) -> TableRow:
    if len(cells) != len(columns):
        raise FormatError(f"line {line} has {len(cells)} cells, but the header has {len(columns)} columns")
    return TableRow(line, {name: cell.strip() for name, cell in zip(columns, cells, strict=True) if cell.strip()})
