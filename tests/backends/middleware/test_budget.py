"""The budget of a run over all its models."""

import asyncio

import pytest

from backends.samples import FakeBackend, request
from robogaze.backends import Completion, Decoding
from robogaze.backends.middleware.budget import Budget
from robogaze.backends.middleware.rate_limit import Price, RateLimiter, RateLimits
from robogaze.errors import BudgetExhausted

PRICE = Price(prompt_usd=0, completion_usd=1_000_000)
"""One USD for every token of an answer."""


def limited(backend: FakeBackend, budget: Budget) -> RateLimiter:
    return RateLimiter(backend, RateLimits(concurrency=50), PRICE, budget=budget)


async def test_cost_is_not_exceeded_by_concurrent_requests() -> None:
    backend = FakeBackend(seconds=0.01, prompt_tokens=0, completion_tokens=2)
    limiter = limited(backend, Budget(cost_usd=10))
    requests = [limiter.complete(request(decoding=Decoding(max_tokens=4))) for _ in range(30)]
    results = await asyncio.gather(*requests, return_exceptions=True)
    assert backend.most_running == 2, "two answers of at most 4 USD fit into 10 USD"
    answered = [result for result in results if isinstance(result, Completion)]
    assert len(answered) == 4, "answers cost 2 USD, and the fifth might cost 4 USD where 2 USD are left"
    assert {type(result) for result in results} == {Completion, BudgetExhausted}


async def test_calls_are_counted_over_all_models() -> None:
    budget = Budget(calls=3)
    eyes, critic = (limited(FakeBackend(prompt_tokens=0, completion_tokens=0), budget) for _ in range(2))
    await eyes.complete(request())
    await critic.complete(request())
    await eyes.complete(request())
    with pytest.raises(BudgetExhausted, match="the limit of 3 calls is reached"):
        await critic.complete(request())


async def test_cost_that_cannot_be_counted_stops_the_run() -> None:
    without_price = RateLimiter(FakeBackend(), RateLimits(), budget=Budget(cost_usd=10))
    with pytest.raises(BudgetExhausted, match="a model has no price"):
        await without_price.complete(request())
    without_counts = limited(FakeBackend(), Budget(cost_usd=10))
    await without_counts.complete(request(decoding=Decoding(max_tokens=1)))
    with pytest.raises(BudgetExhausted, match="does not count tokens"):
        await without_counts.complete(request(decoding=Decoding(max_tokens=1)))
