"""Frames of every decoder: numbers, times, one size. The decoder here is made up."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from robogaze.errors import VideoError
from robogaze.media.decode import DECODERS, DecodedFrame, Frame, read_frames

Read = Callable[..., list[Frame]]


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Reads frames from a made-up decoder: pairs of a time and a duration."""
    path = tmp_path / "clip.mp4"
    path.write_bytes(b"never read")

    def frames(
        *shown: tuple[float, float],
        sizes: tuple[tuple[int, int], ...] = (),
        part: tuple[float | None, float | None] = (None, None),
    ) -> list[Frame]:
        def made_up(_: Path, start_s: float) -> Iterator[DecodedFrame]:
            for number, (time_s, duration_s) in enumerate(shown):
                width, height = sizes[number] if sizes else (6, 4)
                yield DecodedFrame(time_s, duration_s, (width, height), partial(np.zeros, (height, width, 3), np.uint8))

        module = ModuleType("made_up")
        module.read = made_up  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "made_up", module)
        monkeypatch.setitem(DECODERS.own, "made up", "made_up:read")
        return list(read_frames(path, "made up", *part))

    return frames


def test_frame_lasts_until_the_next_one(read: Read) -> None:
    frames = read((0.0, 0.5), (0.1, 0.5), (0.4, 0.2))
    assert [frame.number for frame in frames] == [0, 1, 2]
    assert [frame.time_s for frame in frames] == [0.0, 0.1, 0.4]
    assert [frame.duration_s for frame in frames] == [0.1, 0.3, 0.2]


def test_last_frame_without_a_duration_gets_the_mean(read: Read) -> None:
    assert read((0.0, 0.0), (0.1, 0.0), (0.4, 0.0))[-1].duration_s == 0.2


def test_single_frame_without_a_duration_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match="does not say how long its only frame is shown; re-encode it first"):
        read((0.0, 0.0))


@pytest.mark.parametrize("second_s", [0.0, -0.1, 0.0000001])
def test_frame_times_must_ascend(read: Read, second_s: float) -> None:
    with pytest.raises(VideoError, match="the time of frame 1 is not later than the time of frame 0"):
        read((0.0, 0.1), (second_s, 0.1), (0.2, 0.1))


def test_size_change_is_refused_with_both_sizes(read: Read) -> None:
    with pytest.raises(VideoError, match="changes its picture size from 6x4 to 4x6 at frame 1"):
        read((0.0, 0.1), (0.1, 0.1), sizes=((6, 4), (4, 6)))


def test_stream_without_a_frame_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match="has a video stream without a frame"):
        read()


# Parts.

TENTHS = [(number / 10, 0.1) for number in range(20)]


def numbers(frames: list[Frame]) -> list[int]:
    """Which frames of TENTHS these are."""
    return [round(frame.file_s * 10) for frame in frames]


def test_part_is_numbered_and_timed_from_its_first_frame(read: Read) -> None:
    frames = read(*TENTHS, part=(0.5, 0.8))
    assert [frame.number for frame in frames] == [0, 1, 2]
    assert [frame.time_s for frame in frames] == [0.0, 0.1, 0.2]
    assert [frame.file_s for frame in frames] == [0.5, 0.6, 0.7]
    assert [frame.duration_s for frame in frames] == [0.1, 0.1, 0.1]


@pytest.mark.parametrize(
    ("part", "first", "end"),
    [((None, 0.3), 0, 3), ((1.8, None), 18, 20), ((0.0, 2.0), 0, 20), ((0.5, 0.6), 5, 6), ((0.0, None), 0, 20)],
)
def test_part_is_half_open_and_either_end_is_optional(
    read: Read, part: tuple[float | None, float | None], first: int, end: int
) -> None:
    assert numbers(read(*TENTHS, part=part)) == list(range(first, end))


@pytest.mark.parametrize("off_s", [-0.049, -1e-6, 1e-6, 0.049])
def test_border_within_half_a_frame_moves_no_frame(read: Read, off_s: float) -> None:
    assert numbers(read(*TENTHS, part=(0.5 + off_s, 0.8 + off_s))) == [5, 6, 7]


@pytest.mark.parametrize("border_s", [0.5, 0.53, 0.55, 0.57, 1 / 3, 0.6500001])
def test_each_frame_is_in_exactly_one_of_two_adjacent_parts(read: Read, border_s: float) -> None:
    before, after = (numbers(read(*TENTHS, part=part)) for part in ((None, border_s), (border_s, None)))
    assert before + after == list(range(20))


def test_frames_before_the_part_are_dropped(read: Read) -> None:
    assert read(*TENTHS[3:], part=(0.5, 0.8))[0].time_s == 0.0
    assert numbers(read(*TENTHS[3:], part=(0.5, 0.8))) == [5, 6, 7]


@pytest.mark.parametrize("part", [(1.5, 2.11), (2.5, 3.0)])
def test_part_beyond_the_end_of_the_file_is_refused(read: Read, part: tuple[float, float]) -> None:
    with pytest.raises(VideoError, match=r"ends at 2\.000 s, but the part to read is from .* to .* s"):
        read(*TENTHS, part=part)


def test_part_without_a_frame_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match=r"shows no frame in the part from 0\.51 to 0\.54 s"):
        read(*TENTHS, part=(0.51, 0.54))


def test_part_that_starts_after_the_end_is_refused(read: Read) -> None:
    with pytest.raises(VideoError, match=r"shows no frame in the part from 2\.0 to the end"):
        read(*TENTHS, part=(2.0, None))


def test_nothing_is_decoded_after_the_part(read: Read) -> None:
    """Two more frames are decoded: the next frame says how long a frame is shown."""
    sizes = tuple((6, 4) if number < 10 else (4, 6) for number in range(20))
    assert numbers(read(*TENTHS, sizes=sizes, part=(0.5, 0.8))) == [5, 6, 7]
    with pytest.raises(VideoError, match=r"from 6x4 to 4x6 at the frame at 1\.000 s"):
        read(*TENTHS[3:], sizes=sizes[3:], part=(0.5, 1.2))


def test_installed_package_adds_a_decoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "grey_decoder.py").write_text(
        "import numpy as np\nfrom robogaze.media.decode import DecodedFrame\n\n"
        "def read(path, start_s):\n"
        "    yield DecodedFrame(0.0, 0.5, (6, 4), lambda: np.full((4, 6, 3), 128, dtype=np.uint8))\n"
    )
    metadata = tmp_path / "grey_decoder-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: grey-decoder\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[robogaze.decoders]\ngrey = grey_decoder:read\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "clip.mp4").write_bytes(b"never read")
    assert DECODERS.names() == ("pyav", "decord", "grey")
    (frame,) = read_frames(tmp_path / "clip.mp4", "grey")
    assert (frame.duration_s, int(frame.image.max())) == (0.5, 128)
