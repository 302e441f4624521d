"""Command line arguments for clips."""

from __future__ import annotations

from difflib import get_close_matches
from itertools import islice
from os.path import lexists
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robogaze.core.clip import Layout

LAYOUT = "Views in a clip: 'single', or 'ROWSxCOLUMNS:name,name,...' for a grid, where - stands for an empty panel."
"""The help of --layout."""

_COMPARED = 10_000
"""The number of names in a folder that are compared with a mistyped name."""


def check_exist(*paths: Path) -> None:
    """Raise InputError if none of the paths exists, before anything is imported or written."""
    from robogaze.errors import InputError

    if not any(lexists(path) for path in paths):
        raise InputError("; ".join(f"{path} does not exist{_suggestion(path)}" for path in paths[:3]))


def _suggestion(path: Path) -> str:
    """The name in the same folder that was probably meant; empty if there is none."""
    try:
        names = [other.name for other in islice(path.parent.iterdir(), _COMPARED)]
    except OSError:
        return ""
    close = get_close_matches(path.name, names, n=1)
    return f"; did you mean {path.with_name(close[0])}?" if close else ""


def parse_layout(text: str | None) -> Layout | None:
    """Read --layout. Raises OptionError for an invalid layout."""
    from robogaze.run.clips import parse_layout

    return None if text is None else parse_layout(text)
