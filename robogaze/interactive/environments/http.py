"""An environment behind HTTP: a client of a GBQA hub."""

import json
import re
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from robogaze.backends.chat_request import StreamedBody
from robogaze.backends.http import HttpClient, HttpReply
from robogaze.backends.reply import parse_json, quoted
from robogaze.errors import BackendError, FailureKind, FaultKind, InputError
from robogaze.interactive.environments import hub_format
from robogaze.interactive.environments.base import DocumentLine, Documents, EnvironmentFault, Mode, Observation
from robogaze.interactive.environments.hub_format import Reply, ReplyError

Result = TypeVar("Result")

_KINDS: dict[FailureKind, FaultKind] = {
    FailureKind.UNREACHABLE: "unreachable",
    FailureKind.STALLED: "timeout",
    FailureKind.SERVER_FAULT: "invalid_reply",
    FailureKind.REFUSED: "refused",
}


class HttpEnvironment:
    """One session at a time on a hub. No request is repeated, since an action that got no reply may have happened."""

    def __init__(self, address: str, mode: Mode, timeout_s: float) -> None:
        try:
            host = urlsplit(address).netloc
        except ValueError:
            host = ""
        if not host:
            raise InputError(f"{address!r} is not the address of an environment; use http://HOST:PORT")
        self.name = re.sub(r"\W+", "-", host)
        self._mode = mode
        self._client = _HubClient(address, timeout_s)
        self._session: str | None = None
        self._finished = False

    async def reset(self) -> Observation:
        self._session = None
        reply = await self._client.send("POST", hub_format.NEW, {})
        started = self._client.read(
            reply, lambda reply: (hub_format.read_session_id(reply), hub_format.read_observation(reply))
        )
        self._session, observation = started
        return self._seen(observation)

    async def act(self, command: str) -> Observation:
        body = {hub_format.SESSION_ID: self._id(), "command": command}
        reply = await self._client.send("POST", hub_format.COMMAND, body)
        return self._seen(self._client.read(reply, hub_format.read_observation))

    async def observe(self) -> Observation:
        reply = await self._client.send("GET", f"{hub_format.STATE}/{self._id()}")
        return self._client.read(reply, lambda reply: hub_format.read_state(reply, self._finished))

    def documents(self) -> Documents | None:
        return HubDocuments(self._client, self._id) if self._mode == "qa" else None

    async def close(self) -> None:
        await self._client.close()

    def _seen(self, observation: Observation) -> Observation:
        self._finished = observation.finished
        return observation

    def _id(self) -> str:
        if self._session is None:
            raise EnvironmentFault(f"{self.name} has no session; reset it first", "refused")
        return self._session


class HubDocuments:
    """The read-only code tools of a hub. A hub without them refuses each request."""

    def __init__(self, client: "_HubClient", session: Callable[[], str]) -> None:
        self._client = client
        self._session = session

    async def files(self) -> tuple[str, ...]:
        return self._client.read(await self._client.send("GET", hub_format.FILES), hub_format.read_files)

    async def read(self, path: str, start_line: int = 1, end_line: int | None = None) -> str:
        first = max(start_line, 1)
        body = {"path": path, "start_line": first, **({} if end_line is None else {"end_line": end_line})}
        reply = await self._client.send("POST", hub_format.READ, body)
        return self._client.read(reply, lambda reply: hub_format.read_content(reply, first))

    async def search(self, pattern: str, max_results: int = 50) -> tuple[DocumentLine, ...]:
        # The hub searches for a regular expression.
        body = {"pattern": f"(?i){re.escape(pattern)}", "max_results": max_results}
        found = self._client.read(await self._client.send("POST", hub_format.SEARCH, body), hub_format.read_matches)
        return found[:max_results]

    async def debug_log(self) -> str:
        path = f"{hub_format.DEBUG_LOG}?{hub_format.SESSION_ID}={self._session()}"
        return self._client.read(await self._client.send("GET", path), hub_format.read_log)


class _HubClient:
    """Sends requests and reads replies; what goes wrong is an EnvironmentFault."""

    def __init__(self, address: str, timeout_s: float) -> None:
        self._http = HttpClient(address.rstrip("/").removesuffix("/api"), None, timeout_s)

    async def send(self, method: str, path: str, body: dict[str, Any] | None = None) -> Reply:
        content = None if body is None else StreamedBody((json.dumps(body).encode(),))
        try:
            reply = await self._http.send(method, path, content)
        except BackendError as error:
            raise EnvironmentFault(str(error), _KINDS.get(error.kind, "refused")) from error
        return self._parsed(reply, f"{self._http.address}{path.partition('?')[0]}")

    def read(self, reply: Reply, reader: Callable[[Reply], Result]) -> Result:
        try:
            return reader(reply)
        except ReplyError as error:
            raise EnvironmentFault(f"the reply of {self._http.address} is invalid: {error}", "invalid_reply") from error

    async def close(self) -> None:
        await self._http.close()

    def _parsed(self, reply: HttpReply, url: str) -> Reply:
        if 400 <= reply.status < 500:
            said = quoted(reply.content.decode(errors="replace"))
            raise EnvironmentFault(f"{url} refused the request (HTTP {reply.status}): {said}", "refused")
        if reply.status != 200:
            raise EnvironmentFault(f"{url} failed with HTTP {reply.status}", "invalid_reply")
        try:
            parsed = parse_json(reply.content)
        except ValueError as error:
            raise EnvironmentFault(f"{url} sent a reply that is not JSON: {error}", "invalid_reply") from error
        if not isinstance(parsed, dict):
            raise EnvironmentFault(f"{url} sent a reply that is not an object", "invalid_reply")
        return parsed
