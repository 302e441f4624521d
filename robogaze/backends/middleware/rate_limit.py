"""Limits of one model: concurrent requests, requests per minute, tokens per minute, total calls and total cost.

Calls and cost are checked before a request is sent. Requests in progress still finish, so the total cost can exceed
`limits.cost_usd` by the cost of these requests. The budget of the run (`robogaze.backends.middleware.budget`) reserves
costs in advance, so that it is not exceeded in this way.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from aiolimiter import AsyncLimiter
from pydantic import Field

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.backends.middleware.budget import Budget, UsageCounter, calls_in_words
from robogaze.core.data import Data
from robogaze.errors import BudgetExhausted

CHARACTERS_A_TOKEN = 4
"""Rough number of characters of text per token, for estimates."""

_PIXELS_A_TOKEN = 28 * 28


class RateLimits(Data):
    """The limits of a model; None means no limit."""

    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)
    cost_usd: float | None = Field(default=None, gt=0)


class Price(Data):
    """USD per million tokens; if `cached_usd` is None, cached prompt tokens cost the same as other tokens."""

    prompt_usd: float = Field(ge=0)
    completion_usd: float = Field(ge=0)
    cached_usd: float | None = Field(default=None, ge=0)

    def of(self, completion: Completion) -> float | None:
        """The cost of an answer in USD; None when the server did not count tokens."""
        if completion.prompt_tokens is None or completion.completion_tokens is None:
            return None
        cached = completion.cached_tokens or 0
        cached_usd = self.prompt_usd if self.cached_usd is None else self.cached_usd
        fresh = max(0, completion.prompt_tokens - cached)
        return (
            fresh * self.prompt_usd + cached * cached_usd + completion.completion_tokens * self.completion_usd
        ) / 1e6

    def maximum(self, request: Request) -> float:
        """The maximum cost of a request in USD: the cost of the estimated prompt plus the cost of an answer of
        `max_tokens`.
        """
        prompt_usd = estimated_tokens(request) * self.prompt_usd
        return (prompt_usd + request.decoding.max_tokens * self.completion_usd) / 1e6


def estimated_tokens(request: Request) -> int:
    """A rough number of prompt tokens, for limits that apply before the server has counted them."""
    text = len(request.system) + sum(len(part) for part in request.parts if isinstance(part, str))
    text += sum(len(image.label) for image in request.images)
    pixels = sum(image.picture.width * image.picture.height for image in request.images)
    return text // CHARACTERS_A_TOKEN + pixels // _PIXELS_A_TOKEN


@dataclass
class RateLimiter(Middleware):
    """Enforces the limits of a model, and adds the cost to its answers.

    `usage` starts with the usage of earlier starts of the run. `was_sent` says whether a request was sent earlier, so
    that now only its answer is fetched. Such a request is not counted again.
    """

    limits: RateLimits
    price: Price | None = None
    usage: UsageCounter = field(default_factory=UsageCounter)
    was_sent: Callable[[Request], bool] = lambda request: False
    budget: Budget = field(default_factory=Budget)

    def __post_init__(self) -> None:
        self.budget.include(self.usage)
        self._slots = asyncio.Semaphore(self.limits.concurrency)
        self._requests = _a_minute(self.limits.requests_per_minute)
        self._tokens = _a_minute(self.limits.tokens_per_minute)

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises BudgetExhausted when the limit of calls or cost is reached or cannot be enforced."""
        async with self._slots:
            reserved_usd = 0.0 if self.was_sent(request) else await self._admit(request)
            try:
                completion = await self.inner.complete(request)
                cost = self.price.of(completion) if self.price else None
                self.usage.add_cost(cost)
            finally:
                self.budget.release(reserved_usd)
        return replace(completion, cost_usd=cost)

    async def _admit(self, request: Request) -> float:
        """Count a request and wait until it may be sent; returns the cost in USD that is reserved for it."""
        self._check_limits()
        reserved_usd = await self.budget.reserve(None if self.price is None else self.price.maximum(request))
        self.usage.add_call()
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            await self._tokens.acquire(min(estimated_tokens(request), self._tokens.max_rate))
        return reserved_usd

    def _check_limits(self) -> None:
        limits, usage = self.limits, self.usage
        if limits.calls is not None and usage.calls >= limits.calls:
            reached = calls_in_words(limits.calls)
            raise BudgetExhausted(f"the limit of {reached} is reached; raise limits.calls to resume")
        if limits.cost_usd is not None and usage.uncounted:
            raise BudgetExhausted(
                "the server does not count tokens, so limits.cost_usd cannot be enforced; use limits.calls instead"
            )
        if limits.cost_usd is not None and usage.cost_usd >= limits.cost_usd:
            raise BudgetExhausted(f"the limit of {limits.cost_usd:g} USD is reached; raise limits.cost_usd to resume")


def _a_minute(rate: float | None) -> AsyncLimiter | None:
    return AsyncLimiter(rate, 60) if rate else None
