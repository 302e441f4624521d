"""A server with as many annotators as a test asks for."""

import json
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robogaze.datasets import ManifestEntry
from robogaze.datasets.manifest import read_manifest
from robogaze.web.annotation_store import open_store
from web.serving import opened, served

PEOPLE = tuple(f"person {number}" for number in range(200))
_DATASET = Path(__file__).parents[3] / "datasets/demo"
DEMO = {entry.clip_id: entry for entry in read_manifest(_DATASET / "clips.jsonl")}
DEMO_ANNOTATIONS = _DATASET / "annotations.jsonl"


@dataclass
class Site:
    """A running annotator. Each of `people` is new to it: nobody has annotated anything."""

    address: str
    people: Iterator[str]

    def url(self, path: str = "/") -> str:
        return f"{self.address}{path}"

    @property
    def cookie(self) -> str:
        return f"robogaze_{self.address.rpartition(':')[2]}"

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
    """Serve clips until the block ends; `options` are those of the annotator."""
    store = open_store(folder / "annotations.sqlite")
    annotator = opened(entries, store, PEOPLE, **options)
    with served(annotator, {token(person): person for person in PEOPLE}) as address:
        yield Site(address, iter(PEOPLE))
    store.close()
