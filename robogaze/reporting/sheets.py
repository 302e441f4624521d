"""A table of results, and the forms it is written in: for the terminal, as CSV, Markdown and LaTeX.

No form shows a bare mean: an estimate is written with its interval and n, and what is undefined says so.
"""

import csv
import io
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from rich.console import Group
from rich.table import Table
from rich.text import Text

from robogaze.core.scores import Estimate
from robogaze.reporting.wording import printable

_NAME_LIMIT = 100

Cell = str | int | float | Estimate | None
"""None is an empty cell: there is nothing to say there."""


@dataclass(frozen=True)
class Sheet:
    """A table: `name` is its file's, `notes` are the sentences that belong under it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: a row has {len(row)} cells for {len(self.columns)} columns")


def written(cell: Cell) -> str:
    """A cell as text: an estimate as `0.566 [0.538, 0.591] n=382`."""
    if cell is None:
        return ""
    if isinstance(cell, Estimate):
        return _estimate(cell)
    if isinstance(cell, float):
        return _number(cell)
    return printable(str(cell))


def _estimate(cell: Estimate) -> str:
    if not cell.defined:
        return f"undefined ({cell.why})" if cell.why and cell.n else f"undefined, n={cell.n}"
    interval = "" if math.isnan(cell.low) else f" [{_number(cell.low)}, {_number(cell.high)}]"
    return f"{_number(cell.value)}{interval} n={cell.n}"


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def as_terminal(sheet: Sheet) -> Group:
    """The table for a terminal, under its title."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, column in enumerate(sheet.columns):
        table.add_column(Text(column), overflow="fold", no_wrap=number == 0)
    for row in sheet.rows:
        table.add_row(*(Text(written(cell)) for cell in row))
    return Group(Text(printable(sheet.title), style="bold"), table)


def as_csv(sheet: Sheet) -> str:
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


def as_markdown(sheet: Sheet) -> str:
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


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    }
)  # fmt: skip


def as_latex(sheet: Sheet) -> str:
    """The table as LaTeX for the package booktabs."""
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{_texed(sheet.title)}}}", rf"\label{{tab:{sheet.name}}}"]
    lines += [rf"\begin{{tabular}}{{l{'r' * (len(sheet.columns) - 1)}}}", r"\toprule"]
    lines += [_row(sheet.columns), r"\midrule", *(_row([written(cell) for cell in row]) for row in sheet.rows)]
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\footnotesize {_texed(note)}" for note in sheet.notes]
    return "\n".join([*lines, r"\end{table}"]) + "\n"


def _row(cells: Sequence[str]) -> str:
    return " & ".join(_texed(cell) for cell in cells) + r" \\"


def _texed(text: str) -> str:
    return text.translate(_LATEX)


FORMS: Mapping[str, Callable[[Sheet], str]] = {"csv": as_csv, "markdown": as_markdown, "latex": as_latex}
"""The written forms by name."""


def files(sheets: Sequence[Sheet]) -> Iterator[tuple[str, str]]:
    """Names of files and their texts: a CSV file for each table, and all tables in one Markdown and one LaTeX file."""
    for sheet in sheets:
        yield f"{sheet.name}.csv", as_csv(sheet)
    for ending, form in (("md", as_markdown), ("tex", as_latex)):
        yield f"tables.{ending}", "\n".join(form(sheet) for sheet in sheets)


def file_name(system: str, what: str) -> str:
    """A name for a system's file that every file system takes, another one for every pair of names.

    Where signs had to go, or there are too many, a digest stands for what is lost.
    """
    whole = f"{system}-{what}"
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in whole)
    if plain == whole and len(whole) <= _NAME_LIMIT:
        return plain
    return f"{plain[:_NAME_LIMIT]}-{sha256(whole.encode()).hexdigest()[:10]}"
