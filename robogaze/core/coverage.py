"""How far a clip was examined, dimension by dimension.

examined      a stage that looks for faults of the dimension was shown frames and answered, or measured them
ruled_out     the router gave a reason to look no further
partial       only some types of the dimension can be found, or only in some frames: no finding does not mean no fault
not_examined  nobody looked
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from pydantic import Field

from robogaze.core.data import Data

CoverageState = Literal["examined", "ruled_out", "partial", "not_examined"]

STATES: tuple[CoverageState, ...] = ("not_examined", "partial", "ruled_out", "examined")
"""From the least to the most that is known."""

COVERED: frozenset[CoverageState] = frozenset({"examined", "ruled_out"})
"""The states in which no finding means that no fault was found."""


class Coverage(Data):
    """The state of one dimension of a clip, and the reason for it, a phrase for the reader."""

    state: CoverageState
    reason: str = Field(min_length=1)


def furthest(*coverages: Coverage) -> Coverage:
    """The coverage that says most; of equals the last."""
    return max(reversed(coverages), key=lambda coverage: STATES.index(coverage.state))


def all_examined(dimensions: Iterable[str], reason: str) -> dict[str, Coverage]:
    """Every dimension examined, as by a person who annotates a clip."""
    return dict.fromkeys(dimensions, Coverage(state="examined", reason=reason))


def states(coverage: Mapping[str, Coverage]) -> dict[str, CoverageState]:
    """The states alone."""
    return {name: each.state for name, each in coverage.items()}


def covers_all(found: Iterable[CoverageState]) -> bool:
    """Whether every dimension is examined or ruled out; False for no dimension."""
    found = tuple(found)
    return bool(found) and COVERED.issuperset(found)


def as_cell(found: Mapping[str, CoverageState]) -> str:
    """The states in a cell of a table: `colour=examined shape=partial`."""
    return " ".join(f"{name}={state}" for name, state in found.items())
