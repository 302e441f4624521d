"""Records from a JSONL file, with the file, line and key of every error."""

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from robogaze.core.data import Data, dotted, first_fault
from robogaze.errors import InputError

D = TypeVar("D", bound=Data)


def read_lines(path: Path, kind: type[D]) -> Iterator[tuple[str, D]]:
    """(`FILE:LINE`, record) of every non-empty line; no value is converted from another type.

    Raises InputError with file, line and key, also for a file that cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as UTF-8 text: {error}") from error
    # Split at newlines only: `splitlines` would also split at separators that JSON allows within a text.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path}:{number}", _record(line, f"{path}:{number}", kind)


def _record(line: str, where: str, kind: type[D]) -> D:
    try:
        return kind.model_validate_json(line, strict=True)
    except ValidationError as error:
        place, message = first_fault(error)
        keys = ", ".join(kind.model_fields)
        message = f"{dotted(place)}: {message}" if place else message
        raise InputError(f"{where}: {message}; a line has: {keys}") from error
