"""Frame sampling: examples by hand, and properties."""

from itertools import pairwise
from typing import NamedTuple

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from robogaze.core.sampling import Regime, claim_parts, close_up, evenly, unseen_spans, windows
from robogaze.core.time import Span, frames_in

EVERY_FRAME = Regime()


class Clip(NamedTuple):
    """The times of a clip's frames, and when the last of them ends."""

    times_s: tuple[float, ...]
    duration_s: float

    def shown(self, number: int) -> Span:
        """When a frame is seen."""
        return Span(self.times_s[number], (*self.times_s[1:], self.duration_s)[number])


def steady(count: int, fps: float = 16) -> Clip:
    return Clip(tuple(number / fps for number in range(count)), count / fps)


@st.composite
def clips(draw: st.DrawFn) -> Clip:
    """Clips of any rate, also of a variable one."""
    times = [0.0]
    for step_ms in draw(st.lists(st.integers(1, 4000), min_size=1, max_size=100)):
        times.append(times[-1] + step_ms / 1000)
    return Clip(tuple(times[:-1]), times[-1])


counts = st.integers(1, 40)
rates = st.integers(1, 640).map(lambda number: number / 16)
regimes = st.builds(Regime, st.none() | rates, st.none() | counts)


def ascend(numbers: tuple[int, ...]) -> bool:
    return all(earlier < later for earlier, later in pairwise(numbers))


# Regimes.


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("every frame", tuple(range(33))),
        ("uniform 5", (0, 8, 16, 24, 32)),
        ("uniform 2", (0, 32)),
        ("uniform 1", (16,)),
        ("uniform 99", tuple(range(33))),
        ("4 fps", (0, 4, 8, 12, 16, 20, 24, 28, 32)),
        ("0.5 fps", (0, 32)),
        ("99 fps", tuple(range(33))),
        ("4 fps, at most 9", (0, 4, 8, 12, 16, 20, 24, 28, 32)),
        ("4 fps, at most 3", (0, 16, 32)),
    ],
)
def test_regime_on_a_clip_of_33_frames(text: str, shown: tuple[int, ...]) -> None:
    assert Regime.parse(text).frames(*steady(33)) == shown


def test_rate_need_not_include_the_last_frame() -> None:
    assert Regime.parse("1 fps").frames(*steady(40)) == (0, 16, 32)


def test_rate_on_a_clip_of_variable_rate_takes_the_nearest_frames() -> None:
    assert Regime.parse("2 fps").frames((0.0, 0.1, 0.55, 0.6, 1.3, 1.8), 2.0) == (0, 2, 4)


