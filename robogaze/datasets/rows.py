"""The rows of tables about clips: CSV, TSV, JSONL, or a JSON list."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from robogaze.core.data import dotted, fault_of
from robogaze.datasets.documents import FormatError, Table, documents
from robogaze.errors import InputError

Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, kind: type[Row]) -> Iterator[tuple[str, Row]]:
    """The place (such as `clips.csv:3`) and the record of each row. Raises InputError with file, line and key for a
    value that does not fit.
    """
    for source, cells in table_rows(path):
        try:
            yield source, kind.model_validate(cells)
        except ValidationError as error:
            columns = ", ".join(kind.model_fields)
            raise InputError(f"{source}: {fault_of(error)}; the columns of a row are: {columns}") from error


def table_rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The place (such as `clips.csv:3`) and the cells of each row. The cells are keyed by column.

    Cells of CSV and TSV files are texts; empty cells are left out. Raises InputError for a file that is not a table.
    """
    try:
        for document in documents(path):
            value = document.value
            if isinstance(value, Table):
                yield from ((f"{path}:{row.line}", row.cells) for row in value.rows)
                continue
            rows = value if isinstance(value, list) else [value]
            for number, row in enumerate(rows):
                source = document.source((number,) if isinstance(value, list) else ())
                if not isinstance(row, dict):
                    raise InputError(f"{source}: expected an object with the columns of a row, not {row!r}")
                yield source, row
    except FormatError as error:
        place = f": {dotted(error.place)}" if error.place else ""
        raise InputError(f"{path}{place}: {error.message}") from error
