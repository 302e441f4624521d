"""The limits and the price of one model."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from backends.samples import FakeBackend, batch_backend, request
from robogaze.backends import AnswerStore, Completion
from robogaze.backends.middleware.rate_limit import Price, RateLimiter, RateLimits
from robogaze.errors import AnswersPending, BudgetExhausted, ServerFault


async def test_concurrency_limits_the_requests_in_progress() -> None:
    backend = FakeBackend(seconds=0.02)
    limiter = RateLimiter(backend, RateLimits(concurrency=3))
    await asyncio.gather(*(limiter.complete(request()) for _ in range(10)))
    assert backend.most_running == 3


async def test_requests_per_minute_are_paced() -> None:
    limiter = RateLimiter(FakeBackend(), RateLimits(requests_per_minute=600))
    limiter._requests.max_rate = 1  # type: ignore[union-attr]
    limiter._requests._rate_per_sec = 10  # type: ignore[union-attr]
    started = time.perf_counter()
    for _ in range(4):
        await limiter.complete(request())
    assert time.perf_counter() - started > 0.25


async def test_limit_of_calls_stops_the_run() -> None:
    limiter = RateLimiter(FakeBackend(), RateLimits(calls=2))
    await limiter.complete(request())
    await limiter.complete(request())
    with pytest.raises(BudgetExhausted, match=r"limit of 2 calls is reached; raise limits\.calls"):
        await limiter.complete(request())


async def test_limit_of_cost_stops_the_run() -> None:
    backend = FakeBackend(prompt_tokens=1_000_000, completion_tokens=0)
    limiter = RateLimiter(backend, RateLimits(cost_usd=1.5), Price(prompt_usd=1, completion_usd=2))
    assert (await limiter.complete(request())).cost_usd == 1.0
    await limiter.complete(request())
    with pytest.raises(BudgetExhausted, match=r"1\.5 USD is reached; raise limits\.cost_usd"):
        await limiter.complete(request())


async def test_limit_of_cost_without_token_counts_stops_the_run_after_the_first_answer() -> None:
    backend = FakeBackend(prompt_tokens=None, completion_tokens=7)
    limiter = RateLimiter(backend, RateLimits(cost_usd=1.5), Price(prompt_usd=1, completion_usd=2))
    assert (await limiter.complete(request())).cost_usd is None
    with pytest.raises(BudgetExhausted, match=r"does not count tokens.*limits\.calls"):
        await limiter.complete(request())
    assert backend.calls == 1


async def test_limits_count_across_starts(tmp_path: Path) -> None:
    backend = FakeBackend(ServerFault("f"), prompt_tokens=1_000_000, completion_tokens=0)
    price, errors = Price(prompt_usd=1, completion_usd=2), []
    for _ in range(3):
        store = AnswerStore(tmp_path / "a.sqlite")
        limiter = RateLimiter(backend, RateLimits(calls=3, cost_usd=1.5), price, store.usage("eyes"))
        try:
            await limiter.complete(request())
        except (ServerFault, BudgetExhausted) as error:
            errors.append(str(error))
        other = store.usage("critic")
        assert (other.calls, other.cost_usd) == (0, 0)
        store.close()
    store = AnswerStore(tmp_path / "a.sqlite")
    usage = store.usage("eyes")
    assert (errors, usage.calls, usage.cost_usd) == (["f"], 3, 2.0), "a call without an answer counts"
    with pytest.raises(BudgetExhausted, match="limit of 3 calls"):
        await RateLimiter(backend, RateLimits(calls=3), price, usage).complete(request())
    store.close()


async def test_fetching_the_answer_of_a_batch_request_is_not_another_call(tmp_path: Path) -> None:
    def start() -> RateLimiter:
        backend = batch_backend(tmp_path)
        return RateLimiter(backend, RateLimits(calls=1), usage=store.usage("m"), was_sent=backend.was_sent)

    store = AnswerStore(tmp_path / "a.sqlite")
    for _ in range(2):
        with pytest.raises(AnswersPending):
            await start().complete(request("a"))
    with pytest.raises(BudgetExhausted):
        await start().complete(request("b"))
    line = {"custom_id": request("a").key(batch_backend(tmp_path).identity)}
    body = {"choices": [{"message": {"content": "yes"}}]}
    (tmp_path / "answers.jsonl").write_text(json.dumps({**line, "response": {"status_code": 200, "body": body}}) + "\n")
    assert (await start().complete(request("a"))).text == "yes"
    store.close()


@pytest.mark.parametrize(
    ("counts", "cost"),
    [
        ({"prompt_tokens": 1000, "completion_tokens": 100}, 1000 * 2e-6 + 100 * 8e-6),
        ({"prompt_tokens": 1000, "cached_tokens": 600, "completion_tokens": 0}, 400 * 2e-6 + 600 * 1e-6),
        ({"prompt_tokens": None, "completion_tokens": 100}, None),
    ],
)
def test_price_of_an_answer_is_none_without_token_counts(counts: Any, cost: float | None) -> None:
    price = Price(prompt_usd=2, completion_usd=8, cached_usd=1)
    assert price.of(Completion("", model="m", **counts)) == (None if cost is None else pytest.approx(cost))
