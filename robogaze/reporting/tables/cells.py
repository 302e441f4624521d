"""A table of results, and its cells as text.

No cell is a bare mean: an estimate is written with its interval and n, and what is undefined says so.
"""

import math
from dataclasses import dataclass

from robogaze.core.scores import Estimate
from robogaze.reporting.wording import printable

Cell = str | int | float | Estimate | None
"""None is an empty cell: there is nothing to say there."""


@dataclass(frozen=True)
class Part:
    """Tables with the same columns share the CSV file `file`, in which a first `column` tells them apart by `value`."""

    file: str
    column: str
    value: str


@dataclass(frozen=True)
class ResultTable:
    """A table: `notes` are the sentences that belong under it; `name` is its file's, unless it is a part of one."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()
    part: Part | None = None

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
