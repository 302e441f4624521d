"""--track: send the numbers of a run to an experiment tracker."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from robogaze.reporting.trackers import Tracker
    from robogaze.reporting.trackers.base import Plain

Command = TypeVar("Command", bound=Callable[..., Any])

NO_TELEMETRY = {
    "GRADIO_ANALYTICS_ENABLED": "False",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "WANDB_ERROR_REPORTING": "false",
}
"""Environment variables that turn off the libraries' telemetry unless the user has set them."""


def option(command: Command) -> Command:
    """--track."""
    what = "Send only counts and rates to trackio:PROJECT, wandb:PROJECT or mlflow:EXPERIMENT."
    return click.option("--track", metavar="KIND:PROJECT", help=what)(command)


def opened(text: str | None) -> Tracker | None:
    """Open the tracker of --track. Raises an error for a missing library before the work begins."""
    if text is None:
        return None
    from robogaze.reporting.trackers import open_tracker

    for name, value in NO_TELEMETRY.items():
        os.environ.setdefault(name, value)
    with redirect_stdout(sys.stderr):
        return open_tracker(text)


def track(tracker: Tracker, name: str, configuration: Mapping[str, Plain], numbers: Mapping[str, float]) -> None:
    """Send the numbers of a run to a tracker. The training step is read from the run's name, and is 0 if the name has
    none.
    """
    from robogaze.comparison.trend import step_of
    from robogaze.reporting.trackers import send
    from robogaze.version import VERSION

    step = step_of(name) or 0
    with redirect_stdout(sys.stderr):  # the libraries print what they do, and stdout is data
        send(tracker, name, {"robogaze": VERSION, **configuration}, numbers, step)
    click.echo(f"sent to {tracker.place}: {name} at step {step}", err=True)
