"""How a run is done: where, how many clips at once, in which order, and what it may cost."""

from dataclasses import dataclass
from pathlib import Path

from robogaze.errors import OptionError
from robogaze.run.setup import RunSetup
from robogaze.run.shards import Shard


@dataclass(frozen=True)
class RunOptions:
    """How a run is done; nothing here changes what is found in a clip.

    Without `out` nothing is kept beyond the process. `clips_at_once` clips are decoded or wait for a model at the same
    time. With `retry_failed`, clips whose answers were invalid are scored again. `limit` takes a random sample of so
    many clips. `max_calls` and `max_cost_usd` count across restarts. A server that goes away is waited for, up to
    `outage_s`. `workers` and `address` are those of an engine that has several processes.
    """

    out: Path | None = None
    shard: Shard | None = None
    limit: int | None = None
    seed: int = 0
    retry_failed: bool = False
    engine: str = "local"
    clips_at_once: int = 16
    workers: int | None = None
    address: str | None = None
    max_calls: int | None = None
    max_cost_usd: float | None = None
    outage_s: float = 0.0

    @property
    def folder(self) -> Path | None:
        """Where the run, or its shard, is written."""
        return self.out if self.out is None or self.shard is None else self.shard.folder(self.out)

    def check(self, setup: RunSetup) -> None:
        """Raise OptionError for options that contradict each other, and for a cap that could not be kept."""
        self._check_values()
        if self.shard is not None and self.out is None:
            raise OptionError("--shard needs --out: the folder of the whole run")
        config = setup.models
        models = [] if config is None else [config.models[name] for name in dict.fromkeys(config.roles.values())]
        limited = any(model.limits.calls is not None or model.limits.cost_usd is not None for model in models)
        capped = self.max_calls is not None or self.max_cost_usd is not None
        if self.engine != "local" and (capped or (limited and self.engine != "datatrove")):
            raise OptionError(
                "--max-calls, --max-cost and limits of calls and cost in the models file count in one process, not "
                f"with --engine {self.engine}"
            )
        if self.max_cost_usd is not None and any(model.price is None for model in models):
            raise OptionError("--max-cost needs the price of every model in the models file; see docs/models.md")
        if self.max_cost_usd is not None and any(model.kind == "batch" for model in models):
            raise OptionError("--max-cost cannot limit a batch, whose cost is known only afterwards; use --max-calls")

    def _check_values(self) -> None:
        """Raise OptionError for a number with which nothing, or not what was meant, would be scored."""
        for name in ("limit", "clips_at_once", "workers", "max_calls"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OptionError(f"{name} must be at least 1, not {value}")
        if self.max_cost_usd is not None and not self.max_cost_usd > 0:
            raise OptionError(f"max_cost_usd must be above 0, not {self.max_cost_usd}")
