"""Small videos whose every frame carries its number in its pixels, and ways to spoil them.

A frame is a grid of four columns and three rows of flat blocks. The first row is red, green, blue, white: it tells
that a picture is upright and its channels are in order. The other two rows are the number in binary, white for 1,
the highest bit first. Blocks are far larger than what an encoder loses.
"""

import os
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.audio.frame import AudioFrame
from av.bitstream import BitStreamFilterContext
from av.stream import Disposition
from av.video.frame import VideoFrame
from av.video.stream import VideoStream
from numpy.typing import NDArray

FPS = 16
TICK = Fraction(1, 90_000)
"""The time base that test videos are written in; Matroska rounds it to milliseconds."""

QUIET = {"libx265": {"x265-params": "log-level=none"}, "libsvtav1": {"preset": "8"}}
"""What an encoder needs to keep silent, and to keep small blocks apart (SVT-AV1's faster presets merge them)."""

_COLUMNS, _ROWS = 4, 3
_MARKS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255))
_SOUND_HZ = 16_000


def numbered(number: int, width: int = 96, height: int = 72, grain: int = 0) -> NDArray[np.uint8]:
    """A picture that carries a number from 0 to 255; grain makes it costly to encode."""
    bits = [(255, 255, 255) if number >> bit & 1 else (0, 0, 0) for bit in range(7, -1, -1)]
    cells = np.array([*_MARKS, *bits], dtype=np.int16).reshape(_ROWS, _COLUMNS, 3)
    rows, columns = np.arange(height) * _ROWS // height, np.arange(width) * _COLUMNS // width
    noise = np.random.default_rng(number).integers(-grain, grain + 1, (height, width, 1))
    return np.clip(cells[rows[:, None], columns[None, :]] + noise, 0, 255).astype(np.uint8)


