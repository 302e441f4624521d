"""Serves an environment with the paths of a GBQA hub. Documents can be read but not written."""

import asyncio
import re
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from robogaze.core.data import fault_of
from robogaze.errors import MissingExtra
from robogaze.interactive.environments import hub_format
from robogaze.interactive.environments.base import Documents, Environment, EnvironmentFault

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

MOST_SESSIONS = 256
"""The maximum number of sessions; when one more starts, the oldest one ends."""

_STATUS = {"timeout": 504, "unreachable": 502, "refused": 400, "invalid_reply": 502}


@dataclass
class _Session:
    environment: Environment
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


def serve_environment(open_session: Callable[[], Environment], title: str, version: str) -> "Starlette":
    """The ASGI application of a hub; each session has its own environment, opened in mode `qa`.

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
            except ValidationError as error:
                return JSONResponse({"success": False, "message": fault_of(error)}, 400)
            except EnvironmentFault as fault:
                return JSONResponse({"success": False, "message": str(fault)}, _STATUS[fault.kind])

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
        body = hub_format.CommandRequest.model_validate_json(await request.body())
        session = self._session(body.session_id)
        async with session.lock:
            return hub_format.write_observation(await session.environment.act(body.command))

    async def state(self, request: "Request") -> dict[str, Any]:
        session_id = request.path_params["session"]
        session = self._session(session_id)
        async with session.lock:
            seen = await session.environment.observe()
        return {hub_format.SESSION_ID: session_id, **hub_format.write_observation(seen)}

    async def files(self, _request: "Request") -> dict[str, Any]:
        documents = self._documents(self._for_documents)
        sizes = [(path, len((await documents.read(path)).encode())) for path in await documents.files()]
        return {"success": True, "files": [{"path": path, "size": size} for path, size in sizes]}

    async def read(self, request: "Request") -> dict[str, Any]:
        body = hub_format.ReadRequest.model_validate_json(await request.body())
        lines = (await self._documents(self._for_documents).read(body.path)).splitlines(keepends=True)
        first = body.start_line
        content = hub_format.number_lines(lines[first - 1 : body.end_line], first)
        return {"success": True, "path": body.path, "content": content, "start_line": first, "total_lines": len(lines)}

    async def search(self, request: "Request") -> dict[str, Any]:
        body = hub_format.SearchRequest.model_validate_json(await request.body())
        documents = self._documents(self._for_documents)
        try:
            pattern = re.compile(body.pattern)
        except re.error as error:
            raise EnvironmentFault(f"the pattern is not a regular expression: {error}", "refused") from error
        matches = [
            {"path": path, "line": number, "text": line}
            for path in await documents.files()
            for number, line in enumerate((await documents.read(path)).splitlines(), 1)
            if pattern.search(line)
        ][: body.max_results]
        return {"success": True, "pattern": body.pattern, "matches": matches, "total": len(matches)}

    async def debug_log(self, request: "Request") -> dict[str, Any]:
        session = self._session(request.query_params.get(hub_format.SESSION_ID))
        return {"success": True, "logs": await self._documents(session.environment).debug_log()}

    def _session(self, session_id: str | None) -> _Session:
        session = self._sessions.get(session_id or "")
        if session is None:
            raise EnvironmentFault(
                f"there is no session with this {hub_format.SESSION_ID}; start a session at {hub_format.NEW}", "refused"
            )
        return session

    def _documents(self, environment: Environment) -> Documents:
        documents = environment.documents()
        if documents is None:
            raise EnvironmentFault("this environment has no documents", "refused")
        return documents
