"""What a page shows of a clip: the exact times of its frames, a video that a browser plays, a thumbnail.

A browser gets the file itself if the file certainly plays with the same frame times. It must meet these conditions:

- the codec is H.264 or AV1 in MP4, or VP8, VP9 or AV1 in WebM, with 8 bits and 4:2:0;
- the clip is the whole file, not a part of it;
- the first frame is at 0, and every stored frame is shown;
- if the file has B-frames, the frame rate is steady.

For every other file, the browser gets a proxy. A proxy is an H.264 video with the same frames at the same times and a
short distance between key frames. It is made once and kept in a folder beside the store.
"""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

from robogaze.core.annotation import FIELDS
from robogaze.core.clip import Clip, Layout
from robogaze.core.time import RESOLUTION
from robogaze.datasets import ManifestEntry, file_sha256
from robogaze.errors import VideoError
from robogaze.media.compose import encode_jpeg, fit
from robogaze.media.decode import Frame, Image, read_frames
from robogaze.media.decode_pyav import length_s, open_video, seconds
from robogaze.media.encode import write_video
from robogaze.media.grid import detect_layout
from robogaze.web.annotation_store import AnnotationStore

_STEADY = 0.25
"""How much the times for which frames are shown may differ in a steady clip, as a share of their mean."""

_PLAYED = {
    (".mp4", "h264"): "video/mp4",
    (".m4v", "h264"): "video/mp4",
    (".mov", "h264"): "video/mp4",
    (".mp4", "av1"): "video/mp4",
    (".webm", "vp8"): "video/webm",
    (".webm", "vp9"): "video/webm",
    (".webm", "av1"): "video/webm",
}
"""The media types that browsers play, by suffix and codec."""

_PIXELS = ("yuv420p", "yuvj420p")
_KEY_FRAME_EVERY = 8
_THUMBNAIL_PX, _THUMBNAIL_QUALITY = 160, 75


@dataclass(frozen=True)
class PlayableVideo:
    """A file that a browser plays, and its media type."""

    path: Path
    media_type: str


@dataclass
class ClipMedia:
    """Reads clips for a page; decoded records are kept in the store, proxies in `folder`.

    Its methods raise VideoError for a file that cannot be read. The methods may be called from any thread.
    """

    store: AnnotationStore
    folder: Path
    _locks: dict[str, threading.Lock] = field(default_factory=dict)

    def clip(self, entry: ManifestEntry) -> Clip:
        """The record of a clip with the exact time of every frame, decoded when it is first asked for."""
        assert entry.clip_id is not None, "entries have ids"
        with self._lock(entry.clip_id):
            key = _file_key(entry)
            known = self.store.clip(entry.clip_id, key)
            if known is None:
                known = _decoded(entry, entry.clip_id)
                self._refuse_other_content(known)
                self.store.add_clip(known, key)
        return known

    def durations_s(self, entries: Iterable[ManifestEntry]) -> dict[str, float]:
        """The lengths of clips, keyed by clip id, as their files declare them. Files that cannot be read or declare no
        length are left out.

        No file is decoded.
        """
        found_s: dict[str, float] = {}
        for entry in entries:
            assert entry.clip_id is not None, "entries have ids"
            try:
                length = _declared_s(entry)
            except VideoError:
                continue
            if length > 0:
                found_s[entry.clip_id] = length
        return found_s

    def video(self, entry: ManifestEntry, *, proxy: bool = False) -> PlayableVideo:
        """A file that a browser plays; with `proxy`, always a proxy."""
        clip = self.clip(entry)
        media_type = None if proxy else _plays_as(entry, clip)
        return (
            PlayableVideo(self._proxy(entry), "video/mp4")
            if media_type is None
            else PlayableVideo(entry.path, media_type)
        )

    def thumbnail(self, entry: ManifestEntry) -> bytes:
        """The first frame as a small JPEG."""
        return encode_jpeg(fit(next(_frames(entry)).image, _THUMBNAIL_PX), _THUMBNAIL_QUALITY)

    def _proxy(self, entry: ManifestEntry) -> Path:
        clip = self.clip(entry)
        part = "" if clip.start_s is None else f"-{clip.start_s:g}-{clip.end_s:g}"
        path = self.folder / f"{clip.sha256[:32]}{part}.mp4"
        with self._lock(clip.id):
            if not path.is_file():
                self.folder.mkdir(parents=True, exist_ok=True)
                images = (frame.image for frame in _frames(entry))
                made = path.with_name(f"{uuid4().hex}.mp4")  # another server may make the same one
                write_video(made, images, clip.frame_times_s, clip.duration_s, key_frame_every=_KEY_FRAME_EVERY)
                made.replace(path)
        return path

    def _refuse_other_content(self, clip: Clip) -> None:
        before = self.store.clip(clip.id)
        if before is not None and before.sha256 != clip.sha256 and self.store.has_revisions(clip.id):
            raise VideoError(
                f"{clip.uri} has different content from the annotated clip {clip.id}; put the original file "
                f"back, or give "
                "this file another clip_id"
            )

    def _lock(self, clip_id: str) -> threading.Lock:
        return self._locks.setdefault(clip_id, threading.Lock())