def number_in(image: NDArray[np.uint8]) -> int:
    """The number a picture carries. AssertionError when it is turned, mirrored, discoloured or not such a picture."""
    height, width, channels = image.shape
    assert channels == 3, f"{channels} channels"
    ys = [(2 * row + 1) * height // (2 * _ROWS) for row in range(_ROWS)]
    xs = [(2 * column + 1) * width // (2 * _COLUMNS) for column in range(_COLUMNS)]
    cells = image[np.ix_(ys, xs)].astype(int)
    assert np.abs(cells[0] - np.array(_MARKS)).max() < 90, f"not an upright numbered picture: {cells[0].tolist()}"
    luma = cells[1:].mean(axis=2).ravel()
    assert not ((luma > 60) & (luma < 195)).any(), f"neither black nor white: {luma.tolist()}"
    return sum(1 << (7 - place) for place, value in enumerate(luma) if value > 128)


@contextmanager
def same_scheduling() -> Iterator[None]:
    """Undo what an encoder does to the scheduling of this process.

    SVT-AV1, where it runs as root, makes the process real-time (SCHED_FIFO, priority 99), and every process that this
    one starts later inherits that. A busy wait then keeps its core from all others, and the tests hang.
    """
    policy, parameters = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        yield
    finally:
        os.sched_setscheduler(0, policy, parameters)


def write(
    path: Path,
    count: int = 24,
    *,
    codec: str = "libx264",
    size: tuple[int, int] = (96, 72),
    pix_fmt: str = "yuv420p",
    rate: int = FPS,
    times_s: Sequence[float] | None = None,
    rotation: int = 0,
    sound_s: float = 0.0,
    grain: int = 0,
    draw: Callable[[int], NDArray[np.uint8]] | None = None,
    codec_options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
) -> Path:
    """Write frames 0 to `count` - 1, `rate` a second unless `times_s` says otherwise. The suffix chooses the container.

    `rotation` is what a player must turn the stored picture by, in degrees counter-clockwise; the stored picture is
    turned the other way, so that a frame shown as it should be is upright. `draw` makes other pictures than numbered
    ones, of the same size.
    """
    if codec not in av.codecs_available:
        pytest.skip(f"PyAV was built without {codec}")
    times_s = [number / rate for number in range(count)] if times_s is None else times_s
    with same_scheduling(), av.open(str(path), "w", container_options=container_options or {}) as out:
        stream = out.add_stream(codec, rate=rate, options={**QUIET.get(codec, {}), **(codec_options or {})})
        assert isinstance(stream, VideoStream)
        stream.width, stream.height = size[::-1] if rotation % 180 else size
        stream.pix_fmt = pix_fmt
        stream.time_base = stream.codec_context.time_base = TICK
        if rotation:
            _needs_pyav_18()
            stream.set_display_rotation(rotation)
        sound = out.add_stream("aac", rate=_SOUND_HZ) if sound_s else None
        for number, time_s in zip(range(count), times_s, strict=True):
            image = draw(number) if draw else numbered(number, *size, grain)
            out.mux(stream.encode(_frame(np.rot90(image, -(rotation // 90)), time_s)))
        out.mux(stream.encode())
        if sound is not None:
            for part in (*_silence(sound_s), None):
                out.mux(sound.encode(part))
    return path


def write_growing(path: Path, codec: str = "libx264") -> Path:
    """A video of 16 frames whose pictures are 96 x 72 up to frame 7, and 128 x 96 from then on."""
    with same_scheduling(), av.open(str(path), "w") as out:
        stream = out.add_stream(codec, rate=FPS)
        stream.width, stream.height, stream.pix_fmt = 96, 72, "yuv420p"
        stream.time_base = stream.codec_context.time_base = TICK
        larger = av.CodecContext.create(codec, "w")
        larger.width, larger.height, larger.pix_fmt = 128, 96, "yuv420p"
        larger.time_base, larger.framerate = TICK, Fraction(FPS)
        for context, first, size in ((stream, 0, (96, 72)), (larger, 8, (128, 96))):
            frames = (_frame(numbered(number, *size), number / FPS) for number in range(first, first + 8))
            for frame in (*frames, None):
                for packet in context.encode(frame):
                    packet.stream = stream
                    out.mux(packet)
    return path


def write_without_frames(path: Path) -> Path:
    """A video that declares a stream and holds nothing of it: a fragmented MP4 without a fragment."""
    whole = write(path, container_options={"movflags": "empty_moov+frag_keyframe"}).read_bytes()
    path.write_bytes(whole[: whole.index(b"moof") - 4])
    return path


def write_sound(path: Path, seconds: float = 1.0) -> Path:
    """A file with sound only."""
    with av.open(str(path), "w") as out:
        sound = out.add_stream("aac", rate=_SOUND_HZ)
        for part in (*_silence(seconds), None):
            out.mux(sound.encode(part))
    return path


def begin_later(path: Path, lead: int = 20) -> Path:
    """Copy an MP4 so that an edit list hides its first frames, as cutting without re-encoding does."""
    cut = path.with_name(f"later-{path.name}")
    with av.open(str(path)) as source, av.open(str(cut), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.size:
                shift = round(lead / FPS / packet.time_base)
                packet.pts, packet.dts, packet.stream = packet.pts - shift, packet.dts - shift, stream
                out.mux(packet)
    return cut


def end_earlier(path: Path, count: int = 16) -> Path:
    """Change an MP4's edit list so that it ends after some frames."""
    data = bytearray(path.read_bytes())
    first_edit = data.index(b"elst") + 12
    struct.pack_into(">I", data, first_edit, count * 1000 // FPS)
    path.write_bytes(data)
    return path


def begin_at_second_key_frame(path: Path) -> Path:
    """Copy a video from its second key frame on, without an edit list."""
    cut = path.with_name(f"cut-{path.stem}.mkv")
    with av.open(str(path)) as source, av.open(str(cut), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        keys = 0
        for packet in source.demux(video=0):
            keys += packet.is_keyframe
            if packet.size and keys > 1:
                packet.stream = stream
                out.mux(packet)
    return cut


def with_orientation_in_the_stream(path: Path) -> Path:
    """Copy an H.264 video so that a message at its key frames, not its container, says how it is to be turned."""
    turned = path.with_name(f"turned-{path.name}")
    with av.open(str(path)) as source, av.open(str(turned), "w") as out:
        stream = out.add_stream_from_template(source.streams.video[0])
        options = "h264_metadata=display_orientation=insert:rotate=90"
        insert = BitStreamFilterContext(options, source.streams.video[0], stream)
        for packet in source.demux(video=0):
            for changed in insert.filter(packet if packet.size else None):
                changed.stream = stream
                out.mux(changed)
    return turned


def with_cover(path: Path) -> Path:
    """Copy an MP4 and put a cover beside its video: a picture that players show in lists."""
    _needs_pyav_18()
    covered = path.with_name(f"covered-{path.name}")
    with av.open(str(path)) as source, av.open(str(covered), "w") as out:
        cover = out.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 32, 32, "yuvj420p"
        cover.disposition = Disposition.attached_pic
        stream = out.add_stream_from_template(source.streams.video[0])
        for frame in (_frame(numbered(0, 32, 32), 0.0), None):
            out.mux(cover.encode(frame))
        for packet in source.demux(video=0):
            if packet.size:
                packet.stream = stream
                out.mux(packet)
    return covered


def cut_short(path: Path, percent: int) -> Path:
    """Leave only the first part of a file."""
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * percent // 100])
    return path


def leave_pictures_open(path: Path) -> Path:
    """Let the last box of an MP4, which holds the pictures, declare no length but "to the end"."""
    data = bytearray(path.read_bytes())
    place = data.rindex(b"mdat") - 4
    data[place : place + 4] = bytes(4)
    path.write_bytes(data)
    return path


def flip_bytes(path: Path, count: int, seed: int = 0) -> Path:
    """Invert some bytes in the middle of a file."""
    data = bytearray(path.read_bytes())
    middle = range(len(data) * 3 // 10, len(data) * 7 // 10)
    for place in np.random.default_rng(seed).choice(middle, count, replace=False):
        data[place] ^= 0xFF
    path.write_bytes(data)
    return path


def blank_tail(path: Path, percent: int) -> Path:
    """Overwrite all after the first part with zeros, as a download leaves it that reserves its room first."""
    data = path.read_bytes()
    keep = len(data) * percent // 100
    path.write_bytes(data[:keep] + bytes(len(data) - keep))
    return path


def _needs_pyav_18() -> None:
    """Earlier ones read what is made here, but cannot write it."""
    if int(av.__version__.split(".")[0]) < 18:
        pytest.skip("PyAV writes this from version 18 on")


def _frame(image: NDArray[np.uint8], time_s: float) -> VideoFrame:
    frame = VideoFrame.from_ndarray(np.ascontiguousarray(image), format="rgb24")
    frame.pts, frame.time_base = round(time_s / TICK), TICK
    return frame


def _silence(seconds: float) -> Iterator[AudioFrame]:
    for start in range(0, round(seconds * _SOUND_HZ), 1024):
        frame = AudioFrame(format="fltp", layout="mono", samples=1024)
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        frame.pts, frame.time_base, frame.sample_rate = start, Fraction(1, _SOUND_HZ), _SOUND_HZ
        yield frame
