"""Pictures in files: the scene before a clip.

Files are untrusted. Only regular files of limited size are read, and only pictures whose header declares a limited
number of pixels are decoded: a file of a megabyte can declare gigabytes of pixels.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import cv2

from robogaze.errors import VideoError
from robogaze.media.compose import decode_image
from robogaze.media.decode import MAX_PIXELS, Image

MAX_BYTES = 128 << 20

Size = tuple[int, int]
"""Width and height in pixels."""


def open_picture(path: Path, what: str) -> Image:
    """Read a PNG, JPEG, WebP or BMP picture as RGB.

    Raises VideoError, naming `what`, if the file cannot be read (`picture_bytes`), has another format, or has more than
    MAX_PIXELS pixels.
    """
    return decode_picture(picture_bytes(path, what), what)


def picture_bytes(path: Path, what: str) -> bytes:
    """The content of a picture's file.

    Raises VideoError, naming `what`, if the file is missing, not a regular file, unreadable, or larger than MAX_BYTES.
    """
    try:
        # Without O_NONBLOCK, opening a FIFO waits for a writer.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise VideoError(f"{what} is not a regular file")
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise VideoError(f"{what} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if len(data) > MAX_BYTES:
        raise VideoError(f"{what} is larger than {MAX_BYTES >> 20} MiB")
    return data


def decode_picture(data: bytes, what: str) -> Image:
    """Decode the content of a picture's file. Raises VideoError as `open_picture` does."""
    size = _size(data)
    if size is None:
        raise VideoError(f"{what} is not a PNG, JPEG, WebP or BMP picture that can be read")
    if min(size) < 1 or size[0] * size[1] > MAX_PIXELS:
        raise VideoError(f"{what} has {size[0]} x {size[1]} pixels; a picture has at most {MAX_PIXELS:,}")
    try:
        return decode_image(data, what)
    except (cv2.error, MemoryError) as error:
        raise VideoError(f"{what} is not a picture that can be read") from error


def _size(data: bytes) -> Size | None:
    """The size that a picture's header declares; None without a header of a known format."""
    reader = next((reader for start, reader in _READERS.items() if data.startswith(start)), None)
    try:
        return None if reader is None else reader(data)
    except IndexError:  # the header is truncated
        return None


def _number(data: bytes, at: int, count: int, order: str = "little") -> int:
    if at + count > len(data):
        raise IndexError(at)
    return int.from_bytes(data[at : at + count], "big" if order == "big" else "little")


def _png(data: bytes) -> Size:
    return _number(data, 16, 4, "big"), _number(data, 20, 4, "big")


def _bmp(data: bytes) -> Size:
    if _number(data, 14, 4) == 12:
        return _number(data, 18, 2), _number(data, 20, 2)
    height = _number(data, 22, 4)
    return _number(data, 18, 4), min(height, 2**32 - height)  # a negative height means top-down rows


def _jpeg(data: bytes) -> Size | None:
    at = 2
    while True:
        while _number(data, at, 1) != 0xFF:
            at += 1
        kind = _number(data, at + 1, 1)
        if kind == 0xFF:
            at += 1
        elif kind in (0x00, 0x01, *range(0xD0, 0xD9)):
            at += 2
        elif 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return _number(data, at + 7, 2, "big"), _number(data, at + 5, 2, "big")
        elif kind in (0xD9, 0xDA):
            return None
        else:
            at += 2 + _number(data, at + 2, 2, "big")


def _webp(data: bytes) -> Size | None:
    kind = data[8:16]
    if kind == b"WEBPVP8X":
        return 1 + _number(data, 24, 3), 1 + _number(data, 27, 3)
    if kind == b"WEBPVP8L":
        bits = _number(data, 21, 4)
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"WEBPVP8 ":
        return _number(data, 26, 2) & 0x3FFF, _number(data, 28, 2) & 0x3FFF
    return None


_READERS: dict[bytes, Callable[[bytes], Size | None]] = {
    b"\x89PNG\r\n\x1a\n": _png,
    b"\xff\xd8\xff": _jpeg,
    b"RIFF": _webp,
    b"BM": _bmp,
}
