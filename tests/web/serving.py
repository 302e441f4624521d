"""The HTTP side of the annotator in memory, over a folder of clips: what the page may rely on and nothing more."""

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import cv2
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

import robogaze
from robogaze.domains import Domain

PACKAGE = Path(robogaze.__file__).parent
STATIC = (PACKAGE / "web/static", *(PACKAGE / "reporting/pages/templates" / kind for kind in ("js", "css")))
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'"
)


@dataclass
class Site:
    """A running annotator; `offline` makes every save fail."""

    domain: Domain
    clips: dict[str, dict[str, Any]]
    review: list[dict[str, Any]] | None
    offline: bool = False
    saved: dict[str, dict[str, Any]] = field(default_factory=dict)
    port: int = 0

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def annotation(self, clip: str) -> dict[str, Any]:
        with urllib.request.urlopen(self.url(f"/api/clips/{clip}")) as answer:
            return dict(json.load(answer)["annotation"])


def probe(path: Path) -> dict[str, Any]:
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        times = [float(frame.pts * stream.time_base) for frame in container.decode(stream)]
        fps = float(stream.average_rate)
        width, height = stream.width, stream.height
    return {
        "duration_s": times[-1] + times[-1] - times[-2],
        "fps": fps,
        "width": width,
        "height": height,
        "frame_times_s": times,
        "views": [{"name": "main", "x": 0, "y": 0, "width": width, "height": height}],
    }


OPEN = {"revision": 0, "status": "open", "clean": False, "events": [], "seconds_spent": 0.0}


@contextmanager
def serve(domain: Domain, paths: dict[str, Path], review: list[dict[str, Any]] | None = None) -> Iterator[Site]:
    probed = {path: probe(path) for path in set(paths.values())}
    clips = {name: {"path": path, "instruction": f"Do {name}", **probed[path]} for name, path in paths.items()}
    site = Site(domain, clips, review)

    def saved(name: str) -> dict[str, Any]:
        return site.saved.get(name, OPEN)

    def guide(_: Request) -> Response:
        taxonomy = domain.taxonomy
        return JSONResponse(
            {
                "annotator": "alice",
                "mode": "annotate" if review is None else "review",
                "domain": {"id": domain.id, "version": "1"},
                "dimensions": [
                    {
                        "id": d.id,
                        "name": d.name,
                        "types": [
                            {
                                "id": t.id, "name": t.name, "definition": t.definition, "cues": list(t.cues),
                                "confused_with": [c.model_dump() for c in t.confused_with], "severity": t.severity,
                                "span_covers": t.span.covers, "evidence_limiting": t.evidence_limiting,
                            }
                            for t in d.types
                        ],
                    }
                    for d in taxonomy.dimensions
                ],
                "severities": [{"level": s.level, "name": s.name, "meaning": s.definition} for s in taxonomy.severity],
                "cascade_rule": taxonomy.cascade,
            }
        )  # fmt: skip

    def queue(_: Request) -> Response:
        rows = [
            {
                "clip_id": name, "instruction": clip["instruction"], "duration_s": clip["duration_s"],
                "status": saved(name)["status"], "seconds_spent": saved(name)["seconds_spent"], "calibration": False,
            }
            for name, clip in clips.items()
        ]  # fmt: skip
        done = sum(row["status"] == "submitted" for row in rows)
        progress = {"assigned": len(rows), "submitted": done, "seconds_per_clip": 60.0, "seconds_left": 60.0 * len(rows)}
        return JSONResponse({"annotator": "alice", "clips": rows, "progress": progress})

    def clip(request: Request) -> Response:
        name = request.path_params["name"]
        shown = {key: value for key, value in clips[name].items() if key != "path"}
        under_review = None if review is None else {"author": "a model", "events": review}
        return JSONResponse(
            {"clip_id": name, **shown, "video": f"/video/{name}", "annotation": saved(name), "review": under_review}
        )

    async def put(request: Request) -> Response:
        name, body = request.path_params["name"], await request.json()
        if site.offline:
            return JSONResponse({"error": "away"}, 503)
        if body["base_revision"] != saved(name)["revision"]:
            return JSONResponse({"error": "another window has saved", "annotation": saved(name)}, 409)
        revision = body.pop("base_revision") + 1
        site.saved[name] = {"revision": revision, "status": "draft", **body}
        return JSONResponse({"revision": revision})

    async def submit(request: Request) -> Response:
        name = request.path_params["name"]
        site.saved[name] = {**saved(name), "status": "submitted", "revision": saved(name)["revision"] + 1}
        rest = [other for other in clips if saved(other)["status"] != "submitted"]
        answer = {"revision": saved(name)["revision"], "next": rest[0] if rest else None, "feedback": None}
        return JSONResponse(answer)

    def static(request: Request) -> Response:
        for folder in STATIC:
            if (folder / request.path_params["name"]).is_file():
                return FileResponse(folder / request.path_params["name"])
        return Response(status_code=404)

    def thumbnail(request: Request) -> Response:
        _, image = cv2.VideoCapture(str(clips[request.path_params["name"]]["path"])).read()
        return Response(cv2.imencode(".jpg", image)[1].tobytes(), media_type="image/jpeg")

    def page(name: str) -> Any:
        return lambda _: FileResponse(PACKAGE / "web/templates" / name, headers={"Content-Security-Policy": POLICY})

    app = Starlette(
        routes=[
            Route("/", page("queue.html")),
            Route("/clips/{name}", page("editor.html")),
            Route("/api/guide", guide),
            Route("/api/queue", queue),
            Route("/api/clips/{name}", clip, methods=["GET"]),
            Route("/api/clips/{name}", put, methods=["PUT"]),
            Route("/api/clips/{name}/submit", submit, methods=["POST"]),
            Route("/api/clips/{name}/thumbnail", thumbnail),
            Route("/video/{name}", lambda request: FileResponse(clips[request.path_params["name"]]["path"])),
            Route("/static/{name}", static),
        ]
    )
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        site.port = listener.getsockname()[1]
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield site
        finally:
            server.should_exit = True
            thread.join()
