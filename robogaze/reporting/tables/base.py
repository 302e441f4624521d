"""The forms a table of results is written in: for the terminal, as CSV, Markdown and LaTeX (see `latex`)."""

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

from rich.console import Group
from rich.table import Table
from rich.text import Text

from robogaze.core.scores import Estimate
from robogaze.reporting.tables.cells import Cell, Part, ResultTable, written
from robogaze.reporting.tables.latex import as_latex
from robogaze.reporting.wording import printable

__all__ = [
    "FORMS",
    "Cell",
    "Part",
    "ResultTable",
    "as_csv",
    "as_latex",
    "as_markdown",
    "as_terminal",
    "file_name",
    "files",
    "written",
]

_NAME_LIMIT = 100


def as_terminal(sheet: ResultTable) -> Group:
    """The table for a terminal, under its title."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, column in enumerate(sheet.columns):
        table.add_column(Text(column), overflow="fold", no_wrap=number == 0)
    for row in sheet.rows:
        table.add_row(*(Text(written(cell)) for cell in row))
    return Group(Text(printable(sheet.title), style="bold"), table)


def as_csv(sheet: ResultTable) -> str:
    """The table as CSV: an estimate takes four columns (value, low, high, n); what is undefined is empty."""
    wide = [any(isinstance(row[number], Estimate) for row in sheet.rows) for number in range(len(sheet.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = zip(sheet.columns, wide, strict=True)
    writer.writerow([name for column, is_wide in heads for name in _heads(column, is_wide)])
    for row in sheet.rows:
        writer.writerow([text for cell, is_wide in zip(row, wide, strict=True) for text in _fields(cell, is_wide)])
    return out.getvalue()


def _heads(column: str, wide: bool) -> list[str]:
    return [column, f"{column} low", f"{column} high", f"{column} n"] if wide else [column]


def _fields(cell: Cell, wide: bool) -> list[str]:
    if not isinstance(cell, Estimate):
        value = repr(cell) if isinstance(cell, float) and not math.isnan(cell) else ("" if cell is None else str(cell))
        return [value, "", "", ""] if wide else [value]
    numbers = ["" if math.isnan(number) else repr(float(number)) for number in (cell.value, cell.low, cell.high)]
    return [*numbers, str(cell.n)]


def as_markdown(sheet: ResultTable) -> str:
    """The table as Markdown, with its title and notes."""
    lines = [f"### {_marked(sheet.title)}", "", _line(sheet.columns), _line(["---"] * len(sheet.columns))]
    lines += [_line([_marked(written(cell)) for cell in row]) for row in sheet.rows]
    lines += ["", *(f"- {_marked(note)}" for note in sheet.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _marked(text: str) -> str:
    """Text that Markdown leaves as it is."""
    return "".join(f"\\{sign}" if sign in "\\|*_<>`" else sign for sign in text)


FORMS: Mapping[str, Callable[[ResultTable], str]] = {"csv": as_csv, "markdown": as_markdown, "latex": as_latex}
"""The written forms by name."""


def files(sheets: Sequence[ResultTable]) -> Iterator[tuple[str, str]]:
    """Names of files and their texts: a CSV file for each table, and all tables in one Markdown and one LaTeX file.

    Parts of one table are in one CSV file. ValueError for parts with other columns.
    """
    together: dict[str, list[ResultTable]] = {}
    for sheet in sheets:
        together.setdefault(sheet.part.file if sheet.part else sheet.name, []).append(sheet)
    for name, parts in together.items():
        yield f"{name}.csv", as_csv(_joined(parts))
    for ending, form in (("md", as_markdown), ("tex", as_latex)):
        yield f"tables.{ending}", "\n".join(form(sheet) for sheet in sheets)


def _joined(parts: Sequence[ResultTable]) -> ResultTable:
    first = parts[0]
    if first.part is None:
        return first
    if any(one.columns != first.columns for one in parts):
        raise ValueError(f"{first.part.file}: its parts have other columns")
    rows = [(one.part.value, *row) for one in parts if one.part for row in one.rows]
    return ResultTable(first.part.file, first.title, (first.part.column, *first.columns), tuple(rows))


def file_name(system: str, what: str) -> str:
    """A name for a system's file that every file system takes, another one for every pair of names.

    Where signs had to go, or there are too many, a digest stands for what is lost.
    """
    whole = f"{system}-{what}"
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in whole)
    if plain == whole and len(whole) <= _NAME_LIMIT:
        return plain
    return f"{plain[:_NAME_LIMIT]}-{sha256(whole.encode()).hexdigest()[:10]}"
