"""Reviewing a run: what is offered, what comes back, and what it says about the run."""

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import Span
from robogaze.datasets import ManifestEntry
from robogaze.domains import Domain
from robogaze.errors import InputError
from robogaze.web.drafts import ClipDraft, DraftEvent
from robogaze.web.review import plan_review, review_estimates
from robogaze.web.store_summary import StoreSummary, submitted_reports, summarise
from web.serving import Server, body, event, opened, serving
from web.test_calibration_feedback import key_event, key_of


@pytest.fixture
def server(entries: list[ManifestEntry], robot: Domain, tmp_path: Path) -> Iterator[Server]:
    """A review of a run that found two events in cup, off the grid, and none in pot."""
    run = tmp_path / "step-9000.jsonl"
    run.write_text(key_of(robot, "cup", key_event("m1", 0.5, 1.0625), key_event("m2", 3.0, 4.0)) + key_of(robot, "pot"))
    with serving(entries, tmp_path, review=run) as running:
        yield running


def offered(client: httpx2.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/clips/cup").json()["review"]["events"]
    return found


def decided(found: dict[str, Any], verdict: str, **changes: Any) -> dict[str, Any]:
    origin = "edited" if verdict == "edited" else "model"
    return {**found, "verdict": verdict, "origin": origin, **changes}


def submit(
    client: httpx2.Client, *events: dict[str, Any], clip_id: str = "cup", clean: bool = False
) -> httpx2.Response:
    saved = client.put(f"/api/clips/{clip_id}", json=body(*events, clean=clean))
    assert saved.status_code == 200, saved.text
    return client.post(f"/api/clips/{clip_id}/submit", json={"base_revision": 1})


def test_the_clips_with_reports_are_reviewed(ann: httpx2.Client) -> None:
    assert ann.get("/api/guide").json()["mode"] == "review"
    assert {row["clip_id"] for row in ann.get("/api/queue").json()["clips"]} == {"cup", "pot"}


def test_the_events_of_the_model_are_offered(ann: httpx2.Client) -> None:
    clip = ann.get("/api/clips/cup").json()
    assert clip["annotation"]["events"] == []
    assert clip["review"]["author"] == "step-9000.jsonl"
    assert [(found["id"], found["origin"], found["verdict"]) for found in clip["review"]["events"]] == [
        ("m1", "model", None),
        ("m2", "model", None),
    ]


def test_each_event_needs_a_verdict_and_a_rejection_a_reason(ann: httpx2.Client) -> None:
    first, second = offered(ann)
    refused = submit(ann, decided(first, "accepted"), decided(second, "rejected")).json()["errors"]
    assert [(error["event"], error["field"]) for error in refused] == [("m2", "reason")]
    refused = ann.put("/api/clips/cup", json=body(decided(first, "accepted"), base=1))
    assert refused.status_code == 200
    left = ann.post("/api/clips/cup/submit", json={"base_revision": 2}).json()["errors"]
    assert [(error["event"], error["field"]) for error in left] == [("m2", "verdict")]


def test_an_accepted_event_is_as_the_model_reports_it(ann: httpx2.Client) -> None:
    changed = decided(offered(ann)[0], "accepted", severity=1)
    assert ann.put("/api/clips/cup", json=body(changed)).json()["errors"][0]["field"] == "verdict"
    changed = {**changed, "verdict": "edited", "origin": "edited"}
    assert ann.put("/api/clips/cup", json=body(changed)).status_code == 200


def test_an_event_of_the_model_cannot_have_the_origin_person(ann: httpx2.Client) -> None:
    claimed = {**offered(ann)[0], "origin": "person"}
    assert ann.put("/api/clips/cup", json=body(claimed)).json()["errors"][0]["field"] == "origin"


def test_reviews_are_kept_separate_from_blind_annotations(
    server: Server, entries: list[ManifestEntry], tmp_path: Path
) -> None:
    with server.client() as client:
        submit(client, clean=True, clip_id="pot")
    with serving(entries, tmp_path) as blind, blind.client() as client:
        assert client.get("/api/clips/pot").json()["annotation"]["revision"] == 0


def test_another_run_of_the_same_name_is_refused(
    server: Server, entries: list[ManifestEntry], robot: Domain, tmp_path: Path
) -> None:
    other = tmp_path / "other" / "step-9000.jsonl"
    other.parent.mkdir()
    other.write_text(key_of(robot, "cup"))
    with pytest.raises(
        InputError, match=r"has a review of another run with the same name \(.*\); choose another `store`"
    ):
        opened(entries, server.store, review=other)


def test_references_come_out_corrected_with_the_origin_of_each_event(server: Server) -> None:
    with server.client() as client:
        first, second = offered(client)
        events = (decided(first, "accepted"), decided(second, "rejected", reason="A shadow."), event("e1", severity=2))
        assert submit(client, *events).status_code == 200
    ((path, report),) = submitted_reports(server.store).items()
    assert path == Path("ann review of step-9000.jsonl", "cup.json")
    assert (report.author, report.pipeline, report.status, report.verdict) == ("ann", "reviewed", "complete", "faulty")
    assert [(found.id, found.evidence[0].source) for found in report.events] == [("m1", "model"), ("e1", "person")]
    assert report.events[0].spans == (Span(0.5, 1.0625),)
    (rejected,) = report.hypotheses
    assert (rejected.id, rejected.verdict, rejected.reason) == ("m2", "rejected", "A shadow.")
    ((_, without),) = submitted_reports(server.store, without_model=True).items()
    assert [found.id for found in without.events] == ["e1"]


def test_a_clip_whose_events_are_all_rejected_is_clean(server: Server) -> None:
    with server.client() as client:
        events = [decided(found, "rejected", reason="No.") for found in offered(client)]
        assert submit(client, *events, clean=True).status_code == 200
    ((_, report),) = submitted_reports(server.store).items()
    assert report.clean


def test_verdicts_give_the_precision_of_the_run(server: Server) -> None:
    with server.client() as client:
        first, second = offered(client)
        submit(client, decided(first, "edited", severity=1), decided(second, "rejected", reason="No."), event("e1"))
        submit(client, clean=True, clip_id="pot")
    summary = summarise(server.store)
    found = summary.reviews["step-9000.jsonl"]["ann"]
    assert (found.clips, found.planned, found.unseen) == (2, 2, 0)
    assert (found.verdicts, found.added) == ({"accepted": 0, "edited": 1, "rejected": 1}, 1)
    assert (found.precision.value, found.precision.n) == (0.5, 2)
    assert (found.accepted.value, found.found.value) == (0.0, 0.5)
    assert isinstance(summary, StoreSummary)
    assert len(list(summary.tables())) == 2


# The sample.


def annotation(clip_id: str, events: int, **fields: str) -> ClipAnnotation:
    findings = tuple(AnnotatedEvent(f"m{number}", (Span(0, 1),), "") for number in range(events))
    return ClipAnnotation(clip_id, "model", "complete", findings, fields=fields)


def run_of(*counts: int) -> dict[str, ClipAnnotation]:
    return {f"clip-{number}": annotation(f"clip-{number}", events) for number, events in enumerate(counts)}


def verdicts(*given: str | None) -> ClipDraft:
    return ClipDraft(events=tuple(DraftEvent(id=f"e{n}", verdict=verdict) for n, verdict in enumerate(given)))  # type: ignore[arg-type]


def test_without_a_sample_every_clip_is_reviewed() -> None:
    assert plan_review(run_of(0, 1, 5)).clips.keys() == {"clip-0", "clip-1", "clip-2"}


def test_a_sample_is_proportional_with_two_clips_of_each_stratum() -> None:
    plan = plan_review(run_of(*[0] * 60, *[1] * 30, *[2] * 9, 7, 4), sample=20)
    taken = Counter(clip.stratum for clip in plan.clips.values())
    assert plan.sizes == {
        "clean, 0 events": 60,
        "faulty, 1 event": 30,
        "faulty, 2 events": 9,
        "faulty, 3 or more events": 2,
    }
    assert taken == {"clean, 0 events": 11, "faulty, 1 event": 5, "faulty, 2 events": 2, "faulty, 3 or more events": 2}


def test_a_sample_is_the_same_for_the_same_seed() -> None:
    run = run_of(*range(4), *[1] * 50)
    assert plan_review(run, 10, 3) == plan_review(dict(reversed(run.items())), 10, 3)
    assert plan_review(run, 10, 3).clips.keys() != plan_review(run, 10, 4).clips.keys()


def test_a_larger_sample_contains_a_smaller_one() -> None:
    run = run_of(*[0] * 30, *[1] * 30)
    assert plan_review(run, 10).clips.keys() <= plan_review(run, 30).clips.keys()


def test_clips_are_weighted_by_their_stratum() -> None:
    run = run_of(*[1] * 90, *[2] * 10)
    plan = plan_review(run, 4)
    drafts = {
        clip_id: verdicts("accepted") if clip.stratum.startswith("faulty, 1 ") else verdicts("rejected", "rejected")
        for clip_id, clip in plan.clips.items()
    }
    # 90 events that are right, and 20 that are not.
    assert review_estimates(plan, drafts).precision.value == pytest.approx(90 / 110)


def test_the_interval_covers_the_precision_of_the_run() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for trial in range(100):
        right = {f"clip-{number}": rng.random(3) < 0.7 for number in range(200)}
        plan = plan_review({clip_id: annotation(clip_id, 3) for clip_id in right}, 40, seed=trial)
        drafts = {
            clip_id: verdicts(*("accepted" if good else "rejected" for good in right[clip_id]))
            for clip_id in plan.clips
        }
        found = review_estimates(plan, drafts).precision
        inside += found.low <= np.mean(list(right.values())) <= found.high
    assert inside >= 90


def test_clips_of_one_prompt_are_one_unit() -> None:
    run = {f"clip-{n}": annotation(f"clip-{n}", 1, prompt_id=f"{n // 4}") for n in range(40)}
    alone = {clip_id: annotation(clip_id, 1) for clip_id in run}
    drafts = {f"clip-{n}": verdicts("accepted" if n // 4 % 2 else "rejected") for n in range(40)}
    together, apart = (review_estimates(plan_review(given), drafts).precision for given in (run, alone))
    assert together.high - together.low > 1.5 * (apart.high - apart.low)


def test_without_a_review_there_is_no_precision() -> None:
    found = review_estimates(plan_review(run_of(1, 0)), {})
    assert math.isnan(found.precision.value)
    assert (found.clips, found.unseen) == (0, 2)


def test_a_run_without_mistakes_has_an_interval() -> None:
    run = run_of(*[1] * 20)
    found = review_estimates(plan_review(run), dict.fromkeys(run, verdicts("accepted"))).precision
    assert found.value == found.high == 1.0
    assert 0.8 < found.low < 0.9
