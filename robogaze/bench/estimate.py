"""What a run will take, before the first call: calls, tokens and cost.

From what the clips that are done took, if enough of them are; else from a rehearsal: a few clips are taken through the
pipeline with their real pictures, and every question is answered in the plainest way that asks about everything.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from robogaze.backends import Completion, Models, ModelsConfig, Request
from robogaze.backends.middleware.rate_limit import CHARACTERS_A_TOKEN, Price, estimated_tokens
from robogaze.backends.rehearsal import RehearsalBackend
from robogaze.core.report_summary import ReportSummary
from robogaze.engines.base import ClipWorker, Task
from robogaze.stages.pipeline import Pipeline

_REHEARSED = 3
"""How many clips are rehearsed."""

_ENOUGH = 5
"""From how many clips done on their mean is taken."""


@dataclass(frozen=True)
class CostEstimate:
    """What the clips to do will take: means of `sample` clips times their number.

    Of tokens received and dollars the least and the most, None where a price is missing or nothing is known.
    `measured` tells means of what was paid from means of a rehearsal; a rehearsal asks about every dimension, and
    asks nothing twice.
    """

    clips: int
    sample: int
    measured: bool
    calls: float
    prompt_tokens: float | None
    completion_tokens: tuple[float, float] | None
    cost_usd: tuple[float, float] | None


async def estimate(
    tasks: Sequence[Task],
    done: Mapping[str, ReportSummary],
    pipeline: Pipeline,
    config: ModelsConfig,
    decoder: str = "pyav",
) -> CostEstimate | None:
    """What `tasks` will take; None when none of those rehearsed can be read, or there is nothing to do."""
    paid = [one for one in done.values() if one.status == "complete" and one.usage.calls]
    if len(paid) >= _ENOUGH and tasks:
        return _measured(len(tasks), paid)
    meters: list[Mapping[str, _Meter]] = []
    for task in tasks:
        asked = {name: _Meter(config.models[name].price) for name in set(config.roles.values())}
        result = await ClipWorker(pipeline, Models(config, asked), decoder)(task, asyncio.Semaphore(1))
        if result.report is not None:
            meters.append(asked)
        if len(meters) == _REHEARSED:
            break
    return _rehearsed(len(tasks), meters) if meters else None


def _measured(clips: int, paid: Sequence[ReportSummary]) -> CostEstimate:
    def mean(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return clips * sum(known) / len(known) if len(known) == len(values) else None

    usages = [one.usage for one in paid]
    completion, cost = (mean([getattr(one, name) for one in usages]) for name in ("completion_tokens", "cost_usd"))
    return CostEstimate(
        clips=clips,
        sample=len(paid),
        measured=True,
        calls=mean([one.calls for one in usages]) or 0.0,
        prompt_tokens=mean([one.prompt_tokens for one in usages]),
        completion_tokens=None if completion is None else (completion, completion),
        cost_usd=None if cost is None else (cost, cost),
    )


def _rehearsed(clips: int, meters: Sequence[Mapping[str, "_Meter"]]) -> CostEstimate:
    every = [meter for asked in meters for meter in asked.values()]
    times = clips / len(meters)
    tokens = {name: times * sum(getattr(one, name) for one in every) for name in ("least_tokens", "most_tokens")}
    least, most = (times * sum(getattr(one, name) for one in every) for name in ("least_usd", "most_usd"))
    priced = all(one.price is not None for one in every if one.calls)
    return CostEstimate(
        clips=clips,
        sample=len(meters),
        measured=False,
        calls=times * sum(one.calls for one in every),
        prompt_tokens=times * sum(one.prompt_tokens for one in every),
        completion_tokens=(tokens["least_tokens"], tokens["most_tokens"]),
        cost_usd=(least, most) if priced else None,
    )


@dataclass
class _Meter:
    """Answers as in a rehearsal and counts what that would take; what is asked again is not counted."""

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
        """A rehearsal's."""
        return self._inner.identity

    async def complete(self, request: Request) -> Completion:
        """The plainest answer."""
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
            self.most_usd += self.price.most(request)

    async def ready(self) -> None:
        """Always."""

    async def close(self) -> None:
        """Nothing to free."""
