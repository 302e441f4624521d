"""How far each dimension of a clip was examined.

examined      a stage that covers the dimension saw frames and answered, or took measurements from them
ruled_out     the router gave a reason not to examine the dimension
partial       only some types of faults can be found, or only in some frames; there may be faults without an event
not_examined  no stage examined the dimension
"""

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from pydantic import Field

from robogaze.core.data import Data

CoverageState = Literal["examined", "ruled_out", "partial", "not_examined"]
"""From the most to the least informative."""

COVERED: frozenset[CoverageState] = frozenset({"examined", "ruled_out"})
"""The states in which no event means that no fault was found."""


class Coverage(Data):
    """The state of one dimension; `reason` explains the state to the reader."""

    state: CoverageState
    reason: str = Field(min_length=1)


def furthest(*coverages: Coverage) -> Coverage:
    """The coverage with the most informative state. If several have this state, the last of them is used. Raises
    ValueError without arguments.
    """
    return min(reversed(coverages), key=lambda coverage: get_args(CoverageState).index(coverage.state))


def all_examined(dimensions: Iterable[str], reason: str) -> dict[str, Coverage]:
    """The coverage of a person's annotation: every dimension is examined, for the same reason."""
    return dict.fromkeys(dimensions, Coverage(state="examined", reason=reason))


def states(coverage: Mapping[str, Coverage]) -> dict[str, CoverageState]:
    """The states without the reasons."""
    return {name: dimension.state for name, dimension in coverage.items()}


def covers_all(dimensions: Iterable[CoverageState]) -> bool:
    """Whether there are dimensions, and all of them are examined or ruled out."""
    dimensions = tuple(dimensions)
    return bool(dimensions) and COVERED.issuperset(dimensions)


def as_cell(coverage: Mapping[str, CoverageState]) -> str:
    """The states as text for a table cell: `colour=examined shape=partial`."""
    return " ".join(f"{name}={state}" for name, state in coverage.items())
