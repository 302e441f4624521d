"""Serves an environment with the paths of a GBQA hub. Documents can be read, not written."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from robogaze.backends.reply import parse_json
from robogaze.errors import MissingExtra
from robogaze.interactive.environments import hub_format
from robogaze.interactive.environments.base import Documents, Environment, EnvironmentFault

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MOST_SESSIONS = 256
"""The oldest session ends when another one starts."""

_LONGEST_PATTERN = 200
_STATUS = {"timeout": 504, "unreachable": 502, "refused": 400, "invalid_reply": 502}


class _BadRequest(ValueError):
    """A request that cannot be answered; the message is sent."""


@dataclass
class _Session:
    environment: Environment
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def serve_environment(open_session: Callable[[], Environment], title: str, version: str) -> "Starlette":
    """The ASGI application of a hub; each session is an environment of its own, opened in mode `qa`.

    Raises MissingExtra without Starlette.
    """
    try:
        from starlette.applications import Starlette
        from starlette.responses import JSONResponse
        from starlette.routing import Route
    except ImportError as error:
        raise MissingExtra("starlette", "environments") from error

    hub = _Hub(open_session, title, version)

    def answering(
        answer: Callable[["Request"], Awaitable[dict[str, Any]]],
    ) -> Callable[["Request"], Awaitable["Response"]]:
        async def respond(request: "Request") -> "Response":
            try:
                return JSONResponse(await answer(request))
            except (_BadRequest, EnvironmentFault) as error:
                status = _STATUS[error.kind] if isinstance(error, EnvironmentFault) else 400
                return JSONResponse({"success": False, "message": str(error)}, status)

        return respond

    return Starlette(
        routes=[
            Route(hub_format.HEALTH, answering(hub.health)),
            Route(hub_format.NEW, answering(hub.new), methods=["POST"]),
            Route(hub_format.COMMAND, answering(hub.command), methods=["POST"]),
            Route(f"{hub_format.STATE}/{{session}}", answering(hub.state)),
            Route(hub_format.FILES, answering(hub.files)),
            Route(hub_format.READ, answering(hub.read), methods=["POST"]),
            Route(hub_format.SEARCH, answering(hub.search), methods=["POST"]),
            Route(hub_format.DEBUG_LOG, answering(hub.debug_log)),
        ]
    )


class _Hub:
    """The sessions, and an answer for each path."""

    def __init__(self, open_session: Callable[[], Environment], title: str, version: str) -> None:
        self._open_session = open_session
        self._health = {"status": "healthy", hub_format.TITLE: title, "version": version}
        self._sessions: dict[str, _Session] = {}
        self._for_documents = open_session()

    async def health(self, _request: "Request") -> dict[str, Any]:
        return dict(self._health)

    async def new(self, _request: "Request") -> dict[str, Any]:
        session = _Session(self._open_session())
        observation = await session.environment.reset()
        session_id = secrets.token_hex(8)
        self._sessions[session_id] = session
        while len(self._sessions) > MOST_SESSIONS:
            await self._sessions.pop(next(iter(self._sessions))).environment.close()
        return {hub_format.SESSION_ID: session_id, **hub_format.write_observation(observation)}

    async def command(self, request: "Request") -> dict[str, Any]:
        body = await _body(request)
        session, command = self._session(body.get(hub_format.SESSION_ID)), _text(body, "command")
        async with session.lock:
            return hub_format.write_observation(await session.environment.act(command))

    async def state(self, request: "Request") -> dict[str, Any]:
        session_id = request.path_params["session"]
        session = self._session(session_id)
        async with session.lock:
            return {
                hub_format.SESSION_ID: session_id,
                **hub_format.write_observation(await session.environment.observe()),
            }

    async def files(self, _request: "Request") -> dict[str, Any]:
        documents = self._documents(self._for_documents)
        sizes = [(path, len((await documents.read(path)).encode())) for path in await documents.files()]
        return {"success": True, "files": [{"path": path, "size": size} for path, size in sizes]}

    async def read(self, request: "Request") -> dict[str, Any]:
        body, documents = await _body(request), self._documents(self._for_documents)
        path = _text(body, "path")
        lines = (await documents.read(path)).splitlines(keepends=True)
        first, last = _number(body, "start_line", 1), _number(body, "end_line", len(lines))
        content = hub_format.number_lines(lines[first - 1 : last], first)
        return {"success": True, "path": path, "content": content, "start_line": first, "total_lines": len(lines)}

    async def search(self, request: "Request") -> dict[str, Any]:
        body, documents = await _body(request), self._documents(self._for_documents)
        most, written = _number(body, "max_results", 30), _text(body, "pattern")
        try:
            pattern = re.compile(written[:_LONGEST_PATTERN])
        except re.error as error:
            raise _BadRequest(f"the pattern is not a regular expression: {error}") from error
        matches = [
            {"path": path, "line": number, "text": line}
            for path in await documents.files()
            for number, line in enumerate((await documents.read(path)).splitlines(), 1)
            if pattern.search(line)
        ][:most]
        return {"success": True, "pattern": written, "matches": matches, "total": len(matches)}

    async def debug_log(self, request: "Request") -> dict[str, Any]:
        session = self._session(request.query_params.get(hub_format.SESSION_ID))
        return {"success": True, "logs": await self._documents(session.environment).debug_log()}

    def _session(self, session_id: object) -> _Session:
        if not isinstance(session_id, str) or session_id not in self._sessions:
            raise _BadRequest(f"no session has this {hub_format.SESSION_ID}; start one at {hub_format.NEW}")
        return self._sessions[session_id]

    def _documents(self, environment: Environment) -> Documents:
        documents = environment.documents()
        if documents is None:
            raise _BadRequest("this environment has no documents")
        return documents


async def _body(request: "Request") -> dict[str, Any]:
    try:
        body = parse_json(await request.body())
    except ValueError as error:
        raise _BadRequest(f"the request is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise _BadRequest("the request is not an object")
    return body


def _text(body: dict[str, Any], key: str) -> str:
    text = body.get(key)
    if not isinstance(text, str):
        raise _BadRequest(f"{key} is not a text")
    return text


def _number(body: dict[str, Any], key: str, default: int) -> int:
    number = body.get(key, default)
    if not isinstance(number, int) or number < 1:
        raise _BadRequest(f"{key} is not a positive number")
    return number
