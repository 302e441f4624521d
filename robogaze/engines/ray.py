"""A Ray cluster: blocks of clips as tasks, on whatever node has room.

A worker holds nothing that is missed when its node goes: Ray gives its block to another node, which does it again. Only
the process that started the run writes to the run folder. Videos, and the folder of a domain of one's own, must lie
under the same path on every node; models are asked by each worker, so concurrency is each worker's.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robogaze.backends import Models, ModelsConfig
from robogaze.backends.middleware.model_identity import FirstTold, check_answer
from robogaze.domains import load_domain
from robogaze.engines.base import ClipWorker, Result, Task
from robogaze.engines.local import Local
from robogaze.errors import MissingExtra, ModelChanged, RobogazeError, RunStopped
from robogaze.stages.pipeline import Pipeline
from robogaze.threads import in_thread

_BLOCKS_A_WORKER = 4
"""Into how many blocks a worker's share is cut: more even out the workers' ends, fewer open models less often."""

_LOOK_S = 1.0

_QUIET = {"log_to_driver": False, "include_dashboard": False, "logging_level": logging.ERROR}


@dataclass(frozen=True)
class WorkerConfig:
    """What a worker does with each clip, as plain data that travels.

    `secrets` are the keys of servers by the name of their environment variable; they are never written down.
    """

    domain: str
    pipeline: str
    models: ModelsConfig | None = None
    decoder: str = "pyav"
    in_flight: int = 16
    outage_s: float = 0.0
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Ray:
    """Diagnoses clips on a Ray cluster, `workers` blocks at a time, by default one for every core that it has.

    A cluster that this process is connected to is used; else the one that `address` names ("auto" for one that runs on
    this machine), else a new one on this machine. Without an address Ray would join the last cluster that was started
    here, and wait forever where that cluster was killed.
    No answer is cached: what a lost worker was answered is asked again. `first` knows under which name each model's
    server answered first; a clip on which another one answered is not kept, and ends the run.
    """

    recipe: WorkerConfig
    workers: int | None = None
    address: str | None = None
    first: FirstTold = lambda model, does, name: name

    async def run(self, tasks: Sequence[Task], keep: Callable[[Result], None]) -> RunStopped | None:
        """See `Engine`. Raises MissingExtra where Ray is not installed."""
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("Ray", "ray") from error
        mine = not ray.is_initialized()
        if mine:
            ray.init(self.address or "local", **_QUIET)
        try:
            return await self._spread(ray, tasks, keep)
        finally:
            if mine:
                ray.shutdown()

    async def _spread(self, ray: Any, tasks: Sequence[Task], keep: Callable[[Result], None]) -> RunStopped | None:
        workers = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = _blocks(tasks, workers, self.recipe.in_flight)
        # The node on which a block runs may go as often as it likes: -1 is for ever.
        work = ray.remote(num_cpus=1, max_retries=-1)(_block)
        stopped: RunStopped | None = None
        running: list[Any] = []
        while running or waiting:
            while waiting and len(running) < workers and stopped is None:
                running.append(work.remote(waiting.pop(), self.recipe))
            if not running:
                break
            done, running = await in_thread(ray.wait, running, timeout=_LOOK_S)
            for one in done:
                results, end = _fetched(ray, one)
                stopped = stopped or end
                for result in results:
                    try:
                        self._check(result)
                    except ModelChanged as changed:
                        stopped = changed
                    else:
                        keep(result)
        return stopped

    def _check(self, result: Result) -> None:
        """Raise ModelChanged for a clip on which another model answered than before."""
        for call in () if result.report is None else result.report.provenance.calls:
            if call.answered_by:
                check_answer(self.first, call.model, call.answered_by)


def _blocks(tasks: Sequence[Task], workers: int, in_flight: int) -> list[list[Task]]:
    """The clips in blocks, the last first, so that they are done in their order."""
    size = max(1, min(2 * in_flight, -(-len(tasks) // (workers * _BLOCKS_A_WORKER))))
    return [list(tasks[start : start + size]) for start in range(0, len(tasks), size)][::-1]


def _fetched(ray: Any, reference: Any) -> tuple[list[Result], RunStopped | None]:
    """What became of a block. Raises what its worker raised, as if it had been here."""
    try:
        found: tuple[list[Result], RunStopped | None] = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, RobogazeError):
            raise error.cause from error
        raise
    return found


def _block(tasks: list[Task], recipe: WorkerConfig) -> tuple[list[Result], RunStopped | None]:
    """What a worker does: a few clips side by side."""
    return asyncio.run(_diagnosed(tasks, recipe))


async def _diagnosed(tasks: list[Task], recipe: WorkerConfig) -> tuple[list[Result], RunStopped | None]:
    pipeline = Pipeline.build(load_domain(recipe.domain), recipe.pipeline)
    models = None
    if recipe.models is not None:
        models = Models.open(recipe.models, None, recipe.secrets, outage_s=recipe.outage_s)
    results: list[Result] = []
    try:
        unit = ClipWorker(pipeline, models, recipe.decoder)
        stopped = await Local(unit, recipe.in_flight).run(tasks, results.append)
    finally:
        if models is not None:
            await models.close()
    return results, stopped
