"""Tables on stdout and in a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robogaze.reporting.tables.base import ResultTable

_WIDTH = 200
"""Signs a line where stdout is no terminal."""

_ANY_WIDTH = 10_000


def as_text(told: Mapping[str, Any]) -> str:
    """A result as JSON."""
    return json.dumps(told, ensure_ascii=False, indent=1)


def print_tables(tables: Iterable[ResultTable], form: str) -> None:
    """Tables in a form, or for the terminal, which shows a note once however many tables carry it.

    CSV has no place for titles and notes: here they are lines that begin with `#`.
    """
    from rich.console import Console

    from robogaze.reporting.tables.base import FORMS, as_terminal

    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    told: set[str] = set()
    for table in tables:
        if form != "terminal":
            said = [table.title, *table.notes] if form == "csv" else []
            click.echo("".join(f"# {line}\n" for line in said) + FORMS[form](table))
            continue
        shown = as_terminal(table)
        # A number must not break in the middle: a table that is too wide goes on beyond the terminal's edge.
        wide = max(console.width, console.measure(shown, options=console.options.update(width=_ANY_WIDTH)).maximum)
        console.print(shown, width=wide, crop=False, no_wrap=True, overflow="ignore")
        for note in (one for one in table.notes if one not in told):
            console.print(f"  {note}", markup=False, highlight=False, style="dim")
        told.update(table.notes)
        console.print()


def write_files(out: Path, texts: Iterable[tuple[str, str]], what: str) -> None:
    """Files of a folder; stderr says what was written where."""
    from robogaze.store import write_whole

    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts:
        write_whole(out / name, text)
    click.echo(f"{what}: {out}", err=True)
