"""Pictures in files: bounded before they are decoded."""

import os
import struct
from pathlib import Path

import cv2
import numpy as np
import pytest

from robogaze.errors import VideoError
from robogaze.media.picture_files import MAX_BYTES, decode_picture, open_picture

SUFFIXES = (".png", ".jpg", ".webp", ".bmp")


def written(suffix: str, quality: tuple[int, ...] = ()) -> bytes:
    image = np.full((24, 40, 3), 90, dtype=np.uint8)
    done, data = cv2.imencode(suffix, image, quality)
    assert done
    return data.tobytes()


@pytest.mark.parametrize(
    ("suffix", "quality"),
    [
        *((suffix, ()) for suffix in SUFFIXES),
        (".webp", (cv2.IMWRITE_WEBP_QUALITY, 80)),
        (".jpg", (cv2.IMWRITE_JPEG_PROGRESSIVE, 1)),
    ],
)
def test_common_formats_are_read(tmp_path: Path, suffix: str, quality: tuple[int, ...]) -> None:
    path = tmp_path / f"scene{suffix}"
    path.write_bytes(written(suffix, quality))
    assert open_picture(path, "the scene").shape == (24, 40, 3)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_truncated_header_does_not_crash(suffix: str) -> None:
    data = written(suffix)
    for length in range(min(len(data), 120)):
        try:
            decode_picture(data[:length], "the scene")
        except VideoError as error:
            assert str(error).startswith("the scene ")  # noqa: PT017 - a decoder may read what is cut off late


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", 40_000, 40_000) + bytes(99),
        b"\xff\xd8\xff\xc0\x00\x11\x08" + struct.pack(">HH", 65_000, 65_000) + bytes(99),
        b"RIFF" + bytes(4) + b"WEBPVP8X" + bytes(8) + b"\xff\xff\x00\xff\xff\x00" + bytes(99),
        b"BM" + bytes(12) + struct.pack("<III", 40, 40_000, 40_000) + bytes(99),
        b"BM" + bytes(12) + struct.pack("<IIi", 40, 40_000, -40_000) + bytes(99),
        b"\x89PNG\r\n\x1a\n" + bytes(8) + struct.pack(">II", 0, 5) + bytes(99),
    ],
)
def test_too_many_pixels_are_refused_by_the_header(data: bytes) -> None:
    with pytest.raises(VideoError, match=r"the scene has \d+ x \d+ pixels"):
        decode_picture(data, "the scene")


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\xff\xd8\xff\xd9", b"RIFF" + bytes(50), b"\xff\xd8\xff\xff"])
def test_invalid_picture_is_refused(data: bytes) -> None:
    with pytest.raises(VideoError, match="the scene is not a PNG, JPEG, WebP or BMP picture"):
        decode_picture(data, "the scene")


def test_only_regular_files_of_limited_size_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for path, message in (
        (tmp_path / "fifo", "is not a regular file"),
        (Path("/dev/zero"), "is not a regular file"),
        (tmp_path, "cannot be read|is not a regular file"),
        (tmp_path / "large", "is larger than 128 MiB"),
        (tmp_path / "missing", "cannot be read: No such file"),
        (tmp_path / "a\0b", "cannot be read"),
    ):
        with pytest.raises(VideoError, match=f"the scene ({message})"):
            open_picture(path, "the scene")
