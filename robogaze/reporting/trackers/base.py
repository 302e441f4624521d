"""What a tracker of experiments is, and the one way numbers go to it.

A tracker is one module that hands numbers to a library; the library decides where they go. It is given the name of a
run, a few plain values that say how the numbers were made, and numbers over many clips (`numbers.py` makes them). A
library that would send more of its own accord, such as the command line, the machine or the code, is told not to.
"""

import math
from collections.abc import Mapping
from typing import Protocol

from robogaze.errors import RobogazeError

Plain = str | int | float | bool


class TrackedRun(Protocol):
    """A run that takes numbers."""

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Keep finite numbers at a step."""

    def finish(self) -> None:
        """Nothing more comes; what was logged is kept by the time that Python ends, if not before."""


class Tracker(Protocol):
    """A place that keeps runs, such as a project; two runs of one name are two."""

    @property
    def place(self) -> str:
        """How it was asked for: `KIND:NAME`."""

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """What its library raises when it does not take something."""

    def start(self, name: str, configuration: Mapping[str, Plain]) -> TrackedRun:
        """A new run."""


def send(
    tracker: Tracker,
    name: str,
    configuration: Mapping[str, Plain],
    numbers: Mapping[str, float | None],
    step: int,
) -> None:
    """Make a run of one step. Raises RobogazeError when the tracker does not take it."""
    try:
        run = tracker.start(name, configuration)
        try:
            run.log(finite(numbers), step)
        finally:
            run.finish()
    except tracker.refusals as error:
        said = " ".join(str(error).split()).rstrip(".")
        way_out = "the result itself is there, and the same command sends them again"
        raise RobogazeError(f"{tracker.place} did not take the numbers of {name}: {said}; {way_out}") from error


def finite(numbers: Mapping[str, float | None]) -> Mapping[str, float]:
    """The numbers there are: None, NaN and infinity are left out, and never 0."""
    return {name: float(number) for name, number in numbers.items() if number is not None and math.isfinite(number)}
