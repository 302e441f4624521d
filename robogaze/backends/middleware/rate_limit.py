"""Limits: how many requests at once, how many requests and tokens a minute, how many calls and dollars in all.

A budget is checked before a request is sent: when it is used up, the requests under way still come to their end, so a
limit of cost can be passed by what these cost. The cap of a whole run is not passed (see
`robogaze.backends.middleware.budget`).
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from aiolimiter import AsyncLimiter
from pydantic import Field

from robogaze.backends.base import Backend, Completion, Request, Wrapper
from robogaze.backends.middleware.budget import Budget
from robogaze.backends.middleware.usage_counter import UsageCounter, counted_calls
from robogaze.core.data import Data
from robogaze.errors import BudgetExhausted

CHARACTERS_A_TOKEN = 4
"""About how many characters of text a token is."""

_PICTURE_PX_A_TOKEN = 28 * 28


class RateLimits(Data):
    """What a model may be asked for; None means no limit."""

    concurrency: int = Field(default=16, ge=1)
    requests_per_minute: float | None = Field(default=None, gt=0)
    tokens_per_minute: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)
    cost_usd: float | None = Field(default=None, gt=0)


class Price(Data):
    """What a million tokens cost, in dollars; cached prompt tokens cost as much as others unless stated."""

    prompt_usd: float = Field(ge=0)
    completion_usd: float = Field(ge=0)
    cached_usd: float | None = Field(default=None, ge=0)

    def of(self, completion: Completion) -> float | None:
        """The cost of an answer; None when the server did not count tokens."""
        if completion.prompt_tokens is None or completion.completion_tokens is None:
            return None
        cached = completion.cached_tokens or 0
        cached_usd = self.prompt_usd if self.cached_usd is None else self.cached_usd
        fresh = completion.prompt_tokens - cached
        return (
            fresh * self.prompt_usd + cached * cached_usd + completion.completion_tokens * self.completion_usd
        ) / 1e6

    def most(self, request: Request) -> float:
        """The most that an answer may cost, its prompt by estimate."""
        prompt_usd = estimated_tokens(request) * self.prompt_usd
        return (prompt_usd + request.decoding.max_tokens * self.completion_usd) / 1e6


def estimated_tokens(request: Request) -> int:
    """About how many tokens a prompt has: for pacing, before a server has counted them."""
    text = len(request.system) + sum(len(part) for part in request.parts if isinstance(part, str))
    text += sum(len(shot.label) for shot in request.shots)
    pixels = sum(shot.picture.width * shot.picture.height for shot in request.shots)
    return text // CHARACTERS_A_TOKEN + pixels // _PICTURE_PX_A_TOKEN


def no_request_was_sent(request: Request) -> bool:
    """For backends that keep no requests: False."""
    return False


@dataclass(frozen=True)
class Limited(Wrapper):
    """Keeps a backend within its limits and puts a price on its answers.

    A request that `was_sent` before, and only fetches its answer now, is no further call.
    """

    limits: RateLimits
    price: Price | None
    spent: UsageCounter
    was_sent: Callable[[Request], bool]
    purse: Budget
    _slots: asyncio.Semaphore = field(repr=False)
    _requests: AsyncLimiter | None = field(repr=False)
    _tokens: AsyncLimiter | None = field(repr=False)

    @classmethod
    def around(
        cls,
        inner: Backend,
        limits: RateLimits,
        price: Price | None,
        spent: UsageCounter | None = None,
        was_sent: Callable[[Request], bool] = no_request_was_sent,
        purse: Budget | None = None,
    ) -> "Limited":
        """Wrap a backend; its budget counts from what was `spent`, from nothing without."""
        requests, tokens = (
            AsyncLimiter(rate, 60) if rate else None for rate in (limits.requests_per_minute, limits.tokens_per_minute)
        )
        slots = asyncio.Semaphore(limits.concurrency)
        spent, purse = spent or UsageCounter(), purse or Budget()
        purse.watch(spent)
        return cls(inner, limits, price, spent, was_sent, purse, slots, requests, tokens)

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises BudgetExhausted when the limit of calls or cost is reached, or cannot be kept."""
        async with self._slots:
            held_usd = 0.0 if self.was_sent(request) else await self._admit(request)
            try:
                completion = await self.inner.complete(request)
                cost = self.price.of(completion) if self.price else None
                self.spent.add_cost(cost)
            finally:
                self.purse.free(held_usd)
        return replace(completion, cost_usd=cost)

    async def _admit(self, request: Request) -> float:
        """Count a request and wait for its turn; returns what is put aside for its answer."""
        self._check_budget()
        held_usd = await self.purse.hold(None if self.price is None else self.price.most(request))
        self.spent.add_call()
        if self._requests:
            await self._requests.acquire()
        if self._tokens:
            await self._tokens.acquire(min(estimated_tokens(request), self._tokens.max_rate))
        return held_usd

    def _check_budget(self) -> None:
        limits, spent = self.limits, self.spent
        if limits.calls is not None and spent.calls >= limits.calls:
            most = counted_calls(limits.calls)
            raise BudgetExhausted(f"the limit of {most} is reached; raise limits.calls and start again")
        if limits.cost_usd is not None and spent.uncounted:
            raise BudgetExhausted(
                "the server counts no tokens, so limits.cost_usd cannot be kept; set limits.calls in its place"
            )
        if limits.cost_usd is not None and spent.cost_usd >= limits.cost_usd:
            raise BudgetExhausted(
                f"the limit of {limits.cost_usd:g} USD is reached; raise limits.cost_usd and start again"
            )
