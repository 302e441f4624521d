"""Weights & Biases: a run of a project, online or, with WANDB_MODE=offline, in a folder for `wandb sync`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from robogaze.errors import InputError, MissingExtra
from robogaze.reporting.trackers.base import Plain, TrackedRun

_NOTHING_ELSE = {
    "console": "off",
    "disable_code": True,
    "disable_git": True,
    "host": "",
    "save_code": False,
    "silent": True,
    "x_disable_machine_info": True,
    "x_disable_meta": True,
    "x_disable_stats": True,
    "x_save_requirements": False,
}
"""By default the library also sends printed output, the command line with its paths, the machine and the packages."""


@dataclass(frozen=True)
class Wandb:
    """A project."""

    project: str
    wandb: Any
    settings: Any

    @classmethod
    def open(cls, project: str) -> Self:
        """Raises MissingExtra where the library is not installed, InputError for a name that the library refuses."""
        try:
            import wandb
        except ImportError as error:
            raise MissingExtra("wandb", "wandb") from error
        try:
            return cls(project, wandb, wandb.Settings(project=project, **_NOTHING_ELSE))
        except wandb.Error as error:
            raise InputError(f"{project!r} is not a valid wandb project name: {error}") from error

    @property
    def place(self) -> str:
        return f"wandb:{self.project}"

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        return (self.wandb.Error,)

    def start(self, name: str, configuration: Mapping[str, Plain]) -> TrackedRun:
        return _Run(self.wandb.init(name=name, config=dict(configuration), settings=self.settings, reinit="create_new"))


@dataclass(frozen=True)
class _Run:
    run: Any

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        self.run.log(dict(numbers), step=step)

    def finish(self) -> None:
        self.run.finish()
