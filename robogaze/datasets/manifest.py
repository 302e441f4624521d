"""Which clips to look at: named one by one, with sidecars, or listed in a manifest.

A sidecar stands beside its video under the same name: `cup.txt` holds the instruction of `cup.mp4`, `cup.json` any of
an entry's fields. Of several instructions the first that says something holds: `instruction` in JSON, `prompt` in JSON
(as generators call it), the text. A manifest is a JSONL file with one entry a line; paths in it are relative to it.
"""

import errno
import os
from collections.abc import Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from re import sub
from typing import Annotated, Any, Self
from unicodedata import combining, normalize

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from robogaze.core.clip import ClipId, Layout, Sha256, address
from robogaze.core.data import Data, dotted, first_fault
from robogaze.datasets.json_files import object_in, text_of
from robogaze.errors import InputError, VideoError

_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)
"""How a file system says that there is no file of a name."""


def _layout(value: Any) -> Any:
    return Layout.parse(value) if isinstance(value, str) else value


def _instruction(value: Any) -> Any:
    """An instruction without the white space around it; None for one that says nothing."""
    return value.strip() or None if isinstance(value, str) else value


def _path(value: Path) -> Path:
    try:
        value.as_posix().encode()
    except UnicodeEncodeError as error:
        raise ValueError("the name is not UTF-8; rename the file") from error
    return value


_STEM_LIMIT = 80
"""Signs of a file's name in an id."""

TextPath = Annotated[Path, AfterValidator(_path)]
"""A path that can be written into a report."""


class ManifestEntry(Data):
    """A clip to look at, before it is opened.

    `start_s` and `end_s` make it a part of a longer video, `[start_s, end_s)` from the file's first frame on; either
    may be left to the file. `sha256` is what the file is to hold: with another content it is not read. `layout` is
    'single' or 'ROWSxCOLUMNS:name,name,...' (see `Layout.parse`); None leaves it to recognition. `prompt_id` is what
    clips of different checkpoints that were made from one prompt have in common. Without `clip_id` it is
    the file's stem, where no other clip has it (`with_ids`), else one made of the name, the content, the part, the
    instruction, the checkpoint and the split (`id_for`).
    """

    path: TextPath
    clip_id: ClipId | None = None
    instruction: Annotated[str | None, BeforeValidator(_instruction)] = None
    prompt_id: str | None = None
    initial_frame: TextPath | None = None
    checkpoint: str | None = None
    split: str | None = None
    task_family: str | None = None
    embodiment: str | None = None
    layout: Annotated[Layout | None, BeforeValidator(_layout)] = None
    start_s: float | None = Field(default=None, ge=0)
    end_s: float | None = Field(default=None, gt=0)
    sha256: Sha256 | None = None

    @model_validator(mode="after")
    def _a_part_ends_after_it_starts(self) -> Self:
        if self.end_s is not None and self.end_s <= (self.start_s or 0.0):
            raise ValueError(f"end_s must be after start_s; {self.end_s} is not after {self.start_s or 0.0}")
        return self

    @property
    def address(self) -> str:
        """Where the clip lies: its file, with the part of it, if it is a part: `file.mp4#t=5.2,10.1`."""
        return address(self.path.as_posix(), self.start_s, self.end_s)

    def check_content(self, content_sha256: str) -> None:
        """Raise VideoError when the file holds something else than it is to hold."""
        if self.sha256 not in (None, content_sha256):
            found = f"it holds {content_sha256[:12]}... and not {self.sha256[:12]}..."
            raise VideoError(f"{self.path} was replaced since the manifest was written: {found}; import it again")

    @property
    def stem(self) -> str:
        """The file's name as an id: without its ending and accents, each run of other signs an underscore."""
        return stem_of(self.path.stem)

    def id_for(self, content_sha256: str) -> str:
        """The clip's id: the given one, or the file's stem with 12 digits for what tells clips apart."""
        if self.clip_id is not None:
            return self.clip_id
        told = [content_sha256, self.instruction, self.checkpoint, self.split]
        if self.start_s is not None or self.end_s is not None:
            told.append(address("", self.start_s, self.end_s))
        digest = sha256("\0".join(one or "" for one in told).encode()).hexdigest()
        return f"{self.stem}-{digest[:12]}"


def stem_of(name: str) -> str:
    """A file's name without its ending as an id: no accents, each run of signs an underscore; `clip` for no letter."""
    plain = (c for c in normalize("NFKD", name) if not combining(c))
    safe = "".join(c if c.isalnum() or c in ".-" else "_" for c in plain)
    return sub("_+", "_", safe).strip("_")[:_STEM_LIMIT] or "clip"


class UnusableEntry(ManifestEntry):
    """A clip that cannot be looked at; `fault` says why. The others go on."""

    fault: str

    def check_content(self, content_sha256: str) -> None:
        """Raise VideoError that says why the clip cannot be looked at."""
        raise VideoError(self.fault)


