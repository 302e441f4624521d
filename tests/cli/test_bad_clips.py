"""One bad clip never stops the others, whatever it is."""

import json
import os
import shutil
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.running import Shell

Make = Callable[[Path, Path], Path | dict[str, str]]
"""Makes a bad clip in a folder out of a good video; returns its path, or its line in a manifest."""


def png(width: int, height: int) -> bytes:
    """The beginning of a picture of any size."""
    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b""))
    written = (struct.pack(">I", len(data)) + kind + data for kind, data in chunks)
    checks = (struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(part for pair in zip(written, checks, strict=True) for part in pair)


def of_bytes(name: str, change: Callable[[bytes], bytes]) -> Make:
    def make(folder: Path, good: Path) -> Path:
        path = folder / name
        path.write_bytes(change(good.read_bytes()))
        return path

    return make


def linked(name: str, target: str) -> Make:
    def make(folder: Path, good: Path) -> Path:
        (folder / name).symlink_to(target)
        return folder / name

    return make


def with_initial(name: str, write: Callable[[Path], object]) -> Make:
    def make(folder: Path, good: Path) -> dict[str, str]:
        shutil.copy(good, folder / f"{name}.mp4")
        write(folder / f"{name}.png")
        return {"path": f"{name}.mp4", "initial_frame": f"{name}.png", "clip_id": name}

    return make


def with_sidecar(name: str, write: Callable[[Path], object]) -> Make:
    def make(folder: Path, good: Path) -> Path:
        write(folder / f"{name}.json")
        return Path(shutil.copy(good, folder / f"{name}.mp4"))

    return make


def fifo(folder: Path, good: Path) -> Path:
    os.mkfifo(folder / "fifo.mp4")
    return folder / "fifo.mp4"


def folder_as_clip(folder: Path, good: Path) -> Path:
    (folder / "folder.mp4").mkdir()
    return folder / "folder.mp4"


def not_utf_8(folder: Path, good: Path) -> Path:
    path = Path(os.fsdecode(os.fsencode(folder) + b"/gr\xfcn.mp4"))
    return Path(shutil.copy(good, path))


BAD: dict[str, tuple[Make, str]] = {
    "missing": (lambda folder, good: folder / "missing.mp4", "missing.mp4 does not exist"),
    "empty": (of_bytes("empty.mp4", lambda data: b""), "is empty"),
    "text": (of_bytes("text.mp4", lambda data: b"no video\n" * 99), "is not an MP4"),
    "picture": (of_bytes("picture.mp4", lambda data: png(8, 8)), "is not an MP4"),
    "cut": (of_bytes("cut.mp4", lambda data: data[: len(data) // 2]), "cut.mp4 "),
    "zeros": (of_bytes("zeros.mp4", lambda data: bytes(9999)), "is not an MP4"),
    "codec": (of_bytes("codec.mp4", lambda data: data.replace(b"avc1", b"zzz1")), "an unknown video codec"),
    "index": (of_bytes("index.mp4", lambda data: data.replace(b"stsz", b"zzzz")), "index.mp4 "),
    "track": (of_bytes("track.mp4", lambda data: data.replace(b"trak", b"free")), "track.mp4 "),
    "folder": (folder_as_clip, "is a folder"),
    "fifo": (fifo, "is not a regular file"),
    "endless": (linked("endless.mp4", "/dev/zero"), "is not a regular file"),
    "dangling": (linked("dangling.mp4", "nowhere"), "does not exist"),
    "circle": (linked("circle.mp4", "circle.mp4"), "circle.mp4 "),
    "not UTF-8": (not_utf_8, "not UTF-8"),
    "long name": (lambda folder, good: folder / f"{'x' * 300}.mp4", "cannot be read: File name too long"),
    "sidecar fifo": (with_sidecar("sidecar", os.mkfifo), "sidecar.json is not a regular file"),
    "sidecar bytes": (with_sidecar("sides", lambda path: path.write_bytes(b"\xff\xfe\xfd")), "is not UTF-8 text"),
    "endless sidecar": (with_sidecar("zero", lambda path: path.symlink_to("/dev/zero")), "is not a regular file"),
    "initial large": (
        with_initial("large", lambda path: path.write_bytes(png(40_000, 40_000))),
        "large.png has 40000 x 40000 pixels",
    ),
    "initial fifo": (with_initial("pipe", os.mkfifo), "pipe.png is not a regular file"),
    "initial endless": (with_initial("noend", lambda path: path.symlink_to("/dev/zero")), "is not a regular file"),
    "initial missing": (with_initial("gone", lambda path: None), "the initial frame"),
    "initial text": (with_initial("words", lambda path: path.write_text("no picture")), "is not a PNG, JPEG, WebP"),
}


def test_the_other_clips_are_still_scored(robogaze: Shell, video: Path, tmp_path: Path) -> None:
    folder = tmp_path / "clips"
    folder.mkdir()
    first, last = (Path(shutil.copy(video, folder / f"{name}.mp4")) for name in ("first", "y" * 251))
    made = {name: make(folder, first) for name, (make, _) in BAD.items()}
    manifest = folder / "listed.jsonl"
    manifest.write_text("".join(json.dumps(line) + "\n" for line in made.values() if isinstance(line, dict)))
    paths = [path for path in made.values() if isinstance(path, Path)]
    started = time.monotonic()
    ran = robogaze("score", first, *paths, manifest, last, "--json", "--out", tmp_path / "out")
    assert time.monotonic() - started < 120
    written = json.loads(ran.out)
    assert ran.code == 4
    assert len([report for report in written["reports"] if report["clip"]["frame_count"] > 1]) == 2
    reasons = [clip["reason"] for clip in written["unreadable"]]
    assert len(reasons) == len(BAD)
    for name, (_, reason) in BAD.items():
        assert any(reason in message for message in reasons), name
    assert (tmp_path / "out" / "index.html").is_file()


@pytest.mark.parametrize("kind", ["missing", "fifo", "text"])
def test_an_initial_frame_for_all_clips_is_named_before_any_clip_is_read(
    robogaze: Shell, video: Path, tmp_path: Path, kind: str
) -> None:
    path = tmp_path / "scene.png"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "text":
        path.write_text("no picture")
    ran = robogaze("score", video, "--initial-frame", path, "--out", tmp_path / "out")
    assert ran.code == 1
    assert f"the initial frame {path}" in ran.err
    assert not (tmp_path / "out").exists()
