"""Opens the models of a run."""

from collections.abc import Iterator, Mapping
from typing import Any

from robogaze.backends.base import Backend
from robogaze.backends.batch import BatchBackend
from robogaze.backends.config import ModelConfig, ModelsConfig
from robogaze.backends.middleware.budget import Budget, UsageCounter
from robogaze.backends.middleware.cache import AnswerStore, Cache
from robogaze.backends.middleware.model_identity import ModelIdentityGuard
from robogaze.backends.middleware.outage import OutageWait
from robogaze.backends.middleware.rate_limit import RateLimiter
from robogaze.backends.middleware.reply_checks import FinishCheck, TypeCheck
from robogaze.backends.middleware.retry import Retry
from robogaze.backends.sam3 import Sam3
from robogaze.core.data import Data


class Model(Data):
    """A model with its backend, which is a `robogaze.backends.base.Backend`."""

    name: str
    config: ModelConfig
    backend: Any


class Models:
    """The models of a run by role, and the learned tracker if there is one. Close them after use."""

    def __init__(self, config: ModelsConfig, backends: Mapping[str, Backend], tracker: Sam3 | None = None) -> None:
        self.config = config
        self.tracker = tracker
        self._models = {
            name: Model(name=name, config=config.models[name], backend=backend) for name, backend in backends.items()
        }

    @classmethod
    def open(
        cls,
        config: ModelsConfig,
        answers: AnswerStore | None,
        environ: Mapping[str, str],
        *,
        usage: AnswerStore | None = None,
        budget: Budget | None = None,
        outage_s: float = 0.0,
    ) -> "Models":
        """Open every model that has a role. Requests pass through the limits, the retries and, if `answers` is given,
        the cache.

        `usage` stores calls, cost and model names across restarts of the run; without `usage`, calls and cost are
        counted from 0. `budget` limits all models together. Requests wait up to `outage_s` seconds for an unreachable
        server. Raises InputError if an API key is not set, and MissingExtra if a package is missing.
        """
        from robogaze.backends import BACKENDS

        backends: dict[str, Backend] = {}
        for name in dict.fromkeys(config.roles.values()):
            model = config.models[name]
            opened = BACKENDS.load(model.kind)(model, environ)
            limiter = RateLimiter(
                TypeCheck(opened),
                model.limits,
                model.price,
                UsageCounter() if usage is None else usage.usage(name),
                budget=budget or Budget(),
            )
            if isinstance(opened, BatchBackend):
                limiter.was_sent = opened.was_sent
            backend: Backend = Retry(FinishCheck(limiter), model.retry)
            if usage is not None:
                backend = ModelIdentityGuard(backend, name, usage.first_name)
            if outage_s > 0:
                backend = OutageWait(backend, outage_s)
            backends[name] = Cache(backend, answers) if answers is not None else backend
        return cls(config, backends, None if config.tracker is None else Sam3(config.tracker.sam3))

    def __getitem__(self, role: str) -> Model:
        return self._models[self.config.model_of(role)]

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())

    async def ready(self) -> None:
        """Check that every model accepts requests.

        Raises BackendError if a model does not accept requests, and InputError if the tracker's weights cannot be
        loaded.
        """
        if self.tracker is not None:
            await self.tracker.ready()
        for model in self:
            await model.backend.ready()

    async def close(self) -> None:
        for model in self:
            await model.backend.close()
