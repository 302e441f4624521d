"""The report: derived status and verdict, validation, JSON."""

import json
from typing import Any

import pytest
from making import coverage, make_clip
from pydantic import ValidationError

from robogaze.core.events import Box, Event, Evidence, Hypothesis
from robogaze.core.pictures import Picture
from robogaze.core.report import Call, DomainRef, Failure, Provenance, Report, Unreadable, Usage
from robogaze.core.time import Span

CLIP = make_clip()  # 64 frames, 4 s


def make_claim(name: str, *, start: float = 1.0, end: float = 2.0, frames: tuple[int, ...] = (16,)) -> dict[str, Any]:
    return {
        "id": name,
        "dimension": "colour",
        "type": "fading",
        "spans": (Span(start, end),),
        "severity": 3,
        "confidence": 0.5,
        "description": "The cup fades.",
        "evidence": (Evidence(text="paler", frames=frames, source="propose"),),
    }


def make_event(name: str = "E1", **claim: Any) -> Event:
    return Event(**make_claim(name, **claim))


def make_hypothesis(name: str = "H1", **fields: Any) -> Hypothesis:
    return Hypothesis(**make_claim(name), proposed_by="the colour specialist", **fields)


def make_report(**changes: Any) -> Report:
    """A clean report in two dimensions."""
    known: dict[str, Any] = {
        "clip": CLIP,
        "domain": DomainRef(id="cups", version="1", taxonomy="e" * 64, fingerprint="f" * 64),
        "pipeline": "full",
        "author": "robogaze",
        "coverage": coverage("colour", "shape"),
        "events": (),
    }
    return Report(**{**known, **changes})


def full_report() -> Report:
    """A report that says all a report can say."""
    picture = Picture(id="F16", frames=(16,), times_s=(1.0,), views=("main",), width=64, height=48, sha256="a" * 64)
    call = Call(
        id="C1",
        stage="propose",
        subject="colour",
        role="vlm",
        model="a model",
        round=1,
        attempt=2,
        pictures=("F16",),
        key="k" * 64,
        outcome="invalid",
        error="type: not one of fading",
        cost_usd=0.25,
        facts={"finish_reason": "stop"},
    )
    box = Box(left=0.1, top=0.2, right=0.3, bottom=1.0)
    seen = Evidence(text='paler \u2028 "than" before', frames=(16, 20), view="main", box=box, source="propose")
    event = make_event().with_(spans=(Span(0, 1), Span(2, 4)), evidence=(seen,), secondary=("shape",), severity=None)
    return make_report(
        coverage=coverage("colour", not_examined=["shape"]),
        events=(event,),
        hypotheses=(
            make_hypothesis("H1", verdict="accepted", reason="frame 16 shows it"),
            make_hypothesis("H2", verdict="merged", merged_into="H1", reason="the same"),
            make_hypothesis("H3"),
        ),
        failures=(Failure(stage="propose", dimension="shape", kind="invalid_answer", message="no valid answer"),),
        unseen=((1, 16), (17, 64)),
        notes=("A sentence.",),
        usage=Usage(calls=1, rounds=1, prompt_tokens=None, cost_usd=0.25, wall_s=1.5),
        provenance=Provenance(
            versions={"python": "3.11"},
            models={"vlm": {"decoding": {"temperature": 0.0, "stop": None}}},
            media={"decoder": "pyav"},
            pictures=(picture,),
            calls=(call,),
        ),
    )


# Status and verdict.

FAILED = Failure(stage="verify", kind="invalid_answer", message="no valid answer")
DOUBTFUL = Failure(stage="measure", dimension="motion", kind="evidence_only", message="perhaps")
ALL = coverage("colour", ruled_out=["shape"])
SOME = coverage("colour", partial=["motion"], not_examined=["shape"])
NONE = coverage(not_examined=["colour", "shape"])


