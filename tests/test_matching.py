"""Matching: how pairs are weighed, who is matched, and how the overlap of two events is measured."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from metrics.cases import FRAMES, Matrix, corpus, finding
from metrics.independent import assignments, iou_of

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.time import Span, iou
from robogaze.matching import Match, Use, Weighting, iou_matrix, match_events, match_pairs, same_dimension

USES: tuple[Use, ...] = ("similarity*iou*bonus", "similarity*iou", "similarity")


def matrix(*rows: list[float]) -> Matrix:
    return np.array(rows, dtype=np.float64)


def overlap(one: AnnotatedEvent, other: AnnotatedEvent, frame_times_s: tuple[float, ...] | None = FRAMES) -> float:
    return float(iou_matrix([one], [other], frame_times_s)[0, 0])


# What a pair weighs.


@pytest.mark.parametrize(
    ("use", "other_dimension", "one_dimension"),
    [("similarity*iou*bonus", 0.4, 0.5), ("similarity*iou", 0.4, 0.4), ("similarity", 0.8, 0.8)],
)
def test_a_pair_is_weighed_by_the_convention(use: Use, other_dimension: float, one_dimension: float) -> None:
    weights = Weighting(use).weights(matrix([0.8, 0.8]), matrix([0.5, 0.5]), np.array([[False, True]]))
    assert weights.tolist() == [[pytest.approx(other_dimension), pytest.approx(one_dimension)]]


def test_a_missing_dimension_is_not_shared() -> None:
    sides = [finding(dimension="a"), finding(dimension=None)]
    assert same_dimension(sides, sides).tolist() == [[True, False], [False, False]]


# Who is matched.


def test_the_sum_of_weights_decides_and_not_the_best_pair() -> None:
    # The best pair is 0.9, but 0.8 + 0.7 is more than 0.9 + 0.1.
    found = match_pairs(matrix([0.9, 0.8], [0.7, 0.1]), np.ones((2, 2)), np.zeros((2, 2), bool), Weighting())
    assert found == (Match(0, 1, 0.8, 1.0, 0.8), Match(1, 0, 0.7, 1.0, 0.7))


def test_a_shared_dimension_decides_who_is_matched_and_not_what_it_is_worth() -> None:
    similarity, iou, same = matrix([0.6, 0.5]), matrix([1.0, 1.0]), np.array([[False, True]])
    assert match_pairs(similarity, iou, same, Weighting()) == (Match(0, 1, 0.5, 1.0, 0.625),)
    assert match_pairs(similarity, iou, same, Weighting(dimension_bonus=0.1)) == (Match(0, 0, 0.6, 1.0, 0.6),)


@pytest.mark.parametrize("use", USES)
def test_a_pair_without_any_similarity_is_not_matched(use: Use) -> None:
    assert match_pairs(matrix([0.0]), matrix([1.0]), np.array([[True]]), Weighting(use)) == ()


@pytest.mark.parametrize("iou", [0.0, math.nan])
def test_events_that_share_no_time_are_matched_only_where_time_is_not_asked_for(iou: float) -> None:
    case = matrix([1.0]), matrix([iou]), np.array([[True]])
    assert (
        match_pairs(*case, Weighting("similarity*iou*bonus")) == match_pairs(*case, Weighting("similarity*iou")) == ()
    )
    (found,) = match_pairs(*case, Weighting("similarity"))
    assert found.weight == 1.0
    assert found.iou == pytest.approx(iou, nan_ok=True)


@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0)])
def test_nothing_is_matched_with_nothing(shape: tuple[int, int]) -> None:
    assert match_pairs(np.zeros(shape), np.zeros(shape), np.zeros(shape, bool), Weighting()) == ()
    findings = [finding((0, 1))] * max(shape)
    assert match_events(findings[: shape[0]], findings[: shape[1]], np.zeros(shape), np.zeros(shape), Weighting()) == ()


@pytest.mark.parametrize("similarity", [1.5, -0.1, math.nan])
def test_a_similarity_outside_0_to_1_is_refused(similarity: float) -> None:
    with pytest.raises(ValueError, match="choose a similarity for pairs without a judgement"):
        match_pairs(matrix([similarity]), matrix([1.0]), np.array([[True]]), Weighting())


values = st.sampled_from([0.0, 0.2, 0.5, 1.0]) | st.floats(0, 1)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Matrix, Matrix, Matrix, Weighting]:
    rows, columns = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    cells = st.lists(values, min_size=rows * columns, max_size=rows * columns)
    similarity, iou = (np.array(draw(cells)).reshape(rows, columns) for _ in range(2))
    same = np.array(draw(st.lists(st.booleans(), min_size=rows * columns, max_size=rows * columns)))
    weighting = Weighting(draw(st.sampled_from(USES)), draw(st.sampled_from([0.0, 0.1, 0.25, 0.5])))
    return similarity, iou, same.reshape(rows, columns), weighting


@given(cases())
def test_no_other_assignment_weighs_more(case: tuple[Matrix, Matrix, np.ndarray, Weighting]) -> None:
    similarity, iou, same, weighting = case

    def weight(row: int, column: int) -> float:
        bonus = 1 + weighting.dimension_bonus if same[row, column] else 1
        factors = {"similarity": 1.0, "similarity*iou": iou[row, column]}
        return float(similarity[row, column] * factors.get(weighting.use, iou[row, column] * bonus))

    found = match_pairs(similarity, iou, same, weighting)
    assert len({match.reference for match in found}) == len({match.prediction for match in found}) == len(found)
    for match in found:
        at = match.reference, match.prediction
        assert (match.similarity, match.iou) == (similarity[at], iou[at])
        assert match.weight == pytest.approx(weight(*at), abs=1e-12)
        assert match.weight > 0
    best = max(sum(weight(*pair) for pair in pairs) for pairs in assignments(*similarity.shape))
    assert sum(match.weight for match in found) == pytest.approx(best, abs=1e-9)


# Order.


def test_the_contents_decide_between_assignments_that_weigh_the_same() -> None:
    twins = [finding((0, 1), severity=2, name="1"), finding((0, 1), severity=5, name="2")]
    for references in (twins, twins[::-1]):
        (one,) = match_events(references, [finding((0, 1))], np.ones((2, 1)), np.ones((2, 1)), Weighting())
        assert references[one.reference].severity == 2


def test_equal_events_are_distinguished_by_their_similarities() -> None:
    references = [finding((0, 1), severity=severity) for severity in (1, 3, 5)]
    likely, unlikely = [1.0, 1.0, 1.0], [0.5, 0.5, 0.5]
    found = [
        match_events(references, [finding((0, 1))] * 2, matrix(*columns).T, np.ones((3, 2)), Weighting())
        for columns in ([likely, unlikely], [unlikely, likely])
    ]
    assert [match.similarity for match in found[0]] == [match.similarity for match in found[1]]


@pytest.mark.parametrize("use", USES)
def test_the_order_of_the_findings_and_their_ids_decide_nothing(use: Use) -> None:
    rng = Random(3)
    for case in corpus(5, 300, tied=True):
        references, predictions = case.reference.findings, case.predicted
        rows, columns = (
            rng.sample(range(len(references)), len(references)),
            rng.sample(range(len(predictions)), len(predictions)),
        )
        shuffled = [references[row] for row in rows], [predictions[column] for column in columns]
        order = np.ix_(rows, columns)
        found = match_events(references, predictions, case.similarity, case.iou, Weighting(use))
        again = match_events(*shuffled, case.similarity[order], case.iou[order], Weighting(use))
        assert said(found, references, predictions) == said(again, *shuffled)


def said(found: tuple[Match, ...], references: list[AnnotatedEvent], predictions: list[AnnotatedEvent]) -> list[str]:
    """What the matched events say, their ids apart, and how they were matched."""
    return sorted(
        str([(event.spans, event.description, event.dimension, event.type, event.severity) for event in events])
        + f"{pair.similarity} {pair.iou} {pair.weight}"
        for pair in found
        for events in [(references[pair.reference], predictions[pair.prediction])]
    )


def test_matches_come_in_the_order_of_the_references() -> None:
    references = [finding((5, 6)), finding((0, 1)), finding((2, 3))]
    found = match_events(
        references, references[::-1], np.ones((3, 3)), iou_matrix(references, references[::-1], FRAMES), Weighting()
    )
    assert [(match.reference, match.prediction) for match in found] == [(0, 2), (1, 1), (2, 0)]


# How overlap is measured.


def test_overlap_is_counted_in_frames() -> None:
    # Frames 0..9 and 5..14: five of fifteen.
    assert overlap(finding((0, 1)), finding((0.5, 1.5))) == 5 / 15


def test_overlap_on_frames_differs_from_exact_overlap_where_ends_fall_between_frames() -> None:
    one, other = finding((0.0, 0.25)), finding((0.0, 0.3))
    assert overlap(one, other) == 1.0  # frames 0, 1, 2 on both sides
    assert iou_matrix([one], [other], FRAMES, "exact")[0, 0] == pytest.approx(0.25 / 0.3)


@pytest.mark.parametrize("frames", [None, ()])
def test_overlap_is_exact_where_the_frames_are_not_known(frames: tuple[float, ...] | None) -> None:
    assert overlap(finding((0, 1)), finding((0.5, 1.25)), frames) == pytest.approx(0.5 / 1.25)


@pytest.mark.parametrize("number", [0, 1, 41, 99])
def test_a_perfect_single_frame_event_has_iou_1(number: int) -> None:
    event = finding((FRAMES[number], FRAMES[number] + 0.1))
    assert overlap(event, event) == 1.0
    assert overlap(event, finding((FRAMES[number], FRAMES[number] + 0.2))) == (1.0 if number == 99 else 0.5)


def test_a_recurring_event_overlaps_by_the_union_of_its_spans() -> None:
    # Frames 0..9 and 20..29 against 5..24: five and five shared, thirty in all.
    assert overlap(finding((0, 1), (2, 3)), finding((0.5, 2.5))) == 10 / 30


def test_an_event_shorter_than_a_frame_covers_the_frame_shown_at_its_start() -> None:
    blink = finding((0.42, 0.47))
    assert overlap(blink, blink) == 1.0
    assert overlap(blink, finding((0.4, 0.5))) == 1.0
    assert overlap(blink, finding((0.5, 0.6))) == 0.0


def test_a_frame_that_two_spans_of_an_event_stand_for_counts_once() -> None:
    flicker = finding((0.4, 0.43), (0.45, 0.47), (0.6, 0.7))
    assert overlap(flicker, finding((0.4, 0.5))) == 1 / 2  # frames 4 and 6
    assert overlap(finding((0.41, 0.43), (0.45, 0.47)), finding((0.4, 0.5))) == 1.0


def test_the_first_frame_stands_for_what_is_before_it_and_the_last_stays_as_long_as_the_one_before() -> None:
    late_start = tuple(time + 0.05 for time in FRAMES)
    assert overlap(finding((0.0, 0.04)), finding((0.05, 0.15)), late_start) == 1.0
    assert overlap(finding((9.95, 9.98)), finding((9.9, 10.0))) == 1.0


def test_an_event_after_the_end_of_its_clip_overlaps_with_nothing() -> None:
    after = finding((10.0, 11.0))
    assert overlap(after, finding((9.9, 10.0))) == 0.0
    assert overlap(after, after) == 0.0
    assert overlap(finding((9.0, 10.0), (12.0, 13.0)), finding((9.0, 10.0))) == 1.0


def test_the_only_frame_of_a_clip_stays() -> None:
    assert overlap(finding((3.0, 4.0)), finding((0.0, 1.0)), (0.0,)) == 1.0


def test_overlap_with_an_event_that_gives_no_time_is_undefined() -> None:
    for frames in (FRAMES, None):
        found = iou_matrix([finding(), finding((0, 1))], [finding((0, 1)), finding()], frames)
        assert np.isnan(found).tolist() == [[True, True], [False, True]]


def test_iou_has_a_row_for_each_reference_and_a_column_for_each_prediction() -> None:
    assert iou_matrix([finding((0, 1))] * 2, [finding((0, 1))] * 3, FRAMES).shape == (2, 3)
    assert iou_matrix([], [finding((0, 1))] * 3, FRAMES).shape == (0, 3)
    assert iou_matrix([finding((0, 1))] * 2, [], FRAMES).shape == (2, 0)


def test_overlap_on_frames_agrees_with_counting_them_one_by_one() -> None:
    for case in corpus(9, 300, tied=False):
        wanted = [[iou_of(event, other, FRAMES) for other in case.predicted] for event in case.reference.findings]
        assert case.iou == pytest.approx(np.array(wanted).reshape(case.iou.shape), abs=1e-12, nan_ok=True)


starts = st.floats(0, 9).map(lambda second: round(second, 3))


@given(st.lists(starts, min_size=1, max_size=3, unique=True), starts, st.floats(0.1, 5))
def test_exact_overlap_agrees_with_that_of_the_core(onsets: list[float], start: float, length: float) -> None:
    one = AnnotatedEvent("1", tuple(Span(onset, onset + 0.0005) for onset in sorted(onsets)), "")
    other = AnnotatedEvent("2", (Span(start, start + length),), "")
    assert overlap(one, other, None) == pytest.approx(iou(one.spans, other.spans), abs=1e-12)
    assert overlap(one, one, None) == 1.0