@pytest.mark.parametrize("text", ["", "uniform", "uniform 0", "uniform -1", "0 fps", "4fps", "4 fps at most 3", "all"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"a frame regime (must be 'uniform N', 'F fps'|shows at least one frame)"):
        Regime.parse(text)


def test_regime_is_text_in_json() -> None:
    adapter = TypeAdapter(Regime)
    assert adapter.validate_json('"4 fps, at most 32"') == Regime(4.0, 32)
    assert adapter.dump_json(Regime(4.0, 32)) == b'"4 fps, at most 32"'


@given(regimes)
def test_every_regime_round_trips_through_text(regime: Regime) -> None:
    assert Regime.parse(str(regime)) == regime


@given(regimes, clips())
def test_sampled_frames_ascend_and_keep_the_maximum(regime: Regime, clip: Clip) -> None:
    shown = regime.frames(*clip)
    assert ascend(shown)
    assert shown[0] >= 0
    assert shown[-1] < len(clip.times_s)
    assert len(shown) <= (regime.at_most or len(clip.times_s))


@given(st.integers(2, 40), clips())
def test_uniform_sample_has_full_size_and_both_ends(count: int, clip: Clip) -> None:
    shown = Regime(at_most=count).frames(*clip)
    assert len(shown) == min(count, len(clip.times_s))
    assert (shown[0], shown[-1]) == (0, len(clip.times_s) - 1)


@given(rates, clips())
def test_rate_starts_at_0_and_has_no_gaps_but_those_of_the_clip(rate: float, clip: Clip) -> None:
    shown = Regime(rate_fps=rate).frames(*clip)
    widest = max(clip.shown(number).length for number in range(len(clip.times_s)))
    times = [clip.times_s[number] for number in shown]
    assert times[0] == 0.0
    assert all(later - earlier <= 1 / rate + widest + 1e-9 for earlier, later in pairwise([*times, clip.duration_s]))


@given(st.lists(st.integers(0, 999), max_size=60, unique=True).map(sorted), st.integers(0, 40))
def test_evenly_selects_given_numbers_with_similar_gaps(numbers: list[int], count: int) -> None:
    chosen = evenly(numbers, count)
    assert len(chosen) == min(count, len(numbers))
    assert ascend(chosen)
    gaps = [later - earlier for earlier, later in pairwise(numbers.index(number) for number in chosen)]
    assert max(gaps, default=0) - min(gaps, default=0) <= 1


@pytest.mark.parametrize(
    ("text", "rate_fps", "shown"),
    [
        ("4 fps, at most 3", 2, 16),
        ("1 fps", 2, 8),
        ("uniform 2", 2, 8),
        ("uniform 40", 2, 40),
        ("every frame", 2, 64),
    ],
)
def test_a_regime_of_at_least_a_rate_has_no_maximum(text: str, rate_fps: float, shown: int) -> None:
    clip = steady(64)
    assert len(Regime.parse(text).at_least(rate_fps, clip.duration_s).frames(*clip)) == shown


# Stretches that are not shown.


@pytest.mark.parametrize(
    ("shown", "unseen"),
    [
        (range(64), []),
        (range(0, 64, 16), []),
        (range(0, 64, 32), [Span(1 / 16, 2.0), Span(33 / 16, 4.0)]),
        ([63], [Span(0.0, 63 / 16)]),
        ([], [Span(0.0, 4.0)]),
    ],
)
def test_a_stretch_of_over_a_second_without_a_shown_frame_is_unseen(shown: list[int], unseen: list[Span]) -> None:
    assert list(unseen_spans([Span(0, 4)], shown, *steady(64))) == unseen


def test_only_the_given_spans_need_to_be_seen() -> None:
    clip = steady(64)
    assert unseen_spans([Span(0, 1), Span(2, 4)], range(0, 16, 4), *clip) == (Span(2, 4),)
    assert unseen_spans([], [], *clip) == ()


@given(rates, clips())
def test_a_clip_shown_at_a_rate_above_one_has_no_unseen_stretch(rate: float, clip: Clip) -> None:
    assume(max(clip.shown(number).length for number in range(len(clip.times_s))) <= 0.5)
    shown = Regime(rate_fps=max(rate, 2)).frames(*clip)
    assert unseen_spans([Span(0, clip.duration_s)], shown, *clip) == ()


# Windows.


@pytest.mark.parametrize(("frames", "count"), [(139, 8), (93, 5), (277, 17), (33, 2), (32, 1), (16, 1), (1, 1)])
def test_number_of_the_papers_windows(frames: int, count: int) -> None:
    clip = steady(frames)
    cut = windows(*clip, 2.0, 1.0, EVERY_FRAME)
    assert [window.span.start for window in cut] == list(range(count))
    assert [window.span.end for window in cut] == [start + 2.0 for start in range(count - 1)] + [clip.duration_s]


def test_window_has_the_frames_of_the_rate_inside_it() -> None:
    cut = windows(*steady(139), 2.0, 1.0, Regime.parse("4 fps, at most 16"))
    assert cut[0].frames == (0, 4, 8, 12, 16, 20, 24, 28)
    assert cut[-1].frames == (112, 116, 120, 124, 128, 132, 136)


def test_window_in_which_no_frame_begins_has_the_frame_shown_then() -> None:
    cut = windows((0.0, 0.5, 9.5), 10.0, 2.0, 1.0, EVERY_FRAME)
    assert [window.frames for window in cut] == [(0, 1), *[(1,)] * 7, (2,)]


@pytest.mark.parametrize("stride_s", [0.0, -1.0, 2.5])
def test_stride_of_0_or_with_gaps_is_refused(stride_s: float) -> None:
    with pytest.raises(ValueError, match="does not fit windows of"):
        windows(*steady(99), 2.0, stride_s, EVERY_FRAME)


@given(clips(), st.integers(1, 100), st.integers(1, 100), regimes)
def test_windows_cover_the_clip_and_each_has_frames_shown_in_it(
    clip: Clip, length: int, stride: int, regime: Regime
) -> None:
    assume(stride <= length)
    cut = windows(*clip, length / 8, stride / 8, regime)
    assert [window.id for window in cut] == list(range(len(cut)))
    assert (cut[0].span.start, cut[-1].span.end) == (0.0, clip.duration_s)
    assert all(later.span.start <= earlier.span.end for earlier, later in pairwise(cut))
    assert all(window.span.length <= length / 8 + 1e-5 for window in cut)
    for window in cut:
        assert window.frames
        assert ascend(window.frames)
        assert all(clip.shown(number).overlap(window.span) > 0 for number in window.frames)


@given(clips(), st.integers(1, 100), st.integers(1, 100))
def test_every_frame_is_in_a_window(clip: Clip, length: int, stride: int) -> None:
    assume(stride <= length)
    cut = windows(*clip, length / 8, stride / 8, EVERY_FRAME)
    assert {number for window in cut for number in window.frames} == set(range(len(clip.times_s)))


# Close-ups.


def test_close_up_selects_frames_not_shown_yet() -> None:
    assert close_up([Span(1.0, 1.5)], steady(99).times_s, 16, besides=(16, 20)) == (17, 18, 19, 21, 22, 23)
    assert close_up([Span(1.0, 1.5)], steady(99).times_s, 2, besides=(16, 20)) == (17, 23)


spans = st.tuples(st.integers(0, 200), st.integers(1, 80)).map(lambda pair: Span(pair[0] / 8, (pair[0] + pair[1]) / 8))


@given(clips(), st.lists(spans, min_size=1, max_size=4), st.integers(0, 20), regimes)
def test_close_up_is_inside_its_spans_without_frames_already_shown(
    clip: Clip, marked: list[Span], count: int, regime: Regime
) -> None:
    besides = regime.frames(*clip)
    closer = close_up(marked, clip.times_s, count, besides)
    wanted = frames_in(marked, clip.times_s) - set(besides)
    assert ascend(closer)
    assert set(closer) <= wanted
    assert len(closer) == min(count, len(wanted))


# The frames of a claim.


def test_claim_frames_go_one_by_one_through_onset_and_offset() -> None:
    parts = claim_parts(Span(2, 4), steady(100, 10).times_s)
    assert parts == {
        0: "early",
        18: "before onset",
        19: "before onset",
        20: "onset",
        21: "onset",
        22: "onset",
        25: "middle",
        27: "middle",
        29: "middle",
        34: "middle",
        37: "end",
        38: "end",
        39: "end",
        40: "after the end",
        41: "after the end",
        99: "last frame",
    }


def test_claim_frames_of_a_span_to_the_end_have_more_of_its_middle() -> None:
    parts = claim_parts(Span(2, 10), steady(100, 10).times_s)
    assert [number for number, part in parts.items() if part == "middle"] == [30, 40, 50, 59, 69, 79, 89]
    assert [number for number, part in parts.items() if part == "onset"] == [20, 21, 22, 23]
    assert [number for number, part in parts.items() if part == "before onset"] == [17, 18, 19]
    assert "end" not in parts.values()
    assert parts[99] == "last frame"


def test_claim_of_one_frame_has_its_neighbours() -> None:
    frames = tuple(claim_parts(Span(1.0, 1.1), steady(40, 10).times_s, 6))
    assert frames == (0, 8, 9, 10, 11, 39)


def test_claim_between_two_frames_has_the_frame_shown_then() -> None:
    assert claim_parts(Span(1.02, 1.08), steady(40, 10).times_s)[10] == "onset"


@given(clips(), st.data(), st.integers(1, 20))
def test_claim_frames_ascend_and_are_as_many_as_asked(clip: Clip, data: st.DataObject, count: int) -> None:
    start = data.draw(st.floats(0, clip.duration_s * 0.99))
    end = data.draw(st.floats(start + 1e-3, clip.duration_s + 1))
    frames = tuple(claim_parts(Span(start, end), clip.times_s, count))
    assert ascend(frames)
    assert len(frames) == min(count, len(clip.times_s))
    assert set(frames) <= set(range(len(clip.times_s)))
