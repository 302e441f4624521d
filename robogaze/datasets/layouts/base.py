"""What an importer is, and what it fills.

An importer is one module with three things, gathered in an `Importer`: `holds` says in a few words what it reads,
`recognises` looks at the names of a source's files (and into a file or two), and `read` makes entries of them. Nothing
falls out unseen: what is neither a clip nor describes one is ignored, with the reason.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from robogaze.core.data import dotted, first_fault
from robogaze.datasets.layouts.source import ImportSource
from robogaze.datasets.manifest import ManifestEntry
from robogaze.errors import InputError


@dataclass(frozen=True)
class Ignored:
    """A file that did not become a clip. `file` is as seen from the source."""

    file: str
    reason: str


@dataclass(frozen=True)
class Packed:
    """A clip in an archive, under the name it has there, and where it goes below the folder it is unpacked to."""

    archive: Path
    member: str
    into: PurePosixPath


@dataclass
class ImportState:
    """Filled while a source is read. `packed` are clips in archives, by the path of their entry."""

    entries: list[ManifestEntry] = field(default_factory=list)
    ignored: list[Ignored] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    packed: dict[Path, Packed] = field(default_factory=dict)
    _settled: set[PurePosixPath] = field(default_factory=set)

    def add(self, entry: ManifestEntry, *files: PurePosixPath | str) -> None:
        """A clip, with the source's files that it was made of: its video, and what describes it."""
        self.entries.append(entry)
        self.use(*files)

    def use(self, *files: PurePosixPath | str) -> None:
        """Files that describe clips, and are none."""
        self._settled.update(map(PurePosixPath, files))

    def ignore(self, file: PurePosixPath | str, reason: str) -> None:
        """A file that does not become a clip, and why; of several reasons the first holds."""
        if PurePosixPath(file) not in self._settled:
            self.use(file)
            self.ignored.append(Ignored(f"{file}", reason))

    def remark(self, text: str) -> None:
        """Something that was understood in a certain way; said once."""
        if text not in self.remarks:
            self.remarks.append(text)

    def settled(self, file: PurePosixPath) -> bool:
        """Whether it is known what a file is."""
        return file in self._settled


@dataclass(frozen=True)
class Importer:
    """A layout that can be imported."""

    name: str
    holds: str
    recognises: Callable[[ImportSource], bool]
    read: Callable[[ImportSource, ImportState], None]


def make_entry(where: str, **fields: Any) -> ManifestEntry:
    """An entry of what a place says. Raises InputError with the place and the field that does not fit."""
    try:
        return ManifestEntry(**fields)
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(f"{where}: {dotted(place)}: {message}") from error