def with_ids(entries: Sequence[ManifestEntry]) -> tuple[ManifestEntry, ...]:
    """Entries with their file's stem as id, where that is the id of no other; those that share one keep none.

    `ManifestEntry.id_for` tells the latter apart, by content: the id of a clip does not depend on the order of the
    others.
    """
    names = [(entry.clip_id or entry.stem).casefold() for entry in entries]
    owners: dict[str, set[ManifestEntry]] = {}
    for name, entry in zip(names, entries, strict=True):
        owners.setdefault(name, set()).add(entry)
    return tuple(
        entry.with_(clip_id=entry.stem) if entry.clip_id is None and len(owners[name]) == 1 else entry
        for name, entry in zip(names, entries, strict=True)
    )


def file_sha256(path: Path) -> str:
    """SHA-256 of a file. Raises VideoError when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise VideoError(f"{path} cannot be read: {error.strerror}") from error


def find_entries(paths: Sequence[Path], **given: Any) -> tuple[ManifestEntry, ...]:
    """Entries for videos and manifests (`.jsonl`); what is `given` holds for all and wins over sidecars.

    Raises InputError for a sidecar or manifest that does not fit, and for one clip_id of two different clips. A video
    that cannot be read is found out when it is opened.
    """
    return with_given([entry for path in paths for entry in _entries(path)], **given)


def with_given(entries: Sequence[ManifestEntry], **given: Any) -> tuple[ManifestEntry, ...]:
    """Entries with what is given for all of them. Raises InputError for one clip_id of two different clips."""
    known = {key: value for key, value in given.items() if value is not None}
    found = tuple(entry.with_(**known) for entry in entries)
    first: dict[str, ManifestEntry] = {}
    for entry in found:
        if entry.clip_id is not None and first.setdefault(entry.clip_id, entry) != entry:
            both = f"{first[entry.clip_id].address} and {entry.address}"
            raise InputError(f"clip_id {entry.clip_id!r} stands for both {both}; ids must differ")
    return found


def _entries(path: Path) -> tuple[ManifestEntry, ...]:
    return read_manifest(path) if path.suffix == ".jsonl" else (_with_sidecar(path),)


def read_manifest(path: Path) -> tuple[ManifestEntry, ...]:
    """The entries of a JSONL manifest. Raises InputError with file, line and key; for ids that stand twice, too."""
    # Split at newlines only: `splitlines` would also split at separators that JSON allows within a text.
    lines = {number: line for number, line in enumerate(text_of(path).split("\n"), start=1) if line.strip()}
    entries: list[ManifestEntry] = []
    first: dict[str, int] = {}
    for number, line in lines.items():
        entry = _entry(object_in(line, f"{path}:{number}"), f"{path}:{number}", path.parent)
        if entry.clip_id is not None and (before := first.setdefault(entry.clip_id, number)) != number:
            raise InputError(
                f"{path}:{number}: clip_id: {entry.clip_id!r} stands in line {before}, too; ids must differ"
            )
        entries.append(entry)
    if not entries:
        raise InputError(f"the manifest {path} lists no clip")
    return tuple(entries)


def _with_sidecar(video: Path) -> ManifestEntry:
    """A video with what its sidecar says of it; a sidecar's further keys belong to whoever wrote it."""
    try:
        _path(video)
        sidecars = {suffix: _sidecar(video.parent / f"{video.stem}{suffix}") for suffix in (".json", ".txt")}
    except (ValueError, InputError) as error:
        shown = Path(os.fsencode(video).decode("utf-8", "backslashreplace"))
        return UnusableEntry(path=shown, fault=f"{shown}: {error}")
    as_json, as_text = (video.parent / f"{video.stem}{suffix}" for suffix in sidecars)
    json_text, text = sidecars.values()
    if json_text is not None:
        found = object_in(json_text, f"{as_json}")
        known = {key: value for key, value in found.items() if key in ManifestEntry.model_fields and key != "path"}
        said = [found[key] for key in ("instruction", "prompt") if _instruction(found.get(key)) is not None]
        if not said and text is not None:
            said.append(text)
        known["instruction"] = said[0] if said else None
        return _entry({**known, "path": video.name}, f"{as_json}", video.parent)
    if text is not None:
        return _entry({"path": video, "instruction": text}, f"{as_text}")
    return _entry({"path": video}, f"{video}")


def _sidecar(path: Path) -> str | None:
    """What a sidecar holds, None when there is none. Raises InputError when it is there and cannot be read."""
    try:
        path.stat()
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
    return text_of(path)


def _entry(fields: dict[str, Any], where: str, folder: Path = Path()) -> ManifestEntry:
    try:
        entry = ManifestEntry(**fields)
        initial = None if entry.initial_frame is None else folder / entry.initial_frame
        return entry.with_(path=folder / entry.path, initial_frame=initial)
    except ValidationError as error:
        place, message = first_fault(error)
        keys = ", ".join(ManifestEntry.model_fields)
        raise InputError(f"{where}: {dotted(place)}: {message}; an entry has: {keys}") from error
