"""How a page comes by its videos: inside it while they are small, beside it when they are not.

A page carries a video only where its content is what was scored: the paths of a run folder may be someone else's.
"""

import os
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from robogaze.datasets import file_sha256

EMBED_LIMIT_BYTES = 25 * 2**20
"""The most video a page carries, before encoding; a page of more opens slowly and cannot be mailed."""

_MEDIA_TYPES = {".mp4": "video/mp4", ".m4v": "video/mp4", ".mov": "video/mp4", ".webm": "video/webm"}


def video_sources(paths: Mapping[str, Path], root: Path, contents: Mapping[str, str | None]) -> dict[str, str | None]:
    """For each clip id, its video for a page that stands in `root`; `contents` are their SHA-256, as far as known.

    All videos as data: URIs if they fit the limit together; otherwise addresses relative to the page, and so where the
    content is not known. None for a file that is not where it was, is another one, or of a kind no browser plays.
    """
    there = {name: path for name, path in paths.items() if path.suffix.lower() in _MEDIA_TYPES and path.is_file()}
    embed = sum(path.stat().st_size for path in there.values()) <= EMBED_LIMIT_BYTES
    return {
        name: None if name not in there else _embedded(path, contents.get(name), root) if embed else _linked(path, root)
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


def is_linked(source: str | None) -> bool:
    """Whether a source leads out of the page."""
    return source is not None and not source.startswith("data:")
