"""The output forms of a table: terminal, CSV and Markdown; for LaTeX see `latex`."""

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

from rich.console import Group
from rich.table import Table
from rich.text import Text

from robogaze.core.estimate import Estimate
from robogaze.reporting.tables.latex import to_latex
from robogaze.reporting.tables.result_table import Cell, ResultTable, cell_text
from robogaze.reporting.wording import printable

_NAME_LIMIT = 100

_LONG_TEXT = 60
"""From this number of characters on, the text of a cell may be broken across lines."""


def to_terminal(table: ResultTable) -> Group:
    """The table for a terminal, under its title. Only columns with long text may be broken across lines."""
    grid = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, column in enumerate(table.columns):
        texts = [Text(cell_text(row[number])) for row in table.rows]
        long = number > 0 and any(isinstance(cell := row[number], str) and len(cell) > _LONG_TEXT for row in table.rows)
        width = None if long else max(text.cell_len for text in (Text(column), *texts))
        grid.add_column(Text(column), overflow="fold", no_wrap=not long, min_width=width)
    for row in table.rows:
        grid.add_row(*(Text(cell_text(cell)) for cell in row))
    return Group(Text(printable(table.title), style="bold"), grid)


def to_csv(table: ResultTable) -> str:
    """The table as CSV: an estimate takes four columns (value, low, high, n); an undefined value is empty."""
    wide = [any(isinstance(row[number], Estimate) for row in table.rows) for number in range(len(table.columns))]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    heads = zip(table.columns, wide, strict=True)
    writer.writerow([name for column, is_wide in heads for name in _heads(column, is_wide)])
    for row in table.rows:
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


def to_markdown(table: ResultTable) -> str:
    """The table as Markdown, with its title and notes."""
    lines = [f"### {_escaped(table.title)}", "", _line(table.columns), _line(["---"] * len(table.columns))]
    lines += [_line([_escaped(cell_text(cell)) for cell in row]) for row in table.rows]
    lines += ["", *(f"- {_escaped(note)}" for note in table.notes)]
    return "\n".join(lines).rstrip() + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(text: str) -> str:
    """The text, with the characters that Markdown interprets escaped."""
    return "".join(f"\\{character}" if character in "\\|*_<>`" else character for character in text)


FORMS: Mapping[str, Callable[[ResultTable], str]] = {"csv": to_csv, "markdown": to_markdown, "latex": to_latex}
"""The written forms by name."""


def table_files(tables: Sequence[ResultTable]) -> Iterator[tuple[str, str]]:
    """The name and the text of each file: a CSV file for each table, and one Markdown file and one LaTeX file with all
    tables.

    Tables that are parts of a larger table share a CSV file. Raises ValueError if such parts have different columns.
    """
    together: dict[str, list[ResultTable]] = {}
    for table in tables:
        together.setdefault(table.part.file if table.part else table.name, []).append(table)
    for name, parts in together.items():
        yield f"{name}.csv", to_csv(_joined(parts))
    for ending, form in (("md", to_markdown), ("tex", to_latex)):
        yield f"tables.{ending}", "\n".join(form(table) for table in tables)


def _joined(parts: Sequence[ResultTable]) -> ResultTable:
    first = parts[0]
    if first.part is None:
        return first
    if any(table.columns != first.columns for table in parts):
        raise ValueError(f"{first.part.file}: its parts differ in their columns")
    rows = [(table.part.value, *row) for table in parts if table.part for row in table.rows]
    return ResultTable(first.part.file, first.title, (first.part.column, *first.columns), tuple(rows))


def file_name(system: str, what: str) -> str:
    """A file name, made from two names, that is valid on every file system.

    If characters are replaced or the name is cut, a hash is appended to keep file names distinct.
    """
    whole = f"{system}-{what}"
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else "_" for char in whole)
    if plain == whole and len(whole) <= _NAME_LIMIT:
        return plain
    return f"{plain[:_NAME_LIMIT]}-{sha256(whole.encode()).hexdigest()[:10]}"
