"""Manifests: the clips to score, and the prompt of each clip.

A clip is a video with an optional sidecar of the same name, or a line of a manifest. `cup.txt` gives the instruction of
`cup.mp4`; `cup.json` gives any field of an entry. The instruction is the first of these texts that is not empty:
`instruction` in the JSON, `prompt` in the JSON (written by generators), and the text. A manifest is a JSONL file with
one entry per line; paths in it are relative to the manifest.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from re import sub
from typing import Annotated, Any, Self
from unicodedata import combining, normalize

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from robogaze.core.clip import ClipId, Layout, Sha256, address
from robogaze.core.data import Data, fault_of
from robogaze.datasets.documents import json_object, text_of
from robogaze.errors import InputError, OptionError, VideoError

_MAX_STEM = 80
"""The most characters of a file's name in a clip id."""


def _parse_layout(value: Any) -> Any:
    return Layout.parse(value) if isinstance(value, str) else value


def _strip(value: Any) -> Any:
    """An instruction without surrounding white space; None if it is empty. Raises ValueError if it is not UTF-8."""
    if not isinstance(value, str):
        return value
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise ValueError("the text is not UTF-8") from error
    return value.strip() or None


def _utf8_path(value: Path) -> Path:
    try:
        value.as_posix().encode()
    except UnicodeEncodeError as error:
        raise ValueError("the name is not UTF-8; rename the file") from error
    return value


TextPath = Annotated[Path, AfterValidator(_utf8_path)]
"""A path that can be written into a report."""


class ManifestEntry(Data):
    """A clip to score, before it is opened.

    With `start_s` and `end_s`, the clip is a part of a longer video, `[start_s, end_s)` in seconds from the file's
    first frame; either can be None. A file is not read if its content does not match `sha256`. `layout` is 'single' or
    'ROWSxCOLUMNS:name,name,...' (see `Layout.parse`); if it is None, the layout is detected. Clips of different
    checkpoints with the same `prompt_id` were generated from one prompt. The default `clip_id` is the file's stem if no
    other clip has this stem (`with_ids`), else `id_for`.
    """

    path: TextPath
    clip_id: ClipId | None = None
    instruction: Annotated[str | None, BeforeValidator(_strip)] = None
    prompt_id: str | None = None
    initial_frame: TextPath | None = None
    checkpoint: str | None = None
    split: str | None = None
    task_family: str | None = None
    embodiment: str | None = None
    layout: Annotated[Layout | None, BeforeValidator(_parse_layout)] = None
    start_s: float | None = Field(default=None, ge=0)
    end_s: float | None = Field(default=None, gt=0)
    sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.end_s is not None and self.end_s <= (self.start_s or 0.0):
            raise ValueError(f"end_s must be after start_s; {self.end_s} is not after {self.start_s or 0.0}")
        return self

    @property
    def address(self) -> str:
        """The clip's file, followed by the part if the clip is only a part of the file: `file.mp4#t=5.2,10.1`."""
        return address(self.path.as_posix(), self.start_s, self.end_s)

    def check_content(self, content_sha256: str) -> None:
        """Raise VideoError if the file's content does not match `sha256`."""
        if self.sha256 not in (None, content_sha256):
            hashes = f"its sha256 is {content_sha256[:12]}..., but the manifest gives {self.sha256[:12]}..."
            raise VideoError(
                f"{self.path} was replaced after the manifest was written: {hashes}; import the clip again"
            )

    @property
    def stem(self) -> str:
        """The file's stem as a clip id (see `stem_of`)."""
        return stem_of(self.path.stem)

    def id_for(self, content_sha256: str) -> str:
        """The clip's id: `clip_id` if it is given, otherwise the stem and 12 hex digits of a hash.

        The hash is computed from the content, the instruction, the checkpoint, the split and the part.
        """
        if self.clip_id is not None:
            return self.clip_id
        parts = [content_sha256, self.instruction, self.checkpoint, self.split]
        if self.start_s is not None or self.end_s is not None:
            parts.append(address("", self.start_s, self.end_s))
        hexdigest = sha256("\0".join(part or "" for part in parts).encode()).hexdigest()
        return f"{self.stem}-{hexdigest[:12]}"


