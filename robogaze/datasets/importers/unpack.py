"""Clips in archives, written as files of their own."""

import tarfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from robogaze.datasets.importers.base import Packed
from robogaze.datasets.importers.read import Imported
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
    try:
        with tarfile.open(archive) as tar:
            for one in packed:
                content = tar.extractfile(one.member)
                assert content is not None, "only files were listed"
                write_whole(folder / one.into, content.read())
    except (KeyError, EOFError, tarfile.TarError) as error:
        raise InputError(f"{archive} is not a tar file that can be read to its end: {error}") from error
