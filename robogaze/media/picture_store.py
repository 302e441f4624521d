"""Keeps the JPEG pictures of a clip in a temporary file, so that longer clips and more requests take no more memory."""

import os
import tempfile
from dataclasses import dataclass
from threading import Lock


class PictureStore:
    """Pictures in one temporary file without a name. Close the store to free the disk space."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by close()
        self._lock = Lock()
        self._end = 0

    def add(self, jpeg: bytes) -> "StoredPicture":
        """Store a picture; threads may add pictures at the same time."""
        with self._lock:
            start, self._end = self._end, self._end + len(jpeg)
        written = 0
        while written < len(jpeg):
            written += os.pwrite(self._file.fileno(), memoryview(jpeg)[written:], start + written)
        return StoredPicture(self, start, len(jpeg))

    def read(self, start: int, size: int) -> bytes:
        """Read `size` bytes of the file, from position `start`. Raises ValueError after `close`."""
        return os.pread(self._file.fileno(), size, start)

    def close(self) -> None:
        """Delete the pictures."""
        self._file.close()


@dataclass(frozen=True)
class StoredPicture:
    """A picture in a store: `bytes(picture)` reads it, `len(picture)` is its size."""

    store: PictureStore
    start: int
    size: int

    def __bytes__(self) -> bytes:
        return self.store.read(self.start, self.size)

    def __len__(self) -> int:
        return self.size
