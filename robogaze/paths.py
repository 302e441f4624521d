"""Paths that a caller gives."""

from pathlib import Path

from robogaze.errors import OptionError


def given_path(path: str | Path, what: str) -> Path:
    """The path. Raises OptionError for an empty text, which would be the working directory; `what` names the value."""
    if path == "":
        raise OptionError(f"{what} is empty; write . for the working directory")
    return Path(path)
