"""Servers for the tests: any ASGI application in a thread, the public hub with its peculiarities, and a faulty one."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import stub_server
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from robogaze.interactive.environments import load_folder
from robogaze.interactive.environments.rooms import load


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve an ASGI application from a thread; yields its address."""
    config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off")
    with stub_server.serving(config) as port:
        yield f"http://127.0.0.1:{port}"


class _Engine:
    """A session as the public hub keeps it: its own id changes with `restart`, the id in the map does not."""

    def __init__(self) -> None:
        folder = load_folder("castle")
        self._start = load(folder.build(frozenset(folder.bug_ids)))
        self.id = ""
        self.world = self._start()

    def begin(self) -> dict[str, Any]:
        self.id = str(uuid4())
        self.world = self._start()
        seen = self.world.observe()
        return {
            "game_id": self.id,
            "success": True,
            "message": seen.message,
            "state": dict(seen.state),
            "game_over": False,
        }

    def command(self, text: str) -> dict[str, Any]:
        if self.world.observe().finished:
            state = dict(self.world.observe().state)
            return {"success": False, "message": "It is over already.", "state": state, "game_over": True}
        if text.strip().lower() in ("restart", "reset", "new game"):
            return self.begin()
        seen = self.world.act(text)
        return {
            "success": "not a command" not in seen.message,
            "message": seen.message,
            "state": dict(seen.state),
            "game_over": seen.finished,
            "turn": seen.turn,
        }


class PublicHub:
    """The paths, replies and refusals of the public hub, with the castle as its world."""

    hidden = {"items": {"small_key": "drawer"}}

    def __init__(self) -> None:
        self.sessions: dict[str, _Engine] = {}
        self.lines = ["def handle_combine(self):", "    return len(self.fragments) >= 2", "", "x = 1"]
        self.app = Starlette(
            routes=[
                Route("/api/agent/new", self._new, methods=["POST"]),
                Route("/api/agent/command", self._command, methods=["POST"]),
                Route("/api/agent/state/{id}", self._state),
                Route("/api/agent/code/files", self._files),
                Route("/api/agent/code/read", self._read, methods=["POST"]),
                Route("/api/agent/code/search", self._search, methods=["POST"]),
                Route("/api/agent/code/debug_logs", self._debug_logs),
            ]
        )

    async def _new(self, _request: Request) -> Response:
        engine = _Engine()
        begun = engine.begin()
        self.sessions[engine.id] = engine
        del begun["game_over"]
        return JSONResponse(begun | {"full_state": self.hidden})

    async def _command(self, request: Request) -> Response:
        body = await request.json()
        if body.get("game_id") not in self.sessions:
            return JSONResponse({"success": False, "message": "Invalid game_id."}, 400)
        return JSONResponse(self.sessions[body["game_id"]].command(body["command"]) | {"full_state": self.hidden})

    async def _state(self, request: Request) -> Response:
        if request.path_params["id"] not in self.sessions:
            return JSONResponse({"success": False, "message": "Invalid game_id."}, 400)
        engine = self.sessions[request.path_params["id"]]
        state = dict(engine.world.observe().state)
        return JSONResponse({"initialized": True, "game_id": engine.id, "state": state, "full_state": self.hidden})

    async def _files(self, _request: Request) -> Response:
        return JSONResponse({"success": True, "files": [{"path": "game/actions.py", "size": 99}]})

    async def _read(self, request: Request) -> Response:
        body = await request.json()
        if body["path"] != "game/actions.py":
            return JSONResponse({"success": False, "message": "File not found or not allowed"}, 404)
        first = body.get("start_line", 1)
        last = body.get("end_line", 0) or len(self.lines)
        chosen = self.lines[first - 1 : last]
        content = "".join(f"{number:>4}  {line}\n" for number, line in enumerate(chosen, first))
        return JSONResponse({"success": True, "path": body["path"], "content": content, "total_lines": len(self.lines)})

    async def _search(self, request: Request) -> Response:
        body = await request.json()
        matches = [
            {"path": "game/actions.py", "line": number, "text": line}
            for number, line in enumerate(self.lines, 1)
            if re.search(body["pattern"], line)
        ]
        return JSONResponse({"success": True, "matches": matches[: body.get("max_results", 30)], "total": len(matches)})

    async def _debug_logs(self, request: Request) -> Response:
        if not request.query_params.get("game_id"):
            return JSONResponse({"success": False, "message": "Please provide game_id."}, 400)
        return JSONResponse({"success": True, "logs": "[14:23:01.456] DEBUG: target=matches\n"})
