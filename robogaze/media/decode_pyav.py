"""The default decoder: PyAV (FFmpeg's libraries), with H.264, HEVC, VP9 and AV1.

FFmpeg conceals or drops damaged data silently. Therefore a frame that is marked as corrupt is an error, and so is a
packet whose picture is never decoded. This check does not find damage that still decodes to a picture: H.264 and AV1
usually fail on a few wrong bytes, HEVC and VP9 often do not. With such damage, a picture may be wrong, but no frame is
lost.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import av
import numpy as np
from av.codec import CodecContext
from av.container import InputContainer
from av.packet import Packet
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from robogaze.errors import VideoError
from robogaze.media.decode import MAX_PIXELS, REENCODE, DecodedFrame, Image

_CONTAINERS = "mov,matroska"
# In other codecs a packet may contain a picture that is never shown, or none.
_ONE_PICTURE_A_PACKET = frozenset({"h264", "hevc", "vp9", "av1"})
# By default FFmpeg's HEVC decoder skips what it cannot parse, and ignores a wrong checksum.
_STRICT = {"hevc": {"err_detect": "crccheck+explode"}}


def read(path: Path, start_s: float = 0.0) -> Iterator[DecodedFrame]:
    """Yield the pictures of a video, starting with a key frame at or before `start_s`; see `robogaze.media.decode`."""
    convert = VideoReformatter()  # shared, because setup takes as long as converting a small frame
    quarters: int | None = None
    with open_video(path) as (container, stream):
        stream.thread_type = "AUTO"
        stream.codec_context.options = _STRICT.get(stream.codec_context.codec.canonical_name, {})
        zero = _seek(container, stream, path, start_s) if start_s else None
        for ticks, frame in _decoded(container, stream, path, start_s):
            if zero is None:
                zero = ticks
            if quarters is None:  # some streams give it with key frames only
                quarters = quarters_of(frame.rotation, path)
            size = (frame.height, frame.width) if quarters % 2 else (frame.width, frame.height)
            image = partial(_image, frame, convert, quarters, path)
            yield DecodedFrame(seconds(ticks - zero, stream), shown_s(frame.duration, stream), size, image)


def _image(frame: VideoFrame, convert: VideoReformatter, quarters: int, path: Path) -> Image:
    """The picture of a frame. Raises VideoError if the frame cannot be converted."""
    try:
        pixels = np.asarray(convert.reformat(frame, format="rgb24").to_ndarray(), dtype=np.uint8)
    except av.error.FFmpegError as error:
        raise VideoError(f"{path} has a frame that cannot be converted ({_reason(error)}); {REENCODE}") from error
    return np.ascontiguousarray(np.rot90(pixels, quarters))


def _seek(container: InputContainer, stream: VideoStream, path: Path, start_s: float) -> int:
    """Seek to the last key frame that is shown at or before a time; returns the time of the first frame, in ticks.

    Raises VideoError if the file cannot be read from this time on.
    """
    assert stream.time_base is not None, "an opened stream has a time base"
    first = next(container.decode(stream), None)
    if first is None or first.pts is None:
        raise VideoError(f"{path} gives no time for its first frame; {REENCODE}")
    wanted = first.pts + int(start_s / stream.time_base)
    back = 0
    while True:
        target = max(first.pts, wanted - back)
        container.seek(target, stream=stream)
        found = next((packet.pts for packet in container.demux(stream) if packet.is_keyframe), None)
        if found is not None and found <= wanted:
            container.seek(target, stream=stream)
            return first.pts
        if target == first.pts:
            raise VideoError(
                f"{path} cannot be read from {start_s} s: its index has no key frame at or before this time; {REENCODE}"
            )
        # An index may give a key frame that is stored before the frame, but shown after it (an open GOP).
        back = 2 * back + max(1, (found or wanted) - wanted)


@contextmanager
def open_video(path: Path) -> Iterator[tuple[InputContainer, VideoStream]]:
    """A video's container and its one video stream.

    Raises VideoError if the video cannot be opened, does not have exactly one video stream, or fails while it is in
    use.
    """
    try:
        # Without "file:" a colon in a name would be read as a protocol. Only files are opened, no playlists.
        options = {"format_whitelist": _CONTAINERS}
        container = av.open(f"file:{path}", options=options, metadata_errors="replace")
    except (av.error.FFmpegError, ValueError) as error:
        what = "is not an MP4, MOV, MKV or WebM video that can be opened"
        raise VideoError(f"{path} {what}; if it is a video, {REENCODE}") from error
    with container:
        streams = [stream for stream in container.streams.video if Disposition.attached_pic not in stream.disposition]
        if len(streams) != 1:
            several = f"{len(streams)} video streams; keep one (ffmpeg -i IN -map 0:v:0 -c copy OUT.mp4)"
            raise VideoError(f"{path} has {several if streams else 'no video stream'}")
        _check_stream(streams[0], path)
        try:
            yield container, streams[0]
        except av.error.FFmpegError as error:
            raise VideoError(f"{path} cannot be read to its end ({_reason(error)}); {REENCODE}") from error


def length_s(path: Path) -> float:
    """The length that a file declares, in seconds; NaN if the file declares none. Raises VideoError if the file cannot
    be opened.
    """
    with open_video(path) as (container, stream):
        if stream.duration:
            return seconds(stream.duration, stream)
        return container.duration / av.time_base if container.duration else math.nan


def _check_stream(stream: VideoStream, path: Path) -> None:
    """Raise VideoError for an unknown codec, or pictures that are too large."""
    context: CodecContext | None = stream.codec_context  # None for an unknown codec, despite its type
    if context is None:
        raise VideoError(f"{path} has an unknown video codec; {REENCODE}")
    width, height = stream.width, stream.height
    if width * height > MAX_PIXELS:
        raise VideoError(f"{path} has pictures of {width} x {height}; at most {MAX_PIXELS:,} pixels are read")


def packets_of(
    container: InputContainer, stream: VideoStream, path: Path, start_s: float = 0.0
) -> Iterator["Packet[VideoStream]"]:
    """Yield the packets of a stream; the last packet is empty. Raises VideoError if a packet is damaged or missing."""
    number, first = -1, None
    for number, packet in enumerate(container.demux(stream)):
        if packet.is_corrupt:
            raise _damaged(path, number, start_s)
        first = packet.dts if number == 0 else first
        yield packet
    # An MP4's index is complete; at an entry that FFmpeg cannot follow, it stops as if the file ended there.
    skipped = _skipped_entries(stream, first) if start_s else 0
    if "mp4" in container.format.name and number < len(stream.index_entries) - skipped:
        raise _damaged(path, number, start_s)


def _skipped_entries(stream: VideoStream, first: int | None) -> int:
    """The number of index entries before the first packet that was read, in decoding order."""
    return 0 if first is None else max(0, stream.index_entries.search_timestamp(first))


def seconds(ticks: int, stream: VideoStream) -> float:
    """A number of ticks of the stream's time base, in seconds."""
    assert stream.time_base is not None, "an opened stream has a time base"
    return float(ticks * stream.time_base)


