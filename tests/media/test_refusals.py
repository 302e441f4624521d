"""Files that every decoder refuses: not a video, truncated, or damaged.

The message names the file and, if there is one, a way out. No such file silently gives fewer frames.
What some decoders do not notice is listed in OVERLOOKED.
"""

import contextlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import cv2
import pytest

from robogaze.errors import VideoError
from robogaze.media.decode import read_frames

from .videos import (
    blank_tail,
    cut_short,
    flip_bytes,
    leave_pictures_open,
    numbered,
    write,
    write_growing,
    write_sound,
    write_without_frames,
)


def refusal(path: Path, decoder: str) -> str:
    """The sentence with which a file is refused, after a look at its form."""
    with pytest.raises(VideoError) as refused:
        list(read_frames(path, decoder))
    sentence = str(refused.value)
    assert str(path) in sentence
    assert "\n" not in sentence
    assert len(sentence.replace(str(path), "")) < 200
    return sentence.replace(str(path), "")


# Files that are no video.


def nothing(path: Path) -> None:
    """Leave the place empty."""


def a_text(path: Path) -> None:
    path.write_text("Put the cup into the pot.\n" * 100)


def a_picture(path: Path) -> None:
    path.write_bytes(cv2.imencode(".jpg", numbered(1))[1].tobytes())


def a_playlist(path: Path) -> None:
    """A list that FFmpeg would follow to another file, or to another machine."""
    write(path.with_name("other.mp4"))
    path.write_text("ffconcat version 1.0\nfile other.mp4\n")


def a_transport_stream(path: Path) -> None:
    write(path.with_suffix(".ts")).rename(path)


def two_streams(path: Path) -> None:
    one = write(path.with_name("one.mp4"))
    with av.open(str(one)) as source, av.open(str(path), "w") as out:
        streams = [out.add_stream_from_template(source.streams.video[0]) for _ in range(2)]
        for packet in source.demux(video=0):
            for stream in streams if packet.size else ():
                packet.stream = stream
                out.mux(packet)


def slanted(path: Path) -> None:
    write(path, rotation=45)


NO_VIDEO: dict[str, tuple[Callable[[Path], Any], str]] = {
    "nothing": (nothing, " does not exist"),
    "a folder": (Path.mkdir, " is a folder, not a video; name its files, or use /*.mp4"),
    "a pipe": (os.mkfifo, " is not a regular file; save the video to a regular file first"),
    "an empty file": (Path.touch, " is empty (0 bytes)"),
    "a text": (a_text, "if it is a video, re-encode it first (ffmpeg -i IN OUT.mp4)"),
    "a picture": (a_picture, " is not an MP4, MOV, MKV or WebM video"),
    "a playlist": (a_playlist, " is not an MP4, MOV, MKV or WebM video"),
    "a transport stream": (a_transport_stream, " is not an MP4, MOV, MKV or WebM video"),
    "sound only": (write_sound, " has no video stream"),
    "two streams": (two_streams, " has 2 video streams; keep one (ffmpeg -i IN -map 0:v:0 -c copy OUT.mp4)"),
    "rotated by half a quarter": (slanted, " is rotated by 45 degrees; re-encode it first"),
    "no frames": (write_without_frames, " has a video stream without a frame"),
}