@pytest.mark.parametrize(
    ("changes", "status", "verdict"),
    [
        ({"coverage": ALL}, "complete", "clean"),
        ({"coverage": ALL, "hypotheses": (make_hypothesis(verdict="rejected"),)}, "complete", "clean"),
        ({"coverage": ALL, "events": (make_event(),)}, "complete", "faulty"),
        ({"coverage": ALL, "failures": (FAILED,)}, "partial", "undecided"),
        ({"coverage": ALL, "failures": (FAILED,), "events": (make_event(),)}, "partial", "faulty"),
        ({"coverage": ALL, "hypotheses": (make_hypothesis(),)}, "partial", "undecided"),
        ({"coverage": SOME}, "complete", "undecided"),
        ({"coverage": SOME, "events": (make_event(),)}, "complete", "faulty"),
        ({"coverage": coverage("colour", partial=["shape"])}, "complete", "undecided"),
        ({"coverage": coverage("colour", not_examined=["shape"])}, "complete", "undecided"),
        ({"coverage": coverage(partial=["shape"])}, "complete", "undecided"),
        ({"coverage": NONE}, "unscored", "undecided"),
        ({"coverage": NONE, "failures": (FAILED,)}, "unscored", "undecided"),
        ({"coverage": NONE, "hypotheses": (make_hypothesis(),)}, "unscored", "undecided"),
    ],
)
def test_status_and_verdict_follow_from_coverage_events_and_failures(
    changes: dict[str, Any], status: str, verdict: str
) -> None:
    report = make_report(**changes)
    assert (report.status, report.verdict, report.clean) == (status, verdict, verdict == "clean")
    assert report.nothing_found is (status == "complete" and not report.events)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"status": "complete"}, "status is 'complete', but coverage, events and failures make it 'partial'"),
        ({"verdict": "clean"}, "verdict is 'clean', but coverage, events and failures make it 'undecided'"),
    ],
)
def test_wrong_status_or_verdict_is_refused(wrong: dict[str, str], says: str) -> None:
    written = json.loads(make_report(failures=(FAILED,)).model_dump_json())
    with pytest.raises(ValidationError, match=says):
        Report.model_validate_json(json.dumps({**written, **wrong}))


def test_report_without_dimensions_is_refused() -> None:
    with pytest.raises(ValidationError, match="coverage"):
        make_report(coverage={})


def test_coverage_needs_a_reason() -> None:
    with pytest.raises(ValidationError, match="reason"):
        make_report(coverage={"colour": {"state": "examined", "reason": ""}})


@pytest.mark.parametrize("claims", [{"events": (make_event(),)}, {"hypotheses": (make_hypothesis(),)}])
def test_dimension_of_a_claim_must_be_in_coverage(claims: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="has the dimension colour, which is not in coverage"):
        make_report(coverage=coverage("color", "shape"), **claims)


def test_unscored_report_with_an_event_is_refused() -> None:
    with pytest.raises(ValidationError, match="there are events, but no dimension was examined"):
        make_report(coverage=NONE, events=(make_event(),))


def test_failures_and_undecided_hypotheses_make_their_dimensions_undecided() -> None:
    assert make_report().undecided_dimensions == ()
    assert make_report(coverage=SOME).undecided_dimensions == ()
    assert make_report(coverage=SOME, failures=(DOUBTFUL, DOUBTFUL)).undecided_dimensions == ("motion",)
    assert make_report(coverage=SOME, hypotheses=(make_hypothesis(),)).undecided_dimensions == ("colour",)


def test_failure_without_a_dimension_makes_all_uncovered_dimensions_undecided() -> None:
    assert make_report(coverage=SOME, failures=(FAILED,)).undecided_dimensions == ("motion", "shape")


@pytest.mark.parametrize(
    ("changes", "clean"),
    [
        ({"coverage": SOME}, {"colour"}),
        ({"coverage": ALL}, {"colour", "shape"}),
        ({"coverage": ALL, "events": (make_event(),)}, {"shape"}),
        ({"coverage": ALL, "events": (make_event().with_(secondary=("shape",)),)}, set()),
        ({"coverage": ALL, "hypotheses": (make_hypothesis(),)}, {"shape"}),
        ({"coverage": ALL, "failures": (FAILED.with_(dimension="shape"),)}, {"colour"}),
        ({"coverage": ALL, "failures": (FAILED,)}, set()),
        ({"coverage": SOME, "failures": (DOUBTFUL,)}, {"colour"}),
    ],
)
def test_clip_can_be_clean_in_some_dimensions(changes: dict[str, Any], clean: set[str]) -> None:
    report = make_report(**changes)
    assert {name for name in report.coverage if report.clean_in([name])} == clean
    assert report.clean_in(report.coverage) is (clean == set(report.coverage))


def test_unknown_dimension_is_an_error() -> None:
    with pytest.raises(KeyError, match="weight"):
        make_report().clean_in(["weight"])


# References inside a report.


