"""Errors explained: of which kind each is, and what the kind costs.

In the pictures a row is a side, a letter an event and its extent in seconds, one character each.
"""

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from metrics.cases import FRAMES, Matrix, Pair, annotation, corpus, finding, pair
from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.matching import Match, Use, Weighting, iou_matrix, match_events
from robogaze.metrics.errors import ERROR_KINDS, ErrorAnalysis, EventError, analyse_errors
from robogaze.metrics.scores import METRICS, micro
from robogaze.metrics.tally import COLUMNS, judgeable


def explained(case: Pair, use: Use = "similarity*iou*bonus") -> ErrorAnalysis:
    def rescore(
        references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent], similarity: Matrix
    ) -> tuple[tuple[Match, ...], Matrix]:
        iou = iou_matrix(references, predictions, FRAMES)
        return match_events(references, predictions, similarity, iou, Weighting(use)), iou

    similarity = (
        np.where(judgeable(case.reference, case.prediction), case.similarity, 0.0)
        if case.prediction
        else case.similarity
    )
    return analyse_errors(case.reference, case.prediction, similarity, rescore)


def gained(case: Pair, metric: str = "desc_f1", use: Use = "similarity*iou*bonus") -> dict[str, float]:
    """What each kind costs, besides nothing."""
    before = micro(case.row(Weighting(use)))
    gain = (micro(explained(case, use).rows) - before)[:, list(METRICS).index(metric)]
    return {kind: value for kind, value in zip(ERROR_KINDS, gain.tolist(), strict=True) if abs(value) > 1e-12}


A, A_LATE, B = finding((0, 4)), finding((5, 9)), finding((0, 4), dimension="b")


# Of which kind an error is, and what it costs.


def test_a_perfect_prediction_has_no_errors() -> None:
    case = pair(annotation(A), annotation(A))
    assert explained(case).errors == ()
    assert gained(case) == {}


def test_a_clip_without_events_on_either_side_has_no_errors() -> None:
    assert explained(pair(annotation(), annotation())).errors == ()


def test_an_event_without_a_prediction_is_missed() -> None:
    #  reference   aaaa bbbb
    #  prediction  aaaa
    case = pair(annotation(A, A_LATE), annotation(A), [1.0], [0.0])
    assert explained(case).errors == (EventError("missed", reference=1),)
    assert gained(case) == {"missed": pytest.approx(1 - 2 / 3)}


def test_a_prediction_of_no_reference_is_spurious() -> None:
    case = pair(annotation(A), annotation(A, A_LATE), [1.0, 0.0])
    assert explained(case).errors == (EventError("spurious", prediction=1),)
    assert gained(case) == {"spurious": pytest.approx(1 - 2 / 3)}


def test_the_same_event_at_another_time_has_the_wrong_span() -> None:
    #  reference   aaaa
    #  prediction       aaaa
    case = pair(annotation(A), annotation(A_LATE))
    assert explained(case).errors == (EventError("span", 0, 0),)
    assert gained(case) == {"span": 1.0}


def test_a_matched_event_that_is_badly_placed_has_the_wrong_span() -> None:
    #  reference   aaaa
    #  prediction     aaaa
    case = pair(annotation(A), annotation(finding((3, 7))))
    assert explained(case).errors == (EventError("span", 0, 0),)
    assert gained(case) == {}  # S is full already
    assert gained(case, "f1_iou") == {"span": pytest.approx(1 - 1 / 7)}


def test_a_matched_event_of_another_dimension_costs_only_where_the_dimension_is_asked_for() -> None:
    case = pair(annotation(A), annotation(B))
    assert explained(case).errors == (EventError("dimension", 0, 0),)
    assert gained(case) == {}
    assert gained(case, "desc_f1_dimension") == {"dimension": 1.0}


def test_a_missing_dimension_is_no_error() -> None:
    for error, other in ((A, replace(A, dimension=None)), (replace(A, dimension=None), A)):
        assert explained(pair(annotation(error), annotation(other))).errors == ()


@pytest.mark.parametrize("similarity", [0.0, 0.4])
def test_a_well_placed_event_with_another_description_has_the_wrong_description(similarity: float) -> None:
    # Without any similarity the two are not matched, with a little they are: it is the same error.
    case = pair(annotation(A), annotation(A), [similarity])
    assert explained(case).errors == (EventError("description", 0, 0),)
    assert gained(case) == {"description": pytest.approx(1 - similarity)}


