"""A server of the annotator in this process, with as many annotators as a test asks for."""

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn

from robogaze.datasets import ManifestEntry
from robogaze.datasets.manifest import read_manifest
from robogaze.web.access import AccessRules
from robogaze.web.annotation_store import open_store
from robogaze.web.app import make_app
from robogaze.web.opening import AnnotationOptions, open_annotator

PEOPLE = tuple(f"person {number}" for number in range(200))
_DATASET = Path(__file__).parents[2] / "datasets/demo"
DEMO = {entry.clip_id: entry for entry in read_manifest(_DATASET / "clips.jsonl")}
DEMO_ANNOTATIONS = _DATASET / "annotations.jsonl"


@dataclass
class Site:
    """A running annotator. Each of `people` is new to it: nobody has annotated anything."""

    port: int
    people: Iterator[str]

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def annotation(self, person: str, clip: str) -> dict[str, Any]:
        """What is saved of a clip."""
        return dict(self._get(person, f"/api/clips/{clip}")["annotation"])

    def queue(self, person: str) -> list[str]:
        """The clips of a person, in order."""
        return [clip["clip_id"] for clip in self._get(person, "/api/queue")["clips"]]

    def _get(self, person: str, path: str) -> Any:
        request = urllib.request.Request(self.url(path), headers={"X-RoboGaze-Token": token(person)})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


def token(person: str) -> str:
    return person.replace(" ", "-")


@contextmanager
def serve(folder: Path, entries: Sequence[ManifestEntry], **options: Any) -> Iterator[Site]:
    """Serve clips from a free port of this machine until the block ends; `options` are those of the annotator."""
    store = open_store(folder / "annotations.sqlite")
    chosen = AnnotationOptions(PEOPLE, "robot", **options)
    annotator = open_annotator(entries, store, chosen, lambda: datetime.now(UTC)).annotator
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        rules = AccessRules({token(person): person for person in PEOPLE}, frozenset({"127.0.0.1"}), port)
        config = uvicorn.Config(make_app(annotator, rules), log_level="warning", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield Site(port, iter(PEOPLE))
        finally:
            server.should_exit = True
            thread.join()
            store.close()
