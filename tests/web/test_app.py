"""The routes: what the page asks, and what it gets."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest

from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.media.decode import read_frames
from web.serving import Server, body, event, serving


def put(client: httpx2.Client, clip_id: str = "cup", **content: Any) -> httpx2.Response:
    return client.put(f"/api/clips/{clip_id}", json={**body(), **content})


def submit(client: httpx2.Client, base: int, clip_id: str = "cup") -> httpx2.Response:
    return client.post(f"/api/clips/{clip_id}/submit", json={"base_revision": base})


# Reading.


def test_the_guide_has_the_taxonomy_with_contrasts_spans_and_severities(ann: httpx2.Client, robot: Domain) -> None:
    guide = ann.get("/api/guide").json()
    assert (guide["annotator"], guide["mode"], guide["domain"]) == (
        "ann",
        "annotate",
        {"id": "robot", "version": "1.0.0"},
    )
    assert [dimension["id"] for dimension in guide["dimensions"]] == list(robot.dimensions)
    kinds = {kind["id"]: kind for dimension in guide["dimensions"] for kind in dimension["types"]}
    floating = robot.types["object_floating"]
    assert kinds["object_floating"] == floating.model_dump(mode="json")
    assert [level["level"] for level in guide["severity"]] == [1, 2, 3, 4, 5]
    assert guide["cascade"] == robot.taxonomy.cascade


def test_a_new_queue_is_open(ann: httpx2.Client) -> None:
    queue = ann.get("/api/queue").json()
    assert {clip["clip_id"] for clip in queue["clips"]} == {"cup", "pot", "lid"}
    cup = next(clip for clip in queue["clips"] if clip["clip_id"] == "cup")
    assert cup == {
        "clip_id": "cup",
        "instruction": "Lift the cup",
        "duration_s": 4.0,
        "status": "open",
        "seconds_spent": 0.0,
        "calibration": False,
    }
    assert queue["progress"] == {"assigned": 3, "submitted": 0, "seconds_per_clip": None, "seconds_left": None}


def test_a_clip_has_the_true_time_of_every_frame(ann: httpx2.Client, video: Path) -> None:
    clip = ann.get("/api/clips/cup").json()
    assert clip["frame_times_s"] == [frame.time_s for frame in read_frames(video)]
    assert (clip["duration_s"], clip["fps"], clip["width"], clip["height"]) == (4.0, 16.0, 160, 112)
    assert clip["views"] == [{"name": "main", "x": 0, "y": 0, "width": 160, "height": 112}]
    empty = {"revision": 0, "status": "open", "clean": False, "events": [], "seconds_spent": 0.0, "decisions": []}
    assert (clip["annotation"], clip["review"]) == (empty, None)


def test_the_next_clip_is_prepared_meanwhile(ann: httpx2.Client, server: Server) -> None:
    first, second, third = (clip["clip_id"] for clip in ann.get("/api/queue").json()["clips"])
    ann.get(f"/api/clips/{first}")
    deadline = time.monotonic() + 20
    while server.store.clip(second) is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert server.store.clip(third) is None


def test_a_damaged_next_clip_does_not_affect_the_current_one(tmp_path: Path, video: Path) -> None:
    bad = tmp_path / "bad.mp4"
    bad.write_bytes(video.read_bytes())
    clips = [ManifestEntry(path=path, clip_id=path.stem) for path in (video, bad)]
    with serving(clips, tmp_path) as server, server.client() as client:
        bad.write_bytes(b"no video")
        assert [client.get("/api/clips/bar").status_code for _ in range(3)] == [200] * 3


def test_views_of_a_grid_are_in_pixels(video: Path, tmp_path: Path) -> None:
    grid = ManifestEntry.model_validate({"path": video, "clip_id": "grid", "layout": "2x2:left,right,-,top"})
    with serving([grid], tmp_path) as server, server.client() as client:
        views = client.get("/api/clips/grid").json()["views"]
    assert [(view["name"], view["x"], view["y"]) for view in views] == [
        ("left", 0, 0),
        ("right", 80, 0),
        ("top", 80, 56),
    ]
    assert {(view["width"], view["height"]) for view in views} == {(80, 56)}


def test_checkpoint_and_embodiment_of_a_clip_are_not_shown(video: Path, tmp_path: Path) -> None:
    known = ManifestEntry(path=video, clip_id="cup", checkpoint="step-9000", split="train", embodiment="two-armed")
    with serving([known], tmp_path) as server, server.client() as client:
        shown = client.get("/api/clips/cup").text + client.get("/api/queue").text + client.get("/api/guide").text
    assert not [word for word in ("step-9000", "two-armed", str(video.parent)) if word in shown]


def test_the_video_is_sent_whole_and_in_parts(ann: httpx2.Client, video: Path) -> None:
    address = ann.get("/api/clips/cup").json()["video"]
    whole = ann.get(address)
    assert (whole.content == video.read_bytes(), whole.headers["content-type"]) == (True, "video/mp4")
    part = ann.get(address, headers={"range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, video.read_bytes()[10:20])


def test_a_thumbnail_is_a_small_jpeg(ann: httpx2.Client) -> None:
    picture = ann.get("/api/clips/cup/thumbnail")
    assert (picture.headers["content-type"], picture.content[:2]) == ("image/jpeg", b"\xff\xd8")


@pytest.mark.parametrize("address", ["/", "/clips/cup"])
def test_pages_are_html_without_inline_script(ann: httpx2.Client, address: str) -> None:
    page = ann.get(address)
    assert page.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "<script>" not in page.text


def test_static_files_are_those_of_the_pages(ann: httpx2.Client) -> None:
    assert ann.get("/static/player.js").headers["content-type"].startswith("text/javascript")
    assert ann.get("/static/base.css").headers["content-type"].startswith("text/css")
    assert ann.get("/static/app.py").status_code == 404


# Saving.


def test_a_saved_draft_is_returned(ann: httpx2.Client) -> None:
    assert put(ann, events=[event()], seconds_spent=12.5).json() == {"revision": 1}
    found = ann.get("/api/clips/cup").json()["annotation"]
    assert (found["revision"], found["status"], found["seconds_spent"]) == (1, "draft", 12.5)
    defaults = {"secondary": [], "box": None, "origin": "person", "verdict": None, "reason": ""}
    assert found["events"] == [{**event(), **defaults}]


def test_an_event_may_be_saved_before_it_is_complete(ann: httpx2.Client) -> None:
    assert put(ann, events=[{"id": "e1"}]).status_code == 200


def test_two_browsers_never_overwrite_each_other(server: Server) -> None:
    with server.client() as first, server.client() as second:
        assert put(first, events=[event()]).json() == {"revision": 1}
        refused = put(second, clean=True)
        assert refused.status_code == 409
        assert [found["id"] for found in refused.json()["annotation"]["events"]] == ["e1"]
        assert put(second, clean=True, base_revision=1).json() == {"revision": 2}


def test_a_request_whose_answer_was_lost_can_be_sent_again(ann: httpx2.Client) -> None:
    assert [put(ann, events=[event()]).json() for _ in range(2)] == [{"revision": 1}, {"revision": 1}]


def test_annotators_do_not_see_each_other(server: Server) -> None:
    with server.client() as ann, server.client("token-of-bob") as bob:
        put(ann, events=[event()])
        assert bob.get("/api/clips/cup").json()["annotation"]["revision"] == 0
        assert put(bob, clean=True).json() == {"revision": 1}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"spans": [{"start_s": 0.53, "end_s": 1.0}]}, "spans"),
        ({"spans": [{"start_s": 1.0, "end_s": 1.0}]}, "spans"),
        ({"spans": [{"start_s": 1.0, "end_s": 4.1}]}, "spans"),
        ({"spans": [{"start_s": -0.1, "end_s": 1.0}]}, "spans.0.start_s"),
        ({"severity": 6}, "severity"),
        ({"dimension": "colour"}, "dimension"),
        ({"type": "no_such_type"}, "type"),
        ({"box": {"x": 0.5, "y": 0, "width": 0.6, "height": 0.1, "time_s": 1.0}}, "box"),
        ({"box": {"x": 0.5, "y": 0, "width": 0.1, "height": 0.1, "time_s": 9.0}}, "box"),
        ({"origin": "model"}, "origin"),
        ({"verdict": "accepted"}, "origin"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_an_invalid_event_is_refused_with_its_field(ann: httpx2.Client, change: dict[str, Any], field: str) -> None:
    refused = put(ann, events=[event(**change)])
    assert refused.status_code == 422
    assert [(error["event"], error["field"]) for error in refused.json()["errors"]] == [("e1", field)]
    assert ann.get("/api/clips/cup").json()["annotation"]["revision"] == 0


def test_the_end_of_the_clip_may_be_off_the_grid(tmp_path: Path, video: Path) -> None:
    part = ManifestEntry(path=video, clip_id="part", end_s=2.0625)
    with serving([part], tmp_path) as server, server.client() as client:
        end_s = client.get("/api/clips/part").json()["duration_s"]
        assert end_s == 2.0625
        assert put(client, "part", events=[event(spans=[{"start_s": 1.0, "end_s": end_s}])]).status_code == 200


def test_a_clean_clip_has_no_events(ann: httpx2.Client) -> None:
    assert put(ann, events=[event()], clean=True).json()["errors"][0]["field"] == "clean"


def test_two_events_need_two_ids(ann: httpx2.Client) -> None:
    assert put(ann, events=[event(), event()]).json()["errors"][0]["field"] == "id"


# Submitting.


def test_a_clip_is_submitted_and_the_next_one_named(ann: httpx2.Client) -> None:
    order = [clip["clip_id"] for clip in ann.get("/api/queue").json()["clips"]]
    for place, clip_id in enumerate(order):
        put(ann, clip_id, clean=True, seconds_spent=30.0)
        done = submit(ann, 1, clip_id).json()
        assert done == {"revision": 2, "next": order[place + 1] if place < 2 else None, "feedback": None}
    progress = ann.get("/api/queue").json()["progress"]
    assert progress == {"assigned": 3, "submitted": 3, "seconds_per_clip": 30.0, "seconds_left": 0.0}


def test_what_is_left_is_estimated_from_the_mean_time(ann: httpx2.Client) -> None:
    put(ann, clean=True, seconds_spent=40.0)
    submit(ann, 1)
    assert ann.get("/api/queue").json()["progress"]["seconds_left"] == 80.0


@pytest.mark.parametrize("field", ["dimension", "type", "severity", "spans"])
def test_an_incomplete_event_is_not_submitted(ann: httpx2.Client, field: str) -> None:
    put(ann, events=[event(**{field: [] if field == "spans" else None})])
    refused = submit(ann, 1)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (422, field)


def test_a_type_of_another_dimension_is_not_submitted(ann: httpx2.Client) -> None:
    put(ann, events=[event(dimension="visual_quality")])
    assert submit(ann, 1).json()["errors"][0]["field"] == "type"


def test_a_clip_without_events_is_submitted_only_if_it_is_marked_clean(ann: httpx2.Client) -> None:
    assert submit(ann, 0).json()["errors"][0]["field"] == "clean"
    put(ann, clean=True)
    assert submit(ann, 1).status_code == 200


def test_only_the_newest_revision_is_submitted(server: Server) -> None:
    with server.client() as first, server.client() as second:
        put(first, events=[event()])
        put(second, clean=True, base_revision=1)
        assert submit(first, 1).status_code == 409
        assert submit(second, 2).json()["revision"] == 3
        assert submit(second, 2).json()["revision"] == 3  # sent again


def test_a_change_after_submission_is_a_draft_until_it_is_submitted(ann: httpx2.Client, server: Server) -> None:
    put(ann, clean=True)
    submit(ann, 1)
    put(ann, events=[event()], base_revision=2)
    assert ann.get("/api/clips/cup").json()["annotation"]["status"] == "draft"
    assert [revision.draft.clean for revision in server.store.submitted()] == [True]


# Files.


def test_a_file_that_was_replaced_is_not_annotated_further(tmp_path: Path, video: Path) -> None:
    copy = tmp_path / "copy.mp4"
    copy.write_bytes(video.read_bytes())
    with serving([ManifestEntry(path=copy, clip_id="cup")], tmp_path) as server, server.client() as client:
        put(client, clean=True)
        copy.write_bytes(video.read_bytes() + b"\0" * 8)
        refused = client.get("/api/clips/cup")
    assert (refused.status_code, "has different content" in refused.json()["error"]) == (500, True)


def test_a_damaged_file_is_an_error_in_words(tmp_path: Path, video: Path) -> None:
    copy = tmp_path / "copy.mp4"
    copy.write_bytes(video.read_bytes())
    with serving([ManifestEntry(path=copy, clip_id="cup")], tmp_path) as server, server.client() as client:
        copy.write_bytes(video.read_bytes()[:2000])
        refused = client.get("/api/clips/cup")
    assert (refused.status_code, "cut short" in refused.json()["error"]) == (500, True)


def test_ids_with_special_characters_have_addresses(tmp_path: Path, video: Path) -> None:
    name = 'a/b ?#%"<é>'
    with serving([ManifestEntry(path=video, clip_id=name)], tmp_path) as server, server.client() as client:
        (row,) = client.get("/api/queue").json()["clips"]
        quoted = httpx2.URL(server.address).copy_with(raw_path=b"/api/clips/" + quote(row["clip_id"], safe="").encode())
        clip = client.get(quoted).json()
        assert clip["clip_id"] == name
        assert client.get(httpx2.URL(server.address).copy_with(raw_path=clip["video"].encode())).status_code == 200


def test_a_queue_of_2000_clips_is_one_answer(tmp_path: Path, video: Path) -> None:
    many = [ManifestEntry(path=video, clip_id=f"clip-{number:04}", instruction="Lift it") for number in range(2000)]
    with serving(many, tmp_path) as server, server.client() as client:
        answer = client.get("/api/queue")
    assert len(answer.json()["clips"]) == 2000
    assert len(answer.content) < 400_000
