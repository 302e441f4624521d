"""Reads records from a JSONL file; errors say in which file, line and key they are."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from robogaze.core.data import Data, fault_of
from robogaze.datasets.documents import text_of
from robogaze.errors import InputError

D = TypeVar("D", bound=Data)


def read_lines(path: Path, kind: type[D]) -> Iterator[tuple[str, D]]:
    """Yield the pair (`FILE:LINE`, record) for every non-empty line; no value is converted from another type.

    Raises InputError if the file cannot be read, or, with file, line and key, if a line is invalid.
    """
    # Split at newlines only: `splitlines` would also split at separators that JSON allows within a text.
    for number, line in enumerate(text_of(path).split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        try:
            record = kind.model_validate_json(line, strict=True)
        except ValidationError as error:
            raise InputError(f"{where}: {fault_of(error)}; a line has: {', '.join(kind.model_fields)}") from error
        yield where, record
