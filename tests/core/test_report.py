"""The report: a status is earned, and nothing in it points to what is not there."""

import json
import math
from typing import Any

import pytest
from making import make_clip
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
        "status": "ok",
        "assessed": ("colour", "shape"),
        "judged": ("colour", "shape"),
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
        status="partial",
        judged=("colour",),
        events=(event,),
        hypotheses=(
            make_hypothesis("H1", verdict="accepted", reason="frame 16 shows it"),
            make_hypothesis("H2", verdict="merged", merged_into="H1", reason="the same"),
            make_hypothesis("H3"),
        ),
        failures=(Failure(stage="propose", dimension="shape", kind="InvalidAnswer", message="no valid answer"),),
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


# A status is earned.


def test_ok_means_that_every_assessed_dimension_was_judged() -> None:
    with pytest.raises(ValidationError, match="not every assessed dimension was judged"):
        make_report(judged=("colour",))


def test_ok_needs_something_to_be_assessed() -> None:
    with pytest.raises(ValidationError, match="not every assessed dimension was judged"):
        make_report(assessed=(), judged=())


def test_what_was_judged_was_assessed() -> None:
    with pytest.raises(ValidationError, match="judged must be a part of assessed"):
        make_report(judged=("colour", "shape", "motion"))


def test_partial_means_that_something_was_judged() -> None:
    assert make_report(status="partial", judged=("colour",)).status == "partial"
    with pytest.raises(ValidationError, match="nothing was judged; that is unscored"):
        make_report(status="partial", judged=())


def test_what_is_looked_at_in_part_is_neither_assessed_nor_judged_but_more_than_nothing() -> None:
    with pytest.raises(ValidationError, match="colour is assessed; it cannot be looked at in part only"):
        make_report(in_part=("colour",))
    assert make_report(in_part=("motion",)).clean
    assert make_report(status="partial", judged=(), in_part=("motion",), events=(make_event(),)).events
    with pytest.raises(ValidationError, match="not every assessed dimension was judged"):
        make_report(judged=(), in_part=("motion",))
    assert not make_report(status="unscored", judged=(), in_part=("motion",)).clean


def test_what_is_left_open_is_what_was_not_judged_and_what_failed_beside_it() -> None:
    beside = Failure(stage="measure", dimension="motion", kind="evidence only", message="perhaps")
    judged = Failure(stage="verify", kind="InvalidAnswer", message="no valid answer")
    assert make_report().left_open == ()
    open_ = make_report(status="partial", judged=("colour",), failures=(beside, judged, beside))
    assert open_.left_open == ("shape", "motion")
    undecided = make_hypothesis().with_(dimension="motion")
    assert undecided.verdict == "unverified"
    assert make_report(status="partial", hypotheses=(undecided,)).left_open == ("motion",)


def test_all_judged_may_still_be_partial_for_a_stage_may_have_failed() -> None:
    failure = Failure(stage="verify", kind="InvalidAnswer", message="no valid answer")
    assert make_report(status="partial", failures=(failure,)).status == "partial"


@pytest.mark.parametrize("changes", [{"judged": ("colour",)}, {"judged": (), "events": (make_event(),)}])
def test_unscored_means_that_nothing_was_judged_and_nothing_found(changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="unscored but something was judged"):
        make_report(status="unscored", **changes)


@pytest.mark.parametrize(
    ("changes", "clean"),
    [
        ({}, True),
        ({"hypotheses": (make_hypothesis(verdict="rejected"),)}, True),
        ({"events": (make_event(),)}, False),
        ({"status": "partial", "judged": ("colour",)}, False),
        ({"status": "unscored", "judged": ()}, False),
        ({"status": "unscored", "judged": (), "assessed": ()}, False),
    ],
)
def test_clean_means_judged_to_the_end_and_nothing_found(changes: dict[str, Any], clean: bool) -> None:
    assert make_report(**changes).clean is clean


# Nothing points to what is not there.


@pytest.mark.parametrize(("start", "end"), [(-0.1, 1.0), (3.0, 4.1), (5.0, 6.0)])
def test_a_claim_outside_the_clip_is_refused(start: float, end: float) -> None:
    with pytest.raises(ValidationError, match=r"E1 lies outside the clip's 4\.000 s"):
        make_report(events=(make_event(start=start, end=end),))


def test_a_claim_may_last_to_the_clips_end_as_exactly_as_times_are_known() -> None:
    clip = make_clip(duration_s=4.000001)
    assert make_report(clip=clip, events=(make_event(end=4.0000013),)).events[0].offset_s > clip.duration_s


