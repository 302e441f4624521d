"""What holds for the frames of every reader: numbers, times, one size. The reader here is made up."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from robogaze.errors import VideoError
from robogaze.media.decode import DECODERS, DecodedFrame, Frame, read_frames

Read = Callable[..., list[Frame]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads what a made-up reader shows: pairs of a time and a duration."""
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"what stands here is never looked at")

    def frames(
        *shown: tuple[float, float],
        sizes: tuple[tuple[int, int], ...] = (),
        part: tuple[float | None, float | None] = (None, None),
    ) -> list[Frame]:
        def made_up(_: Path, start_s: float) -> Iterator[DecodedFrame]:
            for number, (time_s, duration_s) in enumerate(shown):
                height, width = sizes[number] if sizes else (4, 6)
                yield DecodedFrame(time_s, duration_s, np.zeros((height, width, 3), dtype=np.uint8))

        module = ModuleType("made_up")
        module.read = made_up  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "made_up", module)
        monkeypatch.setitem(DECODERS, "made up", "made_up")
        return list(read_frames(path, "made up", *part))

    return frames


def test_each_frame_lasts_until_the_next_whatever_it_says_itself(read: Read) -> None:
    frames = read((0.0, 0.5), (0.1, 0.5), (0.4, 0.2))
    assert [frame.number for frame in frames] == [0, 1, 2]
    assert [frame.time_s for frame in frames] == [0.0, 0.1, 0.4]
    assert [frame.duration_s for frame in frames] == [0.1, 0.3, 0.2]


def test_a_last_frame_without_a_duration_lasts_as_long_as_the_others_on_average(read: Read) -> None:
    assert read((0.0, 0.0), (0.1, 0.0), (0.4, 0.0))[-1].duration_s == 0.2


def test_an_only_frame_without_a_duration_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match="does not say how long its only frame is shown; re-encode it first"):
        read((0.0, 0.0))


@pytest.mark.parametrize("second_s", [0.0, -0.1, 0.0000001])
def test_a_frame_that_is_not_later_than_the_one_before_is_refused(read: Read, second_s: float) -> None:
    with pytest.raises(VideoError, match="shows frame 1 no later than frame 0"):
        read((0.0, 0.1), (second_s, 0.1), (0.2, 0.1))


def test_a_change_of_size_is_refused_with_both_sizes(read: Read) -> None:
    with pytest.raises(VideoError, match="changes its picture size from 6x4 to 4x6 at frame 1"):
        read((0.0, 0.1), (0.1, 0.1), sizes=((4, 6), (6, 4)))


def test_a_stream_without_a_frame_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match="has a video stream without a single frame"):
        read()


# Parts.

TENTHS = [(number / 10, 0.1) for number in range(20)]


def numbers(frames: list[Frame]) -> list[int]:
    """Which frames of TENTHS these are."""
    return [round(frame.file_s * 10) for frame in frames]


def test_a_part_has_numbers_and_times_of_its_own_and_tells_where_it_stands(read: Read) -> None:
    frames = read(*TENTHS, part=(0.5, 0.8))
    assert [frame.number for frame in frames] == [0, 1, 2]
    assert [frame.time_s for frame in frames] == [0.0, 0.1, 0.2]
    assert [frame.file_s for frame in frames] == [0.5, 0.6, 0.7]
    assert [frame.duration_s for frame in frames] == [0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    ("part", "first", "end"),
    [((None, 0.3), 0, 3), ((1.8, None), 18, 20), ((0.0, 2.0), 0, 20), ((0.5, 0.6), 5, 6), ((0.0, None), 0, 20)],
)
def test_a_part_is_half_open_and_may_leave_an_end_to_the_file(
    read: Read, part: tuple[float | None, float | None], first: int, end: int
) -> None:
    assert numbers(read(*TENTHS, part=part)) == list(range(first, end))


@pytest.mark.parametrize("off_s", [-0.049, -1e-6, 1e-6, 0.049])
def test_a_border_that_is_off_by_less_than_half_a_frame_moves_none(read: Read, off_s: float) -> None:
    assert numbers(read(*TENTHS, part=(0.5 + off_s, 0.8 + off_s))) == [5, 6, 7]


@pytest.mark.parametrize("border_s", [0.5, 0.53, 0.55, 0.57, 1 / 3, 0.6500001])
def test_each_frame_is_in_one_of_two_parts_that_adjoin(read: Read, border_s: float) -> None:
    before, after = (numbers(read(*TENTHS, part=part)) for part in ((None, border_s), (border_s, None)))
    assert before + after == list(range(20))


def test_a_reader_that_begins_with_a_key_frame_before_the_part_gives_the_same(read: Read) -> None:
    assert read(*TENTHS[3:], part=(0.5, 0.8))[0].time_s == 0.0
    assert numbers(read(*TENTHS[3:], part=(0.5, 0.8))) == [5, 6, 7]


@pytest.mark.parametrize("part", [(1.5, 2.11), (2.5, 3.0)])
def test_a_file_that_ends_before_the_part_does_is_refused(read: Read, part: tuple[float, float]) -> None:
    with pytest.raises(VideoError, match=r"ends at 2\.000 s, before the part from .* to .* s does"):
        read(*TENTHS, part=part)


def test_a_part_between_two_frames_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match=r"shows no frame in the part from 0\.51 to 0\.54 s"):
        read(*TENTHS, part=(0.51, 0.54))


def test_a_part_that_begins_behind_the_end_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match=r"shows no frame in the part from 2\.0 to the end"):
        read(*TENTHS, part=(2.0, None))


def test_what_lies_behind_a_part_is_not_read(read: Read) -> None:
    """Two frames more are, for it takes the next one to tell how long a frame is shown."""
    sizes = tuple((4, 6) if number < 10 else (6, 4) for number in range(20))
    assert numbers(read(*TENTHS, sizes=sizes, part=(0.5, 0.8))) == [5, 6, 7]
    with pytest.raises(VideoError, match=r"from 6x4 to 4x6 at the frame of 1\.000 s"):
        read(*TENTHS[3:], sizes=sizes[3:], part=(0.5, 1.2))
