"""Tar files, plain or gzipped, gone through once from the beginning to the end.

An archive may come from anybody. What it claims is checked before anything of that size is read or written: members lie
within the file, none is sparse, what is compressed unpacks to a bounded multiple of its size, and no more than a small
part of it is in memory at a time.
"""

import gzip
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any, cast

from robogaze.errors import InputError

MOST_MEMBERS = 200_000
MOST_TIMES = 100
"""How many times as large as the file its content may be, ..."""
ALWAYS_BYTES = 64 << 20
"""... and what it may be in any case."""

_CHUNK_BYTES = 256 << 10
_HEADER_BYTES = 1 << 20
"""The most that is read in one piece: names and other headers are shorter."""


class _Refused(Exception):
    """Why an archive is not read on."""


class _Pieces:
    """A file of which only small pieces can be read at once."""

    def __init__(self, file: BufferedIOBase) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _HEADER_BYTES:
            raise _Refused(f"a header claims {size:,} bytes")
        return self._file.read(size)

    def seek(self, to: int, whence: int = 0) -> int:
        if to < 0:
            raise _Refused("a member claims to lie before the file's beginning")
        return self._file.seek(to, whence)

    def tell(self) -> int:
        return self._file.tell()


@dataclass(frozen=True)
class Member:
    """A file in an archive; its content can be read until the next member is asked for."""

    name: str
    size: int
    _open: Callable[[], Any]

    def chunks(self) -> Iterator[bytes]:
        """The content in pieces."""
        try:
            content = self._open()
            while piece := content.read(_CHUNK_BYTES):
                yield piece
        except OSError as error:  # also what gzip raises for damage
            raise _Refused(f"{self.name[:200]!r} cannot be read: {error}") from error


@contextmanager
def members(archive: Path) -> Iterator[Iterator[Member]]:
    """The regular files in an archive, in its order.

    Raises InputError when it is no tar file that can be read to its end, or is beyond the bounds.
    """
    faults = (tarfile.TarError, _Refused, EOFError, zlib.error, ValueError, OverflowError, RecursionError)
    try:
        with archive.open("rb") as raw:
            size = archive.stat().st_size
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            content = cast(BufferedIOBase, gzip.GzipFile(fileobj=raw) if packed else raw)
            most = size * MOST_TIMES + ALWAYS_BYTES if packed else size
            with tarfile.open(fileobj=cast(Any, _Pieces(content)), mode="r:") as tar:
                yield _members(tar, most, packed)
    except faults as error:
        raise InputError(f"{archive} is not a tar file that can be read to its end: {error}") from error
    except OSError as error:
        raise InputError(f"{archive} cannot be read: {error.strerror or error}") from error


def _members(tar: tarfile.TarFile, most: int, packed: bool) -> Iterator[Member]:
    kept: list[tarfile.TarInfo] = vars(tar)["members"]
    before = -1
    number = 0
    while (info := tar.next()) is not None:
        kept.clear()  # tarfile would keep every member it has seen
        number += 1
        if number > MOST_MEMBERS:
            raise _Refused(f"it holds more than {MOST_MEMBERS:,} members")
        if info.issparse():
            raise _Refused(f"{info.name[:200]!r} is sparse; pack it as it is (tar without --sparse)")
        if info.size < 0 or tar.offset <= before:
            raise _Refused(f"{info.name[:200]!r} claims {info.size:,} bytes")
        if info.offset_data + info.size > most:
            bound = f"more than {MOST_TIMES} times its size" if packed else f"more than the {most:,} bytes of the file"
            raise _Refused(f"{info.name[:200]!r} claims {info.size:,} bytes; with it the archive holds {bound}")
        before = tar.offset
        if info.isreg():
            yield Member(info.name, info.size, lambda: tar.extractfile(info))
