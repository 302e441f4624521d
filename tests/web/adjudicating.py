"""Annotations by ann and bob, and a server on which eve settles them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robogaze.datasets import ManifestEntry
from robogaze.judges import open_judge
from robogaze.web.adjudicator import Adjudicator, open_adjudicator
from robogaze.web.annotation_store import AnnotationStore, Authorship, open_store
from robogaze.web.drafts import ClipDraft
from web.serving import NOON, Server, event, opened, served

FLOATS = event("e1", spans=[{"start_s": 0.5, "end_s": 1.0}], severity=3)
FLOATS_TOO = event("e1", spans=[{"start_s": 0.5, "end_s": 0.9}], severity=4, description="The cup hangs in mid-air.")
BLURRED = event(
    "e2",
    dimension="visual_quality",
    type="blur",
    spans=[{"start_s": 2.0, "end_s": 3.0}],
    severity=1,
    description="The cup is blurred.",
)
BLURRED_A_LOT = {**BLURRED, "severity": 4, "spans": [{"start_s": 2.1, "end_s": 3.0}]}
UNSEEN = event("e3", spans=[{"start_s": 3.2, "end_s": 3.6}], description="The cup sinks into the table.")


def annotate(store: AnnotationStore, entries: Sequence[ManifestEntry], annotations: dict[str, dict[str, Any]]) -> None:
    """Submit the events of annotators, by clip; a clip without events is clean."""
    annotator = opened(entries, store)
    for name, clips in annotations.items():
        for clip_id, events in clips.items():
            draft = ClipDraft.model_validate({"clean": not events, "events": events, "seconds_spent": 30.0})
            newest = store.newest(clip_id, Authorship(name))
            saved = annotator.save(name, clip_id, draft, 0 if newest is None else newest.number)
            annotator.submit(name, clip_id, saved.revision)  # type: ignore[union-attr]


def adjudicator_of(store: AnnotationStore, entries: Sequence[ManifestEntry]) -> Adjudicator:
    return open_adjudicator(entries, store, "robot", open_judge("offline"), lambda: NOON)


@contextmanager
def adjudicating(store_path: Path, entries: Sequence[ManifestEntry], *people: str) -> Iterator[Server]:
    """Serve the disagreements of a store to some people, each with the own name as the token."""
    store = open_store(store_path)
    adjudicator = adjudicator_of(store, entries)
    adjudicator.accept_agreed()
    with served(adjudicator, {person: person for person in people or ("eve",)}) as address:
        yield Server(address, adjudicator, store)
    store.close()
