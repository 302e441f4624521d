"""Tar files, plain or gzipped, read once from start to end, within limits.

Archives are untrusted. Sizes are checked before anything is read or written: every member must be inside the file, and
sparse members are refused. Compressed content is limited to a multiple of the file's size. It is read in small pieces,
and only one piece is in memory at a time.
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

MAX_MEMBERS = 200_000
MAX_EXPANSION = 100
"""How many times larger than the file its uncompressed content may be, beyond MIN_LIMIT_BYTES."""
MIN_LIMIT_BYTES = 64 << 20

_CHUNK_BYTES = 256 << 10
_HEADER_BYTES = 1 << 20
"""The largest read; names and other headers are shorter."""


class _Refused(Exception):
    """The reason to stop reading an archive."""


class _SmallReads:
    """A file that refuses large reads."""

    def __init__(self, file: BufferedIOBase) -> None:
        self._file = file

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= _HEADER_BYTES:
            raise _Refused(f"a header claims to be {size:,} bytes long")
        return self._file.read(size)

    def seek(self, to: int, whence: int = 0) -> int:
        if to < 0:
            raise _Refused("a member starts before the beginning of the archive")
        return self._file.seek(to, whence)

    def tell(self) -> int:
        return self._file.tell()


@dataclass(frozen=True)
class Member:
    """A file in an archive. The member's content can be read until the next member is requested."""

    name: str
    size: int
    _open: Callable[[], Any]

    def chunks(self) -> Iterator[bytes]:
        """The content, in chunks."""
        try:
            content = self._open()
            while chunk := content.read(_CHUNK_BYTES):
                yield chunk
        except OSError as error:  # gzip raises it for damaged data, too
            raise _Refused(f"{self.name[:200]!r} cannot be read: {error}") from error


@contextmanager
def members(archive: Path) -> Iterator[Iterator[Member]]:
    """The regular files in an archive, in order.

    Raises InputError if the file is not a tar file that can be read to its end, or exceeds the limits.
    """
    errors = (tarfile.TarError, _Refused, EOFError, zlib.error, ValueError, OverflowError, RecursionError)
    try:
        with archive.open("rb") as raw:
            size = archive.stat().st_size
            packed = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            content = cast(BufferedIOBase, gzip.GzipFile(fileobj=raw) if packed else raw)
            limit = size * MAX_EXPANSION + MIN_LIMIT_BYTES if packed else size
            with tarfile.open(fileobj=cast(Any, _SmallReads(content)), mode="r:") as tar:
                yield _members(tar, limit, packed)
    except errors as error:
        raise InputError(f"{archive} cannot be read to its end as a tar file: {error}") from error
    except OSError as error:
        raise InputError(f"{archive} cannot be read: {error.strerror or error}") from error


def _members(tar: tarfile.TarFile, limit: int, packed: bool) -> Iterator[Member]:
    kept: list[tarfile.TarInfo] = vars(tar)["members"]
    previous = -1
    number = 0
    while (info := tar.next()) is not None:
        kept.clear()  # tarfile would keep every member
        number += 1
        if number > MAX_MEMBERS:
            raise _Refused(f"it has more than {MAX_MEMBERS:,} members")
        if info.issparse():
            raise _Refused(f"{info.name[:200]!r} is sparse; create the archive without --sparse")
        if info.size < 0 or tar.offset <= previous:
            raise _Refused(f"{info.name[:200]!r} claims to be {info.size:,} bytes long")
        if info.offset_data + info.size > limit:
            exceeded = f"{MAX_EXPANSION} times the size of the file" if packed else f"the {limit:,} bytes of the file"
            raise _Refused(
                f"{info.name[:200]!r} claims to be {info.size:,} bytes long; the archive would then exceed {exceeded}"
            )
        previous = tar.offset
        if info.isreg():
            yield Member(info.name, info.size, lambda: tar.extractfile(info))
