"""Operating points: what would have been reported at another threshold."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from making import make_clip
from metrics.cases import annotation, finding

from robogaze.core.annotation import ClipAnnotation, annotation_of
from robogaze.core.coverage import Coverage
from robogaze.core.events import Event, Hypothesis
from robogaze.core.report import DomainRef, Report
from robogaze.core.time import Span
from robogaze.evaluation.tables import THRESHOLDS, at_threshold

CANDIDATES = tuple(finding((0, 1), name=f"H{number}", confidence=number / 10) for number in (2, 5, 6, 9))
UNSURE = finding((0, 1), name="H0")
REPORTED = tuple(finding((0, 1), name=name, confidence=sure) for name, sure in (("E1", 0.9), ("E2", 0.6), ("E3", None)))


def ids(annotation: ClipAnnotation) -> list[str]:
    return [event.id for event in annotation.findings]


@pytest.mark.parametrize(
    ("threshold", "chosen"),
    [(0.0, ["H2", "H5", "H6", "H9"]), (0.5, ["H5", "H6", "H9"]), (0.51, ["H6", "H9"]), (0.95, [])],
)
def test_a_threshold_chooses_the_candidates_that_reach_it(threshold: float, chosen: list[str]) -> None:
    assert ids(at_threshold(annotation(candidates=CANDIDATES), threshold)) == chosen


def test_without_a_confidence_an_event_is_always_kept_and_a_candidate_never() -> None:
    one = annotation(*REPORTED, candidates=(*CANDIDATES, UNSURE))
    assert ids(at_threshold(one, 0.9)) == ["E3", "H9"]
    assert ids(at_threshold(one, 0.0)) == ["E3", "H2", "H5", "H6", "H9"]


def test_where_no_candidates_are_stored_the_findings_are_chosen_from() -> None:
    assert ids(at_threshold(annotation(*REPORTED), 0.7)) == ["E3", "E1"]


def test_only_the_events_of_an_annotation_change() -> None:
    one = annotation(*REPORTED, candidates=CANDIDATES, status="partial")
    assert at_threshold(one, 0.5) == replace(one, findings=at_threshold(one, 0.5).findings)


def test_a_higher_threshold_never_adds_a_finding() -> None:
    one = annotation(*REPORTED, candidates=CANDIDATES)
    chosen = [set(ids(at_threshold(one, threshold))) for threshold in THRESHOLDS]
    assert all(more >= fewer for more, fewer in pairwise(chosen))
    assert THRESHOLDS == (0.3, 0.4, 0.5, 0.6, 0.7)


def judged(name: str, verdict: str, sure: float, **fields: Any) -> Hypothesis:
    """A hypothesis as a critic left it."""
    return Hypothesis(
        id=name, dimension="colour", type="drift", spans=(Span(0, 1),), severity=3, description=name, evidence=(),
        confidence=sure, verdict=verdict, reason="seen", proposed_by="specialist", **fields,
    )  # fmt: skip


def report(*hypotheses: Hypothesis) -> Report:
    """A complete report with these hypotheses; the accepted ones are its events."""
    fields = Event.model_fields.keys() & Hypothesis.model_fields.keys()
    accepted = [claim for claim in hypotheses if claim.verdict == "accepted"]
    return Report(
        clip=make_clip(),
        domain=DomainRef(id="d", version="1", taxonomy="t", fingerprint="f"),
        pipeline="full",
        author="robogaze",
        coverage={"colour": Coverage(state="examined", reason="seen")},
        events=tuple(Event(**{name: getattr(claim, name) for name in fields}) for claim in accepted),
        hypotheses=hypotheses,
    )


def test_what_a_critic_left_below_its_threshold_is_an_event_at_a_lower_one() -> None:
    """The report itself is clean: a rejected hypothesis is no event and leaves nothing undecided."""
    merged = judged("H3", "merged", 0.8, merged_into="H1")
    left = report(judged("H1", "rejected", 0.42), judged("H2", "rejected", 0.1), merged)
    assert (left.status, left.verdict) == ("complete", "clean")
    swept = {threshold: at_threshold(annotation_of(left), threshold) for threshold in THRESHOLDS}
    assert {threshold: ids(annotation) for threshold, annotation in swept.items() if annotation.findings} == {
        0.3: ["H1"],
        0.4: ["H1"],
    }
    assert [annotation.verdict for annotation in swept.values()] == ["faulty", "faulty", "clean", "clean", "clean"]


def test_at_the_threshold_of_the_critic_the_events_of_the_report_are_found() -> None:
    hypotheses = (judged("H1", "rejected", 0.49), judged("H2", "accepted", 0.5), judged("H3", "accepted", 0.9))
    left = report(*hypotheses)
    assert [event.id for event in left.events] == ["H2", "H3"]
    assert at_threshold(annotation_of(left), 0.5).findings == annotation_of(left).findings
