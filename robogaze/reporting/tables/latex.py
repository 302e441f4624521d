"""A table as LaTeX that fits a page: for the package booktabs, in the text width of an article at 10 points.

A table that is too wide or too long is split into several, each with the first column. An estimate takes two lines: its
value and n, and below them its interval. Long text is wrapped.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from robogaze.core.estimate import Estimate
from robogaze.reporting.tables.result_table import Cell, ResultTable, cell_text

PAGE_PT, PAGE_LINES = 345.0, 42
"""The width of a page, and the number of lines of a table in \\footnotesize that fit on it."""

GAP_PT = 6.0
"""Between two columns."""

WRAPPED_PT = 100.0
"""The width of a column of long text."""

NOTE_CHARACTERS = 85
"""The approximate number of characters of a note that fit on a line."""

_CHARACTER_PT = {**dict.fromkeys("[](),.:;'|!il /", 2.9), **dict.fromkeys("mwMW@%&—", 7.5)}
_PLAIN_PT, _CAPITAL_PT = 4.5, 6.2

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_\allowbreak{}",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "[": "{[}",
        "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    }
)  # fmt: skip
"""Characters that LaTeX interprets; a bracket at the start of a row reads as an option of the row before."""

Lines = tuple[str, ...]


def to_latex(table: ResultTable) -> str:
    """The table, split into several if it does not fit."""
    cells = [[_lines(cell) for cell in row] for row in table.rows]
    below = list(zip(*cells, strict=True)) if cells else [()] * len(table.columns)
    widths = [
        min(WRAPPED_PT, max(map(_points, (*head.split(), *(line for lines in column for line in lines))), default=0.0))
        for head, column in zip(table.columns, below, strict=True)
    ]
    heads = [_wrapped(head, width) for head, width in zip(table.columns, widths, strict=True)]
    heights = [max(_height(lines, width) for lines, width in zip(row, widths, strict=True)) for row in cells]
    blocks = [(columns, rows) for rows in _cut(heights, PAGE_LINES) for columns in _columns_by_table(widths)]
    parts = []
    for number, (columns, (first, last)) in enumerate(blocks, start=1):
        head = _head(table, number, len(blocks))
        body = _tabular(heads, cells[first:last], widths, columns)
        parts.append([*head, *body, r"\end{table}"])
    _add_notes(parts[-1], table.notes, sum(heights[slice(*blocks[-1][1])]))
    return "\n".join(line for part in parts for line in part) + "\n"


def _lines(cell: Cell) -> Lines:
    if not isinstance(cell, Estimate):
        return (cell_text(cell),)
    if not cell.defined:
        return "undefined", f"n={cell.n}"
    value = f"{cell.value:.3f}, n={cell.n}"
    return (value,) if math.isnan(cell.low) else (value, f"[{cell.low:.3f}, {cell.high:.3f}]")


def _wrapped(text: str, width: float) -> Lines:
    """Words in lines of at most a width; a longer word has its own line."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and _points(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return tuple(lines)


def _points(text: str) -> float:
    return sum(_CHARACTER_PT.get(char, _CAPITAL_PT if char.isupper() else _PLAIN_PT) for char in text)


def _height(lines: Lines, width: float) -> int:
    """The number of lines of a cell."""
    return sum(max(1, math.ceil(_points(line) / width)) if width else 1 for line in lines)


def _cut(heights: Sequence[int], most: int) -> list[tuple[int, int]]:
    """The first and the last row (exclusive) of each page."""
    starts, filled = [0], 0
    for row, height in enumerate(heights):
        if filled and filled + height > most:
            starts.append(row)
            filled = 0
        filled += height
    return list(pairwise([*starts, len(heights)]))


def _columns_by_table(widths: Sequence[float]) -> list[list[int]]:
    """The columns of each table; the first column is in all of them."""
    parts, filled = [[0]], widths[0]
    for column, width in enumerate(widths[1:], start=1):
        if len(parts[-1]) > 1 and filled + GAP_PT + width > PAGE_PT:
            parts.append([0])
            filled = widths[0]
        parts[-1].append(column)
        filled += GAP_PT + width
    return parts


def _head(table: ResultTable, number: int, count: int) -> Iterator[str]:
    of = f" (part {number} of {count})" if count > 1 else ""
    label = table.name if number == 1 else f"{table.name}-{number}"
    yield from (r"\begin{table}", r"\centering", r"\footnotesize", rf"\setlength{{\tabcolsep}}{{{GAP_PT / 2:g}pt}}")
    yield from (rf"\caption{{{_escaped(table.title)}{of}}}", rf"\label{{tab:{label}}}")


def _tabular(
    heads: Sequence[Lines], cells: Sequence[Sequence[Lines]], widths: Sequence[float], columns: Sequence[int]
) -> Iterator[str]:
    kinds = [
        rf"p{{{WRAPPED_PT:g}pt}}" if widths[column] == WRAPPED_PT else "r" if column else "l" for column in columns
    ]
    yield rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}"
    yield r"\toprule"
    yield _row([heads[column] for column in columns], kinds)
    yield r"\midrule"
    yield from (_row([row[column] for column in columns], kinds) for row in cells)
    yield from (r"\bottomrule", r"\end{tabular}")


def _row(cells: Sequence[Lines], kinds: Sequence[str]) -> str:
    return " & ".join(_cell(lines, kind) for lines, kind in zip(cells, kinds, strict=True)) + r" \\"


def _cell(lines: Lines, kind: str) -> str:
    if kind.startswith("p"):
        return " ".join(map(_escaped, lines))
    if len(lines) == 1:
        return _escaped(lines[0])
    return rf"\begin{{tabular}}[t]{{@{{}}{kind}@{{}}}}" + r" \\ ".join(map(_escaped, lines)) + r"\end{tabular}"


def _add_notes(table: list[str], notes: Sequence[str], height: int) -> None:
    """Add the notes below the table, or after the table if they do not fit on its page."""
    lines = [rf"\par\footnotesize {_escaped(note)}" for note in notes]
    fits = height + sum(1 + len(note) // NOTE_CHARACTERS for note in notes) <= PAGE_LINES
    if fits:
        table[-1:-1] = lines
    else:
        table += [r"{\noindent", *lines, r"\par}"]


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES)
