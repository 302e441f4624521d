"""Pairs of descriptions with ratings, one JSON object per line: what judges are measured against.

    {"reference": "the cup falls", "prediction": "the mug drops", "similarity": 0.9}
    {"reference": "...", "prediction": "...", "axes": {"event_faithfulness": 5, "specificity": 4, ...}}

A line rates a pair by a similarity in [0, 1], or on all axes of a rubric. All other keys are optional. clip_id,
reference_id and prediction_id identify the pair in a table; the default of the two event ids is the line number. The
judge also gets instruction, reference_type and prediction_type. event, domain, kind and split group pairs.
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
class RatedPair:
    """A pair and its rating. Pairs of the same `unit` were rated together. The unit is the event of the pair, its clip
    if no event is given, or its line if neither is given.
    """

    pair: DescriptionPair
    similarity: float
    axes: dict[str, float]
    unit: str
    kind: str
    split: str


def read_rated_pairs(path: Path, rubric: Rubric, split: str | None = None) -> tuple[RatedPair, ...]:
    """The rated pairs of a file, or only the pairs of one split. `rubric` has the axes on which pairs are rated.

    Raises InputError if the content is invalid (with file, line and key) or if there is no pair.
    """
    found = tuple(_rated(where, line, rubric) for where, line in read_lines(path, _Line))
    chosen = tuple(rated for rated in found if split in (None, rated.split))
    if not chosen:
        known = ", ".join(sorted({rated.split for rated in found if rated.split})) or "no split is named"
        raise InputError(f"{path} holds no pair" + ("" if split is None else f" of the split {split!r} ({known})"))
    return chosen


def _rated(where: str, line: _Line, rubric: Rubric) -> RatedPair:
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
    return RatedPair(pair, similarity, axes, unit, line.kind or "", line.split or "")


def _similarity(where: str, axes: dict[str, float], rubric: Rubric) -> float:
    worst, best = rubric.file.scale
    if set(axes) != set(rubric.axes):
        raise InputError(f"{where}: axes: the rubric {rubric.id} has {', '.join(rubric.axes)}, not {', '.join(axes)}")
    for name, rating in axes.items():
        if not worst <= rating <= best:
            raise InputError(f"{where}: axes.{name}: {rating:g} is not on the scale from {worst} to {best}")
    return rubric.similarity(axes)
