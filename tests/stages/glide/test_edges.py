"""Edges between frames that show something and frames that do not."""

from making import make_clip

from robogaze.core.time import Span
from robogaze.stages.glide.edges import edge_frames, span_of, spans_of

CLIP = make_clip(4.0)
SAMPLES = tuple(range(0, 64, 4))


def test_edge_between_neighbouring_frames_is_exact() -> None:
    assert span_of(8, 11, range(64), CLIP) == Span(8 / 16, 12 / 16)


def test_edge_between_samples_is_in_the_middle_of_what_is_not_shown() -> None:
    #   shown    4   8   12   16
    #   visible  no  yes yes  no     starts between the end of 4 and 8, ends between the end of 12 and 16
    assert span_of(8, 12, SAMPLES, CLIP) == Span((5 + 8) / 2 / 16, (13 + 16) / 2 / 16)


def test_edge_that_nothing_shown_bounds_is_that_of_its_frame() -> None:
    assert span_of(0, 60, SAMPLES, CLIP) == Span(0, 61 / 16)


def test_ranges_that_touch_are_one_span() -> None:
    assert spans_of([(8, 9), (10, 12), (20, 21)], range(64), CLIP) == (Span(8 / 16, 13 / 16), Span(20 / 16, 22 / 16))


def test_frames_of_an_edge_are_all_between_two_samples() -> None:
    assert edge_frames(0.4, SAMPLES, CLIP) == (4, 5, 6, 7, 8)
    assert edge_frames(0.4, (0, 32), CLIP) == (0, 4, 8, 12, 16, 20, 24, 28, 32), "no more than nine"


def test_an_edge_of_the_clip_has_no_frames() -> None:
    assert edge_frames(0.0, SAMPLES, CLIP) == ()
    assert edge_frames(4.0, SAMPLES, CLIP) == ()
