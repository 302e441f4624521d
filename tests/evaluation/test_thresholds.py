"""Operating points: what would have been reported at another threshold."""

from dataclasses import replace
from itertools import pairwise

import pytest
from metrics.cases import annotation, finding

from robogaze.core.annotation import ClipAnnotation
from robogaze.evaluation.tables import THRESHOLDS, at_threshold

CANDIDATES = tuple(finding((0, 1), name=f"H{number}", confidence=number / 10) for number in (2, 5, 6, 9))
UNSURE = finding((0, 1), name="H0")
REPORTED = tuple(finding((0, 1), name=name, confidence=sure) for name, sure in (("E1", 0.9), ("E2", 0.6), ("E3", None)))


def ids(one: ClipAnnotation) -> list[str]:
    return [event.id for event in one.findings]


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
