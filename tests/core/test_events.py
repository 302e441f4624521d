"""Events, hypotheses and boxes."""

import math
from typing import Any

import pytest
from pydantic import ValidationError

from robogaze.core.events import Box, Claim, Event, Evidence, Hypothesis, Reproduction
from robogaze.core.time import Span


def make_event(**changes: Any) -> Event:
    known: dict[str, Any] = {
        "id": "E1",
        "dimension": "colour",
        "type": "fading",
        "spans": (Span(1, 2), Span(3, 4)),
        "severity": 3,
        "confidence": 0.5,
        "description": "The cup fades.",
        "evidence": (Evidence(text="paler", frames=(16, 20), source="propose"),),
    }
    return Event(**{**known, **changes})


def make_hypothesis(**changes: Any) -> Hypothesis:
    event = make_event(id="H1")
    known = {name: getattr(event, name) for name in Claim.model_fields}
    return Hypothesis(**{**known, "proposed_by": "the colour specialist", **changes})


def test_onset_and_offset_are_those_of_the_first_and_last_span() -> None:
    assert (make_event().onset_s, make_event().offset_s) == (1, 4)


@pytest.mark.parametrize(
    "spans",
    [
        (Span(0, 2), Span(1, 3)),  # they overlap
        (Span(0, 1), Span(1, 2)),  # they touch: that is one span
        (Span(2, 3), Span(0, 1)),  # not in order
    ],
)
def test_spans_of_a_claim_are_disjoint_and_in_order(spans: tuple[Span, ...]) -> None:
    with pytest.raises(ValidationError, match="E1 must be disjoint and in order"):
        make_event(spans=spans)


def test_claim_without_a_span_is_refused() -> None:
    with pytest.raises(ValidationError, match="spans"):
        make_event(spans=())


@pytest.mark.parametrize("severity", [0, 6, 2.5, "bad"])
def test_severity_is_1_to_5(severity: object) -> None:
    with pytest.raises(ValidationError, match="severity"):
        make_event(severity=severity)


@pytest.mark.parametrize("confidence", [-0.1, 1.1, math.nan])
def test_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(ValidationError, match="confidence"):
        make_event(confidence=confidence)


def test_severity_and_confidence_can_be_none_but_not_missing() -> None:
    event = make_event(severity=None, confidence=None)
    assert (event.severity, event.confidence) == (None, None)
    fields = event.model_dump()
    del fields["severity"]
    with pytest.raises(ValidationError, match="severity"):
        Event.model_validate(fields)


@pytest.mark.parametrize("name", ["", "Fading", "fading cup", "fading-cup", "x" * 65, "fading\n"])
def test_type_is_an_identifier(name: str) -> None:
    with pytest.raises(ValidationError, match="type"):
        make_event(type=name)


@pytest.mark.parametrize(
    ("verdict", "target"),
    [("merged", None), ("accepted", "H2"), ("rejected", "H2"), ("unverified", "H2")],
)
def test_only_merged_hypotheses_have_merged_into(verdict: str, target: str | None) -> None:
    with pytest.raises(ValidationError, match="the verdict 'merged' needs merged_into"):
        make_hypothesis(verdict=verdict, merged_into=target)


def test_new_hypothesis_is_unverified() -> None:
    assert make_hypothesis().verdict == "unverified"


@pytest.mark.parametrize(
    "corners", [(0.5, 0, 0.5, 1), (0.6, 0, 0.5, 1), (0, 0.5, 1, 0.5), (0, 0.7, 1, 0.5), (-0.1, 0, 1, 1), (0, 0, 1.1, 1)]
)
def test_box_is_inside_the_view_and_not_empty(corners: tuple[float, ...]) -> None:
    with pytest.raises(ValidationError):
        Box(**dict(zip(("left", "top", "right", "bottom"), corners, strict=True)))


@pytest.mark.parametrize(
    "claim", [make_event(secondary=("shape",)), make_hypothesis(verdict="merged", merged_into="H2", reason="the same")]
)
def test_claim_round_trips_through_json(claim: Event | Hypothesis) -> None:
    written = claim.model_dump_json()
    assert type(claim).model_validate_json(written) == claim
    assert type(claim).model_validate_json(written).model_dump_json() == written


def test_the_reproduction_of_an_event_is_written_only_where_there_is_one() -> None:
    event = make_event()
    assert "reproduction" not in event.model_dump()
    found = Reproduction(commands=("look",), reproduced=True, recorded=4, replays=2)
    played = event.with_(reproduction=found)
    assert Event.model_validate_json(played.model_dump_json()) == played
    assert Event.model_validate_json(event.model_dump_json()) == event
