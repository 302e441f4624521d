"""What holds for the frames of every reader: numbers, times, one size. The reader here is made up."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from robogaze.errors import VideoError
from robogaze.media.decode import DECODERS, Frame, Shown, read_frames

Read = Callable[..., list[Frame]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads what a made-up reader shows: pairs of a time and a duration."""
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"what stands here is never looked at")

    def frames(*shown: tuple[float, float], sizes: tuple[tuple[int, int], ...] = ()) -> list[Frame]:
        def made_up(_: Path) -> Iterator[Shown]:
            for number, (time_s, duration_s) in enumerate(shown):
                height, width = sizes[number] if sizes else (4, 6)
                yield Shown(time_s, duration_s, np.zeros((height, width, 3), dtype=np.uint8))

        module = ModuleType("made_up")
        module.read = made_up  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "made_up", module)
        monkeypatch.setitem(DECODERS, "made up", "made_up")
        return list(read_frames(path, "made up"))

    return frames


def test_times_count_from_the_first_frame_and_each_lasts_until_the_next(read: Read) -> None:
    frames = read((7.0, 0.5), (7.1, 0.5), (7.4, 0.2))
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
