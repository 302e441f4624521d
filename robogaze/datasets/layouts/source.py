"""What stands at a path: one file, or a folder with all files below it, in the order of their names.

Names that begin with a dot are passed over: caches, and what file systems leave behind.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from robogaze.datasets.json_files import object_in, text_of
from robogaze.errors import InputError

VIDEOS = (".mp4", ".m4v", ".mov", ".mkv", ".webm")
"""The endings of videos that are read."""

OTHER_VIDEOS = (".avi", ".mpeg", ".mpg", ".ts", ".wmv", ".flv", ".gif", ".ogv")
"""Those of videos that are not: they do not say when each picture is shown, or can be cut without a trace."""


@dataclass(frozen=True)
class ImportSource:
    """A path to import from; `files` are those below it, relative to it, none where it is a file itself.

    `unnamed` are further ones whose names are no text; they are spelled out, and cannot be opened under that name.
    """

    path: Path
    files: tuple[PurePosixPath, ...]
    unnamed: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path) -> "ImportSource":
        """List a path. Raises InputError when there is nothing."""
        if path.is_file():
            return cls(path, ())
        if not path.is_dir():
            raise InputError(f"{path} does not exist; name a folder of clips or a file that lists them")
        found = []
        for folder, folders, names in os.walk(path):
            folders[:] = [name for name in folders if not name.startswith(".")]
            inner = Path(folder).relative_to(path).as_posix()
            found += [PurePosixPath(inner, name) for name in names if not name.startswith(".")]
        named = (file for file in found if _is_text(file))
        unnamed = (file.as_posix().encode("utf-8", "backslashreplace").decode() for file in found if not _is_text(file))
        return cls(path, tuple(sorted(named)), tuple(sorted(unnamed)))

    @property
    def is_file(self) -> bool:
        """Whether it is one file."""
        return not self.files and self.path.is_file()

    @cached_property
    def videos(self) -> tuple[PurePosixPath, ...]:
        """The videos below it."""
        return tuple(file for file in self.files if file.suffix.lower() in VIDEOS)

    @cached_property
    def _known(self) -> frozenset[PurePosixPath]:
        return frozenset(self.files)

    def has(self, file: PurePosixPath | str) -> bool:
        """Whether there is such a file below it."""
        return PurePosixPath(file) in self._known

    def at(self, file: PurePosixPath | str) -> Path:
        """Where a file below it lies."""
        return self.path / file

    def within(self, folder: PurePosixPath | str) -> tuple[PurePosixPath, ...]:
        """The files of a folder below it, at any depth."""
        return tuple(file for file in self.files if PurePosixPath(folder) in file.parents)


def _is_text(file: PurePosixPath) -> bool:
    try:
        file.as_posix().encode()
    except UnicodeEncodeError:
        return False
    return True


def object_of(path: Path) -> Mapping[str, Any]:
    """The JSON object that a file holds. Raises InputError when it holds something else."""
    return object_in(text_of(path), f"{path}")
