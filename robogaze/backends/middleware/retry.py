"""Asking again, when that may help: rate limits, server faults, stalls and lost connections.

Between tries it waits what the server asked for (Retry-After), else ever longer with jitter, and never longer than it
has patience for. What asking again cannot change is raised at once.
"""

import logging
from dataclasses import dataclass
from typing import Self

import stamina
from pydantic import Field, model_validator

from robogaze.backends.base import Completion, Request, Wrapper
from robogaze.core.data import Data
from robogaze.errors import BackendError, RateLimited

# Who wants a line for every retry takes it from this logger; without a handler Python would print a bare one on stderr.
logging.getLogger("stamina").addHandler(logging.NullHandler())


class RetryPolicy(Data):
    """How often and how long to try.

    A request is sent at most `attempts` times, 1 for never again; waits grow from `first_wait_s`, doubling, to
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


@dataclass(frozen=True)
class Retried(Wrapper):
    """Tries a request again while its error is retryable and patience lasts."""

    patience: RetryPolicy

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises the last BackendError."""
        patience = self.patience

        def wait(error: Exception) -> bool | float:
            """Whether to try again, and if the server named a time, after how many seconds."""
            if isinstance(error, RateLimited) and error.retry_after_s is not None:
                return min(error.retry_after_s, patience.longest_wait_s)
            return isinstance(error, BackendError) and error.retryable

        tries = stamina.retry_context(
            on=wait,
            attempts=patience.attempts,
            timeout=None,
            wait_initial=patience.first_wait_s,
            wait_max=patience.longest_wait_s,
            wait_jitter=patience.first_wait_s,
        )
        async for attempt in tries:
            with attempt:
                return await self.inner.complete(request)
        raise AssertionError("stamina yields at least one attempt and raises after the last")
