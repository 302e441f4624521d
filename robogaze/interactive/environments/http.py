"""An environment behind HTTP: a client of a GBQA hub."""

import json
import re
from dataclasses import replace
from typing import Any, TypeVar
from urllib.parse import urlsplit

from pydantic import BaseModel, ValidationError

from robogaze.backends.chat_request import StreamedBody
from robogaze.backends.http import HttpClient
from robogaze.backends.reply import quoted
from robogaze.core.data import fault_of
from robogaze.errors import BackendError, FailureKind, FaultKind, InputError
from robogaze.interactive.environments import hub_format
from robogaze.interactive.environments.base import (
    MOST_LINES,
    DocumentLine,
    Documents,
    EnvironmentFault,
    Mode,
    Observation,
)

Reply = TypeVar("Reply", bound=BaseModel)

_KINDS: dict[FailureKind, FaultKind] = {
    FailureKind.UNREACHABLE: "unreachable",
    FailureKind.STALLED: "timeout",
    FailureKind.SERVER_FAULT: "invalid_reply",
}
"""What an error of a request is for an environment; any other error is `refused`."""


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
        self._http = HttpClient(address.rstrip("/").removesuffix("/api"), None, timeout_s)
        self._session: str | None = None
        self._last = Observation("", {}, None, False)

    async def reset(self) -> Observation:
        self._session = None
        started = await self.send("POST", hub_format.NEW, hub_format.NewReply, {})
        self._session, self._last = started.session_id, started.observation()
        return self._last

    async def act(self, command: str) -> Observation:
        body = {hub_format.SESSION_ID: self.session_id, "command": command}
        reply = await self.send("POST", hub_format.COMMAND, hub_format.CommandReply, body)
        self._last = reply.observation()
        return self._last

    async def observe(self) -> Observation:
        reply = await self.send("GET", f"{hub_format.STATE}/{self.session_id}", hub_format.StateReply)
        return replace(self._last, message="", state=reply.state, pictures=())

    def documents(self) -> Documents | None:
        return HubDocuments(self) if self._mode == "qa" else None

    async def close(self) -> None:
        await self._http.close()

    @property
    def session_id(self) -> str:
        """The id of the session on the hub. Raises EnvironmentFault before the first `reset`."""
        if self._session is None:
            raise EnvironmentFault(f"{self.name} has no session; reset it first", "refused")
        return self._session

    async def send(self, method: str, path: str, kind: type[Reply], body: dict[str, Any] | None = None) -> Reply:
        """Send a request and read its reply. Raises EnvironmentFault."""
        content = None if body is None else StreamedBody((json.dumps(body).encode(),))
        try:
            reply = await self._http.send(method, path, content)
        except BackendError as error:
            raise EnvironmentFault(str(error), _KINDS.get(error.kind, "refused")) from error
        url = f"{self._http.address}{path.partition('?')[0]}"
        if 400 <= reply.status < 500:
            said = quoted(reply.content.decode(errors="replace"))
            raise EnvironmentFault(f"{url} refused the request (HTTP {reply.status}): {said}", "refused")
        if reply.status != 200:
            raise EnvironmentFault(f"{url} failed with HTTP {reply.status}", "invalid_reply")
        try:
            return kind.model_validate_json(reply.content)
        except ValidationError as error:
            raise EnvironmentFault(f"{url} sent an invalid reply: {fault_of(error)}", "invalid_reply") from error


class HubDocuments:
    """The documents of a hub. A hub without documents refuses each request."""

    def __init__(self, environment: HttpEnvironment) -> None:
        self._hub = environment

    async def files(self) -> tuple[str, ...]:
        reply = await self._hub.send("GET", hub_format.FILES, hub_format.FilesReply)
        return tuple(sorted(file.path for file in reply.files))

    async def read(self, path: str, start_line: int = 1, end_line: int | None = None) -> str:
        first = max(start_line, 1)
        body = {"path": path, "start_line": first, **({} if end_line is None else {"end_line": end_line})}
        return (await self._hub.send("POST", hub_format.READ, hub_format.ReadReply, body)).text(first)

    async def search(self, text: str) -> tuple[DocumentLine, ...]:
        # The hub searches for a regular expression.
        body = {"pattern": f"(?i){re.escape(text)}", "max_results": MOST_LINES}
        reply = await self._hub.send("POST", hub_format.SEARCH, hub_format.SearchReply, body)
        return reply.matches[:MOST_LINES]

    async def debug_log(self) -> str:
        path = f"{hub_format.DEBUG_LOG}?{hub_format.SESSION_ID}={self._hub.session_id}"
        return (await self._hub.send("GET", path, hub_format.LogReply)).logs
