"""Untrusted archives: sizes are checked before anything is read or written."""

import gzip
import io
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from robogaze.datasets.layouts.importer import import_clips, unpack
from robogaze.datasets.layouts.webdataset import MAX_CLIP_TEXT_BYTES
from robogaze.errors import InputError


def plain(*files: tuple[str, bytes], kind: int = tarfile.GNU_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=kind) as tar:
        for name, content in files:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return made.getvalue()


def header(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info.tobuf(tarfile.GNU_FORMAT)


def sparse(size: int) -> bytes:
    """A GNU sparse member of one hole."""
    block = bytearray(header("c0.mp4", 0, tarfile.GNUTYPE_SPARSE))
    block[386:398], block[398:410] = f"{size:011o}\0".encode(), f"{0:011o}\0".encode()
    block[483:495] = f"{size:011o}\0".encode()
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block) + bytes(1024)


def sparse_by_pax(size: int) -> bytes:
    words = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.realsize": str(size)}
    info = tarfile.TarInfo("c0.mp4")
    info.pax_headers, info.size = words, 512
    return info.tobuf(tarfile.PAX_FORMAT) + b"1\n0\n0\n".ljust(512, b"\0") + bytes(1024)


def bomb(size: int) -> bytes:
    made = io.BytesIO()
    with gzip.GzipFile(fileobj=made, mode="wb", compresslevel=1) as file:
        file.write(header("c0.mp4", size))
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
        file.write(bytes(1024))
    return made.getvalue()


def negative() -> bytes:
    block = bytearray(header("c0.mp4", 0))
    block[124:136] = b"\xff" * 10 + b"\xfe\x00"
    block[148:156] = b" " * 8
    block[148:156] = f"{sum(block):06o}\0 ".encode()
    return bytes(block) + bytes(1024)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "sparse, 6 GB": (lambda: sparse(6 << 30), "is sparse"),
    "sparse by pax, 6 GB": (lambda: sparse_by_pax(6 << 30), "is sparse"),
    "claims 6 GB": (lambda: header("c0.mp4", 6 << 30) + bytes(2048), "claims to be 6,442,450,944 bytes"),
    "text claims 6 GB": (lambda: header("c0.json", 6 << 30) + bytes(2048), "claims to be 6,442,450,944 bytes"),
    "a name of 6 GB": (lambda: header("x", 6 << 30, tarfile.GNUTYPE_LONGNAME) + bytes(2048), "header claims"),
    "pax of 6 GB": (lambda: header("x", 6 << 30, tarfile.XHDTYPE) + bytes(2048), "header claims"),
    "negative size": (negative, "cannot be read to its end"),
    "cut": (lambda: plain(("c0.mp4", bytes(9000)))[:4000], "cannot be read to its end"),
    "no archive": (lambda: b"no archive" * 1000, "cannot be read to its end"),
    "empty": (lambda: b"", "cannot be read to its end"),
    "gzip of nothing": (lambda: gzip.compress(b"no archive" * 1000), "cannot be read to its end"),
    "cut gzip": (lambda: gzip.compress(plain(("c0.mp4", bytes(range(256)) * 4000)))[:900], "cannot be read to its end"),
    "bomb": (lambda: bomb(300 << 20), "exceed 100 times the size of the file"),
    "two kinds of gzip": (lambda: gzip.compress(gzip.compress(plain(("c0.mp4", b"x")))), "cannot be read to its end"),
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("ending", [".tar", ".tgz"])
def test_hostile_archive_is_refused_within_seconds(tmp_path: Path, name: str, ending: str) -> None:
    make, message = HOSTILE[name]
    path = tmp_path / f"a{ending}"
    path.write_bytes(make())
    started = time.process_time()
    with pytest.raises(InputError) as caught:
        unpack(import_clips(path, "webdataset"), tmp_path / "out")
    assert time.process_time() - started < 5
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_too_long_text_is_refused_if_it_describes_a_clip(tmp_path: Path) -> None:
    long = b" " * (MAX_CLIP_TEXT_BYTES + 1)
    path = tmp_path / "a.tar"
    path.write_bytes(plain(("c0.mp4", b"x"), ("notes.txt", long)))
    assert len(import_clips(path, "webdataset").entries) == 1
    path.write_bytes(plain(("c0.mp4", b"x"), ("c0.txt", long)))
    with pytest.raises(InputError, match=r"c0\.txt is longer than 1 MiB"):
        import_clips(path, "webdataset")


@pytest.mark.parametrize("kind", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_archives_of_every_tar_format_are_unpacked(tmp_path: Path, kind: int, pack: Callable[[bytes], bytes]) -> None:
    name = "folder/" + "n" * 90
    files = ((f"./{name}.mp4", b"old"), (f"./{name}.mp4", bytes(range(256)) * 5000), ("d/c1.mp4", b""))
    path = tmp_path / "a.tgz"
    path.write_bytes(pack(plain(*files, kind=kind)))
    found = unpack(import_clips(path, "webdataset"), tmp_path / "out")
    assert [entry.path.relative_to(tmp_path / "out").as_posix() for entry in found.entries] == [
        f"a/{name}.mp4",
        "a/d/c1.mp4",
    ]
    assert found.entries[0].path.read_bytes() == files[1][1]


def test_archive_changed_since_it_was_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tar"
    path.write_bytes(plain(("c0.mp4", b"x"), ("c1.mp4", b"x")))
    found = import_clips(path, "webdataset")
    path.write_bytes(plain(("c0.mp4", b"x")))
    with pytest.raises(InputError, match=r"a\.tar was changed after RoboGaze read it: c1\.mp4 is missing"):
        unpack(found, tmp_path / "out")


def test_unpacking_uses_constant_memory(tmp_path: Path) -> None:
    path, size = tmp_path / "a.tar", 128 << 20
    with path.open("wb") as file:
        file.write(header("c0.mp4", size))
        file.seek(size, 1)
        file.write(bytes(1024))
    code = """
import resource, sys
from pathlib import Path
from robogaze.datasets.layouts.importer import import_clips, unpack
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
unpack(import_clips(Path(sys.argv[1]), "webdataset"), Path(sys.argv[2]))
print(peak() - before)
"""
    command = [sys.executable, "-c", code, path, tmp_path / "out"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert (tmp_path / "out" / "a" / "c0.mp4").stat().st_size == size
    assert int(done.stdout) < 32 << 10, "in KiB"
