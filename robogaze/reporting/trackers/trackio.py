"""trackio: runs go to a local SQLite file, to the Space TRACKIO_SPACE_ID, or to the server TRACKIO_SERVER_URL."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from robogaze.errors import MissingExtra
from robogaze.reporting.trackers.base import Plain, TrackedRun


@dataclass(frozen=True)
class Trackio:
    """A project."""

    project: str
    trackio: Any

    @classmethod
    def open(cls, project: str) -> Self:
        """Raises MissingExtra where the library is not installed."""
        try:
            import trackio
        except ImportError as error:
            raise MissingExtra("trackio", "trackio") from error
        return cls(project, trackio)

    @property
    def place(self) -> str:
        return f"trackio:{self.project}"

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        """The library raises no specific exception for bad values."""
        return (ValueError, sqlite3.Error)

    def start(self, name: str, configuration: Mapping[str, Plain]) -> TrackedRun:
        run = self.trackio.init(
            project=self.project,
            name=name,
            config=dict(configuration),
            embed=False,
            auto_log_cpu=False,
            auto_log_gpu=False,
        )
        return _Run(run, self.trackio)


@dataclass(frozen=True)
class _Run:
    run: Any
    trackio: Any

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        self.run.log(dict(numbers), step=step)

    def finish(self) -> None:
        # A run that is not finished through the library is finished again at exit, and then prints.
        self.trackio.finish()