def test_of_several_errors_in_one_pair_the_description_is_named_first_and_the_dimension_last() -> None:
    far = finding((3, 7), dimension="b")
    assert explained(pair(annotation(A), annotation(far), [0.4])).errors == (EventError("description", 0, 0),)
    assert explained(pair(annotation(A), annotation(far), [0.6])).errors == (EventError("span", 0, 0),)


def test_what_a_good_match_lacks_to_1_is_lost_to_no_error() -> None:
    case = pair(annotation(A), annotation(finding((0, 3))), [0.6])
    assert explained(case).errors == ()
    assert gained(case) == gained(case, "f1_iou") == {}


def test_an_event_predicted_twice_is_a_duplicate() -> None:
    #  reference   aaaa
    #  prediction  aaaa
    #              aaa
    case = pair(annotation(A), annotation(A, finding((0, 3))))
    assert explained(case).errors == (EventError("duplicate", 0, 1),)
    assert gained(case) == {"duplicate": pytest.approx(1 - 2 / 3)}


def test_an_event_predicted_in_parts_is_split() -> None:
    #  reference   aaaa
    #  prediction  aaa
    #                 a
    case = pair(annotation(A), annotation(finding((0, 3)), finding((3, 4))))
    assert explained(case).errors == (EventError("split", 0, 1),)
    assert gained(case) == {"split": pytest.approx(1 - 2 / 3)}
    assert gained(case, "f1_iou") == {"split": pytest.approx(1 - 2 * 0.75 / 3)}


def test_all_parts_of_a_split_event_are_joined() -> None:
    case = pair(annotation(A), annotation(finding((0, 2)), finding((2, 3)), finding((3, 4))))
    assert explained(case).errors == (EventError("split", 0, 1), EventError("split", 0, 2))
    assert gained(case, "f1_iou") == {"split": pytest.approx(1 - 2 * 0.5 / 4)}


@pytest.mark.parametrize(("start", "kind"), [(5.0, "duplicate"), (5.1, "split")])
def test_two_predictions_of_one_event_are_duplicates_if_they_share_half_of_the_shorter(start: float, kind: str) -> None:
    #  reference   aaaaaaaaa
    #  prediction  aaaaaa
    #                   aa
    case = pair(annotation(finding((0, 9))), annotation(finding((0, 6)), finding((start, start + 2))))
    assert [error.kind for error in explained(case).errors] == [kind]


def test_one_prediction_for_two_events_has_merged_them() -> None:
    #  reference   aaaa
    #                   bbbb
    #  prediction  ccccccccc
    whole = finding((0, 9))
    case = pair(annotation(A, A_LATE), annotation(whole), [0.6], [0.8])
    assert explained(case).errors == (EventError("span", 1, 0), EventError("merged", 0, 0))
    assert gained(case)["merged"] == pytest.approx(2 * 1.4 / 4 - 2 * 0.8 / 3)
    assert gained(case, "f1_iou")["merged"] == pytest.approx(2 * 1.4 / 4 - 2 * 0.8 * 4 / 9 / 3)


def test_where_an_event_lies_is_asked_before_what_it_may_have_been_meant_for() -> None:
    # The second prediction lies with the first reference, and says what the second, missed, says too.
    case = pair(annotation(A, A_LATE), annotation(A, A), [1.0, 1.0], [0.9, 0.9])
    assert explained(case).errors == (EventError("duplicate", 0, 1), EventError("missed", reference=1))


def test_two_predictions_can_be_meant_for_one_event_and_only_one_is_matched_after_the_repair() -> None:
    case = pair(annotation(A), annotation(A_LATE, finding((6, 9))))
    assert explained(case).errors == (EventError("span", 0, 0), EventError("span", 0, 1))
    assert gained(case) == {"span": pytest.approx(2 / 3)}


def test_half_the_similarity_is_the_same_event_and_half_the_overlap_well_placed() -> None:
    half = finding((0, 2))
    assert explained(pair(annotation(A), annotation(half), [0.5])).errors == ()
    assert explained(pair(annotation(A), annotation(A_LATE), [0.5])).errors == (EventError("span", 0, 0),)
    assert explained(pair(annotation(A), annotation(half), [0.0])).errors == (EventError("description", 0, 0),)
    assert explained(pair(annotation(A), annotation(A, A), [1.0, 0.5])).errors == (EventError("duplicate", 0, 1),)


