"""The engine on a Ray cluster: blocks of clips are tasks on any free node.

If a node dies, Ray runs its block again on another node. Only the process that started the run writes to the run
folder. Videos, and the folder of a custom domain, must have the same path on every node. Each worker sends its own
requests, so the limit of concurrency is per worker.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robogaze.backends import Models, ModelsConfig
from robogaze.backends.middleware.model_identity import FirstName, check_name
from robogaze.domains import load_domain
from robogaze.errors import MissingExtra, ModelChanged, RobogazeError, RunStopped
from robogaze.run.engines.base import ClipTask, EngineContext, Result
from robogaze.run.engines.local import Local
from robogaze.run.options import RunOptions
from robogaze.run.setup import RunSetup
from robogaze.stages.pipeline import Pipeline
from robogaze.threads import in_thread

_BLOCKS_A_WORKER = 4
"""The number of blocks per worker: with more, workers finish together; with fewer, models are opened less often."""

_POLL_S = 1.0

_QUIET = {"log_to_driver": False, "include_dashboard": False, "logging_level": logging.ERROR}


@dataclass(frozen=True)
class WorkerConfig:
    """How a worker scores clips, as plain data that is sent to it.

    `secrets` are the API keys of servers, keyed by environment variable; they are never written to disk.
    """

    domain: str
    pipeline: str
    models: ModelsConfig | None
    decoder: str
    options: RunOptions
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, context: EngineContext) -> "WorkerConfig":
        """The configuration of a run's workers, with the API keys of its servers."""
        setup = context.setup
        models = () if setup.models is None else setup.models.models.values()
        names = {"OPENAI_API_KEY", "ROBOGAZE_API_KEY", *(model.api_key_env for model in models if model.api_key_env)}
        secrets = {name: context.environ[name] for name in names if name in context.environ}
        options = replace(context.options, engine="local", out=None)
        return cls(setup.domain_path, setup.pipeline.name, setup.models, setup.decoder, options, secrets)


class Ray:
    """Diagnoses clips on a Ray cluster, `workers` blocks at a time. By default, `workers` is the number of cores in the
    cluster.

    Clips are sent to the cluster that this process is connected to. If it is not connected, they are sent to the
    cluster at `address` ("auto" for a cluster on this machine). If there is no address, a new cluster is started on
    this machine. (By itself, Ray would join the last cluster that was started here, and wait forever if that cluster
    was killed.)

    Answers are not cached: the requests of a lost worker are sent again. All clips must be answered by the same model.
    If another model answered a clip, the clip is not yielded, and the run stops.
    """

    def __init__(self, context: EngineContext) -> None:
        self.config = WorkerConfig.of(context)
        self.workers = context.options.workers
        self.address = context.options.address
        self.first_name: FirstName = _as_answered if context.answers is None else context.answers.first_name

    async def run(self, tasks: Sequence[ClipTask]) -> AsyncGenerator[Result, None]:
        """See `Engine`. Raises MissingExtra if Ray is not installed."""
        try:
            import ray
        except ImportError as error:
            raise MissingExtra("Ray", "ray") from error
        connected = ray.is_initialized()
        if not connected:
            ray.init(self.address or "local", **_QUIET)
        try:
            async for result in self._distribute(ray, tasks):
                yield result
        finally:
            if not connected:
                ray.shutdown()

    async def _distribute(self, ray: Any, tasks: Sequence[ClipTask]) -> AsyncGenerator[Result, None]:
        workers = self.workers or max(1, int(ray.cluster_resources().get("CPU", 1)))
        waiting = _blocks(tasks, workers, self.config.options.clips_at_once)
        # -1: a block is run again however often its node dies.
        work = ray.remote(num_cpus=1, max_retries=-1)(_work)
        stopped: RunStopped | None = None
        running: list[Any] = []
        while running or waiting:
            while waiting and len(running) < workers and stopped is None:
                running.append(work.remote(waiting.pop(), self.config))
            if not running:
                break
            done, running = await in_thread(ray.wait, running, timeout=_POLL_S)
            for reference in done:
                results, end = _fetch(ray, reference)
                stopped = stopped or end
                for result in results:
                    try:
                        self._check_models(result)
                    except ModelChanged as changed:
                        stopped = changed
                    else:
                        yield result
        if stopped is not None:
            raise stopped

    def _check_models(self, result: Result) -> None:
        """Raise ModelChanged for a clip that was answered by another model than earlier clips."""
        for call in () if result.report is None else result.report.provenance.calls:
            if call.answered_by:
                check_name(self.first_name, call.model, "answers as", call.answered_by)


def _as_answered(_model: str, _verb: str, name: str) -> str:
    return name


def _blocks(tasks: Sequence[ClipTask], workers: int, clips_at_once: int) -> list[list[ClipTask]]:
    """The clips in blocks, the last block first, because blocks are taken from the end."""
    size = max(1, min(2 * clips_at_once, -(-len(tasks) // (workers * _BLOCKS_A_WORKER))))
    return [list(tasks[start : start + size]) for start in range(0, len(tasks), size)][::-1]


def _fetch(ray: Any, reference: Any) -> tuple[list[Result], RunStopped | None]:
    """The results of a block. Raises the error of the block's worker."""
    try:
        found: tuple[list[Result], RunStopped | None] = ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, RobogazeError):
            raise error.cause from error
        raise
    return found


def _work(tasks: list[ClipTask], config: WorkerConfig) -> tuple[list[Result], RunStopped | None]:
    """Diagnose a block of clips in a worker."""
    return asyncio.run(_diagnose(tasks, config))


async def _diagnose(tasks: list[ClipTask], config: WorkerConfig) -> tuple[list[Result], RunStopped | None]:
    pipeline = Pipeline.build(load_domain(config.domain), config.pipeline)
    setup = RunSetup(config.domain, pipeline, config.models, config.decoder)
    models = None
    if config.models is not None:
        models = Models.open(config.models, None, config.secrets, outage_s=config.options.outage_s)
    results: list[Result] = []
    try:
        engine = Local(EngineContext(setup, config.options, models=models))
        async for result in engine.run(tasks):
            results.append(result)
    except RunStopped as error:
        return results, error
    finally:
        if models is not None:
            await models.close()
    return results, None
