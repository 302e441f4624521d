"""Frame times and videos: what the page shows is what the decoder shows."""

import os
from itertools import pairwise
from pathlib import Path

import av
import pytest
from media.videos import begin_later, end_earlier, number_in, write

from robogaze.datasets import ManifestEntry
from robogaze.errors import VideoError
from robogaze.media.decode import read_frames
from robogaze.web.annotation_store import AnnotationStore
from robogaze.web.clip_media import ClipMedia

UNEVEN_S = [0.0, 0.04, 0.1, 0.15, 0.31, 0.4, 0.46, 0.6, 0.75, 0.77, 0.9, 1.2]


@pytest.fixture
def media(store: AnnotationStore, tmp_path: Path) -> ClipMedia:
    return ClipMedia(store, tmp_path / "proxies")


def entry(path: Path, **fields: float) -> ManifestEntry:
    return ManifestEntry(path=path, clip_id=path.stem, **fields)  # type: ignore[arg-type]


def with_b_frames(path: Path) -> Path:
    return write(path, codec_options={"bf": "3", "b-adapt": "0"})


def at_uneven_times(path: Path) -> Path:
    return write(path, len(UNEVEN_S), times_s=UNEVEN_S)


def shown(path: Path) -> list[tuple[float, int]]:
    """The time and the number of every frame."""
    return [(frame.time_s, number_in(frame.image)) for frame in read_frames(path)]


def at_uneven_times_in_order(path: Path) -> Path:
    return write(path, len(UNEVEN_S), times_s=UNEVEN_S, codec_options={"bf": "0"})


@pytest.mark.parametrize("make", [with_b_frames, at_uneven_times_in_order])
def test_frame_times_are_those_of_the_decoder(media: ClipMedia, tmp_path: Path, make) -> None:  # type: ignore[no-untyped-def]
    path = make(tmp_path / "clip.mp4")
    clip = media.clip(entry(path))
    assert clip.frame_times_s == tuple(frame.time_s for frame in read_frames(path))
    assert media.video(entry(path)).path == path


def test_b_frames_at_uneven_times_get_a_proxy(media: ClipMedia, tmp_path: Path) -> None:
    """MP4 stores how long they are shown in another order than that of showing (Chromium shows some of them late)."""
    path = at_uneven_times(tmp_path / "clip.mp4")
    assert media.video(entry(path)).path.parent == tmp_path / "proxies"


def test_uneven_times_are_kept(media: ClipMedia, tmp_path: Path) -> None:
    clip = media.clip(entry(at_uneven_times(tmp_path / "clip.mp4")))
    assert clip.frame_times_s == pytest.approx(UNEVEN_S, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("hevc.mp4", {"codec": "libx265"}),
        ("deep.mp4", {"pix_fmt": "yuv420p10le"}),
        ("full.mp4", {"pix_fmt": "yuv444p"}),
        ("box.mkv", {}),
        ("vp9.mp4", {"codec": "libvpx-vp9"}),
    ],
)
def test_an_unplayable_video_gets_a_proxy_with_the_same_frames_and_times(
    media: ClipMedia, tmp_path: Path, name: str, options: dict[str, str]
) -> None:
    path = write(tmp_path / name, len(UNEVEN_S), times_s=UNEVEN_S, **options)  # type: ignore[arg-type]
    video = media.video(entry(path))
    assert (video.path.parent, video.media_type) == (tmp_path / "proxies", "video/mp4")
    assert [number for _, number in shown(video.path)] == [number for _, number in shown(path)]
    times_s = media.clip(entry(path)).frame_times_s
    assert [time_s for time_s, _ in shown(video.path)] == pytest.approx(times_s, abs=2e-5)
    clip = media.clip(entry(path))
    last = list(read_frames(video.path))[-1]
    assert last.time_s + last.duration_s == pytest.approx(clip.duration_s, abs=0.1)


@pytest.mark.parametrize(("name", "codec"), [("a.mp4", "libx264"), ("b.webm", "libvpx-vp9"), ("c.mp4", "libsvtav1")])
def test_a_playable_video_is_sent_unchanged(media: ClipMedia, tmp_path: Path, name: str, codec: str) -> None:
    path = write(tmp_path / name, codec=codec)
    assert media.video(entry(path)).path == path


@pytest.mark.parametrize("change", [begin_later, end_earlier])
def test_a_file_that_hides_frames_gets_a_proxy(media: ClipMedia, tmp_path: Path, change) -> None:  # type: ignore[no-untyped-def]
    path = change(write(tmp_path / "clip.mp4", 64, codec_options={"g": "8", "bf": "0"}))
    video = media.video(entry(path))
    assert video.path != path
    assert [number for _, number in shown(video.path)] == [number for _, number in shown(path)]


def test_a_part_of_a_file_gets_a_proxy_that_starts_at_0(media: ClipMedia, tmp_path: Path) -> None:
    path = write(tmp_path / "long.mp4", 64)
    part = entry(path, start_s=1.0, end_s=2.0)
    clip = media.clip(part)
    assert (clip.frame_times_s[0], clip.start_s, clip.end_s) == (0.0, 1.0, 2.0)
    assert [number for _, number in shown(media.video(part).path)] == list(range(16, 32))
    assert media.durations_s([part]) == {"long": 1.0}


def test_a_proxy_is_made_once_with_key_frames_close_together(media: ClipMedia, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mkv", 64)
    first = media.video(entry(path)).path
    made = first.stat().st_mtime_ns
    assert media.video(entry(path)).path.stat().st_mtime_ns == made
    with av.open(str(first)) as container:
        keys = [number for number, packet in enumerate(container.demux(video=0)) if packet.is_keyframe]
    assert max(after - before for before, after in pairwise([*keys, 64])) == 8


def test_a_proxy_can_be_asked_for(media: ClipMedia, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4")
    assert media.video(entry(path), proxy=True).path != path


def test_a_clip_is_decoded_once(media: ClipMedia, store: AnnotationStore, tmp_path: Path) -> None:
    path = write(tmp_path / "clip.mp4")
    clip = media.clip(entry(path))
    other = ClipMedia(store, tmp_path)
    stat = path.stat()
    path.write_bytes(b"x" * stat.st_size)  # a decoder would refuse it
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert other.clip(entry(path)) == clip


def test_lengths_are_those_that_the_files_declare(media: ClipMedia, tmp_path: Path) -> None:
    assert media.durations_s([entry(write(tmp_path / "clip.mp4", 32))]) == {"clip": 2.0}


@pytest.mark.parametrize("content", [b"", b"no video"])
def test_a_file_that_is_no_video_has_no_length(media: ClipMedia, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(content)
    assert media.durations_s([entry(path), entry(tmp_path / "none.mp4")]) == {}
    with pytest.raises(VideoError):
        media.clip(entry(path))