@pytest.mark.parametrize("name", NO_VIDEO)
def test_invalid_video_is_refused(name: str, decoder: str, tmp_path: Path) -> None:
    make, reason = NO_VIDEO[name]
    path = tmp_path / "clip.mp4"
    make(path)
    assert reason in refusal(path, decoder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_file_without_read_permission_is_refused(decoder: str, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4")
    path.chmod(0)
    assert " cannot be read: Permission denied" in refusal(path, decoder)


# Videos that are not whole.


INDEX_FIRST = {"container_options": {"movflags": "faststart"}}
FRAGMENTS = {"container_options": {"movflags": "frag_keyframe+empty_moov"}, "codec_options": {"g": "4"}}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "h264": ("mp4", {}),
    "h264, index first": ("mp4", INDEX_FIRST),
    "h264 in fragments": ("mp4", FRAGMENTS),
    "h264 in mkv": ("mkv", {}),
    "h264 in a live recording": ("mkv", {"container_options": {"live": "1"}}),
    "hevc": ("mp4", {"codec": "libx265", **INDEX_FIRST}),
    "vp9": ("webm", {"codec": "libvpx-vp9", "codec_options": {"deadline": "realtime", "cpu-used": "8"}}),
    "av1": ("mp4", {"codec": "libsvtav1", **INDEX_FIRST}),
    "av1 in mkv": ("mkv", {"codec": "libsvtav1"}),
}


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """A kind of video to spoil."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def whole(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A video of that kind; grain makes it so large that damage is a small part of it."""
    suffix, made = KINDS[kind]
    return write(tmp_path_factory.mktemp("whole") / f"clip.{suffix}", size=(160, 120), grain=30, **made)


@pytest.fixture
def copy(whole: Path, tmp_path: Path) -> Path:
    """The video, to be spoiled."""
    return Path(shutil.copy(whole, tmp_path))


def test_each_sample_can_be_read_before_it_is_damaged(copy: Path) -> None:
    assert len(list(read_frames(copy))) == 24


@pytest.mark.parametrize("percent", [30, 90])
def test_truncated_video_is_refused(copy: Path, percent: int, decoder: str) -> None:
    assert " is cut short or damaged: its boxes declare " in refusal(cut_short(copy, percent), decoder)


def test_video_without_an_index_is_refused(decoder: str, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4")
    data = path.read_bytes()
    path.write_bytes(data[: data.index(b"moov") - 4])
    assert " was never finished: it has no index (no moov box)" in refusal(path, decoder)


@pytest.mark.parametrize("codec", ["libx264", "libvpx-vp9"])
@pytest.mark.parametrize("percent", [60, 75])
def test_truncation_without_a_broken_box_is_noticed(codec: str, percent: int, decoder: str, tmp_path: Path) -> None:
    whole = write(tmp_path / "clip.mp4", codec=codec, size=(160, 120), grain=30, **INDEX_FIRST)
    path = leave_pictures_open(whole)
    assert " is damaged " in refusal(cut_short(path, percent), decoder)


def test_wrong_checksum_in_the_stream_is_refused(tmp_path: Path) -> None:
    made = {"codec": "libx265", "codec_options": {"x265-params": "log-level=none:hash=1"}}
    path = write(tmp_path / "clip.mp4", size=(160, 120), grain=30, **made)
    assert len(list(read_frames(path))) == 24
    assert " is damaged " in refusal(flip_bytes(path, 1), "pyav")


def test_video_with_a_blank_second_half_is_refused(copy: Path, decoder: str) -> None:
    refusal(blank_tail(copy, 50), decoder)


OVERLOOKED = {
    # HEVC and VP9 carry no check: whatever still parses is shown.
    ("pyav", "hevc"),
    ("pyav", "vp9"),
    # decord tells nothing of what FFmpeg conceals.
    *(("decord", kind) for kind in KINDS),
}
"""Where damage may pass; but then every frame comes."""


def test_video_with_200_wrong_bytes_is_refused(kind: str, copy: Path, decoder: str) -> None:
    if (decoder, kind) == ("decord", "h264 in fragments"):
        pytest.skip("decord ends the whole process on some damaged fragments")
    flip_bytes(copy, 200)
    if (decoder, kind) not in OVERLOOKED:
        assert "damaged" in refusal(copy, decoder)
        return
    with contextlib.suppress(VideoError):
        assert len(list(read_frames(copy, decoder))) == 24


def test_changed_picture_size_is_refused(decoder: str, tmp_path: Path) -> None:
    path = write_growing(tmp_path / "clip.mp4")
    if decoder == "decord":
        # It scales every frame to the size of the first, and nothing tells.
        assert {frame.image.shape for frame in read_frames(path, decoder)} == {(72, 96, 3)}
        return
    assert " changes its picture size from 96x72 to 128x96 at frame 8; re-encode it first" in refusal(path, decoder)
