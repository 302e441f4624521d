"""What a tracker is, and the functions that send numbers to it.

A tracker is a module that hands numbers to a library; the library decides where they go. The tracker gets the name of a
run, a few plain values that describe how the numbers were made, and numbers over many clips (`numbers.py`). A library
that would also send the command line, the machine or the code is configured so that it does not send them.
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol, Self

from robogaze.errors import RobogazeError

Plain = str | int | float | bool


class TrackedRun(Protocol):
    """A run of a tracker."""

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        """Log finite numbers at a step."""

    def finish(self) -> None:
        """End the run; the logged numbers are saved before Python exits."""


class Tracker(Protocol):
    """A project that keeps runs; two runs with the same name are different runs."""

    @classmethod
    def open(cls, project: str) -> Self:
        """Open a project (for MLflow an experiment). Raises MissingExtra if the library is not installed."""

    @property
    def place(self) -> str:
        """`KIND:PROJECT`."""

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """The exceptions that the library raises to refuse something."""

    def start(self, name: str, configuration: Mapping[str, Plain]) -> TrackedRun:
        """Start a run."""


@contextmanager
def open_run(
    tracker: Tracker, name: str, configuration: Mapping[str, Plain]
) -> Iterator[Callable[[Mapping[str, float | None], int], None]]:
    """Start a run, yield a function that logs numbers at a step, and end the run.

    Raises RobogazeError if the tracker refuses the run or the logged numbers.
    """
    with _explained(tracker, name):
        run = tracker.start(name, configuration)

    def log(numbers: Mapping[str, float | None], step: int) -> None:
        with _explained(tracker, name):
            run.log(finite(numbers), step)

    try:
        yield log
    finally:
        with _explained(tracker, name):
            run.finish()


def send(
    tracker: Tracker,
    name: str,
    configuration: Mapping[str, Plain],
    numbers: Mapping[str, float | None],
    step: int,
) -> None:
    """Start a run, log numbers at one step, and end it. Raises RobogazeError if the tracker refuses the run or the
    numbers.
    """
    with open_run(tracker, name, configuration) as log:
        log(numbers, step)


@contextmanager
def _explained(tracker: Tracker, name: str) -> Iterator[None]:
    try:
        yield
    except tracker.refusals as error:
        reason = " ".join(str(error).split()).rstrip(".")
        way_out = "the results are saved; run the same command again to send them"
        raise RobogazeError(f"{tracker.place} refused the numbers of {name}: {reason}; {way_out}") from error


def finite(numbers: Mapping[str, float | None]) -> Mapping[str, float]:
    """The finite numbers. None, NaN and infinity are left out; they are never sent as 0."""
    return {name: float(number) for name, number in numbers.items() if number is not None and math.isfinite(number)}
