"""Clips: frame times and layouts of views."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import make_clip
from pydantic import ValidationError

from robogaze.core.clip import Clip, Layout
from robogaze.core.time import Span


def uneven(times_s: Sequence[float] = (0.0, 0.4, 0.5, 2.0), duration_s: float = 3.0) -> Clip:
    return make_clip(frame_count=len(times_s), frame_times_s=tuple(times_s), duration_s=duration_s)


# Times.


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"frame_count": 5}, "frame_count is 5 but there are 4 frame times"),
        ({"frame_times_s": (0.0, 0.5, 0.4, 2.0)}, "must ascend"),
        ({"frame_times_s": (0.0, 0.5, 0.5, 2.0)}, "must ascend"),
        ({"frame_times_s": (0.1, 0.4, 0.5, 2.0)}, "must start at 0"),
        ({"duration_s": 2.0}, "duration_s must be after the last frame"),
        ({"duration_s": float("nan")}, "duration_s"),
        ({"frame_count": 0, "frame_times_s": ()}, "frame_count"),
        ({"fps": 0.0}, "fps"),
        ({"width": 0}, "width"),
        ({"sha256": "abc"}, "sha256"),
        ({"start_s": 1.0}, "only one of start_s and end_s is given"),
        ({"start_s": 2.0, "end_s": 2.0}, "end_s must be after start_s"),
        ({"size": 5}, "size"),
    ],
)
def test_inconsistent_clip_is_refused(changes: dict[str, object], fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        uneven().with_(**changes)


def test_clip_without_start_and_end_is_a_whole_file() -> None:
    fields = make_clip().model_dump(exclude={"start_s", "end_s", "prompt_id"})
    assert Clip(**fields) == make_clip()
    assert make_clip().address == "clip.mp4"
    assert make_clip(start_s=2.0, end_s=6.0).address == "clip.mp4#t=2.0,6.0"


@pytest.mark.parametrize("name", ["", "a\nb", "tab\there", "nul\0", "x" * 201])
def test_id_has_1_to_200_characters_and_no_control_characters(name: str) -> None:
    with pytest.raises(ValidationError, match="id"):
        make_clip(id=name)


@pytest.mark.parametrize("name", ["a", "run 3/clip.mp4", "tasse_à_café", "杯子", "x" * 200, "..", "%2E"])
def test_other_text_can_be_an_id(name: str) -> None:
    assert make_clip(id=name).id == name


@pytest.mark.parametrize(
    ("time_s", "frame"),
    [
        (0.0, 0),
        (0.39, 0),
        (0.4, 1),
        (0.45, 1),
        (0.5, 2),
        (1.99, 2),
        (2.0, 3),
        (2.9, 3),
        (-1.0, 0),  # before the clip: its first frame
        (99.0, 3),  # after it: its last
    ],
)
def test_frame_at_a_time(time_s: float, frame: int) -> None:
    assert uneven().frame_at(time_s) == frame


def test_frame_is_shown_until_the_next_frame_or_the_end() -> None:
    clip = uneven()
    assert [clip.frame_span(number) for number in range(4)] == [
        Span(0.0, 0.4),
        Span(0.4, 0.5),
        Span(0.5, 2.0),
        Span(2.0, 3.0),
    ]


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        (Span(0.1, 0.2), Span(0.1, 0.2)),  # inside: as it is
        (Span(-1.0, 0.2), Span(0.0, 0.2)),
        (Span(1.0, 9.0), Span(1.0, 3.0)),
        (Span(-5.0, 50.0), Span(0.0, 3.0)),
        (Span(-2.0, -1.0), Span(0.0, 0.4)),  # before the clip: its first frame
        (Span(4.0, 5.0), Span(2.0, 3.0)),  # after it: its last
    ],
)
def test_span_is_cut_to_the_clip(span: Span, expected: Span) -> None:
    assert uneven().clamp(span) == expected


@given(
    st.lists(st.floats(0.001, 2), min_size=1, max_size=30),
    st.floats(-5, 70, allow_nan=False),
    st.floats(0.001, 70, allow_nan=False),
)
def test_clamped_span_is_inside_the_clip_and_starts_in_a_frame(
    lengths: list[float], start: float, length: float
) -> None:
    edges = [0.0]
    for length in lengths:
        edges.append(edges[-1] + length)
    clip = uneven(edges[:-1], edges[-1])
    cut = clip.clamp(Span(start, start + length))
    assert 0 <= cut.start < cut.end <= clip.duration_s
    assert 0 <= clip.frame_at(cut.start) < clip.frame_count


def test_clip_round_trips_through_json() -> None:
    clip = make_clip(instruction='Say "hi"\u2028 — \U0001f916', layout=Layout.parse("1x2:left,right"))
    written = clip.model_dump_json()
    assert Clip.model_validate_json(written) == clip
    assert Clip.model_validate_json(written).model_dump_json() == written


# Layouts.


def test_single_is_one_view() -> None:
    assert Layout.parse("single") == Layout()
    assert Layout().active == ("main",)


def test_grid_is_read_row_by_row_and_a_dash_is_an_empty_panel() -> None:
    layout = Layout.parse("2x2:left,right,wrist,-")
    assert (layout.rows, layout.columns) == (2, 2)
    assert layout.views == ("left", "right", "wrist", None)
    assert layout.active == ("left", "right", "wrist")


def test_spaces_around_names_are_removed() -> None:
    assert Layout.parse("1x3:left, -, the right hand").active == ("left", "the right hand")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "a layout is 'single' or"),
        ("grid", "a layout is 'single' or"),
        ("2x2", "a layout is 'single' or"),
        ("2x2:", "a layout is 'single' or"),
        ("x2:a,b", "a layout is 'single' or"),
        ("-1x2:a,b", "a layout is 'single' or"),
        ("2x2:a,b,c", "has 4 panels, not 3"),
        ("1x2:a,a", "different names"),
        ("1x2:-,-", "at least one view"),
        ("0x2:a", "at least one row and column"),
        ("1x2:a,", "needs a name"),
    ],
)
def test_invalid_layout_is_refused(text: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        Layout.parse(text)
