"""Checks of completions."""

import pytest

from backends.samples import FakeBackend, request
from robogaze.backends.middleware.rate_limit import Price, RateLimiter, RateLimits
from robogaze.backends.middleware.reply_checks import FinishCheck, TypeCheck
from robogaze.errors import RequestRefused, ServerFault


async def test_completion_with_a_field_of_the_wrong_type_is_a_server_fault() -> None:
    with pytest.raises(ServerFault, match="completion is invalid: prompt_tokens"):
        await TypeCheck(FakeBackend(prompt_tokens=1.5)).complete(request())


async def test_refused_answer_is_paid_for() -> None:
    backend = FakeBackend(finish_reason="content_filter", prompt_tokens=10**6, completion_tokens=0)
    limiter = RateLimiter(backend, RateLimits(), Price(prompt_usd=1, completion_usd=1))
    with pytest.raises(RequestRefused, match="content filter"):
        await FinishCheck(limiter).complete(request())
    assert limiter.usage.cost_usd == 1.0
