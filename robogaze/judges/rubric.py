"""Rubrics: the questions whose ratings are combined into a similarity, from judges/*.yaml.

A rating r on a scale from a to b counts (r - a) / (b - a), and the similarity is the mean over the axes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from robogaze.core.data import Data
from robogaze.core.events import Name
from robogaze.domains.contract import Answer
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError

REASONS = "rationale"
"""The key of an answer's reasons; no axis can have this name."""


class RubricAxis(Data):
    """A question, and the meaning of both ends of its scale."""

    id: Name
    question: str = Field(min_length=1)
    worst: str = Field(min_length=1)
    best: str = Field(min_length=1)


class RubricFile(Data):
    """judges/NAME.yaml. Ratings are whole numbers unless `ratings` is "fractional"."""

    schema_version: Literal[1]
    id: Name
    axes: tuple[RubricAxis, ...] = Field(min_length=1)
    scale: tuple[int, int]
    ratings: Literal["whole", "fractional"] = "whole"
    subject: str = Field(default="video", min_length=1)
    """What the descriptions are about, in the words of the prompt."""

    @field_validator("axes")
    @classmethod
    def _names_can_be_answered(cls, axes: tuple[RubricAxis, ...]) -> tuple[RubricAxis, ...]:
        for number, axis in enumerate(axes):
            if axis.id == REASONS or not axis.id.isidentifier() or axis.id[0] == "_" or hasattr(Answer, axis.id):
                raise ValueError(f"{axis.id!r} cannot be the id of an axis; use another word of letters, digits and _")
            if axis.id in [other.id for other in axes[:number]]:
                raise ValueError(f"the axis {axis.id!r} is listed twice")
        return axes

    @model_validator(mode="after")
    def _scale_goes_up(self) -> Self:
        if self.scale[0] >= self.scale[1]:
            raise ValueError("the scale must go from the lower to the higher end")
        return self


@dataclass(frozen=True)
class Rubric:
    """A rubric; `fingerprint` is the hash of its file."""

    file: RubricFile
    fingerprint: str

    @property
    def id(self) -> str:
        return self.file.id

    @cached_property
    def axes(self) -> tuple[str, ...]:
        """The ids of the rubric's axes, in order."""
        return tuple(axis.id for axis in self.file.axes)

    def similarity(self, ratings: Mapping[str, float]) -> float:
        """The similarity, in [0, 1], of ratings on every axis."""
        worst, best = self.file.scale
        total, count = sum(ratings[axis] for axis in self.axes), len(self.axes)
        return (total - count * worst) / (count * (best - worst))  # divided once: whole ratings lose no digit


def read_rubric(name_or_path: str) -> Rubric:
    """A built-in rubric by its name, or the rubric of a YAML file.

    Raises InputError with the known names for an unknown rubric, and DomainError with file and line for an invalid
    rubric.
    """
    known = {path.stem: path for path in sorted(resource_folder("judges").glob("*.yaml"))}
    path = known.get(name_or_path, Path(name_or_path))
    if not path.is_file():
        raise InputError(f"{name_or_path} is neither a rubric ({', '.join(known)}) nor a YAML file with a rubric")
    return Rubric(read_yaml(path).parse(RubricFile), sha256(path.read_bytes()).hexdigest())
