"""Import: a folder or a file in any known layout -> entries of a manifest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath

from robogaze.datasets.layouts import LAYOUTS
from robogaze.datasets.layouts.base import (
    OTHER_VIDEOS,
    VIDEOS,
    FolderLayout,
    Ignored,
    ImportSource,
    ImportState,
    PackedClip,
)
from robogaze.datasets.layouts.tar_files import members
from robogaze.datasets.manifest import ManifestEntry, check_unique_ids, file_sha256
from robogaze.errors import InputError
from robogaze.store import write_whole

AUTO = "auto"
"""The name by which the layout is recognised automatically."""


_FALLBACK = "plain"
"""The layout that recognises every folder with a video, so it is tried last, after those of other packages."""


@dataclass(frozen=True)
class Imported:
    """The clips of a source in the order of their names, its layout, and the files that are not clips.

    `remarks` are sentences that say how something was interpreted. `packed` contains the clips that are in archives,
    keyed by the path in their entry; `unpack` must unpack them before they can be used.
    """

    layout: str
    entries: tuple[ManifestEntry, ...]
    ignored: tuple[Ignored, ...]
    remarks: tuple[str, ...]
    packed: Mapping[Path, PackedClip]


class NoClips(InputError):
    """The path contains nothing that can be imported."""


def import_clips(path: Path, layout: str = AUTO) -> Imported:
    """The clips of a folder or a file. No video is opened.

    `layout` is a name in LAYOUTS; "auto" takes the first layout that recognises the path. Raises InputError if there is
    no clip, if the layout is unknown, if the files contradict each other, and if two clips have the same clip_id.
    """
    source = ImportSource.of(path)
    chosen = _recognised(source) if layout == AUTO else _named(layout)
    state = ImportState()
    chosen.read(source, state)
    _ignore_the_rest(source, state, chosen)
    if not state.entries:
        first = f"; {state.ignored[0].file}: {state.ignored[0].reason}" if state.ignored else ""
        raise InputError(f"the layout {chosen.name} ({chosen.summary}) finds no clip in {path}{first}")
    check_unique_ids(state.entries)
    return Imported(chosen.name, tuple(state.entries), tuple(state.ignored), tuple(state.remarks), state.packed)


def lists_clips(file: Path) -> bool:
    """Whether a layout recognises a file, such as a table or an archive of clips."""
    source = ImportSource.of(file)
    return any(LAYOUTS.load(name).recognises(source) for name in LAYOUTS.names())


def with_sha256(imported: Imported) -> Imported:
    """The same clips with the SHA-256 of their files. RoboGaze can then notice that a file was replaced later.

    Each file is read once. Raises VideoError for a file that cannot be read.
    """
    content_sha256 = cache(file_sha256)
    hashed = tuple(entry.with_(sha256=content_sha256(entry.path)) for entry in imported.entries)
    return replace(imported, entries=hashed)


def with_unpacked_paths(imported: Imported, folder: Path) -> Imported:
    """The same clips, at the paths to which `unpack` writes them."""
    targets = {path: folder / clip.target for path, clip in imported.packed.items()}
    moved = tuple(entry.with_(path=targets.get(entry.path, entry.path)) for entry in imported.entries)
    return replace(imported, entries=moved)


def unpack(imported: Imported, folder: Path) -> Imported:
    """Write the clips that are in archives to a folder; existing files are overwritten.

    Raises InputError for an archive that changed since it was read, and RunError if a file cannot be written.
    """
    by_archive: dict[Path, list[PackedClip]] = {}
    for clip in imported.packed.values():
        by_archive.setdefault(clip.archive, []).append(clip)
    for archive, clips in by_archive.items():
        _unpack_archive(archive, clips, folder)
    return with_unpacked_paths(imported, folder)


def _unpack_archive(archive: Path, clips: Sequence[PackedClip], folder: Path) -> None:
    targets = {PurePosixPath(clip.member): folder / clip.target for clip in clips}
    missing = set(targets)
    with members(archive) as files:
        for file in files:
            name = PurePosixPath(file.name)
            if name in targets:
                write_whole(targets[name], file.chunks())
                missing.discard(name)
    if missing:
        raise InputError(f"{archive} was changed after RoboGaze read it: {min(missing)} is missing")


def _named(layout: str) -> FolderLayout:
    if layout not in LAYOUTS:
        raise InputError(f"there is no layout {layout!r}; the layouts are: {AUTO}, {', '.join(LAYOUTS.names())}")
    return LAYOUTS.load(layout)


def _recognised(source: ImportSource) -> FolderLayout:
    for name in sorted(LAYOUTS.names(), key=lambda name: name == _FALLBACK):
        if (layout := LAYOUTS.load(name)).recognises(source):
            return layout
    raise NoClips(_why_none(source))


def _why_none(source: ImportSource) -> str:
    if source.is_file:
        names = ", ".join(LAYOUTS.names())
        return f"{source.path} is not recognised as a list of clips; give the layout with --format, one of: {names}"
    others = sum(file.suffix.lower() in OTHER_VIDEOS for file in source.files)
    convert = f"; convert the {others} in other formats ({', '.join(OTHER_VIDEOS)}) to MP4" if others else ""
    return f"{source.path} has no video ({', '.join(VIDEOS)}){convert}"


def _ignore_the_rest(source: ImportSource, state: ImportState, layout: FolderLayout) -> None:
    for name in source.unnamed:
        state.ignore(name, "its name is not UTF-8; rename it")
    for file in source.files:
        if state.is_handled(file):
            continue
        if file.suffix.lower() in OTHER_VIDEOS:
            state.ignore(file, "a video of an unsupported kind; convert it to MP4")
        elif file.suffix.lower() in VIDEOS:
            state.ignore(file, f"a video that does not belong to the layout {layout.name}")
        else:
            state.ignore(file, "neither a video nor the description of a clip")
