"""Importing: a folder or a file in any known layout, as entries of a manifest."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from robogaze.datasets.layouts import (
    cosmos,
    dreamdojo,
    dreamgen,
    lerobot,
    plain,
    robogaze_release,
    table,
    videofolder,
    videoglitchbench,
    webdataset,
)
from robogaze.datasets.layouts.base import Ignored, Importer, ImportState, Packed
from robogaze.datasets.layouts.source import OTHER_VIDEOS, VIDEOS, ImportSource
from robogaze.datasets.manifest import ManifestEntry, file_sha256
from robogaze.errors import InputError

_MODULES = (
    table,
    lerobot,
    robogaze_release,
    cosmos,
    dreamdojo,
    videoglitchbench,
    videofolder,
    webdataset,
    dreamgen,
    plain,
)

IMPORTERS: Mapping[str, Importer] = {module.IMPORTER.name: module.IMPORTER for module in _MODULES}
"""The importers by name. The first that recognises a source reads it, so the more one wants, the earlier it stands."""

AUTO = "auto"
"""Says that the layout is to be recognised."""


@dataclass(frozen=True)
class Imported:
    """What a source holds: its layout, the clips in the order of their names, and what did not become one.

    `remarks` are sentences that say what was understood in a certain way. `packed` are the clips that have to be
    unpacked (`robogaze.datasets.layouts.unpack`) before they can be opened, by the path of their entry.
    """

    layout: str
    entries: tuple[ManifestEntry, ...]
    ignored: tuple[Ignored, ...]
    remarks: tuple[str, ...]
    packed: Mapping[Path, Packed]


class NoClips(InputError):
    """A path holds nothing that can be imported."""


def import_clips(path: Path, layout: str = AUTO) -> Imported:
    """The clips of a folder or a file.

    Raises InputError when there is none, when the layout is not known or contradicts itself, and for one clip_id of
    two clips. No video is opened.
    """
    source = ImportSource.of(path)
    importer = _recognised(source) if layout == AUTO else _named(layout)
    found = ImportState()
    importer.read(source, found)
    _settle_the_rest(source, found, importer)
    if not found.entries:
        seen = f"; {found.ignored[0].file}: {found.ignored[0].reason}" if found.ignored else ""
        raise InputError(f"{path} holds no clip in the layout {importer.name} ({importer.holds}){seen}")
    _check_ids(found.entries)
    return Imported(importer.name, tuple(found.entries), tuple(found.ignored), tuple(found.remarks), found.packed)


def with_content(found: Imported) -> Imported:
    """The same clips with what their files hold (`sha256`), so that a file that is replaced later is noticed.

    Each file is read to its end, once. Raises VideoError for one that cannot be read.
    """
    content = cache(file_sha256)
    return replace(found, entries=tuple(entry.with_(sha256=content(entry.path)) for entry in found.entries))


def manifest_text(entries: Sequence[ManifestEntry], folder: Path) -> str:
    """Entries as the lines of a manifest that lies in `folder`; paths are as seen from there."""
    lines = []
    for entry in entries:
        initial = None if entry.initial_frame is None else _seen_from(folder, entry.initial_frame)
        there = entry.with_(path=_seen_from(folder, entry.path), initial_frame=initial)
        lines.append(there.model_dump_json(exclude_none=True) + "\n")
    return "".join(lines)


def _seen_from(folder: Path, path: Path) -> Path:
    # Folders are followed to where they are, for `..` leaves a linked folder elsewhere; a file keeps its own name.
    there = path.parent.resolve() / path.name
    try:
        return Path(os.path.relpath(there, folder.resolve()))
    except ValueError:  # no way leads from one drive to another
        return there


def _named(layout: str) -> Importer:
    if layout not in IMPORTERS:
        raise InputError(f"there is no layout {layout!r}; there is: {AUTO}, {', '.join(IMPORTERS)}")
    return IMPORTERS[layout]


def _recognised(source: ImportSource) -> Importer:
    chosen = next((one for one in IMPORTERS.values() if one.recognises(source)), None)
    if chosen is None:
        raise NoClips(_lacking(source))
    return chosen


def _lacking(source: ImportSource) -> str:
    """Why nothing can be imported from a path."""
    if source.is_file:
        return f"{source.path} is not recognised as a list of clips; name its --format: {', '.join(IMPORTERS)}"
    others = sum(file.suffix.lower() in OTHER_VIDEOS for file in source.files)
    convert = f"; it holds {others} of other kinds ({', '.join(OTHER_VIDEOS)}): convert them to MP4" if others else ""
    return f"{source.path} holds no video ({', '.join(VIDEOS)}){convert}"


def _settle_the_rest(source: ImportSource, found: ImportState, importer: Importer) -> None:
    for name in source.unnamed:
        found.ignore(name, "its name is not UTF-8; rename it")
    for file in source.files:
        if found.settled(file):
            continue
        if file.suffix.lower() in OTHER_VIDEOS:
            found.ignore(file, "a video of a kind that is not read; convert it to MP4")
        elif file.suffix.lower() in VIDEOS:
            found.ignore(file, f"a video that has no place in the layout {importer.name}")
        else:
            found.ignore(file, "no video, and describes no clip")


def _check_ids(entries: Sequence[ManifestEntry]) -> None:
    first: dict[str, ManifestEntry] = {}
    for entry in entries:
        if entry.clip_id is not None and first.setdefault(entry.clip_id, entry) is not entry:
            both = f"{first[entry.clip_id].address} and {entry.address}"
            raise InputError(f"clip_id {entry.clip_id!r} stands for both {both}; ids must differ")
