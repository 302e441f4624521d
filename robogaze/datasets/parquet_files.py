"""Parquet files, read and written with the optional package pyarrow."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from robogaze.errors import InputError, MissingExtra


def read_parquet(path: Path, skip: str | None = None) -> list[dict[str, Any]]:
    """The rows of a Parquet file. Columns whose names start with the prefix given as `skip` are left out.

    Raises InputError if the file is not a Parquet file, MissingExtra without pyarrow.
    """
    arrow, parquet = _pyarrow()
    try:
        names = parquet.read_schema(path).names
        # Columns are selected by number: a name may contain a dot, which means a nested field in pyarrow.
        table = parquet.ParquetFile(path).read()
    except (OSError, arrow.ArrowException) as error:
        raise InputError(f"{path} is not a readable Parquet file: {error}") from error
    kept = [name for name in names if skip is None or not name.startswith(skip)]
    rows: list[dict[str, Any]] = table.select([table.column_names.index(name) for name in kept]).to_pylist()
    return rows


def parquet_bytes(columns: Mapping[str, str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    """Rows as a Parquet file. `columns` gives each column's type (string, double, int64, bool), so that the file has
    typed columns even if there are no rows.
    """
    arrow, parquet = _pyarrow()
    schema = arrow.schema([(name, arrow.type_for_alias(kind)) for name, kind in columns.items()])
    table = arrow.Table.from_pylist([dict(row) for row in rows], schema=schema)
    file = BytesIO()
    parquet.write_table(table, file)
    return file.getvalue()


def _pyarrow() -> tuple[Any, Any]:
    try:
        return import_module("pyarrow"), import_module("pyarrow.parquet")
    except ModuleNotFoundError as error:
        raise MissingExtra("pyarrow", "lerobot") from error
