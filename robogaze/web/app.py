"""The server of the annotator: its routes, the JSON that it reads and writes, and the limits for requests. See
docs/annotate.md for the routes.

No part of a request is used as a path. The server knows the names of all clips and static files from the start, and
looks up requested names among them.
"""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import jinja2
from pydantic import Field, ValidationError
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from robogaze.core.data import Data, dotted
from robogaze.errors import RobogazeError
from robogaze.reporting import pages
from robogaze.reporting.wording import printable
from robogaze.threads import in_thread
from robogaze.web.access import AccessCheck, AccessRules
from robogaze.web.adjudicator import Adjudicator
from robogaze.web.annotator import Annotator, Conflict, Refused, Saved
from robogaze.web.drafts import ClipDraft, Decision, DraftEvent, Seconds

BODY_BYTES = 2 * 2**20
"""The largest body of a request."""

_TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, trim_blocks=True
)
_QUEUE_STYLES = ("base", "list", "severity", "annotate")
_CLIP_STYLES = ("base", "list", "severity", "clip", "player", "timeline", "media", "annotate")
_COMMON_SCRIPTS = ("dom", "format", "server", "shortcuts", "dialogs", "spans")
_CLIP_SCRIPTS = (
    *_COMMON_SCRIPTS, "frames", "loop", "playback", "overlay", "axis", "annotation", "saving", "worktime", "guide",
    "picture", "transport", "tracks", "form", "clip_page",
)  # fmt: skip
_SCRIPTS = {
    "queue": (*_COMMON_SCRIPTS, "rows", "queue"),
    "editor": (*_CLIP_SCRIPTS, "edits", "eventlist", "conflict", "feedback", "editor"),
    "adjudicate": (*_CLIP_SCRIPTS, "adjudicate"),
}
"""The scripts of each page, in the order in which they run."""
_STATIC = (
    *((Path(pages.__file__).parent / "templates" / kind, f"*.{kind}") for kind in ("js", "css")),
    *((Path(__file__).parent / "static", f"*.{kind}") for kind in ("js", "css")),
)
_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}

RevisionNumber = Annotated[int, Field(ge=0, le=2**53)]

Endpoint = Callable[[Request], Awaitable[Response]]


class SaveRequest(Data):
    """The body of PUT /api/clips/ID."""

    base_revision: RevisionNumber
    clean: bool
    events: tuple[DraftEvent, ...] = Field(max_length=500)
    seconds_spent: Seconds = 0.0


class DecisionRequest(Data):
    """The body of PUT /api/clips/ID in an adjudication."""

    base_revision: RevisionNumber
    decisions: tuple[Decision, ...] = Field(max_length=1000)
    seconds_spent: Seconds = 0.0


class SubmitRequest(Data):
    """The body of POST /api/clips/ID/submit."""

    base_revision: RevisionNumber


class _Unusable(Exception):
    """A request that cannot be answered: the status and the JSON that say why."""

    def __init__(self, status: int, **body: Any) -> None:
        super().__init__(status, body)
        self.status = status
        self.body = body


def make_app(annotator: Annotator, rules: AccessRules) -> Starlette:
    """The application that serves the clips of an annotator or an adjudicator to those who have a token."""
    adjudicates = isinstance(annotator, Adjudicator)
    served = _ServedClips(annotator, DecisionRequest if adjudicates else SaveRequest)
    routes = [
        Route("/", _page("queue")),
        Route("/clips/{clip_id:path}", _page("adjudicate" if adjudicates else "editor")),
        Route("/static/{name}", _static()),
        Route("/api/guide", served.guide),
        Route("/api/queue", served.queue),
        Route("/api/clips/{clip_id:path}/submit", served.submit, methods=["POST"]),
        Route("/api/clips/{clip_id:path}/thumbnail", served.thumbnail),
        Route("/api/clips/{clip_id:path}", served.clip),
        Route("/api/clips/{clip_id:path}", served.save, methods=["PUT"]),
        Route("/video/{clip_id:path}", served.video),
    ]
    return Starlette(
        routes=routes,
        middleware=[Middleware(AccessCheck, rules=rules)],
        exception_handlers={_Unusable: _explain, RobogazeError: _explain_error, 404: _not_found},
    )


