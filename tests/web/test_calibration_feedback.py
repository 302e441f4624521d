"""Calibration clips: they come first, and feedback follows the submission."""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from making import make_clip

from robogaze.core.coverage import all_examined
from robogaze.core.events import Event
from robogaze.core.report import Report
from robogaze.core.time import Span
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from web.serving import body, event, serving


def key_event(event_id: str, start_s: float, end_s: float, severity: int = 4) -> Event:
    return Event(id=event_id, dimension="physical_plausibility", type="object_floating", spans=(Span(start_s, end_s),),
                 severity=severity, confidence=None, description="It hangs in the air.", evidence=())  # fmt: skip


def key_of(domain: Domain, clip_id: str, *events: Event) -> str:
    seen = all_examined(domain.dimensions, "watched")
    clip = make_clip(id=clip_id, uri=f"{clip_id}.mp4")
    report = Report(clip=clip, domain=domain.ref, pipeline="annotated", author="key", coverage=seen, events=events)
    return report.model_dump_json() + "\n"


@pytest.fixture
def ann(entries: list[ManifestEntry], robot: Domain, tmp_path: Path) -> Iterator[httpx2.Client]:
    """Ann's browser; the clips cup (two events) and pot (clean) have a key."""
    keys = tmp_path / "keys.jsonl"
    events = key_event("k1", 0.5, 1.0), key_event("k2", 3.0, 4.0)
    keys.write_text(key_of(robot, "cup", *events) + key_of(robot, "pot"))
    with serving(entries, tmp_path, calibration=keys) as server, server.client() as client:
        yield client


def annotate(client: httpx2.Client, clip_id: str, *events: dict[str, object]) -> dict[str, object]:
    client.put(f"/api/clips/{clip_id}", json=body(*events, clean=not events))
    feedback: dict[str, object] = client.post(f"/api/clips/{clip_id}/submit", json={"base_revision": 1}).json()[
        "feedback"
    ]
    return feedback


def test_calibration_clips_come_first(ann: httpx2.Client) -> None:
    rows = ann.get("/api/queue").json()["clips"]
    assert [row["calibration"] for row in rows] == [True, True, False]
    assert rows[2]["clip_id"] == "lid"


def test_the_key_is_hidden_before_the_submission(ann: httpx2.Client) -> None:
    assert "hangs in the air" not in ann.get("/api/clips/cup").text


def test_feedback_names_matched_missed_and_extra_events(ann: httpx2.Client) -> None:
    mine = (
        event("e1", spans=[{"start_s": 0.5, "end_s": 1.5}], severity=3),
        event("e2", spans=[{"start_s": 2, "end_s": 2.5}]),
    )
    feedback = annotate(ann, "cup", *mine)
    (matched,) = feedback["matched"]  # type: ignore[misc]
    assert (matched["event"], matched["key"]["id"]) == ("e1", "k1")
    assert (matched["iou"], matched["severity_difference"]) == (0.5, -1)
    assert matched["same_dimension"]
    assert matched["same_type"]
    assert [missed["id"] for missed in feedback["missed"]] == ["k2"]  # type: ignore[attr-defined]
    assert feedback["extra"] == ["e2"]


def test_kappas_are_over_all_calibration_clips_so_far(ann: httpx2.Client) -> None:
    first = annotate(ann, "cup", event())["kappa"]
    assert first == {"clips": 1, "detection": None, "dimension": None}
    assert annotate(ann, "pot")["kappa"] == {"clips": 2, "detection": 1.0, "dimension": None}


def test_other_clips_have_no_feedback(ann: httpx2.Client) -> None:
    assert annotate(ann, "lid") is None
