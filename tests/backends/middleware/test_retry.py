"""Requests are sent again after errors that may pass."""

import subprocess
import sys
import time

import pytest

from backends.samples import FakeBackend, request
from robogaze.backends.middleware.retry import Retry, RetryPolicy
from robogaze.errors import BackendError, RateLimited, RequestRefused, ServerFault, ServerStalled, Unreachable

QUICK = RetryPolicy(attempts=4, first_wait_s=0.001, longest_wait_s=0.002)


@pytest.mark.parametrize("error", [RateLimited("r"), ServerFault("f"), ServerStalled("s"), Unreachable("u")])
async def test_retryable_errors_are_retried(error: BackendError) -> None:
    backend = FakeBackend(error, error)
    assert (await Retry(backend, QUICK).complete(request())).text == "yes"
    assert backend.calls == 3


@pytest.mark.parametrize("error", [RequestRefused("no"), BackendError("of another package")])
async def test_other_errors_are_raised_at_once(error: BackendError) -> None:
    backend = FakeBackend(error)
    with pytest.raises(type(error)):
        await Retry(backend, QUICK).complete(request())
    assert backend.calls == 1


async def test_last_error_is_raised_after_all_attempts() -> None:
    backend = FakeBackend(*[ServerFault("f")] * 9)
    with pytest.raises(ServerFault):
        await Retry(backend, QUICK).complete(request())
    assert backend.calls == 4


async def test_retry_after_is_honoured() -> None:
    started = time.perf_counter()
    backend = FakeBackend(RateLimited("r", retry_after_s=0.3))
    await Retry(backend, RetryPolicy(first_wait_s=0.001)).complete(request())
    assert 0.29 < time.perf_counter() - started < 20


@pytest.mark.parametrize("retry_after_s", [float("inf"), 1e12, 86_400.0])
async def test_retry_after_is_limited_by_longest_wait_s(retry_after_s: float) -> None:
    backend, started = FakeBackend(RateLimited("r", retry_after_s)), time.perf_counter()
    assert (await Retry(backend, QUICK).complete(request())).text == "yes"
    assert time.perf_counter() - started < 20


def test_retries_print_nothing() -> None:
    code = """
import asyncio
from robogaze.backends.middleware.retry import Retry, RetryPolicy
from robogaze.errors import ServerFault
class Faulty:
    async def complete(self, request):
        raise ServerFault("fault")
try:
    asyncio.run(Retry(Faulty(), RetryPolicy(attempts=3, first_wait_s=0.001)).complete(None))
except ServerFault as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (ran.stdout, ran.stderr) == ("fault\n", "")
