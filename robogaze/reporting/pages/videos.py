"""The videos of a page: embedded if they are small in total, otherwise linked.

A video is embedded only if it has the same hash as the video that was scored, because a run folder may come from
someone else.
"""

import os
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

from robogaze.datasets import file_sha256
from robogaze.reporting.wording import count

EMBED_LIMIT_BYTES = 25 * 2**20
"""The largest total size of embedded videos, before encoding; a larger page opens slowly and cannot be mailed."""

_MEDIA_TYPES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/mp4", ".webm": "video/webm"}


def video_sources(paths: Mapping[str, Path], root: Path, contents: Mapping[str, str | None]) -> dict[str, str | None]:
    """The source of the video of each clip, by clip id, for a page in `root`. `contents` has the SHA-256 hash of each
    video, or None if it is not known.

    The source is a data: URI if the total size of all videos is within the limit and the hash of the video is known;
    otherwise it is an address relative to the page. It is None if the file is missing, has other content, or has a
    format that no browser plays.
    """
    playable = {name: path for name, path in paths.items() if path.suffix.lower() in _MEDIA_TYPES and path.is_file()}
    embed = sum(path.stat().st_size for path in playable.values()) <= EMBED_LIMIT_BYTES
    return {
        name: None
        if name not in playable
        else _embedded(path, contents.get(name), root)
        if embed
        else _linked(path, root)
        for name, path in paths.items()
    }


def _embedded(path: Path, content: str | None, root: Path) -> str | None:
    if content is None:
        return _linked(path, root)
    if file_sha256(path) != content:
        return None
    return f"data:{_MEDIA_TYPES[path.suffix.lower()]};base64,{b64encode(path.read_bytes()).decode()}"


def _linked(path: Path, root: Path) -> str:
    return quote(Path(os.path.relpath(path, root.resolve())).as_posix())


def video_notes(sources: Mapping[str, str | None], paths: Mapping[str, Path]) -> Iterator[str]:
    """Sentences that say how many videos are linked and how many are missing."""
    if linked := sum(source is not None and not source.startswith("data:") for source in sources.values()):
        why = f"together they are larger than {EMBED_LIMIT_BYTES / 2**20:.0f} MiB"
        yield f"the page links to {count(linked, 'video')} instead of embedding them: {why}"
    if missing := [name for name, source in sources.items() if source is None]:
        which = f"{paths[missing[0]].name}{', ...' if len(missing) > 1 else ''}"
        why = "the file is missing, has changed, or has a format that browsers do not play"
        yield f"the page has no video of {count(len(missing), 'clip')} ({which}): {why}"
