"""The evaluator released with RoboGaze, quirk by quirk; tests/scripts/test_released.py compares all of it."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.time import Span
from robogaze.metrics.released import ReleasedClip, ReleasedScores
from robogaze.metrics.released_robogaze import MEANS, score

FPS = 16
TIMES = tuple(round(number / FPS, 6) for number in range(160))
TAXONOMY = {"motion": ("jump", "float"), "picture": ("haze",)}


def finding(
    start: int, end: int, *, dimension: str | None = "motion", severity: int | None = 3, **said: Any
) -> AnnotatedEvent:
    """A finding that holds the frames from `start` up to, and not with, `end`; a single one when they are equal."""
    span = Span(start / FPS, max(end, start + 1) / FPS)
    return AnnotatedEvent("e", (span,), "", dimension=dimension, severity=severity, **said)


def sample(
    references: Sequence[AnnotatedEvent],
    predictions: Sequence[AnnotatedEvent] | None,
    similarity: Any = ((1.0,),),
    name: str = "clip",
) -> ReleasedClip:
    matrix = np.array(similarity, dtype=np.float64).reshape(len(references), len(predictions or ()))
    return ReleasedClip(name, references, predictions, matrix, TIMES)


def one(
    references: Sequence[AnnotatedEvent], predictions: Sequence[AnnotatedEvent], similarity: Any = ((1.0,),)
) -> ReleasedScores:
    return score([sample(references, predictions, similarity)], TAXONOMY)


def value(scores: ReleasedScores, name: str) -> float:
    return scores.metrics[name].value


EVENT = finding(0, 10)


# What is matched.


def test_a_perfect_prediction_scores_one() -> None:
    scores = one([EVENT], [EVENT])
    assert {name: value(scores, name) for name in MEANS} == dict.fromkeys(MEANS, 1.0)


def test_a_perfect_single_frame_event_scores_nothing_and_is_still_detected() -> None:
    scores = one([finding(5, 5)], [finding(5, 5)])
    assert {name: value(scores, name) for name in MEANS} == dict.fromkeys(MEANS, 0.0)
    assert value(scores, "detection_f1") == 1.0


def test_an_event_of_one_frame_equals_a_moment() -> None:
    """The release writes one as 5 to 6, the other as 5 to 5, and finds that the first has an overlap with itself."""
    assert finding(5, 6).spans == finding(5, 5).spans


def test_overlap_is_of_frames_with_an_exclusive_end() -> None:
    assert value(one([finding(0, 10)], [finding(5, 15)]), "miou") == round(5 / 15, 4)


def test_a_time_is_that_of_the_nearest_frame() -> None:
    late = AnnotatedEvent("e", (Span(5.4 / FPS, 14.6 / FPS),), "")
    assert value(one([finding(5, 15)], [late]), "miou") == 1.0


def test_in_a_clip_of_one_frame_no_event_has_a_length() -> None:
    still = ReleasedClip("clip", [finding(0, 0)], [finding(0, 0)], np.ones((1, 1)), (0.0,))
    assert value(score([still], TAXONOMY), "desc_f1") == 0.0


def test_an_event_that_recurs_is_one_interval_from_its_first_start_to_its_last_end() -> None:
    twice = AnnotatedEvent("e", (Span(0.0, 2 / FPS), Span(9 / FPS, 10 / FPS)), "")
    assert value(one([twice], [finding(0, 10)]), "miou") == 1.0


def test_an_event_without_a_time_is_at_frame_0_and_overlaps_with_nothing() -> None:
    assert value(one([EVENT], [AnnotatedEvent("e", (), "", dimension="motion")]), "desc_f1") == 0.0


def test_an_event_between_two_frames_has_no_length() -> None:
    short = AnnotatedEvent("e", (Span(2.01, 2.02),), "")
    assert value(one([short], [finding(0, 100)]), "desc_f1") == 0.0


def test_any_overlap_gives_the_description_full_credit() -> None:
    scores = one([finding(0, 101)], [finding(100, 150)])
    assert value(scores, "desc_f1") == 1.0
    assert value(scores, "f1_iou") == round(1 / 150, 4)


def test_the_dimension_bonus_decides_between_pairs_and_enters_no_figure() -> None:
    """Of two references that overlap alike, the less similar one is taken for its dimension, at its own similarity."""
    references = [finding(0, 10, dimension="picture"), finding(0, 10, dimension="motion")]
    scores = score([sample(references, [EVENT], [[0.9], [0.8]])], TAXONOMY)
    assert value(scores, "desc_f1") == round(2 * 0.8 / 3, 4)
    assert scores.per_dimension["motion"].value == 0.8


def test_a_pair_without_similarity_is_not_matched() -> None:
    assert value(one([EVENT], [EVENT], [[0.0]]), "miou") == 0.0


# What counts.


def test_a_clip_without_a_prediction_leaves_every_figure() -> None:
    scores = score([sample([EVENT], [EVENT], name="seen"), sample([EVENT], None, (), name="lost")], TAXONOMY)
    assert value(scores, "desc_f1") == 1.0
    assert value(scores, "detection_recall") == 1.0
    assert scores.metrics["desc_f1"].n == 1
    assert scores.dropped == ("lost",)


def test_a_clip_on_which_nothing_was_reported_counts_as_zero() -> None:
    scores = score([sample([EVENT], [EVENT], name="a"), sample([EVENT], [], (), name="b")], TAXONOMY)
    assert {name: value(scores, name) for name in MEANS} == dict.fromkeys(MEANS, 0.5)
    assert value(scores, "detection_recall") == 0.5


def test_a_clip_with_no_match_pulls_down_the_means_of_place_and_severity() -> None:
    missed = sample([finding(0, 10)], [finding(20, 30)], name="missed")
    scores = score([sample([EVENT], [EVENT]), missed], TAXONOMY)
    assert (value(scores, "miou"), value(scores, "severity_within1")) == (0.5, 0.5)
    assert scores.metrics["miou"].n == 2


def test_a_false_alarm_on_a_clean_clip_costs_its_dimension_and_detection_but_no_mean_of_events() -> None:
    scores = score([sample([EVENT], [EVENT], name="a"), sample([], [EVENT], (), name="b")], TAXONOMY)
    assert value(scores, "desc_f1") == 1.0
    assert (scores.per_dimension["motion"].value, scores.per_dimension["motion"].n) == (0.5, 2)
    assert (value(scores, "detection_precision"), value(scores, "clean_accuracy")) == (0.5, 0.0)


def test_a_clean_clip_without_a_report_of_anything_is_right() -> None:
    scores = score([sample([], [], (), name="a"), sample([], [EVENT], (), name="b")], TAXONOMY)
    assert (value(scores, "clean_accuracy"), scores.metrics["clean_accuracy"].n) == (0.5, 2)


def test_a_match_across_dimensions_counts_for_the_clip_and_for_neither_dimension() -> None:
    scores = one([finding(0, 10, dimension="motion")], [finding(0, 10, dimension="picture")])
    assert value(scores, "desc_f1") == 1.0
    assert {name: row.value for name, row in scores.per_dimension.items()} == {"motion": 0.0, "picture": 0.0}


def test_a_dimension_that_no_one_names_has_nothing_to_average() -> None:
    row = one([EVENT], [EVENT]).per_dimension["picture"]
    assert (row.value, row.n, row.why) == (0.0, 0, "nothing to average; the released evaluator prints 0")


def test_a_type_gives_the_dimension_if_none_is_given() -> None:
    labelled, typed = finding(0, 10, dimension="picture"), finding(0, 10, dimension=None, type="haze")
    assert one([labelled], [typed]).per_dimension["picture"].value == 1.0


def test_a_given_dimension_comes_before_that_of_the_type() -> None:
    assert one([EVENT], [finding(0, 10, type="haze")]).per_dimension["motion"].value == 1.0


def test_unknown_types_are_a_dimension_of_their_own_in_matching_and_have_no_row() -> None:
    odd = finding(0, 10, dimension=None, type="smell")
    scores = one([odd], [odd])
    assert value(scores, "desc_f1") == 1.0
    assert [row.n for row in scores.per_dimension.values()] == [0, 0]


@pytest.mark.parametrize(
    ("reference", "prediction", "within"), [(3, 4, 1.0), (3, 5, 0.0), (1, None, 1.0), (2, None, 0.0)]
)
def test_a_missing_severity_is_0(reference: int, prediction: int | None, within: float) -> None:
    scores = one([finding(0, 10, severity=reference)], [finding(0, 10, severity=prediction)])
    assert value(scores, "severity_within1") == within


def test_severity_weighs_what_was_found_and_what_was_meant() -> None:
    """Of weight 5 + 1 the 5 is found; of weight 4 + 4 one 4 is meant rightly: 2 * (1/2 * 5/6) / (1/2 + 5/6)."""
    references = [finding(0, 10, severity=5), finding(50, 60, severity=1)]
    predictions = [finding(0, 10, severity=4), finding(80, 90, severity=4)]
    scores = one(references, predictions, [[1.0, 0.0], [0.0, 0.0]])
    assert value(scores, "severity_weighted_f1") == 0.625


def test_without_any_severity_the_weighted_figure_is_0() -> None:
    nothing = finding(0, 10, severity=None)
    assert value(one([nothing], [nothing]), "severity_weighted_f1") == 0.0


# How it is averaged.


def test_a_clip_is_rounded_to_four_digits_before_it_is_averaged() -> None:
    names = [("a", 0.00006), ("b", 0.00006), ("c", 0.0)]
    scores = score([sample([EVENT], [EVENT], [[similar]], name) for name, similar in names], TAXONOMY)
    assert value(scores, "desc_f1") == 0.0001  # and not 0.00004, which would be printed as 0


def test_two_figures_have_an_interval_and_no_other_has() -> None:
    clips = [sample([EVENT], [EVENT], [[similar / 10]], str(similar)) for similar in range(10)]
    scores = score(clips, TAXONOMY)
    bounded = {name for name, figure in scores.metrics.items() if not math.isnan(figure.low)}
    assert bounded == {"desc_f1", "f1_iou"}
    assert 0 < scores.metrics["desc_f1"].low < 0.45 < scores.metrics["desc_f1"].high < 0.9
    assert all(math.isnan(row.low) for row in scores.per_dimension.values())


def test_clips_are_taken_in_the_order_of_the_numbers_in_their_ids() -> None:
    scores = score([sample([EVENT], None, (), name=name) for name in ("b__2", "a__10", "a__9")], TAXONOMY)
    assert scores.dropped == ("a__9", "a__10", "b__2")


def test_without_clips_every_figure_is_the_0_that_the_release_prints() -> None:
    scores = score([], TAXONOMY)
    assert {figure.value for figure in (*scores.metrics.values(), *scores.per_dimension.values())} == {0.0}
    assert (scores.metrics["desc_f1"].low, scores.metrics["desc_f1"].high) == (0.0, 0.0)
    assert all(figure.n == 0 and figure.why for figure in scores.metrics.values())