@pytest.mark.parametrize(("start", "end"), [(-0.1, 1.0), (3.0, 4.1), (5.0, 6.0)])
def test_claim_outside_the_clip_is_refused(start: float, end: float) -> None:
    with pytest.raises(ValidationError, match=r"E1 lies outside the clip, which is 4\.000 s long"):
        make_report(events=(make_event(start=start, end=end),))


def test_claim_can_last_to_the_end_of_the_clip_within_resolution() -> None:
    clip = make_clip(duration_s=4.000001)
    assert make_report(clip=clip, events=(make_event(end=4.0000013),)).events[0].offset_s > clip.duration_s


@pytest.mark.parametrize("frame", [64, 1000, -1])
def test_claim_that_cites_a_missing_frame_is_refused(frame: int) -> None:
    with pytest.raises(ValidationError, match="E1 cites a frame that the clip does not have"):
        make_report(events=(make_event(frames=(0, frame)),))


def test_ids_are_unique() -> None:
    with pytest.raises(ValidationError, match="ids must be unique; found: E1, E1"):
        make_report(events=(make_event(), make_event(start=3.0, end=4.0)))
    with pytest.raises(ValidationError, match="ids must be unique; found: H1, H1"):
        make_report(hypotheses=(make_hypothesis(), make_hypothesis()))


@pytest.mark.parametrize("target", ["H9", "H1", "E1"])
def test_hypothesis_can_be_merged_only_into_another_one(target: str) -> None:
    merged = make_hypothesis(verdict="merged", merged_into=target)
    with pytest.raises(ValidationError, match=f"H1 is merged into {target}, but no other hypothesis has this id"):
        make_report(hypotheses=(merged,), events=(make_event(),))


# Keys and numbers.


@pytest.mark.parametrize(
    "place", [(), ("clip",), ("clip", "layout"), ("domain",), ("events", 0), ("events", 0, "evidence", 0), ("usage",)]
)
def test_unknown_key_is_refused_at_every_level(place: tuple[str | int, ...]) -> None:
    written = json.loads(full_report().model_dump_json())
    part = written
    for step in place:
        part = part[step]
    part["remark"] = "hm"
    with pytest.raises(ValidationError) as caught:
        Report.model_validate_json(json.dumps(written))
    assert [error["loc"] for error in caught.value.errors()] == [(*place, "remark")]


@pytest.mark.parametrize("version", [1, 3])
def test_other_schema_version_says_what_to_do(version: int) -> None:
    written = {**json.loads(make_report().model_dump_json()), "schema_version": version}
    with pytest.raises(
        ValidationError, match=f"this report has schema {version}, but schema 2 is needed; score the clip again"
    ):
        Report.model_validate_json(json.dumps(written))


# Round trips.


@pytest.mark.parametrize("report", [make_report(), full_report()], ids=["clean", "full"])
def test_report_round_trips_through_json(report: Report) -> None:
    written = report.model_dump_json(indent=1)
    read = Report.model_validate_json(written)
    assert read == report
    assert read.model_dump_json(indent=1) == written


def test_report_written_by_another_tool_is_read() -> None:
    """The keys of a report: a change here is a change of `schema_version`."""
    written = json.loads(full_report().model_dump_json())
    assert list(written) == [
        "schema_version",
        "clip",
        "domain",
        "pipeline",
        "author",
        "status",
        "verdict",
        "coverage",
        "events",
        "hypotheses",
        "failures",
        "unseen",
        "notes",
        "usage",
        "provenance",
    ]
    assert set(written["events"][0]) == {
        "id",
        "dimension",
        "type",
        "secondary",
        "spans",
        "severity",
        "confidence",
        "description",
        "evidence",
    }
    assert written["events"][0]["spans"] == [[0.0, 1.0], [2.0, 4.0]]
    assert set(written["usage"]) == {
        "calls",
        "rounds",
        "prompt_tokens",
        "cached_tokens",
        "completion_tokens",
        "cost_usd",
        "wall_s",
    }


def test_annotation_of_a_person_is_a_report() -> None:
    annotation = make_report(author="Ada", pipeline="annotation", events=(make_event(),))
    assert annotation.hypotheses == ()
    assert annotation.usage == Usage()


def test_report_has_a_json_schema() -> None:
    schema = Report.model_json_schema()
    assert schema["additionalProperties"] is False
    assert "events" in schema["required"]


def test_unreadable_clip_has_a_reason() -> None:
    assert Unreadable(uri="a.mp4", reason="a.mp4 is empty (0 bytes)").model_dump() == {
        "uri": "a.mp4",
        "reason": "a.mp4 is empty (0 bytes)",
        "clip_id": None,
    }
