"""The types for layouts: the layout itself, the source that it reads, and the result.

A layout is one module with a `FolderLayout`: `recognises` decides by the names of a source's files. If the names are
not enough, it also reads one or two of the files. It returns False for anything that it cannot read. `read` adds a
manifest entry for each clip. Nothing is dropped silently: a file that is neither a clip nor describes one is listed as
ignored, with the reason.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from robogaze.core.data import fault_of
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import InputError

VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm")
"""The suffixes of videos that are read."""

OTHER_VIDEOS = (".avi", ".mpeg", ".mpg", ".ts", ".wmv", ".flv", ".gif", ".ogv")
"""The suffixes of videos that are not read, because they have no time per frame or can be truncated unnoticed."""


UNPACKED = ".clips"
"""The suffix of the folder that clips of archives are unpacked to, after the manifest's stem."""


@dataclass(frozen=True)
class ImportSource:
    """A path to import: a file, or a folder with all files below it, in the order of their names.

    `files` are relative to `path`; they are empty if `path` is a file. `unnamed` are names, in escaped form, that are
    not UTF-8; their files cannot be opened. Names that start with a dot (caches, leftovers of file systems) are
    skipped.
    """

    path: Path
    files: tuple[PurePosixPath, ...]
    unnamed: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path) -> "ImportSource":
        """List a path. Raises InputError if the path does not exist."""
        if path.is_file():
            return cls(path, ())
        if not path.is_dir():
            raise InputError(f"{path} does not exist; give a folder of clips or a file that lists clips")
        files = []
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inner = Path(folder).relative_to(path).as_posix()
            files += [PurePosixPath(inner, name) for name in names if not name.startswith(".")]
        named = (file for file in files if _is_utf8(file))
        escaped = (file.as_posix().encode("utf-8", "backslashreplace") for file in files if not _is_utf8(file))
        return cls(path, tuple(sorted(named)), tuple(sorted(name.decode() for name in escaped)))

    @property
    def is_file(self) -> bool:
        """Whether the path is one file."""
        return not self.files and self.path.is_file()

    @cached_property
    def videos(self) -> tuple[PurePosixPath, ...]:
        """The videos of the source."""
        return tuple(file for file in self.files if file.suffix.lower() in VIDEOS)

    def has(self, file: PurePosixPath | str) -> bool:
        """Whether this file is listed in the source."""
        return PurePosixPath(file) in self._listed

    @cached_property
    def _listed(self) -> frozenset[PurePosixPath]:
        return frozenset(self.files)

    def at(self, file: PurePosixPath | str) -> Path:
        """The full path of a file of the source."""
        return self.path / file

    def within(self, folder: PurePosixPath | str) -> tuple[PurePosixPath, ...]:
        """The files of the source in a folder, at any depth."""
        return tuple(file for file in self.files if PurePosixPath(folder) in file.parents)


def _is_utf8(file: PurePosixPath) -> bool:
    try:
        file.as_posix().encode()
    except UnicodeEncodeError:
        return False
    return True


@dataclass(frozen=True)
class Ignored:
    """A file that is not a clip: its path relative to the source, and the reason."""

    file: str
    reason: str


@dataclass(frozen=True)
class PackedClip:
    """A clip in an archive. `member` is its name in the archive, and `target` is its path below the folder to which
    clips are unpacked.
    """

    archive: Path
    member: str
    target: PurePosixPath


@dataclass
class ImportState:
    """What has been found so far while a source is read. `packed` contains the clips that are in archives, keyed by the
    path in their manifest entry.
    """

    entries: list[ManifestEntry] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    packed: dict[Path, PackedClip] = field(default_factory=dict)
    _handled: set[PurePosixPath] = field(default_factory=set)

    def add(self, entry: ManifestEntry, *files: PurePosixPath | str) -> None:
        """Add a clip. `files` are the files of the source that belong to the clip: its video, and the files that
        describe it.
        """
        self.entries.append(entry)
        self.use(*files)

    def use(self, *files: PurePosixPath | str) -> None:
        """Mark files that describe clips."""
        self._handled.update(map(PurePosixPath, files))

    def ignore(self, file: PurePosixPath | str, reason: str) -> None:
        """List a file that is not a clip. A file that is already added, used or listed is not listed again."""
        if PurePosixPath(file) not in self._handled:
            self.use(file)
            self.ignored.append(Ignored(f"{file}", reason))

    def remark(self, text: str) -> None:
        """Add a remark on how something was interpreted; a repeated remark is not added again."""
        if text not in self.remarks:
            self.remarks.append(text)

    def is_handled(self, file: PurePosixPath) -> bool:
        """Whether a file was added, used or ignored."""
        return file in self._handled


@dataclass(frozen=True)
class FolderLayout:
    """A layout that can be imported.

    `summary` describes in a few words what the layout reads. `recognises` is true for a source in this layout. `read`
    adds the clips of a source to the state, and raises InputError if the files contradict each other.
    """

    name: str
    summary: str
    recognises: Callable[[ImportSource], bool]
    read: Callable[[ImportSource, ImportState], None]


def make_entry(source: str, **fields: Any) -> ManifestEntry:
    """A manifest entry. Raises InputError that names `source` and the invalid field."""
    try:
        return ManifestEntry(**fields)
    except ValidationError as error:
        raise InputError(f"{source}: {fault_of(error)}") from error
