"""Text and JSON as people keep them beside their videos."""

from pathlib import Path
from typing import Any

from pydantic_core import from_json

from robogaze.errors import InputError

MOST_BYTES = 512 << 20


def text_of(path: Path) -> str:
    """A file's text, without the mark some editors begin it with. Raises InputError when it cannot be read."""
    try:
        if not path.is_file() and path.exists():
            raise InputError(f"{path} is not a regular file")
        with path.open("rb") as file:
            written = file.read(MOST_BYTES + 1)
        if len(written) > MOST_BYTES:
            raise InputError(f"{path} is larger than {MOST_BYTES >> 20} MiB")
        return written.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text: {error}") from error


def object_in(text: str, where: str) -> dict[str, Any]:
    """The JSON object that a text is; `where` is for what is told. Raises InputError when it is something else."""
    try:
        value = from_json(text)  # unlike json.loads, it refuses what cannot be written again
    except ValueError as error:
        raise InputError(f"{where} is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a JSON object, not {type(value).__name__}")
    return value
