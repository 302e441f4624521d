"""Several servers of one model: each clip has its own, so that a prefix cache sees all questions of a clip."""

import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from robogaze.backends.base import Backend, Completion, Request
from robogaze.errors import Unreachable

_REST_S = 30.0
"""How long a server that could not be reached is left alone."""


class LoadBalancer:
    """Asks the server that a clip belongs to; while it cannot be reached, the next one in the clip's own order."""

    def __init__(self, servers: Sequence[Backend], identity: Mapping[str, Any]) -> None:
        self._servers = tuple(servers)
        self._identity = identity
        self._away_until = [0.0] * len(self._servers)

    @property
    def identity(self) -> Mapping[str, Any]:
        """That of the model, with all its addresses."""
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises Unreachable when no server can be reached."""
        order = self._order(request.clip)
        here = [number for number in order if self._away_until[number] <= time.monotonic()] or order
        for number in here[:-1]:
            try:
                return await self._servers[number].complete(request)
            except Unreachable:
                self._away_until[number] = time.monotonic() + _REST_S
        return await self._servers[here[-1]].complete(request)

    def _order(self, clip: str) -> list[int]:
        """The servers by their nearness to a clip; a server more or less moves only the clips that are nearest it."""
        return sorted(range(len(self._servers)), key=lambda number: sha256(f"{number}\0{clip}".encode()).digest())

    async def ready(self) -> str | None:
        """What the servers say they serve; None where they differ. Raises Unreachable when none can be reached."""
        served, last = [], None
        for number, server in enumerate(self._servers):
            try:
                served.append(await server.ready())
                self._away_until[number] = 0.0
            except Unreachable as error:
                last, self._away_until[number] = error, time.monotonic() + _REST_S
        if not served and last is not None:
            raise last
        names = set(served)
        return names.pop() if len(names) == 1 else None

    async def close(self) -> None:
        """Close the connections to all servers."""
        for server in self._servers:
            await server.close()
