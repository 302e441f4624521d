"""Windows that share their boundary frames."""

from itertools import pairwise

from making import make_clip, make_footage

from robogaze.core.time import Span
from robogaze.stages.glide.windows import cut, picture, samples_of


def test_a_window_of_two_seconds_ends_with_the_first_frame_of_the_next() -> None:
    first, second = cut(make_clip(4.0), 4, 8)
    assert (first.id, first.span, first.frames) == (0, Span(0, 2), (0, 4, 8, 12, 16, 20, 24, 28, 32))
    assert (second.id, second.span, second.frames) == (1, Span(2, 4), (32, 36, 40, 44, 48, 52, 56, 60, 63))


def test_the_last_window_ends_with_the_clip_and_takes_a_tail_of_up_to_two_frames() -> None:
    *_, last = cut(make_clip(4.25), 4, 8)
    assert (last.span, last.frames) == (Span(2, 4.25), (32, 36, 40, 44, 48, 52, 56, 60, 64, 67))
    *_, last = cut(make_clip(4.5), 4, 8)
    assert (last.span, last.frames) == (Span(4, 4.5), (64, 68, 71))


def test_windows_cover_the_clip_and_share_one_frame_with_the_next_at_any_rate() -> None:
    for seconds in (0.2, 1.0, 3.3, 7.9):
        for fps in (0.5, 3, 4, 7, 60):
            clip = make_clip(seconds)
            windows = cut(clip, fps, 8)
            edges = [edge for window in windows for edge in (window.span.start, window.span.end)]
            assert (edges[0], edges[-1]) == (0, clip.duration_s)
            assert edges[1:-1:2] == edges[2::2], "each begins where the one before it ends"
            for window, following in pairwise(windows):
                assert set(window.frames) & set(following.frames) == {following.frames[0]} == {window.frames[-1]}
            assert (samples_of(windows)[0], samples_of(windows)[-1]) == (0, clip.frame_count - 1)


def test_a_clip_of_uneven_frames_keeps_its_true_times() -> None:
    times = (0.0, 0.3, 0.5, 1.1, 1.6)
    clip = make_clip(frame_count=5, frame_times_s=times, duration_s=2.0, fps=2.5)
    assert [(window.span, window.frames) for window in cut(clip, 2, 2)] == [
        (Span(0, 2), (0, 2, 3, 4)),
    ]


def test_a_window_is_one_picture_with_every_frame_in_the_ledger() -> None:
    clip = make_clip(4.0)
    decoded = make_footage(clip)
    window = cut(clip, 4, 8)[1]
    assert picture(window, decoded).picture.frames == window.frames
    decoded.close()
