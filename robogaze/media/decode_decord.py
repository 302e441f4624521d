"""A second decoder: decord, for training code that already uses it.

decord ignores edit lists, and it repeats a frame instead of a frame that it cannot decode. The list of pictures and
their times is therefore taken from the file's packets (which PyAV reads without decoding), and decord stops at the
first repeat. It does not read AV1, some VP9, or open-ended recordings, and it rotates pictures only in MP4 and MOV:
files that it cannot read correctly are refused. decord hides damage that still decodes. It also hides a change of
picture size, because it scales the pictures. On some damaged MP4 fragments, decord ends the process. For a part of a
video, decord also decodes everything before the part.
"""

from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from robogaze.errors import MissingExtra, VideoError
from robogaze.media.decode import DecodedFrame
from robogaze.media.decode_pyav import open_video, packets_of, quarters_of, seconds, shown_s, shows

_WAY_OUT = "use --decoder pyav"
# The share of repeated frames at which decord gives up; 0 would mean never.
_NO_REPEAT = 1e-9


def read(path: Path, start_s: float = 0.0) -> Iterator[DecodedFrame]:
    """Yield the pictures of a video, starting with the picture that is shown at `start_s`; see `robogaze.media.decode`.
    Raises MissingExtra if decord is not installed.
    """
    try:
        import decord
    except ImportError as error:
        raise MissingExtra("decord", "decord") from error
    times = _times(path)
    decord.logging.set_level(decord.logging.QUIET)
    number, first = 0, max(0, bisect_right(times, start_s, key=lambda time: time[0]) - 1)
    try:
        video = decord.VideoReader(f"file:{path}", fault_tol=_NO_REPEAT) if times else ()
        # decord counts frames that an edit list removes, too, after the others.
        for number, (time_s, duration_s) in enumerate(times):
            picture = video[number]  # also before the part: seeking is wrong with open GOPs and edit lists
            if number >= first:
                height, width, _ = picture.shape
                yield DecodedFrame(time_s, duration_s, (width, height), picture.asnumpy)
    except (decord.DECORDError, decord.DECORDLimitReachedError, RuntimeError, IndexError) as error:
        raise VideoError(f"{path} cannot be read by decord at frame {number}; {_WAY_OUT}") from error


def _times(path: Path) -> list[tuple[float, float]]:
    """The time of each picture from the first, and how long it is shown, in seconds, from the file's packets."""
    _check_readable(path)
    pictures: list[tuple[int, int | None]] = []
    with open_video(path) as (container, stream):
        for packet in packets_of(container, stream, path):
            if shows(packet):
                if packet.pts is None:
                    raise VideoError(f"{path} gives no time for frame {len(pictures)}; {_WAY_OUT}")
                pictures.append((packet.pts, packet.duration))
        zero = min(pictures)[0] if pictures else 0
        return [(seconds(time - zero, stream), shown_s(length, stream)) for time, length in sorted(pictures)]


def _check_readable(path: Path) -> None:
    """Raise VideoError for a file that decord would read wrongly."""
    with open_video(path) as (container, stream):
        if stream.codec_context.codec.canonical_name == "av1":
            raise VideoError(f"{path} is AV1, which decord does not read; {_WAY_OUT}")
        first = next(container.decode(stream), None)
        if first is not None and quarters_of(first.rotation, path) and "mov" not in container.format.name:
            raise VideoError(f"{path} is rotated, which decord supports only in MP4 and MOV; {_WAY_OUT}")
