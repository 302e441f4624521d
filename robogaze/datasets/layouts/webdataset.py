"""WebDataset: tar files with `<key>.mp4` and `<key>.json` or `<key>.txt`; the key is what stands before the first dot.

The JSON has the columns of a table (see `rows`), the text is the instruction. An entry names a file of its own, so a
manifest is written once the clips are unpacked (`unpack`); until then their paths lead into the archives.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from pydantic_core import from_json

from robogaze.datasets.layouts.base import Importer, ImportState, Packed, make_entry
from robogaze.datasets.layouts.rows import ImportedRow, fields_of
from robogaze.datasets.layouts.source import VIDEOS, ImportSource
from robogaze.datasets.layouts.tar_files import Member, members
from robogaze.errors import InputError

UNPACKED = ".clips"
"""How a folder is called that clips are unpacked to, behind the manifest's name."""

_ARCHIVES = (".tar", ".tar.gz", ".tgz")
_JSON, _TEXT = ".json", ".txt"

LONGEST_TEXT = 1 << 20
"""The most bytes that are said of one clip."""

MOST_TEXT = 256 << 20
"""The most bytes that are said of all the clips of an archive."""

_TOO_LONG = b"\0too long"


def recognises(source: ImportSource) -> bool:
    """An archive, or a folder of them without a video beside, but for those that were unpacked of them."""
    unpacked = (any(folder.endswith(UNPACKED) for folder in video.parts[:-1]) for video in source.videos)
    return bool(_archives(source)) and all(unpacked)


def read(source: ImportSource, found: ImportState) -> None:
    """A clip a video in an archive."""
    for archive in _archives(source):
        path = source.path if source.is_file else source.at(archive)
        with members(path) as files:
            _read(files, path, archive, found)
        found.use(archive)


def _archives(source: ImportSource) -> list[PurePosixPath]:
    files = [PurePosixPath(source.path.name)] if source.is_file else source.files
    return [file for file in files if file.name.endswith(_ARCHIVES)]


def _read(files: Iterator[Member], path: Path, archive: PurePosixPath, found: ImportState) -> None:
    names: dict[PurePosixPath, None] = {}  # each once: of members with one name, the last holds
    said: dict[PurePosixPath, bytes] = {}
    total = 0
    for member in files:
        name = PurePosixPath(member.name)
        if name.is_absolute() or ".." in name.parts:
            found.ignore(archive / name.name, "its name leads out of the archive")
            continue
        names[name] = None
        if name.suffix in (_JSON, _TEXT):
            said[name] = _TOO_LONG if member.size > LONGEST_TEXT else b"".join(member.chunks())
            total += len(said[name])
            if total > MOST_TEXT:
                raise InputError(f"{path} holds more than {MOST_TEXT >> 20} MiB of text; split it")
    keys = {_key(name) for name in names if name.suffix.lower() in VIDEOS}
    for name in names:
        if name.suffix.lower() in VIDEOS:
            fields = _fields(_key(name), said, path)
            found.add(make_entry(f"{path}/{name}", **{**fields, "path": path / name}))
            found.packed[path / name] = Packed(path, f"{name}", PurePosixPath(_without_ending(archive), name))
        elif not (name in said and _key(name) in keys):
            found.ignore(archive / name, "no video, and describes no clip")


def _fields(key: PurePosixPath, said: Mapping[PurePosixPath, bytes], path: Path) -> dict[str, object]:
    """What is said of the clips of a key; what the JSON says comes before the text."""
    as_json, as_text = (key.with_name(f"{key.name}{ending}") for ending in (_JSON, _TEXT))
    fields: dict[str, object] = {}
    for name in (as_json, as_text):
        if said.get(name) is _TOO_LONG:
            raise InputError(f"{path}/{name} is longer than {LONGEST_TEXT >> 20} MiB; it describes one clip")
    try:
        if as_text in said:
            fields["instruction"] = said[as_text].decode("utf-8-sig")
        told = from_json(said[as_json]) if as_json in said else {}
    except ValueError as error:
        raise InputError(f"{path}/{key}: the text or the JSON of the clip cannot be read: {error}") from error
    if not isinstance(told, dict):
        raise InputError(f"{path}/{as_json} must be a JSON object, not {type(told).__name__}")
    known = {name: value for name, value in told.items() if value is not None and name != "initial_frame"}
    return {**fields, **fields_of(ImportedRow(f"{path}/{as_json}", known))}


def _key(name: PurePosixPath) -> PurePosixPath:
    return name.with_name(name.name.partition(".")[0] or name.name)


def _without_ending(archive: PurePosixPath) -> PurePosixPath:
    ending = next(one for one in _ARCHIVES if archive.name.endswith(one))
    return archive.with_name(archive.name.removesuffix(ending) or archive.name)


IMPORTER = Importer("webdataset", "tar files with <key>.mp4 and <key>.json or .txt", recognises, read)
