"""Rated pairs of descriptions, one JSON object a line: what judges are measured against.

    {"reference": "the cup falls", "prediction": "the mug drops", "similarity": 0.9}
    {"reference": "...", "prediction": "...", "axes": {"event_faithfulness": 5, "specificity": 4, ...}}

A line says how similar the two are, by a number in [0, 1] or by ratings on all axes of a rubric. It may also hold
clip_id, reference_id and prediction_id, by which a table finds the pair (without them its line number stands for
both ids), instruction and the two types; and event, domain, kind and split, by which pairs belong together.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from robogaze.core.data import Data, Fraction
from robogaze.errors import InputError
from robogaze.judges.base import DescriptionPair
from robogaze.judges.jsonl import read_lines
from robogaze.judges.rubric import Rubric


class _Line(Data):
    """A line of the file."""

    reference: str = Field(min_length=1)
    prediction: str = Field(min_length=1)
    similarity: Fraction | None = None
    axes: dict[str, float] | None = None
    clip_id: str = ""
    reference_id: str | None = None
    prediction_id: str | None = None
    instruction: str | None = None
    reference_type: str | None = None
    prediction_type: str | None = None
    event: str | None = None
    domain: str | None = None
    kind: str | None = None
    split: str | None = None

    @model_validator(mode="after")
    def _is_rated(self) -> Self:
        if (self.similarity is None) == (self.axes is None):
            raise ValueError("a pair is rated either by 'similarity' or by 'axes'")
        return self


@dataclass(frozen=True)
class Rated:
    """A pair and how it was rated; `unit` names what was rated together (its event, else its clip, else itself)."""

    pair: DescriptionPair
    similarity: float
    axes: dict[str, float]
    unit: str
    kind: str
    split: str


def read_rated_pairs(path: Path, rubric: Rubric, split: str | None = None) -> tuple[Rated, ...]:
    """The rated pairs of a file, or those of one split, with ratings counted by a rubric.

    Raises InputError with file, line and key for what does not fit, and when there is no pair.
    """
    found = tuple(_rated(where, line, rubric) for where, line in read_lines(path, _Line))
    chosen = tuple(estimate for estimate in found if split in (None, estimate.split))
    if not chosen:
        known = ", ".join(sorted({estimate.split for estimate in found if estimate.split})) or "no split is named"
        raise InputError(f"{path} holds no pair" + ("" if split is None else f" of the split {split!r} ({known})"))
    return chosen


def _rated(where: str, line: _Line, rubric: Rubric) -> Rated:
    number = where.rpartition(":")[2]
    pair = DescriptionPair(
        clip_id=line.clip_id,
        reference_id=line.reference_id or number,
        prediction_id=line.prediction_id or number,
        reference=line.reference,
        prediction=line.prediction,
        instruction=line.instruction,
        reference_type=line.reference_type,
        prediction_type=line.prediction_type,
    )
    axes = line.axes or {}
    similarity = line.similarity if line.similarity is not None else _similarity(where, axes, rubric)
    unit = line.event or line.clip_id or number
    return Rated(pair, similarity, axes, unit, line.kind or "", line.split or "")


def _similarity(where: str, axes: dict[str, float], rubric: Rubric) -> float:
    worst, best = rubric.file.scale
    if set(axes) != set(rubric.axes):
        raise InputError(f"{where}: axes: the rubric {rubric.id} has {', '.join(rubric.axes)}, not {', '.join(axes)}")
    for name, rating in axes.items():
        if not worst <= rating <= best:
            raise InputError(f"{where}: axes.{name}: {rating:g} is not on the scale from {worst} to {best}")
    return rubric.similarity(axes)
