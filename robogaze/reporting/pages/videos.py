"""The videos of a page: embedded if they are small in total, otherwise linked.

A page shows a video only if its content is the scored content, as far as the SHA-256 of the scored file is known. The
content of an embedded video is always compared, because a run folder may come from someone else. A linked video is read
only if its size or modification time is not that of the scored file.
"""

import os
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from robogaze.datasets import file_sha256
from robogaze.reporting.wording import count

EMBED_LIMIT_BYTES = 25 * 2**20
"""The largest total size of embedded videos, before encoding; a larger page opens slowly and cannot be mailed."""

_MEDIA_TYPES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/mp4", ".webm": "video/webm"}


@dataclass(frozen=True)
class VideoFile:
    """A clip's video file, as it was scored.

    `path` is relative to the page, and the clip begins at `start_s` in the video. `path`, the SHA-256, the size and the
    modification time are None if they are not known.
    """

    path: str | None = None
    start_s: float = 0.0
    sha256: str | None = None
    size_bytes: int | None = None
    modified_ns: int | None = None


def video_sources(files: Mapping[str, VideoFile], folder: Path) -> dict[str, str | None]:
    """The source of the video of each clip id, for a page in `folder`.

    The source is a data: URI if all videos together fit the limit and the content is known. Otherwise it is an address
    relative to the page. It is None if the file is missing, has other content, or has a format that browsers do not
    play.
    """
    root = folder.resolve()
    paths = {name: root / file.path for name, file in files.items() if file.path is not None}
    playable = {name: path for name, path in paths.items() if path.suffix.lower() in _MEDIA_TYPES and path.is_file()}
    embed = sum(path.stat().st_size for path in playable.values()) <= EMBED_LIMIT_BYTES
    source = _embedded if embed else _linked
    return {name: source(playable[name], file, root) if name in playable else None for name, file in files.items()}


def _embedded(path: Path, file: VideoFile, root: Path) -> str | None:
    if file.sha256 is None:
        return _linked(path, file, root)
    if file_sha256(path) != file.sha256:
        return None
    return f"data:{_MEDIA_TYPES[path.suffix.lower()]};base64,{b64encode(path.read_bytes()).decode()}"


def _linked(path: Path, file: VideoFile, root: Path) -> str | None:
    found = path.stat()
    is_unchanged = (found.st_size, found.st_mtime_ns) == (file.size_bytes, file.modified_ns)
    if file.sha256 is not None and not is_unchanged and file_sha256(path) != file.sha256:
        return None
    return quote(Path(os.path.relpath(path, root)).as_posix())


def video_notes(sources: Mapping[str, str | None], files: Mapping[str, VideoFile]) -> Iterator[str]:
    """Sentences about the number of videos that are linked, and the number that are missing."""
    if linked := sum(source is not None and not source.startswith("data:") for source in sources.values()):
        why = f"together they are larger than {EMBED_LIMIT_BYTES / 2**20:.0f} MiB"
        yield f"the page links to {count(linked, 'video')} instead of embedding them: {why}"
    if missing := [name for name, source in sources.items() if source is None]:
        which = f"{Path(files[missing[0]].path or '').name}{', ...' if len(missing) > 1 else ''}"
        why = "the file is missing, has changed, or has a format that browsers do not play"
        yield f"the page has no video of {count(len(missing), 'clip')} ({which}): {why}"
