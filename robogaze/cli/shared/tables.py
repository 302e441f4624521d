"""Tables on stdout and files in a folder."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from robogaze.judges.base import DescriptionPair
    from robogaze.reporting.tables import ResultTable

_WIDTH = 200
"""Characters per line if stdout is not a terminal."""

_ANY_WIDTH = 10_000


def as_text(result: Mapping[str, Any]) -> str:
    """A result as JSON."""
    return json.dumps(result, ensure_ascii=False, indent=1)


def print_tables(tables: Iterable[ResultTable], form: str) -> None:
    """Print tables in a format. In the terminal format, a note that several tables share is printed only once.

    In CSV, titles and notes are lines that begin with `#`.
    """
    from rich.console import Console

    from robogaze.reporting.tables import FORMS, to_terminal

    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    printed: set[str] = set()
    for table in tables:
        if form != "terminal":
            comments = [table.title, *table.notes] if form == "csv" else []
            click.echo("".join(f"# {line}\n" for line in comments) + FORMS[form](table))
            continue
        shown = to_terminal(table)
        # A table that is wider than the terminal even with its text broken is printed as wide as it is.
        needed = console.measure(shown, options=console.options.update(width=_ANY_WIDTH)).minimum
        Console(width=max(console.width, needed)).print(shown, crop=False)
        for note in (note for note in table.notes if note not in printed):
            console.print(f"  {note}", markup=False, highlight=False, style="dim")
        printed.update(table.notes)
        console.print()


def write_files(out: Path, files: Iterable[tuple[str, str]], what: str) -> None:
    """Write files into a folder. Print the folder and `what`, a description of the files, on stderr."""
    from robogaze.store import write_whole

    out.mkdir(parents=True, exist_ok=True)
    for name, text in files:
        write_whole(out / name, text)
    click.echo(f"{what}: {out}", err=True)


def list_unjudged(pairs: Sequence[DescriptionPair], judge: str, out: Path | None, name: str = "unjudged") -> None:
    """If there are pairs without a similarity, write them to a file in `out` and print how to judge them."""
    from robogaze.judges.unjudged import unjudged_lines
    from robogaze.store import write_whole

    if not pairs:
        return
    count = f"{len(pairs):,} {'pair' if len(pairs) == 1 else 'pairs'} of descriptions without a similarity"
    if out is None:
        click.echo(f"{count}; use --out DIR to list these pairs", err=True)
        return
    path = _unrated(out, name)
    write_whole(path, unjudged_lines(pairs))
    table = judge if judge.startswith("table:") else "table:FOLDER"
    click.echo(f"{count}: {path}; fill in the similarities, then give the file to --judge as {table}", err=True)


def _unrated(out: Path, name: str) -> Path:
    """The first of NAME.jsonl, NAME-2.jsonl, ... that does not exist or holds no similarity, so that no similarity is
    overwritten.
    """
    number = 1
    while (path := out / f"{name}{'' if number == 1 else f'-{number}'}.jsonl").exists():
        if all(json.loads(line)["similarity"] is None for line in path.read_text().splitlines() if line.strip()):
            break
        number += 1
    return path