@pytest.mark.parametrize("frame", [64, 1000, -1])
def test_a_claim_that_cites_a_frame_the_clip_lacks_is_refused(frame: int) -> None:
    with pytest.raises(ValidationError, match="E1 cites a frame the clip does not have"):
        make_report(events=(make_event(frames=(0, frame)),))


def test_hypotheses_are_held_to_the_clip_too() -> None:
    with pytest.raises(ValidationError, match="H1 lies outside"):
        make_report(hypotheses=(make_hypothesis().with_(spans=(Span(3, 5),)),))


def test_ids_are_unique() -> None:
    with pytest.raises(ValidationError, match="ids must be unique, not E1, E1"):
        make_report(events=(make_event(), make_event(start=3.0, end=4.0)))
    with pytest.raises(ValidationError, match="ids must be unique, not H1, H1"):
        make_report(hypotheses=(make_hypothesis(), make_hypothesis()))


@pytest.mark.parametrize("target", ["H9", "H1", "E1"])
def test_a_hypothesis_is_merged_into_another_that_is_there(target: str) -> None:
    merged = make_hypothesis(verdict="merged", merged_into=target)
    with pytest.raises(ValidationError, match=f"H1 is merged into {target}, which is no other hypothesis"):
        make_report(hypotheses=(merged,), events=(make_event(),))


# Keys and numbers.


@pytest.mark.parametrize(
    "place", [(), ("clip",), ("clip", "layout"), ("domain",), ("events", 0), ("events", 0, "evidence", 0), ("usage",)]
)
def test_an_unknown_key_is_refused_wherever_it_stands(place: tuple[str | int, ...]) -> None:
    written = json.loads(full_report().model_dump_json())
    part = written
    for step in place:
        part = part[step]
    part["remark"] = "hm"
    with pytest.raises(ValidationError) as caught:
        Report.model_validate_json(json.dumps(written))
    assert [error["loc"] for error in caught.value.errors()] == [(*place, "remark")]


@pytest.mark.parametrize(
    "place",
    [
        ("clip", "duration_s"),
        ("clip", "frame_times_s", 1),
        ("events", 0, "confidence"),
        ("events", 0, "spans", 0, 1),
        ("events", 0, "evidence", 0, "box", "left"),
        ("usage", "wall_s"),
        ("provenance", "calls", 0, "cost_usd"),
    ],
)
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_number_that_is_not_finite_is_refused_wherever_it_stands(place: tuple[str | int, ...], value: float) -> None:
    written = json.loads(full_report().model_dump_json())
    *way, last = place
    part = written
    for step in way:
        part = part[step]
    part[last] = value
    with pytest.raises(ValidationError):
        Report.model_validate_json(json.dumps(written))


def test_another_schema_version_is_refused() -> None:
    written = {**json.loads(make_report().model_dump_json()), "schema_version": 2}
    with pytest.raises(ValidationError, match="schema_version"):
        Report.model_validate(written)


# There and back.


@pytest.mark.parametrize("report", [make_report(), full_report()], ids=["clean", "full"])
def test_a_report_comes_back_the_same_from_json(report: Report) -> None:
    written = report.model_dump_json(indent=1)
    read = Report.model_validate_json(written)
    assert read == report
    assert read.model_dump_json(indent=1) == written


def test_what_others_write_into_a_report_is_the_contract() -> None:
    """The keys of a report: a change here is a change of `schema_version`."""
    written = json.loads(full_report().model_dump_json())
    assert list(written) == [
        "schema_version",
        "clip",
        "domain",
        "pipeline",
        "author",
        "status",
        "assessed",
        "in_part",
        "judged",
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


def test_a_persons_annotation_is_a_report_with_nothing_but_what_they_saw() -> None:
    annotation = make_report(author="Ada", pipeline="annotation", events=(make_event(),))
    assert annotation.hypotheses == ()
    assert annotation.usage == Usage()


def test_the_json_schema_can_be_written_for_others() -> None:
    schema = Report.model_json_schema()
    assert schema["additionalProperties"] is False
    assert "events" in schema["required"]


def test_an_unreadable_clip_has_a_reason_and_no_report() -> None:
    assert Unreadable(uri="a.mp4", reason="a.mp4 is empty (0 bytes)").model_dump() == {
        "uri": "a.mp4",
        "reason": "a.mp4 is empty (0 bytes)",
    }
