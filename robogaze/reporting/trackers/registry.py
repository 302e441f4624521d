"""The trackers by name."""

from collections.abc import Callable, Mapping

from robogaze.errors import InputError
from robogaze.reporting.trackers.base import Tracker
from robogaze.reporting.trackers.mlflow import Mlflow
from robogaze.reporting.trackers.trackio import Trackio
from robogaze.reporting.trackers.wandb import Wandb

TRACKERS: Mapping[str, Callable[[str], Tracker]] = {
    "trackio": Trackio.open,
    "wandb": Wandb.open,
    "mlflow": Mlflow.open,
}
"""What opens a tracker, given the name of a project (of an experiment for MLflow)."""


def open_tracker(text: str) -> Tracker:
    """The tracker of `KIND:NAME`, such as `trackio:my-model`. Nothing is sent yet.

    Raises InputError for another text, MissingExtra where the tracker's library is not installed.
    """
    kind, _, name = text.partition(":")
    if kind not in TRACKERS or not name.strip():
        raise InputError(f"{text!r} is no tracker; write KIND:PROJECT, where KIND is one of: {', '.join(TRACKERS)}")
    return TRACKERS[kind](name)
