"""The row of a clip: what is counted, and what is not."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from metrics.cases import DIMENSIONS, THREE_OF_ONE, Pair, annotation, finding, pair
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.matching import Match, Weighting
from robogaze.metrics.tally import COLUMNS, judgeable, tally


def counted(case: Pair, weighting: Weighting | None = None) -> dict[str, float]:
    """What a row holds besides zeros."""
    row = case.row(weighting)
    assert row.shape == (len(COLUMNS),)
    return {column: value for column, value in zip(COLUMNS, row.tolist(), strict=True) if value}


# Two references, frames 0..9 and 20..29; the first is found half a second late, the second is missed, and one
# prediction at the end of the clip is spurious.
FOUND_LATE = pair(
    annotation(finding((0, 1), severity=5), finding((2, 3), dimension=None, severity=None)),
    annotation(finding((0.5, 1.5), severity=3), finding((9, 10), dimension="b", severity=1)),
    [0.8, 1.0],
    [0.4, 1.0],
)


def test_a_row_counts_the_events_and_adds_up_what_was_matched() -> None:
    assert counted(FOUND_LATE) == {
        "clips": 1,
        "references": 2,
        "predictions": 2,
        "matched": 1,
        "similarity": 0.8,
        "similarity_iou": pytest.approx(0.8 / 3),
        "references_overlapped": 1,
        "predictions_overlapped": 1,
        "similarity_overlapped": 0.8,
        "references_timed": 2,
        "predictions_timed": 2,
        "matched_timed": 1,
        "iou": pytest.approx(1 / 3),
        "tiou_30": 1,
        "references_dimensioned": 1,
        "predictions_dimensioned": 2,
        "similarity_dimension": 0.8,
        "severity_pairs": 1,
        "references_severity": 5,
        "predictions_severity": 4,
        "references_graded": 1,
        "references_severe": 1,
        "severe_recovered": 1,
        "similarity_references_severity": pytest.approx(4.0),
        "similarity_predictions_severity": pytest.approx(2.4),
        "faulty": 1,
        "faulty_found": 1,
        "alarms": 1,
    }


def test_events_without_a_time_count_as_events_and_overlap_with_none() -> None:
    case = pair(annotation(finding()), annotation(finding()), [0.5])
    assert "matched" not in counted(case)
    alike = counted(case, Weighting("similarity"))
    assert (alike["matched"], alike["similarity"], alike["references"], alike["predictions"]) == (1, 0.5, 1, 1)
    assert not alike.keys() & {"matched_timed", "iou", "similarity_iou", "similarity_overlapped", "references_timed"}


@pytest.mark.parametrize(
    ("severities", "columns"),
    [
        ((3, 3), {"severity_pairs", "severity_exact", "severity_within1"}),
        ((3, 4), {"severity_pairs", "severity_within1"}),
        ((5, 3), {"severity_pairs"}),
        ((None, 3), set()),
        ((3, None), {"severity_pairs"}),
    ],
)
def test_severities_are_compared_where_the_reference_gives_one(
    severities: tuple[int | None, int | None], columns: set[str]
) -> None:
    one, other = (annotation(finding((0, 1), severity=severity)) for severity in severities)
    pairs = {"severity_pairs", "severity_exact", "severity_within1"}
    assert counted(pair(one, other)).keys() & pairs == columns


@pytest.mark.parametrize(("end", "reached"), [(3.0, 1), (2.9, 0)])
def test_an_iou_of_exactly_a_threshold_reaches_it(end: float, reached: int) -> None:
    case = pair(annotation(finding((0, 10))), annotation(finding((0, end))))
    assert counted(case).get("tiou_30", 0) == reached
    seconds = Pair(replace(case.reference, frame_times_s=None), case.prediction, case.similarity)
    assert counted(seconds).get("tiou_30", 0) == reached


def test_a_threshold_is_reached_although_seconds_are_not_exact_in_binary() -> None:
    reference = replace(annotation(finding((0.1, 0.4))), frame_times_s=None)
    case = pair(reference, annotation(finding((0.1, 0.19))))
    assert case.iou[0, 0] < 0.3
    assert counted(case)["tiou_30"] == 1


# Severe events are recovered by dimension and time; no judge is asked.


@pytest.mark.parametrize(
    ("prediction", "recovered"),
    [
        (finding((2.9, 9)), 1),
        (finding((2.9, 9), text="Something else.", severity=1), 1),
        (finding((3, 9)), 0),
        (finding((2, 3), dimension="b", secondary=("a",)), 0),
        (finding((2, 3), dimension=None), 0),
        (finding(), 0),
    ],
)
def test_a_severe_event_is_recovered_by_an_event_of_its_dimension_that_shares_time_with_it(
    prediction: AnnotatedEvent, recovered: int
) -> None:
    row = counted(pair(annotation(finding((2, 3), severity=4)), annotation(prediction), [0.0]))
    assert (row["references_severe"], row.get("severe_recovered", 0)) == (1, recovered)


def test_a_prediction_recovers_one_severe_event_at_most() -> None:
    two = annotation(finding((0, 1), severity=4), finding((0, 5), severity=5))
    assert counted(pair(two, annotation(finding((0, 9))), [0.0], [0.0]))["severe_recovered"] == 1
    # The first prediction could recover either event, the second only the longer one: both are recovered.
    both = annotation(finding((0, 5)), finding((4, 5)))
    assert counted(pair(two, both, [0.0, 0.0], [0.0, 0.0]))["severe_recovered"] == 2


def test_a_severe_event_without_a_time_is_left_out_and_one_without_a_dimension_is_recovered_by_its_time() -> None:
    timeless = counted(pair(annotation(finding(severity=5)), annotation(finding((0, 1)))))
    assert "references_severe" not in timeless
    unnamed = counted(pair(annotation(finding((0, 1), dimension=None, severity=5)), annotation(finding((0, 1)))))
    assert unnamed["severe_recovered"] == 1


def test_mild_and_ungraded_events_are_not_severe() -> None:
    row = counted(pair(annotation(finding((0, 1)), finding((0, 1), severity=None)), annotation(), [], []))
    assert "references_severe" not in row


# Clips without events, and predictions that say nothing.

CLEAN, FAULTY = annotation(), annotation(finding((0, 1), severity=2))


@pytest.mark.parametrize(
    ("prediction", "columns"),
    [
        (annotation(), {"clean_found"}),
        (annotation(finding((0, 1))), {"alarms"}),
        (annotation(status="partial"), set()),
        (annotation(status="unscored"), {"unscored"}),
        (None, {"unscored"}),
    ],
)
def test_a_clean_clip_is_found_clean_where_it_was_completed(
    prediction: ClipAnnotation | None, columns: set[str]
) -> None:
    found = counted(pair(CLEAN, prediction))
    assert found.keys() & {"clean_found", "alarms", "unscored", "faulty_found"} == columns
    assert found["clean"] == 1
    assert "faulty" not in found


@pytest.mark.parametrize(
    "prediction", [None, annotation(status="unscored"), annotation(finding((0, 1)), status="unscored")]
)
def test_a_missing_or_unscored_prediction_misses_every_reference(prediction: ClipAnnotation | None) -> None:
    assert counted(pair(FAULTY, prediction)) == {
        "clips": 1,
        "unscored": 1,
        "references": 1,
        "references_timed": 1,
        "references_dimensioned": 1,
        "references_severity": 2,
        "references_graded": 1,
        "faulty": 1,
    }


@pytest.mark.parametrize("status", ["partial", "unscored"])
def test_a_reference_that_is_not_finished_is_refused(status: str) -> None:
    with pytest.raises(ValueError, match=f"clip 7: an annotation that is {status} cannot be a reference"):
        tally(annotation(clip_id="clip 7", status=status), None, (), np.zeros((0, 0)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reference", "prediction", "found_clean"),
    [
        (annotation(), annotation(covered=["a"]), False),
        (annotation(), annotation(covered=["a"], partial=["b", "c"]), False),
        (annotation(), annotation(covered=DIMENSIONS), True),
        (annotation(covered=DIMENSIONS), annotation(covered=["a"]), False),
        (annotation(covered=["a"]), annotation(covered=["a"]), True),
        (annotation(covered=["a"]), annotation(covered=["b"]), False),
        (annotation(covered=["a"]), annotation(), True),
        (annotation(covered=[], partial=["a"]), annotation(), True),
        (annotation(covered=[], partial=["a"]), annotation(covered=[]), False),
    ],
)
def test_a_clip_is_clean_only_if_every_dimension_of_the_reference_is_covered(
    reference: ClipAnnotation, prediction: ClipAnnotation, found_clean: bool
) -> None:
    found = counted(pair(reference, prediction))
    assert (found["clean"], "clean_found" in found) == (1, found_clean)


# What the two sides looked for.

SEEN_BY_A = annotation(finding((0, 1), dimension="a"), covered=["a"])


@pytest.mark.parametrize(
    ("predicted", "can"),
    [
        (finding(dimension="a"), True),
        (finding(dimension="b"), False),
        (finding(dimension="b", secondary=("a",)), True),
        (finding(dimension=None), True),
    ],
)
def test_a_reference_judges_the_dimensions_its_author_looked_for(predicted: object, can: bool) -> None:
    assert judgeable(SEEN_BY_A, annotation(predicted)).tolist() == [can]  # type: ignore[arg-type]
    assert judgeable(annotation(), annotation(predicted)).tolist() == [True]  # type: ignore[arg-type]


def test_a_reference_judges_the_dimensions_of_its_events() -> None:
    assert judgeable(annotation(finding(dimension="b"), covered=["a"]), annotation(finding(dimension="b"))).all()


def test_an_empty_prediction_has_no_judgeable_event() -> None:
    assert (
        judgeable(SEEN_BY_A, None).shape == judgeable(SEEN_BY_A, annotation(finding(), status="unscored")).shape == (0,)
    )


def test_a_prediction_that_cannot_be_judged_is_counted_by_itself() -> None:
    case = pair(SEEN_BY_A, annotation(finding((0, 1), dimension="b"), finding((5, 6), dimension="a")))
    found = counted(case)
    assert (found["unjudgeable"], found["predictions"], found["predictions_timed"]) == (1, 1, 1)
    assert not found.keys() & {"matched", "references_overlapped", "predictions_overlapped"}


def test_a_clip_is_clean_and_no_alarm_where_nothing_that_can_be_judged_was_reported() -> None:
    found = counted(pair(annotation(covered=["a"]), annotation(finding((0, 1), dimension="b"))))
    assert found == {"clips": 1, "unjudgeable": 1, "clean": 1, "clean_found": 1}


def test_a_match_of_what_cannot_be_judged_is_refused() -> None:
    prediction = annotation(finding((0, 1), dimension="b"))
    with pytest.raises(ValueError, match="clip: an event that the reference cannot judge was matched"):
        tally(SEEN_BY_A, prediction, [Match(0, 0, 1.0, 1.0, 1.0)], np.ones((1, 1)))


def test_what_a_system_does_not_look_for_is_missed_and_counted() -> None:
    references = annotation(finding((0, 1), dimension="a"), finding((2, 3), dimension="b"))
    found = counted(pair(references, annotation(covered=["a"])))
    assert (found["references"], found["references_not_looked_for"]) == (2, 1)
    partly = annotation(covered=["a"], partial=["b"])
    assert "references_not_looked_for" not in counted(pair(references, partly))


# Order.


def test_the_order_of_the_events_leaves_no_trace_in_any_digit() -> None:
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1
    for order in permutations(range(3)):
        assert THREE_OF_ONE.reordered(order, (0, 1, 2)).row().tolist() == THREE_OF_ONE.row().tolist()
