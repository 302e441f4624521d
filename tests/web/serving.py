"""The annotator behind a real server on loopback."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import stub_server
import uvicorn

from robogaze.datasets import ManifestEntry
from robogaze.web.access import AccessRules
from robogaze.web.annotation_store import AnnotationStore, open_store
from robogaze.web.annotator import Annotator
from robogaze.web.app import make_app
from robogaze.web.opening import AnnotationOptions, open_annotator

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
TOKENS = {"token-of-ann": "ann", "token-of-bob": "bob"}


@dataclass(frozen=True)
class Server:
    """A running server."""

    address: str
    annotator: Annotator
    store: AnnotationStore

    def client(self, token: str | None = "token-of-ann", **headers: str) -> httpx2.Client:
        """A client that shows a token; others use the cookie."""
        given = {} if token is None else {"x-robogaze-token": token}
        return httpx2.Client(base_url=self.address, headers={**given, **headers}, timeout=60)


def opened(
    entries: Sequence[ManifestEntry],
    store: AnnotationStore,
    annotators: Sequence[str] = ("ann", "bob"),
    domain: str = "robot",
    **options: Any,
) -> Annotator:
    """Clips open for annotation at noon."""
    given = AnnotationOptions(annotators, domain, **options)
    return open_annotator(entries, store, given, lambda: NOON).annotator


@contextmanager
def serving(entries: Sequence[ManifestEntry], folder: Path, **options: Any) -> Iterator[Server]:
    """Serve clips from a thread."""
    store = open_store(folder / "annotations.sqlite")
    annotator = opened(entries, store, **options)
    with served(annotator, TOKENS) as address:
        yield Server(address, annotator, store)
    store.close()


@contextmanager
def served(annotator: Annotator, tokens: Mapping[str, str]) -> Iterator[str]:
    """Serve an annotator on a free port; yields the address."""
    config = uvicorn.Config(None, port=0, log_level="critical", lifespan="off")  # type: ignore[arg-type]
    listener = config.bind_socket()
    port = listener.getsockname()[1]
    config.app = make_app(annotator, AccessRules(tokens, frozenset({"127.0.0.1", "localhost"}), port))
    with stub_server.serving(config, [listener]):
        yield f"http://127.0.0.1:{port}"


def event(event_id: str = "e1", **fields: Any) -> dict[str, Any]:
    """An event as the page sends it, complete."""
    complete = {
        "id": event_id,
        "dimension": "physical_plausibility",
        "type": "object_floating",
        "spans": [{"start_s": 0.5, "end_s": 1.0}],
        "severity": 3,
        "description": "The cup hangs in the air.",
    }
    return {**complete, **fields}


def body(*events: dict[str, Any], base: int = 0, clean: bool = False, seconds_spent: float = 0.0) -> dict[str, Any]:
    """The body of a PUT."""
    return {"base_revision": base, "clean": clean, "events": list(events), "seconds_spent": seconds_spent}