def _file_key(entry: ManifestEntry) -> str:
    """What a clip's record depends on; it changes if the file is written again."""
    try:
        stat = entry.path.stat()
    except OSError as error:
        raise VideoError(f"{entry.path} cannot be read: {error.strerror}") from error
    return f"{entry.path.absolute()} {stat.st_size} {stat.st_mtime_ns} {entry.model_dump_json(exclude={'path'})}"


def _declared_s(entry: ManifestEntry) -> float:
    """The declared length of a clip in seconds; NaN if its file does not declare one."""
    end_s = length_s(entry.path) if entry.end_s is None else entry.end_s
    return end_s - (entry.start_s or 0.0)


def _decoded(entry: ManifestEntry, clip_id: str) -> Clip:
    content = file_sha256(entry.path)
    entry.check_content(content)
    times_s: list[float] = []
    first: Image | None = None
    end_s = start_s = 0.0
    for frame in _frames(entry):
        if first is None:
            first, start_s = frame.image, frame.file_s
        times_s.append(frame.time_s)
        end_s = round(frame.time_s + frame.duration_s, 6)
    assert first is not None, "a readable video has a frame"
    is_part = entry.start_s is not None or entry.end_s is not None
    return Clip(
        id=clip_id,
        uri=entry.path.absolute().as_posix(),
        sha256=content,
        start_s=start_s if is_part else None,
        end_s=round(start_s + end_s, 6) if is_part else None,
        frame_count=len(times_s),
        frame_times_s=tuple(times_s),
        duration_s=end_s,
        fps=round(len(times_s) / end_s, 6),
        width=first.shape[1],
        height=first.shape[0],
        initial_frame=None if entry.initial_frame is None else entry.initial_frame.as_posix(),
        layout=entry.layout or detect_layout(first) or Layout(),
        **{name: getattr(entry, name) for name in ("instruction", *FIELDS)},
    )


def _frames(entry: ManifestEntry) -> Iterator[Frame]:
    return read_frames(entry.path, start_s=entry.start_s, end_s=entry.end_s)


def _is_steady(clip: Clip) -> bool:
    """Whether all frames are shown for about the same time."""
    steps = [after - before for before, after in pairwise(clip.frame_times_s)]
    return not steps or max(steps) - min(steps) <= _STEADY * clip.duration_s / clip.frame_count


def _plays_as(entry: ManifestEntry, clip: Clip) -> str | None:
    """The media type with which a browser plays the file with its own frame times; None if this is not certain."""
    if clip.start_s is not None:
        return None
    with open_video(entry.path) as (_, stream):
        codec, pixels = stream.codec_context.codec.canonical_name, stream.codec_context.pix_fmt
        starts_at_0 = abs(seconds(stream.start_time or 0, stream)) <= RESOLUTION
        # An edit list may hide stored frames, which players treat differently. Some files do not count frames.
        shows_all = stream.frames in (0, clip.frame_count)
        # MP4 stores how long frames are shown in the order of decoding. If that is not the order of showing, Chromium
        # 150 takes the time of another frame, and after a seek it may show a frame that is over.
        has_right_times = not stream.codec_context.has_b_frames or _is_steady(clip)
    playable = pixels in _PIXELS and starts_at_0 and shows_all and has_right_times
    return _PLAYED.get((entry.path.suffix.lower(), codec)) if playable else None
