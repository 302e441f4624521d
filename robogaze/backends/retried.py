"""Asking again, when that may help: rate limits, server faults, stalls and lost connections.

Between tries it waits what the server asked for (Retry-After), else ever longer with jitter. What asking again
cannot change is raised at once.
"""

from dataclasses import dataclass

import stamina

from robogaze.backends.base import Completion, Request, Wrapper
from robogaze.core.data import Data
from robogaze.errors import BackendError, RateLimited


class Patience(Data):
    """How often and how long to try: waits grow from `first_wait_s`, doubling, to `longest_wait_s`."""

    attempts: int = 5
    first_wait_s: float = 0.5
    longest_wait_s: float = 30.0


@dataclass(frozen=True)
class Retried(Wrapper):
    """Tries a request again while its error is retryable and patience lasts."""

    patience: Patience

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises the last BackendError."""
        patience = self.patience
        tries = stamina.retry_context(
            on=_wait,
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


def _wait(error: Exception) -> bool | float:
    """Whether to try again, and if the server named a time, after how many seconds."""
    if isinstance(error, RateLimited) and error.retry_after_s is not None:
        return error.retry_after_s
    return isinstance(error, BackendError) and error.retryable
