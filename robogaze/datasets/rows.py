"""Records of people and other tools about clips, one a row: CSV, TSV, JSONL, or a JSON list."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from robogaze.core.data import dotted, first_fault
from robogaze.datasets.documents import FormatError, Table, documents
from robogaze.errors import InputError

Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, kind: type[Row]) -> Iterator[tuple[str, Row]]:
    """Every row with its place. Cells of a table are texts; empty ones are left out.

    Raises InputError with file, line and key for what does not fit.
    """
    for source, value in _values(path):
        try:
            yield source, kind.model_validate(value)
        except ValidationError as error:
            place, message = first_fault(error)
            key = f"{dotted(place)}: " if place else ""
            columns = ", ".join(kind.model_fields)
            raise InputError(f"{source}: {key}{message}; a row has: {columns}") from error


def _values(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        for document in documents(path):
            value = document.value
            if isinstance(value, Table):
                yield from ((f"{path}:{row.line}", row.cells) for row in value.rows)
            elif isinstance(value, list):
                yield from ((document.source((number,)), row) for number, row in enumerate(value))
            else:
                yield document.source(()), value
    except FormatError as error:
        raise InputError(f"{path}: {error.message}") from error
