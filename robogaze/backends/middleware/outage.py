"""Waits for a server that becomes unreachable, so that no clip fails because of an outage.

During an outage all requests to a server wait together while one task polls it. A request is sent at most
`_MAX_OUTAGES` + 1 times, in case the request itself crashes the server.
"""

import asyncio
import logging
import time
from dataclasses import dataclass

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.errors import BackendError, Unreachable

_log = logging.getLogger("robogaze")

_POLL_S = 5.0
_MAX_OUTAGES = 3


@dataclass
class OutageWait(Middleware):
    """Waits up to `longest_s` for an unreachable server and polls it every `poll_s`."""

    longest_s: float
    poll_s: float = _POLL_S
    _polling: asyncio.Task[bool] | None = None
    _given_up: bool = False

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises Unreachable when the server does not come back in time."""
        for _ in range(_MAX_OUTAGES):
            try:
                completion = await self.inner.complete(request)
            except Unreachable as error:
                if not await self._wait(error):
                    raise
            else:
                self._given_up = False
                return completion
        return await self.inner.complete(request)

    async def _wait(self, error: Unreachable) -> bool:
        """Wait for the end of the outage. False when the server did not come back."""
        if self._given_up:
            return False
        if self._polling is None:
            self._polling = asyncio.create_task(self._poll(error))
        return await asyncio.shield(self._polling)

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
        self._polling, self._given_up = None, not answers
        end = "the server answers again" if answers else "gave up waiting for the server"
        _log.warning("%s after %.0f s", end, time.monotonic() - started)
        return answers
