"""MLflow: a run of an experiment, at MLFLOW_TRACKING_URI.

Uses the client instead of `mlflow.start_run`, which adds the user, the path of the program and the commit as tags.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from robogaze.errors import MissingExtra
from robogaze.reporting.trackers.base import Plain, TrackedRun


@dataclass(frozen=True)
class Mlflow:
    """An experiment, created if it does not exist."""

    experiment: str
    mlflow: Any

    @classmethod
    def open(cls, experiment: str) -> Self:
        """Raises MissingExtra where the library is not installed."""
        try:
            import mlflow
        except ImportError as error:
            raise MissingExtra("mlflow", "mlflow") from error
        return cls(experiment, mlflow)

    @property
    def place(self) -> str:
        return f"mlflow:{self.experiment}"

    @property
    def refusals(self) -> tuple[type[Exception], ...]:
        return (self.mlflow.MlflowException,)

    def start(self, name: str, configuration: Mapping[str, Plain]) -> TrackedRun:
        client = self.mlflow.MlflowClient()
        known = client.get_experiment_by_name(self.experiment)
        experiment = client.create_experiment(self.experiment) if known is None else known.experiment_id
        info = client.create_run(experiment, run_name=name).info
        parameters = [self.mlflow.entities.Param(key, str(value)) for key, value in configuration.items()]
        client.log_batch(info.run_id, params=parameters)
        return _Run(client, info.run_id, info.start_time, self.mlflow.entities.Metric)


@dataclass(frozen=True)
class _Run:
    client: Any
    run_id: str
    started_ms: int
    metric: Any

    def log(self, numbers: Mapping[str, float], step: int) -> None:
        metrics = [self.metric(name, number, self.started_ms, step) for name, number in numbers.items()]
        self.client.log_batch(self.run_id, metrics)

    def finish(self) -> None:
        self.client.set_terminated(self.run_id)
