"""Settling what annotators disagree on: what is accepted at once, what is asked, and what comes out."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from robogaze import agree, evaluate
from robogaze.datasets import ManifestEntry
from robogaze.errors import InputError
from robogaze.web.annotation_store import AnnotationStore
from robogaze.web.store_summary import submitted_reports
from web.adjudicating import (
    BLURRED,
    BLURRED_A_LOT,
    FLOATS,
    FLOATS_TOO,
    UNSEEN,
    adjudicating,
    adjudicator_of,
    annotate,
)
from web.serving import Server

ANNOTATIONS: dict[str, dict[str, Any]] = {
    "ann": {"cup": [FLOATS, BLURRED, UNSEEN], "pot": [], "lid": [FLOATS]},
    "bob": {"cup": [FLOATS_TOO, BLURRED_A_LOT], "pot": []},
}


@pytest.fixture
def annotated(store: AnnotationStore, entries: list[ManifestEntry]) -> AnnotationStore:
    """Ann and bob agree that the cup floats and the pot is clean; nobody but ann looked at the lid."""
    annotate(store, entries, ANNOTATIONS)
    return store


@pytest.fixture
def server(annotated: AnnotationStore, entries: list[ManifestEntry]) -> Iterator[Server]:
    with adjudicating(annotated.path, entries, "eve", "dan") as running:
        yield running


@pytest.fixture
def eve(server: Server) -> Iterator[httpx2.Client]:
    with server.client("eve") as client:
        yield client


def asked(client: httpx2.Client, clip_id: str = "cup") -> dict[str, dict[str, Any]]:
    """The disagreements by the first letter of the type of their events and the number of annotators."""
    found = client.get(f"/api/clips/{clip_id}").json()["disagreements"]
    return {next(iter(each["events"].values()))["type"]: each for each in found}


def taking(disagreement: dict[str, Any], *letters: str, comment: str = "") -> dict[str, Any]:
    ids = [disagreement["events"][letter]["id"] for letter in letters]
    return {"disagreement": disagreement["id"], "choice": "events", "events": ids, "comment": comment}


def merging(disagreement: dict[str, Any], **changes: Any) -> dict[str, Any]:
    merged = {**disagreement["merged"], **changes}
    return {"disagreement": disagreement["id"], "choice": "merged", "merged": merged}


def neither(disagreement: dict[str, Any], comment: str = "") -> dict[str, Any]:
    return {"disagreement": disagreement["id"], "choice": "neither", "comment": comment}


def save(client: httpx2.Client, *decisions: dict[str, Any], base: int = 0) -> httpx2.Response:
    content = {"base_revision": base, "decisions": decisions, "seconds_spent": 5.0}
    return client.put("/api/clips/cup", json=content)


def submit(client: httpx2.Client, base: int) -> httpx2.Response:
    return client.post("/api/clips/cup/submit", json={"base_revision": base})


def test_only_clips_with_two_annotations_are_settled_and_agreement_is_accepted_at_once(eve: httpx2.Client) -> None:
    status = {row["clip_id"]: row["status"] for row in eve.get("/api/queue").json()["clips"]}
    assert status == {"cup": "open", "pot": "submitted"}
    assert eve.get("/api/guide").json()["mode"] == "adjudicate"


def test_agreed_events_are_merged_by_the_rules_of_the_paper(eve: httpx2.Client) -> None:
    settled = eve.get("/api/clips/cup").json()["settled"]
    assert [(event["type"], event["spans"], event["severity"], event["description"]) for event in settled] == [
        ("object_floating", [{"start_s": 0.5, "end_s": 1.0}], 4, "The cup hangs in mid-air.")
    ]


def test_disagreements_are_shown_under_letters_with_what_is_agreed(eve: httpx2.Client) -> None:
    answer = eve.get("/api/clips/cup")
    assert "ann" not in answer.text.replace("annot", "")
    assert "bob" not in answer.text
    found = asked(eve)
    blur, unseen = found["blur"], found["object_floating"]
    assert sorted(blur["events"]) == ["A", "B"]
    assert len(blur["reasons"]) == 1
    assert blur["reasons"][0].startswith("severities differ: A ")
    assert (blur["merged"]["spans"], blur["merged"]["severity"]) == ([{"start_s": 2.0, "end_s": 3.0}], None)
    assert list(unseen["events"]) == [letter for letter in "AB" if f"not reported by {letter}" not in unseen["reasons"]]


def test_the_events_follow_from_the_decisions(eve: httpx2.Client, server: Server) -> None:
    found = asked(eve)
    blur, unseen = found["blur"], found["object_floating"]
    first, second = merging(blur, severity=2), neither(unseen, "It lies on the table.")
    assert save(eve, first, second).json() == {"revision": 1}
    kept = eve.get("/api/clips/cup").json()["annotation"]
    assert [(decision["choice"], decision["comment"], decision["by"]) for decision in kept["decisions"]] == [
        ("merged", "", "eve"),
        ("neither", "It lies on the table.", "eve"),
    ]
    assert [(event["type"], event["severity"]) for event in kept["events"]] == [("object_floating", 4), ("blur", 2)]
    with server.client("dan") as dan:
        both = taking(blur, "A", "B")
        assert save(dan, both, second, base=1).json() == {"revision": 2}
        kept = dan.get("/api/clips/cup").json()["annotation"]
        assert [decision["by"] for decision in kept["decisions"]] == ["dan", "eve"]
        assert [event["type"] for event in kept["events"]] == ["object_floating", "blur", "blur"]


def test_a_clip_is_submitted_when_all_is_decided_and_complete(eve: httpx2.Client) -> None:
    found = asked(eve)
    blur, unseen = found["blur"], found["object_floating"]
    save(eve, taking(unseen, next(iter(unseen["events"]))))
    assert [error["event"] for error in submit(eve, 1).json()["errors"]] == [blur["id"]]
    save(eve, taking(unseen, next(iter(unseen["events"]))), merging(blur), base=1)
    refused = submit(eve, 2).json()["errors"]
    assert [(error["event"], error["field"]) for error in refused] == [(blur["id"], "severity")]
    save(eve, taking(unseen, next(iter(unseen["events"]))), merging(blur, severity=3), base=2)
    assert submit(eve, 3).json() == {"revision": 4, "next": None, "feedback": None}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"disagreement": "A1-e9"}, "disagreement"),
        ({"events": ["A1-e9"]}, "events"),
        ({"choice": "neither"}, "events"),
        ({"choice": "merged"}, "events"),
        ({"choice": "events", "events": []}, "events"),
    ],
)
def test_decisions_that_do_not_fit_are_refused(eve: httpx2.Client, changes: dict[str, Any], field: str) -> None:
    refused = save(eve, {**taking(asked(eve)["blur"], "A"), **changes})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == field
    assert eve.get("/api/clips/cup").json()["annotation"]["revision"] == 0


def test_a_merged_event_is_checked_as_every_event(eve: httpx2.Client) -> None:
    off_grid = merging(asked(eve)["blur"], spans=[{"start_s": 2.03, "end_s": 3.0}])
    assert save(eve, off_grid).json()["errors"][0]["field"] == "spans"
    other = merging(asked(eve)["blur"], id="e1")
    assert save(eve, other).json()["errors"][0]["field"] == "merged"


def test_two_adjudicators_do_not_overwrite_each_other(eve: httpx2.Client, server: Server) -> None:
    blur = asked(eve)["blur"]
    save(eve, taking(blur, "A"))
    with server.client("dan") as dan:
        refused = save(dan, taking(blur, "B"))
    assert refused.status_code == 409
    assert refused.json()["annotation"]["decisions"][0]["by"] == "eve"


def test_what_comes_out_is_read_as_a_reference(eve: httpx2.Client, server: Server, tmp_path: Path) -> None:
    found = asked(eve)
    save(eve, merging(found["blur"], severity=2), neither(found["object_floating"]))
    assert {path.parts[0] for path in submitted_reports(server.store)} == {"ann", "bob", "adjudicated"}
    assert [path for path in submitted_reports(server.store) if path.parts[0] == "adjudicated"] == [
        Path("adjudicated/pot.json")
    ]
    submit(eve, 1)
    for path, report in submitted_reports(server.store).items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(report.model_dump_json())
    gold = tmp_path / "adjudicated"
    before = agree([tmp_path / "ann", tmp_path / "bob"])
    after = agree([tmp_path / "ann", gold])
    assert (before.overall.clips, after.overall.clips) == (2, 2)
    (scored,) = evaluate({"bob": tmp_path / "bob"}, gold).systems
    assert sorted(map(len, scored.matches)) == [0, 2]  # the floating cup and the blur; the pot is clean


def test_a_decision_is_not_kept_for_an_event_that_was_changed_since(
    annotated: AnnotationStore, entries: list[ManifestEntry]
) -> None:
    adjudicator = adjudicator_of(annotated, entries)
    (blur,) = (each for each in adjudicator.compared["cup"].disagreements if each.merged.type == "blur")
    annotate(annotated, entries, {"bob": {"cup": [FLOATS_TOO, {**BLURRED, "severity": 2}]}})
    again = adjudicator_of(annotated, entries).compared["cup"]
    assert blur.id not in {each.id for each in again.disagreements}
    assert [event.type for event in again.settled] == ["object_floating", "blur"]


def test_a_settled_clip_is_open_again_when_an_annotation_was_changed(
    annotated: AnnotationStore, entries: list[ManifestEntry]
) -> None:
    adjudicator_of(annotated, entries).accept_agreed()
    gold = Path("adjudicated/pot.json")
    assert gold in submitted_reports(annotated)
    annotate(annotated, entries, {"bob": {"pot": [FLOATS]}})
    assert adjudicator_of(annotated, entries).accept_agreed() == 0
    assert gold not in submitted_reports(annotated)
    annotate(annotated, entries, {"ann": {"pot": [FLOATS]}})
    assert adjudicator_of(annotated, entries).accept_agreed() == 1
    assert [event.type for event in submitted_reports(annotated)[gold].events] == ["object_floating"]


def test_a_store_with_one_annotator_has_nothing_to_settle(store: AnnotationStore, entries: list[ManifestEntry]) -> None:
    annotate(store, entries, {"ann": ANNOTATIONS["ann"]})
    with pytest.raises(InputError, match="has submitted annotations by two annotators; annotate clips with"):
        adjudicator_of(store, entries)


def test_opening_again_accepts_nothing_twice(annotated: AnnotationStore, entries: list[ManifestEntry]) -> None:
    assert adjudicator_of(annotated, entries).accept_agreed() == 1
    assert adjudicator_of(annotated, entries).accept_agreed() == 0
