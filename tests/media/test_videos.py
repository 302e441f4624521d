"""The contract of every decoder in DECODERS: all frames that a video shows, in order, upright, on time.

A decoder that cannot read a kind of video says so and names one that can; those cases are in REFUSES.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from robogaze.errors import InputError, MissingExtra, VideoError
from robogaze.media.decode import read_frames

from .videos import (
    FPS,
    begin_at_second_key_frame,
    begin_later,
    end_earlier,
    leave_pictures_open,
    number_in,
    with_cover,
    with_orientation_in_the_stream,
    write,
)

REORDERED = {"codec_options": {"bf": "3", "x264-params": "b-adapt=0:scenecut=0"}}
OPEN_GOP = {"codec_options": {"x264-params": "open-gop=1:keyint=8:bframes=3:scenecut=0"}}
SHORT_GOP = {"count": 48, "codec_options": {"g": "8"}}
FRAGMENTS = {"container_options": {"movflags": "frag_keyframe+empty_moov"}, "codec_options": {"g": "6"}}
IRREGULAR_S = (0.0, 0.05, 0.3, 0.31, 1.0, 1.7)
IRREGULAR = {"count": 6, "times_s": IRREGULAR_S}
LATE = {"times_s": tuple(2 + number / FPS for number in range(24))}


@dataclass(frozen=True)
class Video:
    """How a video is made, which frames it shows, and when (16 a second from 0 unless given otherwise)."""

    suffix: str = "mp4"
    made: dict[str, Any] = field(default_factory=dict)
    changed: Callable[[Path], Path] = lambda path: path
    shows: range = range(24)
    times_s: tuple[float, ...] | None = None

    def write(self, folder: Path) -> Path:
        return self.changed(write(folder / f"clip.{self.suffix}", **self.made))


def with_junk_at_the_end(path: Path) -> Path:
    path.write_bytes(path.read_bytes() + b"checksum: 1234")
    return path


VIDEOS = {
    "h264": Video(),
    "h264 in mkv": Video("mkv"),
    "h264 in mov": Video("mov"),
    "hevc": Video("mp4", {"codec": "libx265"}),
    "hevc in mkv": Video("mkv", {"codec": "libx265"}),
    "vp9": Video("webm", {"codec": "libvpx-vp9"}),
    "vp9 in mp4": Video("mp4", {"codec": "libvpx-vp9"}),
    "av1": Video("mp4", {"codec": "libsvtav1"}),
    "av1 in mkv": Video("mkv", {"codec": "libsvtav1"}),
    "b-frames": Video("mp4", REORDERED),
    "open gop": Video("mp4", OPEN_GOP),
    "cut at an open gop": Video("mp4", {"count": 32, **OPEN_GOP}, begin_at_second_key_frame, range(8, 32)),
    "10 bits": Video("mp4", {"pix_fmt": "yuv420p10le"}),
    "10 bits of hevc": Video("mp4", {"codec": "libx265", "pix_fmt": "yuv420p10le"}),
    "full range": Video("mp4", {"pix_fmt": "yuvj420p"}),
    "odd size": Video("mp4", {"pix_fmt": "yuv444p", "size": (97, 71)}),
    "rotated by 90": Video("mp4", {"rotation": 90}),
    "rotated by 180": Video("mp4", {"rotation": 180}),
    "rotated by 270": Video("mp4", {"rotation": 270}),
    "rotated in mkv": Video("mkv", {"rotation": 90}),
    "variable rate": Video("mp4", IRREGULAR, shows=range(6), times_s=IRREGULAR_S),
    "variable rate in mkv": Video("mkv", IRREGULAR, shows=range(6), times_s=IRREGULAR_S),
    "first time is 2 s": Video("mp4", LATE),
    "first time is 2 s in mkv": Video("mkv", LATE),
    "one frame": Video("mp4", {"count": 1}, shows=range(1)),
    "index before the pictures": Video("mp4", {"container_options": {"movflags": "faststart"}}),
    "fragments": Video("mp4", FRAGMENTS),
    "live recording": Video("mkv", {"container_options": {"live": "1"}}),
    "sound longer than the picture": Video("mp4", {"sound_s": 4.0}),
    "sound longer than the picture in mkv": Video("mkv", {"sound_s": 4.0}),
    "edit list begins at frame 20": Video("mp4", SHORT_GOP, begin_later, shows=range(20, 48)),
    "edit list ends before frame 16": Video("mp4", SHORT_GOP, end_earlier, shows=range(16)),
    "a cover beside the video": Video("mp4", changed=with_cover),
    "junk after the last box": Video("mp4", changed=with_junk_at_the_end),
    "pictures to the end of the file": Video(
        "mp4", {"container_options": {"movflags": "faststart"}}, leave_pictures_open
    ),
}

REFUSES = {
    ("decord", "av1"): "is AV1, which decord does not read",
    ("decord", "av1 in mkv"): "is AV1, which decord does not read",
    ("decord", "cut at an open gop"): "cannot be read by decord at frame 24",
    ("decord", "rotated in mkv"): "is rotated, which decord supports only in MP4 and MOV",
    ("decord", "live recording"): "cannot be read by decord",
}


@pytest.mark.parametrize("name", VIDEOS)
def test_frames_are_in_order_upright_and_on_time(name: str, decoder: str, tmp_path: Path) -> None:
    video = VIDEOS[name]
    path = video.write(tmp_path)
    if (decoder, name) in REFUSES:
        with pytest.raises(VideoError, match=rf"{REFUSES[decoder, name]}.*; use --decoder pyav"):
            list(read_frames(path, decoder))
        return
    frames = list(read_frames(path, decoder))
    width, height = video.made.get("size", (96, 72))
    assert [number_in(frame.image) for frame in frames] == list(video.shows)
    assert [frame.number for frame in frames] == list(range(len(video.shows)))
    assert {frame.image.shape for frame in frames} == {(height, width, 3)}
    times_s = video.times_s or [number / FPS for number in range(len(video.shows))]
    # Matroska keeps times to the millisecond.
    exact_s = 0.0011 if path.suffix in (".mkv", ".webm") else 1e-6
    assert [frame.time_s for frame in frames] == pytest.approx(times_s, abs=exact_s)
    assert frames[0].time_s == 0.0
    assert frames[-1].duration_s == pytest.approx(1 / FPS, abs=exact_s)


PARTS = {
    "h264": Video(),
    "key frames": Video("mp4", SHORT_GOP, shows=range(48)),
    "key frames in mkv": Video("mkv", SHORT_GOP, shows=range(48)),
    "av1": Video("mp4", {"codec": "libsvtav1", "codec_options": {"g": "4"}}),
    "av1 in mkv": Video("mkv", {"codec": "libsvtav1", "codec_options": {"g": "4"}}),
    "open gop": Video("mp4", OPEN_GOP),
    "cut at an open gop": Video("mp4", {"count": 32, **OPEN_GOP}, begin_at_second_key_frame, range(8, 32)),
    "fragments": Video("mp4", FRAGMENTS),
    "live recording": Video("mkv", {"container_options": {"live": "1"}}),
    "variable rate": Video("mp4", IRREGULAR, shows=range(6)),
    "first time is 2 s in mkv": Video("mkv", LATE),
    "edit list begins at frame 20": Video("mp4", SHORT_GOP, begin_later, shows=range(20, 48)),
    "edit list ends before frame 16": Video("mp4", SHORT_GOP, end_earlier, shows=range(16)),
}


@pytest.mark.parametrize("name", PARTS)
def test_part_has_exactly_its_frames_of_the_whole(name: str, decoder: str, tmp_path: Path) -> None:
    if (decoder, name) in REFUSES:
        pytest.skip(f"{decoder} does not read it")
    path = PARTS[name].write(tmp_path)
    whole = list(read_frames(path, decoder))
    ends_s = [*(frame.file_s for frame in whole), whole[-1].file_s + whole[-1].duration_s]
    places = sorted({0, 1, 3, 4, 5, 7, 8, 9, 15, len(whole) - 1, len(whole)})
    for first, end in pairwise(place for place in places if place <= len(whole)):
        part = list(read_frames(path, decoder, ends_s[first], ends_s[end]))
        assert [number_in(frame.image) for frame in part] == list(PARTS[name].shows)[first:end]
        assert [frame.file_s for frame in part] == ends_s[first:end]
        assert all(
            np.array_equal(frame.image, other.image) for frame, other in zip(part, whole[first:end], strict=True)
        )


@pytest.mark.parametrize("name", ["h264", "key frames in mkv"])
@pytest.mark.parametrize("part", [(100.0, None), (100.0, 101.0), (0.0, 100.0)])
def test_part_outside_the_file_is_refused(
    name: str, part: tuple[float, float | None], decoder: str, tmp_path: Path
) -> None:
    with pytest.raises(VideoError, match=r"in the part |the part to read is from "):
        list(read_frames(PARTS[name].write(tmp_path), decoder, *part))


def test_only_the_part_is_decoded(tmp_path: Path) -> None:
    """Damage outside the part is not noticed."""
    path = write(tmp_path / "clip.mp4", **SHORT_GOP)
    assert len(list(read_frames(path, start_s=1.0, end_s=1.5))) == 8
    with av.open(str(path)) as container:
        places = {packet.pts * packet.time_base: packet.pos for packet in container.demux(video=0) if packet.size}
    data = bytearray(path.read_bytes())
    for frame in (4, 40):
        at = places[Fraction(frame, FPS)]
        data[at : at + 60] = bytes(60)
    path.write_bytes(data)
    with pytest.raises(VideoError, match="is damaged"):
        list(read_frames(path))
    with pytest.raises(VideoError, match=r"counted from the key frame before 2\.0 s"):
        list(read_frames(path, start_s=2.0, end_s=2.75))
    assert [number_in(frame.image) for frame in read_frames(path, start_s=1.0, end_s=1.5)] == list(range(16, 24))


def test_frame_duration_ends_at_the_next_frame(decoder: str, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4", 6, times_s=IRREGULAR_S)
    shown_s = [frame.duration_s for frame in read_frames(path, decoder)]
    assert shown_s == pytest.approx([0.05, 0.25, 0.01, 0.69, 0.7, 1 / FPS])


@pytest.mark.parametrize("name", [name for name in VIDEOS if ("decord", name) not in REFUSES])
def test_all_decoders_give_the_same_pixels_and_times(name: str, tmp_path: Path) -> None:
    pytest.importorskip("decord", reason="without decord there is only one decoder")
    path = VIDEOS[name].write(tmp_path)
    for frame, other in zip(read_frames(path, "pyav"), read_frames(path, "decord"), strict=True):
        assert (frame.number, frame.time_s, frame.duration_s) == (other.number, other.time_s, other.duration_s)
        if "10 bits" in name:  # the two scale colour up in different ways, which shows at sharp edges
            assert np.abs(frame.image.astype(int) - other.image).mean() < 2
        else:
            assert np.array_equal(frame.image, other.image)


def test_rotation_given_at_key_frames_applies_to_all_frames(tmp_path: Path) -> None:
    path = with_orientation_in_the_stream(write(tmp_path / "clip.mp4", codec_options={"g": "8"}))
    images = [np.rot90(frame.image, -1) for frame in read_frames(path, "pyav")]
    assert [number_in(image) for image in images] == list(range(24))


def test_file_name_may_look_like_a_protocol_or_a_pattern(
    decoder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(write(tmp_path / "clip.mp4").rename(tmp_path / "http:%03d ü.mp4").parent)
    assert len(list(read_frames(Path("http:%03d ü.mp4"), decoder))) == 24


def test_stopping_early_closes_the_file(decoder: str, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4")
    frames = read_frames(path, decoder)
    assert next(frames).number == 0
    frames.close()
    path.unlink()


def test_unknown_decoder_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'vlc' is not one of the decoders: pyav, decord"):
        list(read_frames(write(tmp_path / "clip.mp4"), "vlc"))


def test_without_decord_its_decoder_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "decord", None)
    with pytest.raises(MissingExtra, match=r"pip install 'robogaze\[decord\]'"):
        list(read_frames(write(tmp_path / "clip.mp4"), "decord"))