class _ServedClips:
    """The routes about clips; `kind` is the body of a request that saves."""

    def __init__(self, annotator: Annotator, kind: type[SaveRequest | DecisionRequest]) -> None:
        self._annotator = annotator
        self._kind = kind

    async def guide(self, request: Request) -> Response:
        return JSONResponse(self._annotator.guide(request.state.name))

    async def queue(self, request: Request) -> Response:
        return JSONResponse(await in_thread(self._annotator.queue, request.state.name))

    async def clip(self, request: Request) -> Response:
        clip_id = self._clip_id(request)
        name = request.state.name
        found = await in_thread(self._annotator.clip, name, clip_id)
        prepare = BackgroundTask(in_thread, self._annotator.prepare_next, name, clip_id)
        return JSONResponse({**found, "video": f"/video/{quote(clip_id, safe='')}"}, background=prepare)

    async def save(self, request: Request) -> Response:
        clip_id = self._clip_id(request)
        body = _parsed(self._kind, await _json(request))
        draft = ClipDraft(**{name: value for name, value in body if name != "base_revision"})
        found = await in_thread(self._annotator.save, request.state.name, clip_id, draft, body.base_revision)
        return JSONResponse({"revision": found.revision}) if isinstance(found, Saved) else _not_done(found)

    async def submit(self, request: Request) -> Response:
        clip_id = self._clip_id(request)
        body = _parsed(SubmitRequest, await _json(request))
        found = await in_thread(self._annotator.submit, request.state.name, clip_id, body.base_revision)
        if isinstance(found, Conflict | Refused):
            return _not_done(found)
        return JSONResponse({"revision": found.revision, "next": found.next_clip, "feedback": found.feedback})

    async def video(self, request: Request) -> Response:
        entry = self._annotator.entries[self._clip_id(request)]
        proxy = request.query_params.get("proxy") == "1"
        video = await in_thread(self._annotator.media.video, entry, proxy=proxy)
        return FileResponse(video.path, media_type=video.media_type)

    async def thumbnail(self, request: Request) -> Response:
        entry = self._annotator.entries[self._clip_id(request)]
        jpeg = await in_thread(self._annotator.media.thumbnail, entry)
        return Response(jpeg, media_type="image/jpeg", headers={"cache-control": "private, max-age=3600"})

    def _clip_id(self, request: Request) -> str:
        clip_id = request.path_params["clip_id"]
        if clip_id not in self._annotator.entries:
            raise _Unusable(404, error="this clip does not exist; it may have been left out of the manifest")
        return str(clip_id)


def _not_done(found: Conflict | Refused) -> Response:
    if isinstance(found, Conflict):
        return JSONResponse(
            {"error": "another browser has saved a change in the meantime", "annotation": found.annotation}, 409
        )
    errors = [problem.model_dump() for problem in found.problems]
    return JSONResponse({"error": errors[0]["message"], "errors": errors}, 422)


async def _json(request: Request) -> Any:
    """The JSON of a request. The size of the body is checked as it arrives."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise _Unusable(415, error="the body must be application/json")
    declared = request.headers.get("content-length", "0")
    if not declared.isdecimal() or int(declared) > BODY_BYTES:
        raise _too_large()
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > BODY_BYTES:
            raise _too_large()
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _Unusable(400, error="the body is not JSON") from error


def _too_large() -> _Unusable:
    return _Unusable(413, error=f"the body is larger than {BODY_BYTES // 2**20} MiB")


def _parsed(kind: type[Any], value: Any) -> Any:
    events = value.get("events") if isinstance(value, dict) else None
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        errors = [_of_validation(detail, events) for detail in error.errors(include_url=False)[:20]]
        raise _Unusable(422, error=f"{errors[0]['field']}: {errors[0]['message']}", errors=errors) from error


def _of_validation(detail: Any, events: Any) -> dict[str, Any]:
    """A pydantic error as a problem of an event."""
    place = detail["loc"]
    event = None
    if len(place) > 1 and place[0] == "events" and isinstance(events, list):
        given = events[place[1]]
        event = printable(str(given.get("id"))) if isinstance(given, dict) else None
        place = place[2:] or place
    return {"event": event, "field": dotted(place), "message": detail["msg"].removeprefix("Value error, ")}


def _page(name: str) -> Endpoint:
    template, styles = ("queue.html.j2", _QUEUE_STYLES) if name == "queue" else ("page.html.j2", _CLIP_STYLES)
    text = _TEMPLATES.get_template(template).render(styles=styles, scripts=_SCRIPTS[name])

    async def answer(request: Request) -> Response:
        return Response(text, media_type="text/html")

    return answer


def _static() -> Endpoint:
    files = {path.name: path for folder, pattern in _STATIC for path in sorted(folder.glob(pattern))}

    async def answer(request: Request) -> Response:
        path = files.get(request.path_params["name"])
        if path is None:
            raise _Unusable(404, error="this file does not exist")
        return FileResponse(path, media_type=_MEDIA_TYPES[path.suffix])

    return answer


async def _explain(request: Request, error: Exception) -> Response:
    assert isinstance(error, _Unusable)
    return JSONResponse(error.body, error.status)


async def _explain_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 500)


async def _not_found(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "this page does not exist"}, 404)
