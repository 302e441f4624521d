"""A table of results and the text of its cells.

No cell holds only a mean: an estimate is written with its interval and n, and an undefined value is written as
undefined.
"""

import math
from dataclasses import dataclass

from robogaze.core.estimate import Estimate
from robogaze.reporting.wording import printable

Cell = str | int | float | Estimate | None
"""None is an empty cell."""

Row = tuple[Cell, ...]


@dataclass(frozen=True)
class TablePart:
    """A table that shares a CSV file with others. `file` is the name of the file; `column` is the name of its first
    column, and `value` is the content of this column in the rows of the table.
    """

    file: str
    column: str
    value: str


@dataclass(frozen=True)
class ResultTable:
    """A table with notes below it; `name` is the name of its CSV file, unless the table is a part of a larger file."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    part: TablePart | None = None

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.name}: a row has {len(row)} cells for {len(self.columns)} columns")


def cell_text(cell: Cell) -> str:
    """A cell as text: an estimate as `0.566 [0.538, 0.591] n=382`."""
    if cell is None:
        return ""
    if isinstance(cell, Estimate):
        return _estimate(cell)
    if isinstance(cell, float):
        return _number(cell)
    return printable(str(cell))


def _estimate(estimate: Estimate) -> str:
    if not estimate.defined:
        return f"undefined ({estimate.why})" if estimate.why and estimate.n else f"undefined, n={estimate.n}"
    interval = "" if math.isnan(estimate.low) else f" [{_number(estimate.low)}, {_number(estimate.high)}]"
    return f"{_number(estimate.value)}{interval} n={estimate.n}"


def _number(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"
