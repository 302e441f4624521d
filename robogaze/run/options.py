"""How a run is done: folder, shard, order, engine, and limits of calls and cost."""

from dataclasses import dataclass
from math import inf
from pathlib import Path

from robogaze.errors import OptionError
from robogaze.paths import given_path
from robogaze.run.setup import RunSetup
from robogaze.run.shards import Shard


@dataclass(frozen=True)
class RunOptions:
    """How a run is done. No option changes the result for a clip.

    Args:
        out: The run folder; without a run folder, nothing is kept after the process ends.
        shard: The shard to score, as `3/8`; all clips by default.
        limit: Score a random sample of this many clips.
        seed: The seed of the random order of the clips.
        retry_failed: Score clips with invalid answers again.
        engine: `local` or `ray`.
        clips_at_once: The number of clips that are decoded, or wait for a model, at the same time.
        workers: The number of processes of an engine that has several.
        address: The address of the engine's cluster.
        max_calls: The maximum number of calls, across restarts.
        max_cost_usd: The maximum cost, across restarts.
        outage_s: How long to wait for a server that becomes unreachable.
    """

    out: str | Path | None = None
    shard: str | None = None
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
    def run_folder(self) -> Path | None:
        """The folder of the whole run."""
        return None if self.out is None else Path(self.out)

    @property
    def part(self) -> Shard | None:
        """The shard to score. Raises OptionError for a text that is not a shard."""
        return None if self.shard is None else Shard.parse(self.shard)

    @property
    def folder(self) -> Path | None:
        """The folder that the run, or its shard, is written to."""
        run, part = self.run_folder, self.part
        return run if run is None or part is None else part.folder(run)

    def check(self, setup: RunSetup) -> None:
        """Raise OptionError for options that contradict each other, and for a limit that cannot be kept."""
        self._check_values()
        if self.part is not None and self.out is None:
            raise OptionError("`shard` needs `out`, the folder of the whole run")
        config = setup.models
        models = [] if config is None else [config.models[name] for name in dict.fromkeys(config.roles.values())]
        limited = any(model.limits.calls is not None or model.limits.cost_usd is not None for model in models)
        capped = self.max_calls is not None or self.max_cost_usd is not None
        if self.engine != "local" and (capped or (limited and self.engine != "datatrove")):
            raise OptionError(
                f"with `engine` {self.engine}, several processes call the models, so a limit cannot hold for all "
                f"processes together; "
                "either remove `max_calls`, `max_cost_usd` and the limits of calls and cost in the models file, or use "
                "`engine` local"
            )
        if self.max_cost_usd is not None and config is not None:
            config.check_cost_is_limited()

    def _check_values(self) -> None:
        """Raise OptionError for a number that is out of its range, and for an empty path."""
        if self.out is not None:
            given_path(self.out, "`out`")
        for name in ("limit", "clips_at_once", "workers", "max_calls"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise OptionError(f"{name} must be at least 1, not {value}")
        if self.max_cost_usd is not None and not 0 < self.max_cost_usd < inf:
            raise OptionError(f"max_cost_usd must be above 0 and finite, not {self.max_cost_usd}")
        if not 0 <= self.outage_s < inf:
            raise OptionError(f"outage_s must be at least 0 and finite, not {self.outage_s}")
