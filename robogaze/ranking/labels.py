"""Labels of people (is a clip usable?) and scores of other tools, by clip id."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from robogaze.datasets.rows import read_rows
from robogaze.errors import InputError

_TRUTH = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def _truth(value: Any) -> Any:
    """A yes or no; texts and numbers as in tables."""
    text = str(value).strip().lower()
    if text not in _TRUTH:
        raise ValueError(f"{value!r} is not allowed; allowed values: {', '.join(_TRUTH)}")
    return _TRUTH[text]


YesNo = Annotated[bool, BeforeValidator(_truth)]


class _LabelRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    clip_id: str
    usable: YesNo
    severe: YesNo | None = None


class _ScoreRow(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    clip_id: str


@dataclass(frozen=True)
class Label:
    """Whether most of a clip's labels call it usable, and whether any label reports a severe failure (None if no label
    says).
    """

    usable: bool
    severe: bool | None


def read_labels(path: Path) -> dict[str, Label]:
    """The labels of a file with `clip_id`, `usable` and, if known, `severe`; a clip may have several rows.

    Raises InputError with file, line and key for an invalid row.
    """
    rows: dict[str, list[_LabelRow]] = {}
    for _, row in read_rows(path, _LabelRow):
        rows.setdefault(row.clip_id, []).append(row)
    return {clip_id: _together(found) for clip_id, found in rows.items()}


def _together(rows: list[_LabelRow]) -> Label:
    severe = [row.severe for row in rows if row.severe is not None]
    return Label(2 * sum(row.usable for row in rows) > len(rows), any(severe) if severe else None)


def read_scores(path: Path) -> Mapping[str, Mapping[str, float]]:
    """The scores in each column except `clip_id`, keyed by column name and then by clip id. Higher is better.

    Raises InputError with file and line for a value that is not a finite number, and for a clip with two rows.
    """
    scores: dict[str, dict[str, float]] = {}
    seen: set[str] = set()
    for source, row in read_rows(path, _ScoreRow):
        if row.clip_id in seen:
            raise InputError(f"{source}: {row.clip_id} has two rows; keep one of them")
        seen.add(row.clip_id)
        for name, value in (row.model_extra or {}).items():
            scores.setdefault(name, {})[row.clip_id] = _number(value, f"{source}: {name}")
    return scores


def _number(value: Any, place: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if isinstance(value, bool) or not isfinite(number):
        raise InputError(f"{place}: a score must be a finite number (higher is better), not {value!r}")
    return number