def stem_of(name: str) -> str:
    """A file's stem as a clip id, or `clip` if nothing of the stem is left. Accents are removed. All characters other
    than letters, digits, `.` and `-` are replaced by an underscore; several such characters in a row become one
    underscore.
    """
    plain = (character for character in normalize("NFKD", name) if not combining(character))
    safe = "".join(character if character.isalnum() or character in ".-" else "_" for character in plain)
    return sub("_+", "_", safe).strip("_")[:_MAX_STEM] or "clip"


class UnusableEntry(ManifestEntry):
    """A clip that cannot be scored, and the reason. The other clips are scored."""

    fault: str

    def check_content(self, content_sha256: str) -> None:
        """Raise VideoError with the reason."""
        raise VideoError(self.fault)


def with_ids(entries: Sequence[ManifestEntry]) -> tuple[ManifestEntry, ...]:
    """The entries, with `clip_id` set to the stem where it is missing and no other entry has this id.

    The other entries keep None. Their ids are computed later from their content (`ManifestEntry.id_for`), so that the
    order of the entries does not change an id.
    """
    ids = [entry.clip_id or entry.stem for entry in entries]
    first: dict[str, ManifestEntry] = {}
    repeated = set()
    for clip_id, entry in zip(ids, entries, strict=True):
        if not _is_same(first.setdefault(clip_id.casefold(), entry), entry):
            repeated.add(clip_id.casefold())
    return tuple(
        # A stem is a valid id, so it is not validated again: a manifest may have hundreds of thousands of lines.
        entry.model_copy(update={"clip_id": clip_id})
        if entry.clip_id is None and clip_id.casefold() not in repeated
        else entry
        for clip_id, entry in zip(ids, entries, strict=True)
    )


def _is_same(first: ManifestEntry, second: ManifestEntry) -> bool:
    return first is second or first == second


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file. Raises VideoError if the file cannot be read."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise VideoError(f"{path} cannot be read: {error.strerror}") from error


def find_entries(paths: Sequence[Path], **given: Any) -> tuple[ManifestEntry, ...]:
    """Entries for videos and manifests (`.jsonl`). The fields in `given` apply to all clips and override sidecars.

    Raises InputError for an invalid sidecar or manifest, and for two clips with the same clip_id. Videos are not
    opened.
    """
    return with_given([entry for path in paths for entry in _entries(path)], **given)


def with_given(entries: Sequence[ManifestEntry], **given: Any) -> tuple[ManifestEntry, ...]:
    """Entries, updated with the fields in `given` that are not None. Raises OptionError for a field that is invalid,
    and InputError for two clips with the same clip_id.
    """
    fields = {name: value for name, value in given.items() if value is not None}
    try:
        changed = tuple(entry.with_(**fields) for entry in entries) if fields else tuple(entries)
    except ValidationError as error:
        raise OptionError(fault_of(error)) from error
    check_unique_ids(changed, may_repeat=True)
    return changed


def check_unique_ids(entries: Iterable[ManifestEntry], *, may_repeat: bool = False) -> None:
    """Raise InputError for two entries with the same clip_id. With `may_repeat`, two equal entries are accepted."""
    first: dict[str, ManifestEntry] = {}
    for entry in entries:
        if entry.clip_id is None or (earlier := first.setdefault(entry.clip_id, entry)) is entry:
            continue
        if not (may_repeat and earlier == entry):
            both = f"{earlier.address} and {entry.address}"
            raise InputError(f"clip_id {entry.clip_id!r} is used for both {both}; ids must be unique")


def read_manifest(path: Path) -> tuple[ManifestEntry, ...]:
    """The entries of a JSONL manifest. Raises InputError with file, line and key if an entry is invalid or repeats a
    clip_id.
    """
    entries: list[ManifestEntry] = []
    first: dict[str, int] = {}
    for number, entry in manifest_lines(path):
        if entry.clip_id is not None and (earlier := first.setdefault(entry.clip_id, number)) != number:
            raise InputError(
                f"{path}:{number}: clip_id: {entry.clip_id!r} is also used in line {earlier}; ids must be unique"
            )
        entries.append(entry)
    if not entries:
        raise InputError(f"the manifest {path} lists no clip")
    return tuple(entries)


