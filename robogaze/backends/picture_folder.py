"""Writes pictures as files, for a server that uses the same disk and reads `file://` addresses."""

import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Lock

from robogaze.core.pictures import FrameImage
from robogaze.errors import RunError
from robogaze.threads import in_thread

MOST_BYTES = 2**30
"""From this size on, files that no request uses are deleted, the longest unused first."""


class PictureFolder:
    """A temporary folder inside a folder that the server may read. `close` deletes it with its files."""

    def __init__(self, inside: Path, most_bytes: int = MOST_BYTES) -> None:
        self._inside = inside
        self._most_bytes = most_bytes
        self._path: Path | None = None
        self._sizes: dict[str, int] = {}
        self._in_use: Counter[str] = Counter()
        self._lock = Lock()

    @asynccontextmanager
    async def holding(self, images: Iterable[FrameImage]) -> AsyncIterator[Mapping[str, str]]:
        """Write the pictures and yield the address of each picture by its SHA-256. The files exist at least until the
        context ends.

        Raises RunError if the pictures cannot be written.
        """
        wanted = {image.picture.sha256: image for image in images}
        with self._lock:
            self._in_use.update(wanted.keys())
        try:
            yield await in_thread(self._write, wanted)
        finally:
            with self._lock:
                self._in_use -= Counter(wanted.keys())
                self._delete_unused()

    def _write(self, wanted: Mapping[str, FrameImage]) -> dict[str, str]:
        try:
            return {name: self._address(name, image) for name, image in wanted.items()}
        except OSError as error:
            why = error.strerror or str(error)
            message = f"media_path: {self._inside} cannot be written ({why}); free disk space and resume"
            raise RunError(message) from error

    def _address(self, name: str, image: FrameImage) -> str:
        with self._lock:
            if self._path is None:
                self._path = Path(tempfile.mkdtemp(prefix="robogaze-", dir=self._inside)).resolve()
                self._path.chmod(0o755)  # the server may run as another user
            path = self._path / f"{name}.jpg"
            size = self._sizes.pop(name, None)
            if size is None:
                path.write_bytes(image.jpeg)
                path.chmod(0o644)
            self._sizes[name] = len(image.content)  # the latest picture is the last
        return path.as_uri()

    def _delete_unused(self) -> None:
        unused = [name for name in self._sizes if name not in self._in_use]
        total = sum(self._sizes.values())
        for name in unused:
            if total <= self._most_bytes or self._path is None:
                return
            total -= self._sizes.pop(name)
            (self._path / f"{name}.jpg").unlink(missing_ok=True)

    def close(self) -> None:
        """Delete the files."""
        if self._path is not None:
            shutil.rmtree(self._path, ignore_errors=True)
        self._path, self._sizes = None, {}
