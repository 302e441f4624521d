"""Estimates the calls, tokens and cost of a run before the first call.

If enough clips are finished, the estimate is their mean. Otherwise, a few clips are rehearsed: they go through the
pipeline with their real pictures, but no model is called. Every request gets the simplest answer that lets the pipeline
examine every dimension.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robogaze.backends import Completion, Models, ModelsConfig, Request
from robogaze.backends.middleware.rate_limit import CHARACTERS_A_TOKEN, Price, estimated_tokens
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.report_summary import ReportSummary
from robogaze.run.engines.base import ClipTask, ClipWorker
from robogaze.stages.pipeline import Pipeline

_REHEARSED = 3
"""The number of clips that are rehearsed."""

_ENOUGH = 5
"""The number of finished clips from which on their mean is used."""


@dataclass(frozen=True)
class CostEstimate:
    """The calls, tokens and cost of `clips` clips: the mean over `sample` clips times the number of clips.

    `completion_tokens` and `cost_usd` are (minimum, maximum), None if not known, for example without a price. If
    `measured`, the sample consists of finished clips; otherwise it was rehearsed, with every dimension examined and no
    retries.
    """

    clips: int
    sample: int
    measured: bool
    calls: float
    prompt_tokens: float | None
    completion_tokens: tuple[float, float] | None
    cost_usd: tuple[float, float] | None


async def estimate(
    tasks: Sequence[ClipTask],
    finished: Mapping[str, ReportSummary],
    pipeline: Pipeline,
    config: ModelsConfig,
    decoder: str = "pyav",
) -> CostEstimate | None:
    """The estimate for `tasks`. It is None if there are no tasks, or if no clip can be read."""
    paid = [summary for summary in finished.values() if summary.status == "complete" and summary.usage.calls]
    if len(paid) >= _ENOUGH and tasks:
        return _measured(len(tasks), paid)
    rehearsals: list[Mapping[str, _CountingBackend]] = []
    for task in tasks:
        backends = {name: _CountingBackend(config.models[name].price) for name in set(config.roles.values())}
        result = await ClipWorker(pipeline, Models(config, backends), decoder)(task, asyncio.Semaphore(1))
        if result.report is not None:
            rehearsals.append(backends)
        if len(rehearsals) == _REHEARSED:
            break
    return _rehearsed(len(tasks), rehearsals) if rehearsals else None


def _measured(clips: int, paid: Sequence[ReportSummary]) -> CostEstimate:
    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return clips * sum(known) / len(known) if len(known) == len(values) else None

    usages = [summary.usage for summary in paid]
    completion = mean([usage.completion_tokens for usage in usages])
    cost = mean([usage.cost_usd for usage in usages])
    return CostEstimate(
        clips=clips,
        sample=len(paid),
        measured=True,
        calls=mean([usage.calls for usage in usages]) or 0.0,
        prompt_tokens=mean([usage.prompt_tokens for usage in usages]),
        completion_tokens=None if completion is None else (completion, completion),
        cost_usd=None if cost is None else (cost, cost),
    )


def _rehearsed(clips: int, rehearsals: Sequence[Mapping[str, "_CountingBackend"]]) -> CostEstimate:
    counted = [backend for backends in rehearsals for backend in backends.values()]
    times = clips / len(rehearsals)
    priced = all(backend.price is not None for backend in counted if backend.calls)

    def total(name: str) -> float:
        return times * float(sum(getattr(backend, name) for backend in counted))

    return CostEstimate(
        clips=clips,
        sample=len(rehearsals),
        measured=False,
        calls=total("calls"),
        prompt_tokens=total("prompt_tokens"),
        completion_tokens=(total("least_tokens"), total("most_tokens")),
        cost_usd=(total("least_usd"), total("most_usd")) if priced else None,
    )


@dataclass
class _CountingBackend:
    """A rehearsal backend that counts calls, tokens and cost, without retries."""

    price: Price | None
    calls: int = 0
    prompt_tokens: int = 0
    least_tokens: int = 0
    most_tokens: int = 0
    least_usd: float = 0.0
    most_usd: float = 0.0
    _inner: RehearsalBackend = field(default_factory=RehearsalBackend)

    @property
    def identity(self) -> Mapping[str, Any]:
        return self._inner.identity

    async def complete(self, request: Request) -> Completion:
        """The simplest answer."""
        completion = await self._inner.complete(request)
        if request.attempt == 1:
            self._count(request, completion)
        return completion

    def _count(self, request: Request, completion: Completion) -> None:
        prompt, answer = estimated_tokens(request), len(completion.text) // CHARACTERS_A_TOKEN
        self.calls += 1
        self.prompt_tokens += prompt
        self.least_tokens += answer
        self.most_tokens += request.decoding.max_tokens
        if self.price is not None:
            self.least_usd += (prompt * self.price.prompt_usd + answer * self.price.completion_usd) / 1e6
            self.most_usd += self.price.maximum(request)

    async def ready(self) -> None:
        """Always ready."""

    async def close(self) -> None:
        """Nothing to release."""
