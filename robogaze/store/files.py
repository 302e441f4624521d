"""Files that are written completely or not at all, and file names for clip ids."""

import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

from robogaze.errors import RunError

_PART = ".part-"
"""Prefix of a file that is still being written."""

_OWN = ("run.", "manifest.", "unreadable.", "calls.", "index.")
"""Prefixes of the run's own files."""

_NAME_LIMIT = 200
"""The longest name, in bytes; file systems allow 255."""


def write_whole(path: Path, content: str | bytes | Iterable[bytes]) -> None:
    """Write a file completely or not at all; an iterable is written piece by piece.

    Raises RunError if the file cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    pieces = (data,) if isinstance(data, bytes) else data
    part = path.with_name(f"{_PART}{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as file:
                file.writelines(pieces)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        way_out = "free space, or choose another folder, and run the command again"
        raise RunError(f"{path} cannot be written ({error.strerror}); {way_out}") from error


def sweep(folder: Path) -> None:
    """Remove the temporary files of killed writes from a folder."""
    for part in folder.glob(f"{_PART}*"):
        part.unlink(missing_ok=True)


def file_name(clip_id: str) -> str:
    """A file name for a clip id: the percent-encoded id, so that people can read it.

    Different ids have different names, and a name is never a path. The first character is also encoded if the name
    would be hidden or would equal the name of one of the run's own files. The last character is also encoded if Windows
    would drop it. A name that is too long is cut and ends in a hash.
    """
    name = quote(clip_id, safe=" ")
    if name.startswith(".") or name.lower().startswith(_OWN):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith((".", " ")):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if len(name) > _NAME_LIMIT:
        # An encoded name has no plus sign, so a shortened name never equals the name of another id.
        digest = sha256(clip_id.encode()).hexdigest()[:32]
        name = f"{name[: _NAME_LIMIT - 33]}+{digest}"
    return name
