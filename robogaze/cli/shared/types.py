"""Types of options and arguments: a number that is finite, and a path that is not empty."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    _Path = click.Path[Path]
    _Text = click.ParamType[str]
else:  # not generic in every version of click
    _Path = click.Path
    _Text = click.ParamType


class FiniteRange(click.FloatRange):
    """A number in a range; NaN, which click accepts in every range, and infinity are refused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number. Raises click.BadParameter for a number that is not finite or out of the range."""
        number: float = super().convert(value, param, ctx)
        if not isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


_EMPTY = "the path is empty (is a variable of the shell not set?)."


class GivenPath(_Path):
    """A path; an empty text, such as an unset variable of a shell, would be the current directory and is refused."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(path_type=Path, **kwargs)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path. Raises click.BadParameter for an empty text and for a path of the wrong kind."""
        if value == "":
            self.fail(_EMPTY, param, ctx)
        return super().convert(value, param, ctx)


class GivenSource(_Text):
    """PATH or NAME=PATH, as a text; an empty path is refused, as in `GivenPath`."""

    name = "source"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text. Raises click.BadParameter for an empty path."""
        text = str(value)
        if text == "" or (text.endswith("=") and not Path(text).exists()):
            self.fail(_EMPTY, param, ctx)
        return text
