"""Waits for a server that becomes unreachable, so that an outage does not cost clips.

During an outage all requests to a server wait together while one task polls it. A request is sent at most
`_MAX_OUTAGES` + 1 times, because it may be the request that crashes the server.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from robogaze.backends.base import Backend, Completion, Middleware, Request
from robogaze.errors import BackendError, Unreachable

_POLL_S = 5.0
_MAX_OUTAGES = 3


@dataclass
class _Outage:
    """What all requests share: the polling task, None outside of outages, and whether the last outage outlasted it."""

    polling: asyncio.Task[bool] | None = None
    given_up: bool = False


@dataclass(frozen=True)
class OutageWait(Middleware):
    """Waits up to `longest_s` for an unreachable server and polls it every `poll_s`; `notify` gets messages."""

    longest_s: float
    notify: Callable[[str], None]
    poll_s: float
    _outage: _Outage = field(default_factory=_Outage)

    @classmethod
    def around(cls, inner: Backend, longest_s: float, notify: Callable[[str], None]) -> Backend:
        """Wrap a backend; 0 seconds leave it as it is."""
        return cls(inner, longest_s, notify, _POLL_S) if longest_s > 0 else inner

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises Unreachable when the server does not come back in time."""
        for _ in range(_MAX_OUTAGES):
            try:
                completion = await self.inner.complete(request)
            except Unreachable as error:
                if not await self._wait(error):
                    raise
            else:
                self._outage.given_up = False
                return completion
        return await self.inner.complete(request)

    async def _wait(self, error: Unreachable) -> bool:
        """Wait for the end of the outage. False when the server did not come back."""
        outage = self._outage
        if outage.given_up:
            return False
        if outage.polling is None:
            outage.polling = asyncio.create_task(self._poll(error))
        return await asyncio.shield(outage.polling)

    async def _poll(self, error: Unreachable) -> bool:
        started = time.monotonic()
        self.notify(f"{error}; waiting up to {self.longest_s / 60:.0f} min for it")
        answers = False
        while not answers and time.monotonic() - started < self.longest_s:
            await asyncio.sleep(self.poll_s)
            try:
                await self.inner.ready()
                answers = True
            except BackendError:
                pass  # still unreachable; the message at the start says why
        self._outage.polling, self._outage.given_up = None, not answers
        waited = f"after {time.monotonic() - started:.0f} s"
        self.notify(f"the server answers again {waited}" if answers else f"gave up waiting for the server {waited}")
        return answers
