"""Text files: JSON, JSONL, tables (CSV, TSV) and Markdown. For every value, its line in the file is known.

The content of a file, not its name, decides its kind. JSON starts with `{` or `[`, and Markdown with a number sign and
a space; any other file is a table. A JSONL file has a complete object on its first line and more lines after it. A
JSONL file is read line by line; any other file is read as a whole.
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
from robogaze.errors import InputError

Place = tuple[str | int, ...]
"""The path to a value within a JSON value: the keys of objects and the indices of arrays."""

MAX_BYTES = 512 << 20
"""The largest file that `text_of` reads."""

_DELIMITERS = (",", ";", "\t")
_DECODER = json.JSONDecoder()
_SPACE = " \t\n\r"


def text_of(path: Path) -> str:
    """The text of a file without a byte order mark, with `\\n` as line ends. Raises InputError if the file cannot be
    read.
    """
    try:
        if not path.is_file() and path.exists():
            raise InputError(f"{path} is not a regular file")
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
        if len(raw) > MAX_BYTES:
            raise InputError(f"{path} is larger than {MAX_BYTES >> 20} MiB")
        return raw.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error}") from error


def json_object(text: str, source: str) -> dict[str, Any]:
    """Parse a JSON object. Raises InputError for any other text; the message starts with `source`."""
    try:
        value = from_json(text)  # unlike json.loads, it refuses values that JSON cannot express
    except ValueError as error:
        raise InputError(f"{source} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{source} must be a JSON object, not {type(value).__name__}")
    return value


class FormatError(ValueError):
    """A value that does not fit its format, and its place in the document."""

    def __init__(self, message: str, place: Place = ()) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass(frozen=True)
class TableRow:
    """A row of a table: the line it starts on, and its non-empty cells by column."""

    line: int
    cells: Mapping[str, str]


@dataclass(frozen=True)
class Table:
    """A table with a header."""

    columns: tuple[str, ...]
    rows: tuple[TableRow, ...]


@dataclass(frozen=True)
class Document:
    """A JSON file, a line of a JSONL file, or a table.

    `folders` are the folders between the requested path and the file. `line` is the line of a JSONL file, else None.
    """

    path: Path
    folders: tuple[str, ...]
    raw: bytes
    line: int | None = None

    @cached_property
    def value(self) -> Any:
        """The JSON value, the Table, or the text of Markdown. Raises FormatError."""
        if self.raw.lstrip()[:1] in (b"{", b"["):
            return _json(self.raw)
        if self.raw.startswith(b"# "):
            return self._text()
        return _table(self._text())

    def where(self, place: Place) -> tuple[int | None, str]:
        """The line and the dotted key of a place. If the document is a table, the last number in `place` is the index
        of the row, counted from 0.
        """
        if place and isinstance(self.value, Table):
            row = [step for step in place if isinstance(step, int)][-1]
            return self.value.rows[row].line, dotted(tuple(step for step in place if isinstance(step, str)))
        return self.line or (self._lines.line_of(place) if place else None), dotted(place)

    def source(self, place: Place) -> str:
        """A place as messages give it: `file:line`, or `file: key`."""
        if self.line is not None:
            return f"{self.path}:{self.line}"
        if place and isinstance(self.value, Table):
            return f"{self.path}:{self.where(place)[0]}"
        return f"{self.path}: {dotted(place)}" if place else f"{self.path}"

    @cached_property
    def _lines(self) -> "JsonLines":
        return JsonLines(self._text())

    def _text(self) -> str:
        try:
            return self.raw.decode()
        except UnicodeDecodeError as error:
            raise FormatError(f"is not UTF-8 text: {error}") from error


def documents(path: Path, folders: tuple[str, ...] = ()) -> Iterator[Document]:
    """The documents of a file, in order. Raises FormatError if the file cannot be read or is empty."""
    try:
        with path.open("rb") as file:
            if _is_jsonl(file):
                for number, line in _numbered_lines(file):
                    yield Document(path, folders, line, number)
            else:
                yield Document(path, folders, _content(file))
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}") from error


def _is_jsonl(file: BinaryIO) -> bool:
    heads = [line for _, line in islice(_numbered_lines(file), 2)]
    if len(heads) < 2 or not heads[0].startswith(b"{"):
        return False
    # A damaged first line does not turn the other lines into one document.
    return _is_object(heads[0]) or (_is_object(heads[1]) and not _is_object(_content(file)))


def _numbered_lines(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers. Only a newline ends a line."""
    file.seek(0)
    for number, line in enumerate(file, start=1):
        if content := (line.removeprefix(BOM_UTF8) if number == 1 else line).strip():
            yield number, content


def _content(file: BinaryIO) -> bytes:
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
    """A JSON value. NaN is accepted here, and refused with its key where the value is used."""
    try:
        value = from_json(raw)  # unlike json.loads, it refuses values that JSON cannot express
        json.loads(raw, object_pairs_hook=_unique_keys)
    except ValueError as error:
        raise error if isinstance(error, FormatError) else FormatError(f"is not JSON: {error}") from error
    return value


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        keys = [key for key, _ in pairs]
        duplicate = next(key for key in keys if keys.count(key) > 1)
        raise FormatError(f"the key {duplicate!r} appears twice in one object")
    return values


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
        raise FormatError(f"is not a table: line {reader.line_num}: {error}") from error
    if len(set(columns)) < len(columns):
        raise FormatError(f"a column appears twice in the header: {', '.join(columns)}")
    return Table(columns, tuple(rows))


def _row(line: int, columns: tuple[str, ...], cells: list[str]) -> TableRow:
    if len(cells) != len(columns):
        raise FormatError(f"line {line} has {len(cells)} cells, but the header has {len(columns)} columns")
    return TableRow(line, {name: cell.strip() for name, cell in zip(columns, cells, strict=True) if cell.strip()})


class JsonLines:
    """The lines on which the values of a JSON text start."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[int, dict[str | int, int]] = {}

    def line_of(self, place: Place) -> int:
        """The line of a value, counted from 1. If the value does not exist, the line of the innermost existing object
        or array that should contain it.
        """
        at = self._after_space(0)
        for step in place:
            if at not in self._known:
                self._known[at] = self._members(at)
            if step not in self._known[at]:
                break
            at = self._known[at][step]
        return self._text.count("\n", 0, at) + 1

    def _members(self, at: int) -> dict[str | int, int]:
        """Where the members of an object or array start; empty for any other value."""
        starts: dict[str | int, int] = {}
        opening = self._text[at : at + 1]
        if opening not in ("{", "["):
            return starts
        at = self._after_space(at + 1)
        while self._text[at] not in "}]":
            name: str | int = len(starts)
            if opening == "{":
                name, at = _DECODER.raw_decode(self._text, at)
                at = self._after_space(self._after_space(at) + 1)
            starts[name] = at
            at = self._after_space(_DECODER.raw_decode(self._text, at)[1])
            at = self._after_space(at + 1) if self._text[at] == "," else at
        return starts

    def _after_space(self, at: int) -> int:
        while at < len(self._text) and self._text[at] in _SPACE:
            at += 1
        return at
