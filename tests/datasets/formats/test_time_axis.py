"""Seconds and frames as spans."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.time import Span, frames_in
from robogaze.datasets.documents import FormatError
from robogaze.datasets.formats.base import ReadingContext, ReadLog
from robogaze.datasets.formats.time_axis import TimeAxis

START, END = ("start",), ("end",)
UNEVEN = (0.0, 0.1, 0.3, 0.4, 0.9)


def axis(**known: Any) -> TimeAxis:
    return TimeAxis(ReadLog().count, **known)


# Seconds.


def test_seconds_are_kept_as_written() -> None:
    assert axis().seconds(0, 12.3, START, END) == Span(0, 12.3)


@pytest.mark.parametrize(
    ("start", "end", "place", "why"),
    [
        (-0.1, 1.0, START, "-0.1 s is before the start of the clip"),
        (2.0, 1.0, END, "the span ends at 1 s, which is before its start at 2 s"),
        (4.0, 5.0, START, "4 s is after the end of the clip at 4 s; times must be in seconds"),
        (139.0, 150.0, START, "139 s is after the end of the clip at 4 s; times must be in seconds"),
    ],
)
def test_reversed_span_or_start_outside_the_clip_is_refused(
    start: float, end: float, place: tuple[str], why: str
) -> None:
    with pytest.raises(FormatError) as refused:
        axis(duration_s=4.0).seconds(start, end, START, END)
    assert (refused.value.place, refused.value.message) == (place, why)


def test_end_after_the_clip_is_kept_and_counted() -> None:
    log = ReadLog()
    known = TimeAxis(log.count, duration_s=8.69)
    assert known.seconds(1, 8.7, START, END) == Span(1, 8.7)
    known.seconds(1, 8.69, START, END)
    assert log.warnings == ("1 span with an end after the end of the clip (kept as written)",)


# One frame.


def test_empty_span_is_the_frame_shown_there() -> None:
    assert axis(times_s=UNEVEN, duration_s=1.0).seconds(0.3, 0.3, START, END) == Span(0.3, 0.4)
    assert axis(times_s=UNEVEN, duration_s=1.0).seconds(0.35, 0.35, START, END) == Span(0.3, 0.4)
    assert axis(times_s=UNEVEN, duration_s=1.0).seconds(0.95, 0.95, START, END) == Span(0.9, 1.0)


def test_empty_span_without_frame_times_uses_the_rate() -> None:
    log = ReadLog()
    known = TimeAxis(log.count, fps=4.0)
    assert known.seconds(12, 12, START, END) == Span(12, 12.25)
    assert known.frames(8, 8, START, END) == Span(2.0, 2.25)
    assert log.warnings == (
        "1 span of zero length (read as one frame)",
        "1 span with the same first and end frame (read as this one frame)",
    )


def test_empty_span_without_a_rate_is_refused() -> None:
    with pytest.raises(
        FormatError, match="means one frame, but the clip's frame rate is not known; give it with --fps"
    ):
        axis().seconds(12, 12, START, END)


# Frames.


def test_frames_use_the_frame_times_of_the_clip() -> None:
    known = axis(times_s=UNEVEN, duration_s=1.0, fps=100.0)
    assert known.frames(1, 3, START, END) == Span(0.1, 0.4)
    assert known.frames(3, 5, START, END) == Span(0.4, 1.0)


@pytest.mark.parametrize(
    ("first", "end", "place", "why"),
    [
        (-1, 3, START, "there is no frame -1"),
        (3, 2, END, "the span starts with frame 3, but ends before frame 2"),
        (3, 6, END, "frame 6 is not in the clip, which has 5 frames"),
        (6, 7, START, "frame 6 is not in the clip, which has 5 frames"),
        (5, 5, END, "frame 6 is not in the clip, which has 5 frames"),
    ],
)
def test_reversed_or_missing_frames_are_refused(first: int, end: int, place: tuple[str], why: str) -> None:
    with pytest.raises(FormatError) as refused:
        axis(times_s=UNEVEN, duration_s=1.0).frames(first, end, START, END)
    assert (refused.value.place, refused.value.message) == (place, why)


def test_frames_without_a_rate_are_refused() -> None:
    with pytest.raises(
        FormatError,
        match="frame numbers must be converted to seconds, but the clip's frame rate is not known; give it with --fps",
    ):
        axis().frames(1, 2, START, END)


@given(
    st.floats(0.5, 240),
    st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1), st.integers(1, n))),
)
def test_span_of_frames_contains_exactly_these_frames(fps: float, chosen: tuple[int, int, int]) -> None:
    count, first, length = chosen
    end = min(first + length, count)
    known = ReadingContext("me", ReadLog()).time_axis("cup", fps, count)
    assert known.times_s is not None
    assert frames_in([known.frames(first, end, START, END)], known.times_s) == frozenset(range(first, end))


def test_span_below_float_resolution_is_refused() -> None:
    with pytest.raises(FormatError, match="a span must end after it starts"):
        axis(fps=16.0).seconds(1e17, 1e17, START, END)


# What is known of a clip.


def test_rate_and_frame_count_give_frame_times() -> None:
    known = ReadingContext("me", ReadLog()).time_axis("cup", 16.0, 64, 4.02)
    assert known.times_s is not None
    assert list(known.times_s) == [number / 16 for number in range(64)]
    assert known.duration_s == 4.02


def test_duration_that_contradicts_frames_and_rate_is_refused() -> None:
    with pytest.raises(FormatError, match="a duration of 4 s contradicts 64 frames at 30 fps"):
        ReadingContext("me", ReadLog()).time_axis("cup", 30.0, 64, 4.0)


def test_known_clip_times_are_used_if_a_record_has_none() -> None:
    reference = ClipAnnotation("cup", "me", "complete", (), frame_times_s=UNEVEN, duration_s=1.0)
    context = ReadingContext("me", ReadLog(), clips={"cup": reference}, fps=4.0)
    known = context.time_axis("cup", duration_s=0.5)
    assert (known.times_s, known.duration_s) == (UNEVEN, 1.0)
    other = context.time_axis("pot", duration_s=0.5)
    assert (other.times_s, other.duration_s, other.fps) == (None, 0.5, 4.0)


def test_a_clip_that_is_stated_to_last_a_frame_longer_has_no_other_rate() -> None:
    times_s = tuple(number / 16 for number in range(64))
    reference = ClipAnnotation("cup", "me", "complete", (), frame_times_s=times_s, duration_s=65 / 16)
    log = ReadLog()
    axis = ReadingContext("me", log, clips={"cup": reference}).time_axis("cup", 16.0)
    assert (axis.times_s, log.warnings) == (times_s, ())


def test_rate_of_a_record_that_contradicts_the_known_frames_is_used_and_counted() -> None:
    times_s = tuple(number / 16 for number in range(64))
    reference = ClipAnnotation("cup", "me", "complete", (), frame_times_s=times_s, duration_s=4.0)
    log = ReadLog()
    context = ReadingContext("me", log, clips={"cup": reference})
    assert context.time_axis("cup", 16.01).frames(16, 32, START, END) == Span(1.0, 2.0)
    assert log.warnings == ()
    other = context.time_axis("cup", 30.0)
    assert (other.times_s, other.duration_s) == (None, 4.0)
    assert other.frames(30, 60, START, END) == Span(1.0, 2.0)
    assert log.warnings == ("1 clip with another frame rate than in the compared files (the file's own is used)",)


def test_equal_frame_times_are_shared() -> None:
    context = ReadingContext("me", ReadLog())
    assert context.time_axis("cup", 16.0, 64).times_s is context.time_axis("pot", 16.0, 64).times_s
