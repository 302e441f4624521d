"""The weights of the rule by which candidates are ranked, from judges/ranking/*.yaml."""

from itertools import pairwise
from pathlib import Path
from typing import Literal, Self

from pydantic import model_validator

from robogaze.core.data import Data, Fraction
from robogaze.core.events import Name
from robogaze.domains.resources import resource_folder
from robogaze.domains.yaml_files import read_yaml
from robogaze.errors import InputError

DEFAULT = "default"


class VerdictWeights(Data):
    """The weight of a hypothesis for each verdict: how far it is still believed. A merged hypothesis has no weight,
    because it is part of another hypothesis.
    """

    unverified: Fraction
    rejected: Fraction


class DimensionWeights(Data):
    """The probability that a dimension hides a fault that makes the clip unusable, for each state in which the
    dimension is not fully judged.

    `undecided` is the state of a dimension that was looked at, but in which something failed.
    """

    partial: Fraction
    not_examined: Fraction
    undecided: Fraction


class RankingWeights(Data):
    """judges/ranking/NAME.yaml. `severity` has a probability for every level from 1 to 5; a higher level never has a
    lower probability.
    """

    schema_version: Literal[1]
    id: Name
    severity: dict[Literal[1, 2, 3, 4, 5], Fraction]
    severity_not_given: Fraction
    verdict: VerdictWeights
    confidence: Fraction
    dimension: DimensionWeights

    @model_validator(mode="after")
    def _severities_are_in_order(self) -> Self:
        if sorted(self.severity) != [1, 2, 3, 4, 5]:
            raise ValueError(f"severity needs the levels 1 to 5, not {', '.join(map(str, self.severity))}")
        if any(self.severity[low] > self.severity[high] for low, high in pairwise(sorted(self.severity))):
            raise ValueError("severity: a higher level must not have a lower weight")
        return self


def read_weights(name_or_path: str | Path) -> RankingWeights:
    """The weights with a name, or the weights of a YAML file.

    Raises InputError with the known names for unknown weights, and DomainError with file and line for invalid weights.
    """
    known = {path.stem: path for path in sorted((resource_folder("judges") / "ranking").glob("*.yaml"))}
    path = known.get(str(name_or_path), Path(name_or_path))
    if not path.is_file():
        raise InputError(
            f"{name_or_path} is neither a name of weights ({', '.join(known)}) nor a YAML file with weights"
        )
    return read_yaml(path).parse(RankingWeights)
