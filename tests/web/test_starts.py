"""Annotations to start from."""

from pathlib import Path

import pytest

from robogaze.core.time import Span
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.web.store_summary import submitted_reports
from web.serving import body, event, serving
from web.test_calibration_feedback import key_event, key_of


@pytest.fixture
def earlier(robot: Domain, tmp_path: Path) -> Path:
    path = tmp_path / "earlier.jsonl"
    path.write_text(key_of(robot, "cup", key_event("k1", 0.53, 1.0625)) + key_of(robot, "elsewhere"))
    return path


def test_an_annotation_starts_with_earlier_events(entries: list[ManifestEntry], earlier: Path, tmp_path: Path) -> None:
    with serving(entries, tmp_path, start=earlier) as server, server.client() as client:
        annotation = client.get("/api/clips/cup").json()["annotation"]
        assert (annotation["revision"], annotation["status"]) == (0, "open")
        assert [(found["id"], found["origin"]) for found in annotation["events"]] == [("k1", "person")]
        assert client.get("/api/clips/pot").json()["annotation"]["events"] == []


def test_it_can_be_submitted_as_it_is(entries: list[ManifestEntry], earlier: Path, tmp_path: Path) -> None:
    with serving(entries, tmp_path, start=earlier) as server:
        with server.client() as client:
            assert client.post("/api/clips/cup/submit", json={"base_revision": 0}).status_code == 200
        (report,) = submitted_reports(server.store).values()
    assert report.events[0].spans == (Span(0.53, 1.0625),)


def test_an_edge_off_the_grid_may_stay_but_not_move_off_it(
    entries: list[ManifestEntry], earlier: Path, tmp_path: Path
) -> None:
    with serving(entries, tmp_path, start=earlier) as server, server.client() as client:
        (start,) = client.get("/api/clips/cup").json()["annotation"]["events"]
        moved = {**start, "spans": [{"start_s": 0.53, "end_s": 1.5}]}
        assert client.put("/api/clips/cup", json=body(moved)).status_code == 200
        astray = {**start, "spans": [{"start_s": 0.54, "end_s": 1.5}]}
        assert client.put("/api/clips/cup", json=body(astray, base=1)).status_code == 422


def test_a_saved_draft_takes_precedence(entries: list[ManifestEntry], earlier: Path, tmp_path: Path) -> None:
    with serving(entries, tmp_path) as server, server.client() as client:
        client.put("/api/clips/cup", json=body(event("mine")))
    with serving(entries, tmp_path, start=earlier) as server, server.client() as client:
        annotation = client.get("/api/clips/cup").json()["annotation"]
    assert [found["id"] for found in annotation["events"]] == ["mine"]


def test_other_formats_are_read(entries: list[ManifestEntry], tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    header = "clip_id,event_id,dimension,type,start_s,end_s,severity,description\n"
    table.write_text(f"{header}cup,e7,physical_plausibility,object_floating,0.5,1.0,3,It hangs.\n")
    with serving(entries, tmp_path, start=table) as server, server.client() as client:
        (found,) = client.get("/api/clips/cup").json()["annotation"]["events"]
    assert (found["type"], found["spans"]) == ("object_floating", [{"start_s": 0.5, "end_s": 1.0}])


def test_more_events_than_may_be_saved_are_still_shown(entries: list[ManifestEntry], tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    rows = [f"cup,e{number},physical_plausibility,object_floating,0.5,1.0,3,It hangs." for number in range(501)]
    table.write_text("\n".join(["clip_id,event_id,dimension,type,start_s,end_s,severity,description", *rows]))
    with serving(entries, tmp_path, start=table) as server, server.client() as client:
        assert len(client.get("/api/clips/cup").json()["annotation"]["events"]) == 501


def test_annotations_of_other_clips_are_an_error(entries: list[ManifestEntry], robot: Domain, tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text(key_of(robot, "elsewhere"))
    with pytest.raises(InputError, match="no annotation of any of these clips"), serving(entries, tmp_path, start=path):
        pass


def test_two_authors_are_an_error_unless_one_is_the_annotator(
    entries: list[ManifestEntry], robot: Domain, tmp_path: Path
) -> None:
    path = tmp_path / "two.jsonl"
    by_ann = key_of(robot, "cup", key_event("a1", 0.5, 1.0)).replace('"author":"key"', '"author":"ann"')
    path.write_text(key_of(robot, "cup", key_event("k1", 0.5, 1.0)) + by_ann)
    with (
        pytest.raises(InputError, match="by ann, key; name a file with annotations by only one of them"),
        serving(entries, tmp_path, start=path),
    ):
        pass
    with serving(entries, tmp_path, annotators=("ann",), start=path) as server, server.client() as client:
        (found,) = client.get("/api/clips/cup").json()["annotation"]["events"]
    assert found["id"] == "a1"
