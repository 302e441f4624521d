"""The evaluator released with GLIDE, quirk by quirk; tests/scripts/test_released.py compares all of it."""

from collections.abc import Sequence

import numpy as np
import pytest

from robogaze.core.annotation import AnnotatedEvent
from robogaze.core.time import Span
from robogaze.metrics.released import ReleasedClip, ReleasedScores
from robogaze.metrics.released_glide import score

FPS = 30
TIMES = tuple(number / FPS for number in range(31))


def finding(*intervals: tuple[float, float]) -> AnnotatedEvent:
    """A finding with intervals in seconds; one that ends where it starts is a single frame."""
    return AnnotatedEvent("e", tuple(Span(start, max(end, start + 1 / FPS)) for start, end in intervals), "")


EVENT = finding((2, 6))


def video(
    references: Sequence[AnnotatedEvent],
    predictions: Sequence[AnnotatedEvent] | None,
    ratings: Sequence[Sequence[float]] = ((5,),),
    name: str = "video",
) -> ReleasedClip:
    similarity = np.array(ratings, dtype=np.float64).reshape(len(references), len(predictions or ())) / 5
    return ReleasedClip(name, references, predictions, similarity, TIMES)


def value(scores: ReleasedScores, name: str) -> float:
    return scores.metrics[name].value


# What is matched.


def test_a_perfect_prediction_scores_one_and_is_rated_five() -> None:
    figures = {name: figure.value for name, figure in score([video([EVENT], [EVENT])]).metrics.items()}
    assert figures.pop("mean_rating") == 5.0
    assert set(figures.values()) == {1.0}


def test_overlap_in_time_takes_no_part_in_matching() -> None:
    """The better rated pair is taken although it shares no time and the other is exact."""
    scores = score([video([EVENT], [finding((8, 9)), EVENT], [[4, 3]])])
    assert (value(scores, "mean_rating"), value(scores, "miou")) == (4.0, 0.0)


def test_a_pair_rated_0_is_matched_and_its_overlap_enters_the_mean() -> None:
    scores = score([video([EVENT, EVENT], [EVENT, finding((2, 4))], [[5, 0], [0, 0]])])
    assert value(scores, "miou") == 0.75
    assert scores.metrics["miou"].n == 2
    assert value(scores, "desc_f1") == 0.5


def test_between_equal_sums_the_assignment_of_whole_ratings_decides() -> None:
    """1 + 3 is 0 + 4, but not so in fifths."""
    long, short = finding((0, 4)), finding((0, 1))
    scores = score([video([long, short], [long, long], [[0, 3], [1, 4]])])
    assert value(scores, "f1_iou") == pytest.approx((3 + 1 / 4) / 10)


def test_recurring_events_are_compared_as_unions() -> None:
    scores = score([video([finding((4, 7), (14, 17))], [finding((4, 7), (15, 17))])])
    assert value(scores, "miou") == 5 / 6


@pytest.mark.parametrize(
    ("reference", "prediction", "overlap"),
    [
        (finding(), finding(), 1.0),
        (finding((3, 3)), finding((8, 8)), 1.0),
        (finding((3, 3)), finding(), 0.0),
        (finding(), EVENT, 0.0),
        (finding((3, 3)), EVENT, 0.0),
        (finding((2, 6), (9, 9)), EVENT, 1.0),
    ],
)
def test_findings_that_take_no_time_overlap_in_full(
    reference: AnnotatedEvent, prediction: AnnotatedEvent, overlap: float
) -> None:
    assert value(score([video([reference], [prediction])]), "miou") == overlap
    assert value(score([video([prediction], [reference])]), "miou") == overlap


def test_without_a_frame_rate_no_span_is_a_moment() -> None:
    apart = ReleasedClip("video", [finding((3, 3))], [finding((8, 8))], np.ones((1, 1)), ())
    assert value(score([apart]), "miou") == 0.0


def test_a_rating_beyond_the_scale_is_taken_as_it_is() -> None:
    assert value(score([video([EVENT], [EVENT], [[99]])]), "desc_precision") == pytest.approx(19.8)


# What counts.


def test_figures_are_over_all_findings_and_no_mean_over_videos() -> None:
    one = video([EVENT], [EVENT], name="a")
    other = video([EVENT], [EVENT, EVENT, EVENT], [[0, 0, 0]], name="b")
    scores = score([one, other])
    assert (value(scores, "desc_precision"), value(scores, "desc_recall")) == (0.25, 0.5)
    assert (scores.metrics["desc_precision"].n, scores.metrics["desc_recall"].n) == (4, 2)


def test_a_false_alarm_on_a_clean_video_costs_precision() -> None:
    scores = score([video([EVENT], [EVENT], name="a"), video([], [EVENT], (), name="b")])
    assert (value(scores, "desc_precision"), value(scores, "desc_recall")) == (0.5, 1.0)


def test_a_video_without_a_report_leaves_every_sum() -> None:
    scores = score([video([EVENT], [EVENT], name="a"), video([EVENT], None, (), name="b")])
    assert value(scores, "desc_recall") == 1.0
    assert scores.dropped == ("b",)


def test_a_video_with_an_empty_report_does_not() -> None:
    assert value(score([video([EVENT], [EVENT], name="a"), video([EVENT], [], (), name="b")]), "desc_recall") == 0.5


def test_of_two_videos_of_one_name_the_last_counts_alone() -> None:
    scores = score([video([EVENT], [EVENT], name="clip.mp4"), video([EVENT], [EVENT], [[1]], name="clip")])
    assert (value(scores, "desc_f1"), scores.metrics["desc_f1"].n) == (pytest.approx(0.2), 2)


def test_an_earlier_video_of_that_name_without_a_report_does_no_harm() -> None:
    scores = score([video([EVENT], None, (), name="clip"), video([EVENT], [EVENT], name="clip")])
    assert (value(scores, "desc_f1"), scores.dropped) == (1.0, ())


def test_a_later_one_without_a_report_is_refused() -> None:
    with pytest.raises(ValueError, match="clip: two videos have this name, and the second video has no prediction"):
        score([video([EVENT], [EVENT], name="clip"), video([EVENT], None, (), name="clip")])


def test_without_videos_every_figure_is_the_0_that_the_release_prints() -> None:
    figures = score([]).metrics.values()
    assert {figure.value for figure in figures} == {0.0}
    assert all(figure.n == 0 and figure.why for figure in figures)
