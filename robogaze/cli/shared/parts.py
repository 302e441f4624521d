"""Options that name a part of a registry: a kind of model, an engine, a decoder, a format.

A registry is imported only to print a help text, or to check a name other than the default, because commands check
their arguments before heavy imports.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

Names = Callable[[], Sequence[str]]
"""Imports a registry, and returns the names of its parts."""


class PartOption(click.Option):
    """An option whose help lists the names of parts in place of `{names}`."""

    def __init__(self, *args: Any, names: Names, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names = names

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option and its help."""
        record = super().get_help_record(ctx)
        return None if record is None else (record[0], record[1].replace("{names}", ", ".join(self._names())))


class PartName(click.types.StringParamType):
    """The name of a part; the default is not checked."""

    name = "name"

    def __init__(self, names: Names, default: str) -> None:
        self._names, self._default = names, default

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name. Raises click.BadParameter for an unknown name."""
        if value != self._default and value not in (names := self._names()):
            self.fail(f"{value!r} is not one of {', '.join(names)}.", param, ctx)
        return str(value)


def part_option(name: str, names: Names, *, default: str, help: str) -> Callable[[Any], Any]:  # noqa: A002
    """An option whose value is the name of a part; `{names}` in the help is replaced by all names."""
    kind = PartName(names, default)
    return click.option(name, cls=PartOption, names=names, type=kind, default=default, show_default=True, help=help)


def model_kinds() -> Sequence[str]:
    """The kinds of models."""
    from robogaze.backends import BACKENDS

    return BACKENDS.names()


def engines() -> Sequence[str]:
    """The engines, and datatrove, which runs the command itself in several processes."""
    from robogaze.run.engines import ENGINES

    return (*ENGINES.names(), "datatrove")


def decoders() -> Sequence[str]:
    """The video decoders."""
    from robogaze.media import DECODERS

    return DECODERS.names()


def export_formats() -> Sequence[str]:
    """The formats that reports can be written in."""
    from robogaze.datasets.formats.export import export_writers

    return tuple(export_writers())
