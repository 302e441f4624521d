"""A table as LaTeX that fits a page: for the package booktabs, in the text width of an article at 10 points.

Columns that do not fit beside one another, and rows that do not fit below one another, go on in further tables with the
first column repeated. An estimate takes two lines, its value with n above its interval; long text is wrapped.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise

from robogaze.core.scores import Estimate
from robogaze.reporting.tables.cells import Cell, ResultTable, written

PAGE_PT, PAGE_LINES = 345.0, 42
"""The width of a page, and how many lines of a table in \\footnotesize are on it."""

GAP_PT = 6.0
"""Between two columns."""

WRAPPED_PT = 100.0
"""The width of a column of long text."""

NOTE_SIGNS = 85
"""About how many signs of a note are on a line."""

_SIGN_PT = {**dict.fromkeys("[](),.:;'|!il /", 2.9), **dict.fromkeys("mwMW@%&—", 7.5)}
_PLAIN_PT, _CAPITAL_PT = 4.5, 6.2

_SIGNS = str.maketrans(
    {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_\allowbreak{}",
        "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "[": "{[}",
        "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}",
    }
)  # fmt: skip
"""What LaTeX would read as its own; a bracket at the start of a row would be taken for an option of the row before."""

Lines = tuple[str, ...]


def as_latex(sheet: ResultTable) -> str:
    """The table, as several where one does not fit."""
    cells = [[_lines(cell) for cell in row] for row in sheet.rows]
    below = list(zip(*cells, strict=True)) if cells else [()] * len(sheet.columns)
    widths = [
        min(WRAPPED_PT, max(map(_points, (*head.split(), *(line for lines in column for line in lines))), default=0.0))
        for head, column in zip(sheet.columns, below, strict=True)
    ]
    heads = [_packed(head, width) for head, width in zip(sheet.columns, widths, strict=True)]
    heights = [max(_height(lines, width) for lines, width in zip(row, widths, strict=True)) for row in cells]
    blocks = [(columns, rows) for rows in _cut(heights, PAGE_LINES) for columns in _beside(widths)]
    tables = []
    for number, (columns, (first, last)) in enumerate(blocks, start=1):
        head = _head(sheet, number, len(blocks))
        body = _tabular(heads, cells[first:last], widths, columns)
        tables.append([*head, *body, r"\end{table}"])
    _add_notes(tables[-1], sheet.notes, sum(heights[slice(*blocks[-1][1])]))
    return "\n".join(line for table in tables for line in table) + "\n"


def _lines(cell: Cell) -> Lines:
    if not isinstance(cell, Estimate):
        return (written(cell),)
    if not cell.defined:
        return "undefined", f"n={cell.n}"
    value = f"{cell.value:.3f}, n={cell.n}"
    return (value,) if math.isnan(cell.low) else (value, f"[{cell.low:.3f}, {cell.high:.3f}]")


def _packed(text: str, width: float) -> Lines:
    """Words in lines of at most a width; one that is longer has a line of its own."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and _points(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return tuple(lines)


def _points(text: str) -> float:
    return sum(_SIGN_PT.get(sign, _CAPITAL_PT if sign.isupper() else _PLAIN_PT) for sign in text)


def _height(lines: Lines, width: float) -> int:
    """How many lines a cell takes."""
    return sum(max(1, math.ceil(_points(line) / width)) if width else 1 for line in lines)


def _cut(heights: Sequence[int], most: int) -> list[tuple[int, int]]:
    """The rows of each page, from and to."""
    starts, filled = [0], 0
    for place, height in enumerate(heights):
        if filled and filled + height > most:
            starts.append(place)
            filled = 0
        filled += height
    return list(pairwise([*starts, len(heights)]))


def _beside(widths: Sequence[float]) -> list[list[int]]:
    """The columns that fit beside one another, each time with the first."""
    parts, filled = [[0]], widths[0]
    for place, width in enumerate(widths[1:], start=1):
        if len(parts[-1]) > 1 and filled + GAP_PT + width > PAGE_PT:
            parts.append([0])
            filled = widths[0]
        parts[-1].append(place)
        filled += GAP_PT + width
    return parts


def _head(sheet: ResultTable, number: int, count: int) -> Iterator[str]:
    of = f" (part {number} of {count})" if count > 1 else ""
    label = sheet.name if number == 1 else f"{sheet.name}-{number}"
    yield from (r"\begin{table}", r"\centering", r"\footnotesize", rf"\setlength{{\tabcolsep}}{{{GAP_PT / 2:g}pt}}")
    yield from (rf"\caption{{{_texed(sheet.title)}{of}}}", rf"\label{{tab:{label}}}")


def _tabular(
    heads: Sequence[Lines], cells: Sequence[Sequence[Lines]], widths: Sequence[float], columns: Sequence[int]
) -> Iterator[str]:
    kinds = [rf"p{{{WRAPPED_PT:g}pt}}" if widths[place] == WRAPPED_PT else "r" if place else "l" for place in columns]
    yield rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}"
    yield r"\toprule"
    yield _row([heads[place] for place in columns], kinds)
    yield r"\midrule"
    yield from (_row([row[place] for place in columns], kinds) for row in cells)
    yield from (r"\bottomrule", r"\end{tabular}")


def _row(cells: Sequence[Lines], kinds: Sequence[str]) -> str:
    return " & ".join(_cell(lines, kind) for lines, kind in zip(cells, kinds, strict=True)) + r" \\"


def _cell(lines: Lines, kind: str) -> str:
    if kind.startswith("p"):
        return " ".join(map(_texed, lines))
    if len(lines) == 1:
        return _texed(lines[0])
    return rf"\begin{{tabular}}[t]{{@{{}}{kind}@{{}}}}" + r" \\ ".join(map(_texed, lines)) + r"\end{tabular}"


def _add_notes(table: list[str], notes: Sequence[str], height: int) -> None:
    """Under the table, or where they would not fit on its page after it, where they may go on to the next."""
    lines = [rf"\par\footnotesize {_texed(note)}" for note in notes]
    fits = height + sum(1 + len(note) // NOTE_SIGNS for note in notes) <= PAGE_LINES
    if fits:
        table[-1:-1] = lines
    else:
        table += [r"{\noindent", *lines, r"\par}"]


def _texed(text: str) -> str:
    return text.translate(_SIGNS)
