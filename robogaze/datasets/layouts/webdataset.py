"""WebDataset: tar files with `<key>.mp4` and `<key>.json` or `<key>.txt`; the key ends at the first dot of the name.

The JSON has the keys that a table has as columns (see `table`). The text is the instruction. Until a clip is unpacked
(`importer.unpack`), the path of its entry points into the archive.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from pydantic_core import from_json

from robogaze.datasets.layouts.base import (
    UNPACKED,
    VIDEOS,
    FolderLayout,
    ImportSource,
    ImportState,
    PackedClip,
    make_entry,
)
from robogaze.datasets.layouts.table import ClipRow, entry_fields
from robogaze.datasets.layouts.tar_files import Member, members
from robogaze.errors import InputError

_ARCHIVES = (".tar", ".tar.gz", ".tgz")
_JSON, _TEXT = ".json", ".txt"

MAX_CLIP_TEXT_BYTES = 1 << 20
"""The longest text or JSON of one clip."""

MAX_TEXT_BYTES = 256 << 20
"""The most text and JSON in one archive."""

_TOO_LONG = b"\0too long"


def recognises(source: ImportSource) -> bool:
    """An archive, or a folder that contains archives and no videos other than unpacked ones."""
    unpacked = (any(folder.endswith(UNPACKED) for folder in video.parts[:-1]) for video in source.videos)
    return bool(_archives(source)) and all(unpacked)


def read(source: ImportSource, state: ImportState) -> None:
    """One clip per video in an archive."""
    for archive in _archives(source):
        path = source.path if source.is_file else source.at(archive)
        with members(path) as files:
            _read(files, path, archive, state)
        state.use(archive)


def _archives(source: ImportSource) -> list[PurePosixPath]:
    files = [PurePosixPath(source.path.name)] if source.is_file else source.files
    return [file for file in files if file.name.endswith(_ARCHIVES)]


def _read(files: Iterator[Member], path: Path, archive: PurePosixPath, state: ImportState) -> None:
    names: dict[PurePosixPath, None] = {}  # each name once: the last of several members with the same name counts
    texts: dict[PurePosixPath, bytes] = {}
    total = 0
    for member in files:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            state.ignore(archive / name.name, "its name is a path outside the archive")
            continue
        names[name] = None
        if name.suffix in (_JSON, _TEXT):
            texts[name] = _TOO_LONG if member.size > MAX_CLIP_TEXT_BYTES else b"".join(member.chunks())
            total += len(texts[name])
            if total > MAX_TEXT_BYTES:
                raise InputError(f"{path} has more than {MAX_TEXT_BYTES >> 20} MiB of text; split the tar file")
    described = {text for name in names if name.suffix.lower() in VIDEOS for text in _text_names(_key(name))}
    for name in names:
        if name.suffix.lower() in VIDEOS:
            fields = _fields(_key(name), texts, path, state)
            state.add(make_entry(f"{path}/{name}", **{**fields, "path": path / name}))
            state.packed[path / name] = PackedClip(path, f"{name}", PurePosixPath(_without_suffix(archive), name))
        elif name not in described:
            state.ignore(archive / name, "neither a video nor the description of a clip")


def _fields(
    key: PurePosixPath, texts: Mapping[PurePosixPath, bytes], path: Path, state: ImportState
) -> dict[str, object]:
    """The fields of the clips with a key; fields of the JSON override the text."""
    json_name, text_name = _text_names(key)
    fields: dict[str, object] = {}
    for name in (json_name, text_name):
        if texts.get(name) is _TOO_LONG:
            raise InputError(
                f"{path}/{name} is longer than {MAX_CLIP_TEXT_BYTES >> 20} MiB, the limit for the text of one clip"
            )
    try:
        if text_name in texts:
            fields["instruction"] = texts[text_name].decode("utf-8-sig")
        record = from_json(texts[json_name]) if json_name in texts else {}
    except ValueError as error:
        raise InputError(f"{path}/{key}: the text or the JSON of the clip cannot be read: {error}") from error
    if not isinstance(record, dict):
        raise InputError(f"{path}/{json_name} must be a JSON object, not {type(record).__name__}")
    cells = {name: value for name, value in record.items() if value is not None}
    if cells.pop("initial_frame", None) is not None:
        state.remark("the initial frames that the JSON files name are left out; images in archives are not unpacked")
    return {**fields, **entry_fields(ClipRow(f"{path}/{json_name}", cells))}


def _text_names(key: PurePosixPath) -> tuple[PurePosixPath, PurePosixPath]:
    """The names of the JSON and the text that describe the clips with a key."""
    return key.with_name(f"{key.name}{_JSON}"), key.with_name(f"{key.name}{_TEXT}")


def _key(name: PurePosixPath) -> PurePosixPath:
    return name.with_name(name.name.partition(".")[0] or name.name)


def _without_suffix(archive: PurePosixPath) -> PurePosixPath:
    suffix = next(suffix for suffix in _ARCHIVES if archive.name.endswith(suffix))
    return archive.with_name(archive.name.removesuffix(suffix) or archive.name)


LAYOUT = FolderLayout("webdataset", "tar files with <key>.mp4 and <key>.json or .txt", recognises, read)
