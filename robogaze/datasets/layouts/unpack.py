"""Clips in archives, written as files of their own."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath

from robogaze.datasets.layouts.base import Packed
from robogaze.datasets.layouts.importer import Imported
from robogaze.datasets.layouts.tar_files import members
from robogaze.errors import InputError
from robogaze.store import write_whole


def placed(found: Imported, folder: Path) -> Imported:
    """The same clips, where `unpack` puts them below a folder."""
    where = {path: folder / one.into for path, one in found.packed.items()}
    return replace(found, entries=tuple(one.with_(path=where.get(one.path, one.path)) for one in found.entries))


def unpack(found: Imported, folder: Path) -> Imported:
    """Write the clips that are in archives below a folder; what is there is written again.

    Raises InputError for an archive that changed since it was read, RunError when the disk refuses.
    """
    by_archive: dict[Path, list[Packed]] = {}
    for one in found.packed.values():
        by_archive.setdefault(one.archive, []).append(one)
    for archive, packed in by_archive.items():
        _unpack(archive, packed, folder)
    return placed(found, folder)


def _unpack(archive: Path, packed: Sequence[Packed], folder: Path) -> None:
    wanted = {PurePosixPath(one.member): folder / one.into for one in packed}
    missing = set(wanted)
    with members(archive) as files:
        for file in files:
            name = PurePosixPath(file.name)
            if name in wanted:
                write_whole(wanted[name], file.chunks())
                missing.discard(name)
    if missing:
        raise InputError(f"{archive} was changed since it was read: it lacks {min(missing)}")
