"""Waits for a server that becomes unreachable, so that an outage does not cost clips.

During an outage all requests to a server wait together while one task polls it. A request is sent at most
`_MAX_OUTAGES` + 1 times, because it may be the request that crashes the server.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field

from robogaze.backends.base import Backend, Completion, Middleware, Request
from robogaze.errors import BackendError, Unreachable

_log = logging.getLogger("robogaze")

_POLL_S = 5.0
_MAX_OUTAGES = 3


@dataclass
class _Outage:
    """The state that all requests share: the polling task, None outside outages, and whether polling gave up."""

    polling: asyncio.Task[bool] | None = None
    given_up: bool = False


@dataclass(frozen=True)
class OutageWait(Middleware):
    """Waits up to `longest_s` for an unreachable server and polls it every `poll_s`."""

    longest_s: float
    poll_s: float = _POLL_S
    _outage: _Outage = field(default_factory=_Outage)

    @classmethod
    def around(cls, inner: Backend, longest_s: float) -> Backend:
        """Wrap a backend, unless `longest_s` is 0."""
        return cls(inner, longest_s) if longest_s > 0 else inner

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
        _log.warning("%s; waiting up to %.0f min for the server", error, self.longest_s / 60)
        answers = False
        while not answers and time.monotonic() - started < self.longest_s:
            await asyncio.sleep(self.poll_s)
            try:
                await self.inner.ready()
                answers = True
            except BackendError:
                pass  # still unreachable; the message at the start says why
        self._outage.polling, self._outage.given_up = None, not answers
        end = "the server answers again" if answers else "gave up waiting for the server"
        _log.warning("%s after %.0f s", end, time.monotonic() - started)
        return answers
