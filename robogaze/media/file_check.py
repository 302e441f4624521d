"""Check that a video file exists and is complete, before anything is decoded.

A truncated video (an interrupted copy, a stopped writer) usually decodes silently to fewer frames. But MP4 and Matroska
files consist of boxes that declare their own length. A cut therefore shows as a box that is longer than the file, and a
hole in Matroska shows as something that is not a box. Counting frames against a declared count does not work: with an
edit list, a video correctly shows fewer frames than are stored.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from robogaze.errors import VideoError

_MP4_STARTS = frozenset({b"ftyp", b"styp", b"moov", b"moof", b"mdat", b"free", b"skip", b"wide"})
_MP4_VITAL = frozenset({b"moov", b"moof", b"mdat"})
# Kinds of Matroska elements (RFC 9559).
_MATROSKA_START, _SEGMENT = bytes.fromhex("1a45dfa3"), bytes.fromhex("18538067")
_TRACKS, _TRACK, _TRACK_NUMBER, _TRACK_TYPE = bytes.fromhex("1654ae6b"), b"\xae", b"\xd7", b"\x83"
_CLUSTER, _GROUP, _BLOCKS = bytes.fromhex("1f43b675"), b"\xa0", frozenset({b"\xa3", b"\xa1"})
_PARENTS = frozenset({_SEGMENT, _TRACKS, _TRACK, _CLUSTER, _GROUP})
_VIDEO, _LACED = 1, 0x06
_WAY_OUT = "copy or write the file again"


def check_whole(path: Path) -> None:
    """Raise VideoError for a file that is missing, a folder, empty, unreadable, or shorter than it declares."""
    try:
        if path.is_dir():
            raise VideoError(f"{path} is a folder, not a video; name its files, or use {path}/*.mp4")
        if path.exists() and not path.is_file():
            raise VideoError(f"{path} is not a regular file; save the video to a regular file first")
        with path.open("rb") as file:
            fault = _fault(file, path.stat().st_size)
    except FileNotFoundError as error:
        raise VideoError(f"{path} does not exist") from error
    except OSError as error:
        raise VideoError(f"{path} cannot be read: {error.strerror}") from error
    if fault is not None:
        raise VideoError(f"{path} {fault}")


def _fault(file: BinaryIO, size: int) -> str | None:
    """What is wrong with a file of `size` bytes; None if it is complete, or neither MP4 nor Matroska."""
    if size == 0:
        return "is empty (0 bytes)"
    head = file.read(8)
    if head[4:] in _MP4_STARTS:
        return _mp4_fault(file, size)
    if head[:4] == _MATROSKA_START:
        return _matroska_fault(file, size)
    return None


def _mp4_fault(file: BinaryIO, size: int) -> str | None:
    """Follow the outermost boxes.

    A box is its length (4 bytes; 0 means to the end, 1 means that 8 bytes of length follow), its kind (4), its content.
    """
    kinds: set[bytes] = set()
    at = 0
    while at + 8 <= size:
        file.seek(at)
        head = file.read(16)
        length, kind = int.from_bytes(head[:4], "big"), head[4:8]
        if length < 2:
            length = int.from_bytes(head[8:], "big") if length else size - at
        if length < 8 or not kind.isalnum():
            # After a complete index anything may follow; after a fragment, only boxes.
            if b"moof" in kinds:
                return f"is damaged at byte {at}; {_WAY_OUT}"
            break
        kinds.add(kind)
        at += length
        if at > size and kind in _MP4_VITAL:
            return _cut_short(at - size)
    if b"mdat" in kinds and b"moov" not in kinds:
        return f"was never finished: it has no index (no moov box); {_WAY_OUT}"
    return None


@dataclass(frozen=True)
class _Element:
    """A Matroska element.

    `content` and `stop` are positions in the file; `stop` is None if the length is open, as in a live recording. `head`
    is the start of the content.
    """

    kind: bytes
    content: int
    stop: int | None
    head: bytes


def _matroska_fault(file: BinaryIO, size: int) -> str | None:
    """Follow the elements, down to single frames: they are contiguous and belong to a track."""
    ends, complete = [size], False
    tracks: list[dict[bytes, int]] = []
    at = 0
    while at < ends[0]:
        element = _element(file, at)
        if element is not None and not complete and (element.stop or 0) > ends[-1]:
            return _cut_short((element.stop or 0) - size)
        if element is None or (element.stop or 0) > ends[-1] or not _fits(element, tracks):
            return f"is damaged at byte {at}; {_WAY_OUT}"
        if element.kind == _SEGMENT and element.stop is not None:
            ends, complete = [element.stop], True
        elif element.kind in _PARENTS and element.stop is not None:
            ends.append(element.stop)
        at = element.content if element.kind in _PARENTS or element.stop is None else element.stop
        while len(ends) > 1 and at >= ends[-1]:
            ends.pop()
    return None


def _element(file: BinaryIO, at: int) -> _Element | None:
    """The element at a position of the file; None if there is none."""
    file.seek(at)
    data = file.read(32)
    kind, _ = _number(data)
    coded, length = _number(data[len(kind) :])
    if not (kind and coded):
        return None
    head_length = len(kind) + len(coded)
    content = at + head_length
    return _Element(kind, content, None if length is None else content + length, data[head_length:])


def _fits(element: _Element, tracks: list[dict[bytes, int]]) -> bool:
    """Record the tracks that an element declares; False for a block that does not belong to one of these tracks.

    Blocks of a video are not laced. FFmpeg reads a block that breaks these rules as the end of the file.
    """
    if element.kind == _TRACK:
        tracks.append({})
    elif element.kind in (_TRACK_NUMBER, _TRACK_TYPE) and tracks and element.stop is not None:
        tracks[-1][element.kind] = int.from_bytes(element.head[: element.stop - element.content], "big")
    elif element.kind in _BLOCKS:
        coded, number = _number(element.head)
        track = next((track for track in tracks if track.get(_TRACK_NUMBER) == number), None)
        flags = element.head[len(coded) + 2 : len(coded) + 3]
        return track is not None and bool(flags) and not (track.get(_TRACK_TYPE) == _VIDEO and flags[0] & _LACED)
    return True


def _number(data: bytes) -> tuple[bytes, int | None]:
    """The bytes and the value of a number of 1 to 8 bytes, whose leading zero bits give the number of bytes; the value
    is None if all its bits are ones.

    The bytes are empty if there is no number.
    """
    count = 9 - data[0].bit_length() if data else 0
    if not 1 <= count <= min(8, len(data)):
        return b"", 0
    value = int.from_bytes(data[:count], "big") & ((1 << 7 * count) - 1)
    return data[:count], None if value == (1 << 7 * count) - 1 else value


def _cut_short(missing: int) -> str:
    return f"is cut short or damaged: its boxes declare {missing} bytes more than the file has; {_WAY_OUT}"