def test_the_copy_of_a_merged_event_is_for_that_event_only() -> None:
    # The last reference shares its time with the merged one, and the dimension with the prediction.
    references = annotation(A, replace(A_LATE, dimension="b"), A_LATE)
    case = pair(references, annotation(finding((0, 9))), [0.9], [0.5], [0.45])
    assert EventError("merged", 1, 0) in explained(case).errors
    assert gained(case)["merged"] == pytest.approx(2 * 1.4 / 5 - 2 * 0.9 / 4)


def test_an_event_without_a_time_is_matched_if_only_similarity_counts() -> None:
    timeless = finding()
    twice = pair(annotation(timeless), annotation(timeless, timeless))
    assert explained(twice, "similarity").errors == (EventError("duplicate", 0, 1),)
    both = pair(annotation(timeless, timeless), annotation(timeless))
    assert explained(both, "similarity").errors == (EventError("merged", 1, 0),)


@pytest.mark.parametrize("prediction", [None, annotation(A, status="unscored")])
def test_in_a_clip_without_a_scored_prediction_every_event_is_missed(prediction: ClipAnnotation | None) -> None:
    case = pair(annotation(A, A_LATE), prediction)
    assert explained(case).errors == (EventError("missed", 0), EventError("missed", 1))
    assert gained(case) == {"missed": 1.0}
    assert explained(case).rows[ERROR_KINDS.index("spurious")].tolist() == case.row().tolist()


def test_a_prediction_that_cannot_be_judged_is_no_error() -> None:
    case = pair(annotation(A, covered=["a"]), annotation(A, B), [1.0, 1.0])
    assert explained(case).errors == ()
    assert explained(case).rows[0, COLUMNS.index("unjudgeable")] == 1


def test_of_several_events_a_prediction_may_be_meant_for_the_most_similar_is_taken() -> None:
    case = pair(annotation(A_LATE, finding((7, 9))), annotation(A), [0.6], [0.7])
    assert explained(case).errors == (EventError("span", 1, 0), EventError("missed", 0))


# Under all of them.


@pytest.mark.parametrize("use", ["similarity*iou*bonus", "similarity"])
def test_every_unmatched_event_is_one_error_and_every_matched_pair_at_most_one(use: Use) -> None:
    for case in corpus(31, 300, tied=True):
        found = explained(case, use)
        matches = [] if case.prediction is None else case.matched(Weighting(use))
        references = {match.reference for match in matches}
        predictions = {match.prediction for match in matches}
        kept = judgeable(case.reference, case.prediction)
        spare = [
            error.prediction
            for error in found.errors
            if error.prediction is not None and error.prediction not in predictions
        ]
        assert sorted(spare) == [error for error in range(len(kept)) if kept[error] and error not in predictions]
        lone = {error.reference for error in found.errors if error.reference is not None} - references
        assert lone == set(range(len(case.reference.findings))) - references
        pairs = [error for error in found.errors if error.prediction in predictions and error.reference in references]
        assert len(pairs) == len({pair.prediction for pair in pairs})
        assert found.counts.sum() == len(found.errors)


def test_a_kind_that_does_not_occur_leaves_the_row_as_it_is_and_the_random_clips_hold_all_kinds() -> None:
    total = np.zeros(len(ERROR_KINDS))
    for case in corpus(32, 300, tied=True):
        found = explained(case)
        total += found.counts
        for row, count in zip(found.rows, found.counts, strict=True):
            assert count or row.tolist() == case.row().tolist()
    assert (total > 0).all()


def test_finding_what_was_missed_and_dropping_what_is_not_there_never_costs() -> None:
    for case in corpus(33, 300, tied=False):
        if not all(event.spans for event in case.reference.findings):
            continue
        gain = gained(case)
        assert all(gain.get(kind, 0) >= 0 for kind in ("missed", "spurious", "duplicate"))


def test_the_order_of_the_events_changes_no_cost() -> None:
    rng = Random(9)
    for case in corpus(34, 300, tied=True):
        again = explained(case.reordered(*(rng.sample(range(size), size) for size in case.similarity.shape)))
        assert again.counts.tolist() == explained(case).counts.tolist()
        assert again.rows.tolist() == explained(case).rows.tolist()
