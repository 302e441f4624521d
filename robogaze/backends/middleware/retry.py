"""Retries requests after errors that may be temporary: rate limits, server faults, stalls and lost connections.

The wait before a retry is the server's Retry-After if there is one; otherwise it grows exponentially with jitter. The
wait is at most `longest_wait_s`. All other errors are raised at once.
"""

import logging
from dataclasses import dataclass
from typing import Self

import stamina
from pydantic import Field, model_validator

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.core.data import Data
from robogaze.errors import BackendError, RateLimited

# stamina logs every retry; without a handler Python prints these lines to stderr.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class RetryPolicy(Data):
    """How often a request is retried.

    A request is sent at most `attempts` times; 1 means no retry. The wait doubles from `first_wait_s` up to
    `longest_wait_s`.
    """

    attempts: int = Field(default=5, ge=1)
    first_wait_s: float = Field(default=0.5, ge=0)
    longest_wait_s: float = Field(default=30.0, ge=0)

    @model_validator(mode="after")
    def _waits_grow(self) -> Self:
        if self.longest_wait_s < self.first_wait_s:
            raise ValueError("longest_wait_s is shorter than first_wait_s")
        return self


@dataclass
class Retry(Middleware):
    """Sends a request again after a retryable error."""

    policy: RetryPolicy

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises the last BackendError."""
        policy = self.policy

        def retry_or_wait_s(error: Exception) -> bool | float:
            """Whether to retry, or the seconds to wait if the server sent Retry-After."""
            if isinstance(error, RateLimited) and error.retry_after_s is not None:
                return min(error.retry_after_s, policy.longest_wait_s)
            return isinstance(error, BackendError) and error.retryable

        attempts = stamina.retry_context(
            on=retry_or_wait_s,
            attempts=policy.attempts,
            timeout=None,
            wait_initial=policy.first_wait_s,
            wait_max=policy.longest_wait_s,
            wait_jitter=policy.first_wait_s,
        )
        async for attempt in attempts:
            with attempt:
                return await self.inner.complete(request)
        raise AssertionError("unreachable: stamina makes at least one attempt, and raises the last error")
