"""Waiting for a server that went away, so that an outage costs time and no clip.

While a server cannot be reached, all its requests wait together and one of them knocks. A request on which a server
goes away time and again is given up: it may be what brings the server down.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from robogaze.backends.base import Backend, Completion, Request, Wrapper
from robogaze.errors import BackendError, Unreachable

_KNOCK_S = 5.0

_ROUNDS = 3
"""How many outages one request may wait through."""


@dataclass
class _Outage:
    """The wait that all requests share: the task that knocks, None while the server answers; `given_up` at its end."""

    knocking: asyncio.Task[bool] | None = None
    given_up: bool = False


@dataclass(frozen=True)
class OutageWait(Wrapper):
    """Waits up to `longest_s` for a server that cannot be reached, and knocks every `knock_s`; `tell` says so."""

    longest_s: float
    tell: Callable[[str], None]
    knock_s: float
    _outage: _Outage = field(default_factory=_Outage)

    @classmethod
    def around(cls, inner: Backend, longest_s: float, tell: Callable[[str], None]) -> Backend:
        """Wrap a backend; with no time to wait it stays as it is."""
        return cls(inner, longest_s, tell, _KNOCK_S) if longest_s > 0 else inner

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises Unreachable when the server stays away."""
        for _ in range(_ROUNDS):
            try:
                completion = await self.inner.complete(request)
            except Unreachable as error:
                if not await self._back(error):
                    raise
            else:
                self._outage.given_up = False
                return completion
        return await self.inner.complete(request)

    async def _back(self, error: Unreachable) -> bool:
        """Wait until the server answers; whether it does."""
        outage = self._outage
        if outage.given_up:
            return False
        if outage.knocking is None:
            outage.knocking = asyncio.create_task(self._knock(error))
        return await asyncio.shield(outage.knocking)

    async def _knock(self, error: Unreachable) -> bool:
        started = time.monotonic()
        self.tell(f"{error}; waiting up to {self.longest_s / 60:.0f} min for it")
        answers = False
        while not answers and time.monotonic() - started < self.longest_s:
            await asyncio.sleep(self.knock_s)
            try:
                await self.inner.ready()
                answers = True
            except BackendError:
                pass  # it is still away; what is wrong was told when the wait began
        self._outage.knocking, self._outage.given_up = None, not answers
        waited = f"after {time.monotonic() - started:.0f} s"
        self.tell(f"the server answers again {waited}" if answers else f"the server is given up {waited}")
        return answers