def shown_s(ticks: int | None, stream: VideoStream) -> float:
    """How long a picture is shown, in seconds. If `ticks` is not known, this is computed from the mean frame rate; it
    is 0 if there is no mean frame rate.
    """
    if ticks:
        return seconds(ticks, stream)
    return float(1 / stream.average_rate) if stream.average_rate else 0.0


def shows(packet: "Packet[VideoStream]") -> bool:
    """Whether a packet has a picture to show. The last packet is empty and has none. Packets that an edit list removes
    are marked as discarded, and their pictures are not shown.
    """
    return packet.size > 0 and not packet.is_discard


class _PendingPictures:
    """The times of the pictures whose packets were read and that were not decoded yet."""

    def __init__(self, codec: str) -> None:
        self._keeps_count = codec in _ONE_PICTURE_A_PACKET
        self._start: int | None = None
        self.times: set[int] = set()

    def add(self, packet: "Packet[VideoStream]") -> None:
        """Add the picture of a packet."""
        if self._start is None and packet.is_keyframe:
            self._start = packet.pts
        if not (self._keeps_count and shows(packet)) or packet.pts is None or self._start is None:
            return
        # Pictures before the first key frame depend on pictures that are not in the file.
        if packet.pts >= self._start:
            self.times.add(packet.pts)

    def remove(self, time: int) -> bool:
        """Remove a decoded picture. Returns False if an earlier picture is missing."""
        self.times.discard(time)
        return all(other > time for other in self.times)


def _decoded(
    container: InputContainer, stream: VideoStream, path: Path, start_s: float
) -> Iterator[tuple[int, VideoFrame]]:
    """The frames in presentation order, each with its time in ticks.

    Raises VideoError as soon as a frame is damaged or missing.
    """
    codec = stream.codec_context.codec.canonical_name
    pending = _PendingPictures(codec)
    number = 0
    try:
        for packet in packets_of(container, stream, path, start_s):
            pending.add(packet)
            for frame in packet.decode():
                if frame.pts is None:
                    raise VideoError(f"{path} gives no time for frame {number}; {REENCODE}")
                if frame.is_corrupt or not pending.remove(frame.pts):
                    raise _damaged(path, number, start_s)
                yield frame.pts, frame
                number += 1
    except av.error.FFmpegError as error:
        raise _damaged(path, number, start_s, f" ({_reason(error)})") from error
    if pending.times:
        raise _damaged(path, number, start_s)


def _damaged(path: Path, number: int, start_s: float, reason: str = "") -> VideoError:
    where = f"frame {number}, counted from the key frame before {start_s} s," if start_s else f"frame {number}"
    return VideoError(f"{path} is damaged near {where}{reason}; to judge the video as players show it, {REENCODE}")


def quarters_of(rotation: int, path: Path) -> int:
    """The number of counter-clockwise quarter turns by which pictures are rotated. Raises VideoError for other
    angles.
    """
    if rotation % 90:
        raise VideoError(f"{path} is rotated by {rotation} degrees; {REENCODE}")
    return rotation // 90 % 4


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error).split("\n", 1)[0]
