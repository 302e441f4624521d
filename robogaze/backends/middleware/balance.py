"""Load balancing over several servers of one model.

All requests of a clip go to the same server, so that its prefix cache holds the clip's frames.
"""

import time
from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from robogaze.backends.base import Backend, Completion, Request
from robogaze.errors import Unreachable

_COOLDOWN_S = 30.0
"""How long a server gets no requests after it was unreachable."""


class LoadBalancer:
    """Sends each clip's requests to one server; while this server is unreachable, requests go to the next server in the
    clip's order.
    """

    def __init__(self, servers: Sequence[Backend], identity: Mapping[str, Any]) -> None:
        self._servers = tuple(servers)
        self._identity = identity
        self._unavailable_until = [0.0] * len(self._servers)

    @property
    def identity(self) -> Mapping[str, Any]:
        return self._identity

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises Unreachable when no server can be reached."""
        order = self._order(request.clip)
        available = [index for index in order if self._unavailable_until[index] <= time.monotonic()] or order
        for index in available[:-1]:
            try:
                return await self._servers[index].complete(request)
            except Unreachable:
                self._unavailable_until[index] = time.monotonic() + _COOLDOWN_S
        return await self._servers[available[-1]].complete(request)

    def _order(self, clip: str) -> list[int]:
        """Rendezvous hashing: adding or removing a server moves only the clips of that server."""
        return sorted(range(len(self._servers)), key=lambda index: sha256(f"{index}\0{clip}".encode()).digest())

    async def ready(self) -> str | None:
        """The name of the served model, or None if the servers give different names. Raises Unreachable when no server
        can be reached.
        """
        served, unreachable = [], None
        for index, server in enumerate(self._servers):
            try:
                served.append(await server.ready())
                self._unavailable_until[index] = 0.0
            except Unreachable as error:
                unreachable = error
                self._unavailable_until[index] = time.monotonic() + _COOLDOWN_S
        if not served and unreachable is not None:
            raise unreachable
        names = set(served)
        return names.pop() if len(names) == 1 else None

    async def close(self) -> None:
        for server in self._servers:
            await server.close()
