"""Send the numbers of a run to an experiment tracker.

numbers.py    the numbers: counts and rates over many clips, never of a single clip
base.py       what a tracker is, `send` and `open_run`
wandb.py ...  one tracker each
"""

from robogaze.errors import InputError
from robogaze.registry import Registry
from robogaze.reporting.trackers.base import Tracker, open_run, send
from robogaze.reporting.trackers.numbers import leaderboard_numbers, run_numbers

__all__ = ["TRACKERS", "Tracker", "leaderboard_numbers", "open_run", "open_tracker", "run_numbers", "send"]

TRACKERS: Registry[type[Tracker]] = Registry(
    "trackers",
    {
        "trackio": "robogaze.reporting.trackers.trackio:Trackio",
        "wandb": "robogaze.reporting.trackers.wandb:Wandb",
        "mlflow": "robogaze.reporting.trackers.mlflow:Mlflow",
    },
)


def open_tracker(text: str) -> Tracker:
    """The tracker of `KIND:PROJECT`, such as `trackio:my-model`. Nothing is sent yet.

    Raises InputError if the text is not a tracker, and MissingExtra if the tracker's library is not installed.
    """
    kind, _, project = text.partition(":")
    if kind not in TRACKERS or not project.strip():
        known = ", ".join(TRACKERS.names())
        raise InputError(f"{text!r} is not a tracker; write KIND:PROJECT, where KIND is one of: {known}")
    return TRACKERS.load(kind).open(project)