def manifest_lines(path: Path, *, growing: bool = False) -> Iterator[tuple[int, ManifestEntry]]:
    """The lines of a manifest with their numbers; for a `growing` manifest, only the lines that end with a newline.

    Raises InputError with file, line and key.
    """
    text = text_of(path)
    # Split at newlines only: `splitlines` would also split at separators that JSON allows within a string.
    lines = (text[: text.rfind("\n") + 1] if growing else text).split("\n")
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, _entry(json_object(line, f"{path}:{number}"), f"{path}:{number}", path.parent)


def manifest_text(entries: Sequence[ManifestEntry], folder: Path) -> str:
    """The text of a manifest that lists the entries. The manifest is to be stored in `folder`, so paths are written
    relative to this folder.
    """
    lines = []
    for entry in entries:
        initial_frame = None if entry.initial_frame is None else _relative(entry.initial_frame, folder)
        moved = entry.with_(path=_relative(entry.path, folder), initial_frame=initial_frame)
        lines.append(moved.model_dump_json(exclude_none=True) + "\n")
    return "".join(lines)


def _relative(path: Path, folder: Path) -> Path:
    # Folders are resolved, because `..` in a linked folder leads elsewhere; a file keeps its own name.
    real = path.parent.resolve() / path.name
    try:
        return Path(os.path.relpath(real, folder.resolve()))
    except ValueError:  # on another drive
        return real


def _entries(path: Path) -> tuple[ManifestEntry, ...]:
    return read_manifest(path) if path.suffix == ".jsonl" else (_with_sidecar(path),)


def _with_sidecar(video: Path) -> ManifestEntry:
    """A video with the fields of its sidecar; other keys of the sidecar are ignored."""
    try:
        _utf8_path(video)
        sidecars = {suffix: _sidecar_text(video.parent / f"{video.stem}{suffix}") for suffix in (".json", ".txt")}
    except (ValueError, InputError) as error:
        shown = Path(os.fsencode(video).decode("utf-8", "backslashreplace"))
        return UnusableEntry(path=shown, fault=f"{shown}: {error}")
    json_path, text_path = (video.parent / f"{video.stem}{suffix}" for suffix in sidecars)
    json_text, text = sidecars.values()
    if json_text is not None:
        sidecar = json_object(json_text, f"{json_path}")
        fields = {key: value for key, value in sidecar.items() if key in ManifestEntry.model_fields and key != "path"}
        instructions = [sidecar[key] for key in ("instruction", "prompt") if _strip(sidecar.get(key)) is not None]
        fields["instruction"] = next(iter(instructions), text)
        return _entry({**fields, "path": video.name}, f"{json_path}", video.parent)
    if text is not None:
        return _entry({"path": video, "instruction": text}, f"{text_path}")
    return _entry({"path": video}, f"{video}")


def _sidecar_text(path: Path) -> str | None:
    """The text of a sidecar, None if there is none. Raises InputError if the sidecar exists and cannot be read."""
    return text_of(path) if os.path.exists(path) else None


def _entry(fields: dict[str, Any], source: str, folder: Path = Path()) -> ManifestEntry:
    names = ("path", "initial_frame")
    paths = {name: _joined(folder, fields[name]) for name in names if isinstance(fields.get(name), str)}
    try:
        return ManifestEntry(**{**fields, **paths})
    except ValidationError as error:
        keys = ", ".join(ManifestEntry.model_fields)
        raise InputError(f"{source}: {fault_of(error)}; the keys of an entry are: {keys}") from error


def _joined(folder: Path, path: str) -> Path:
    """A path relative to a folder, without `..`. A `..` is kept only if a folder is a link and the path without `..`
    would lead to another target.
    """
    joined = folder / path
    if ".." not in path:
        return joined
    plain = Path(os.path.normpath(joined))
    try:
        return plain if os.path.samefile(plain.parent, joined.parent) else joined
    except OSError:  # a folder does not exist
        return joined if joined.parent.exists() else plain
