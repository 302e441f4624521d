"""The clips that arrive in folders and manifests; a clip has arrived once its file is complete.

A file is complete if it is as long as it declares (`check_whole`), and if the size and modification time of the file
and of its sidecars have not changed for `settled_s`. A file that stays incomplete for `broken_s` counts as arrived and
is then reported as unreadable. Names that start with `.` or `~`, and names such as `cup.part.mp4` or `cup.mp4.tmp`, are
names of files that are still being written; they are ignored.

A manifest may grow: its last line counts once it ends with a newline. A line may name a file before it exists.
"""

import logging
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from robogaze.datasets import ManifestEntry, UnusableEntry, find_entries
from robogaze.datasets.layouts.base import ImportSource
from robogaze.datasets.manifest import manifest_lines, stem_of
from robogaze.errors import InputError, VideoError
from robogaze.media.file_check import check_whole

_log = logging.getLogger("robogaze")

_UNFINISHED = re.compile(r"^~|\.(tmp|temp|part|partial|incomplete)(\.|$)", re.IGNORECASE)
_STEP = re.compile(
    r"(?<![a-z])(?:step|checkpoint|ckpt|iter|iteration|epoch)s?[-_=/]?\d+[km]?(?![a-z0-9])", re.IGNORECASE
)
_SIDECARS = (".json", ".txt")
_LONGEST_ID = 180

Stamp = tuple[tuple[int, int] | None, ...]
"""The size and modification time of a video and of its sidecars; None for a file that does not exist."""


@dataclass(frozen=True)
class ClipPlace:
    """The checkpoint of a clip and its id within the checkpoint, both taken from the clip's path."""

    checkpoint: str
    clip_id: str


@dataclass(frozen=True)
class Arrival:
    """A complete clip. Its entry always has a checkpoint and a clip id. `key` identifies the file of the clip, or its
    line in a manifest.
    """

    key: str
    entry: ManifestEntry
    stamp: Stamp

    @property
    def checkpoint(self) -> str:
        return self.entry.checkpoint or ""


@dataclass(frozen=True)
class Arrived:
    """All complete clips, the clips that were complete and have disappeared, and the checkpoints of clips that are
    still being written.
    """

    complete: tuple[Arrival, ...]
    gone: tuple[Arrival, ...]
    writing: frozenset[str]


@dataclass
class _Seen:
    stamp: Stamp
    entry: ManifestEntry | None
    since_s: float
    arrival: Arrival | None = None


@dataclass(frozen=True)
class _Listed:
    """A video of a folder (`entry` is None until it is complete), or a line of a manifest."""

    key: str
    path: Path
    place: ClipPlace
    entry: ManifestEntry | None = None

    @property
    def stamp(self) -> Stamp:
        sidecars = () if self.entry is not None else (self.path.with_suffix(suffix) for suffix in _SIDECARS)
        return tuple(_stamp(path) for path in (self.path, *sidecars))

    def arrival(self, stamp: Stamp) -> Arrival:
        """The clip. If a sidecar cannot be read, the clip cannot be scored."""
        try:
            (entry,) = (self.entry,) if self.entry is not None else find_entries([self.path])
        except InputError as error:
            entry = UnusableEntry(path=self.path, fault=str(error))
        checkpoint, clip_id = entry.checkpoint or self.place.checkpoint, entry.clip_id or self.place.clip_id
        return Arrival(self.key, entry.with_(checkpoint=checkpoint, clip_id=clip_id), stamp)


class Arrivals:
    """Watches paths; `look` returns the clips that are there. Times are read from a monotonic clock."""

    def __init__(self, paths: Sequence[Path], settled_s: float, broken_s: float) -> None:
        self._paths = tuple(paths)
        self._settled_s, self._broken_s = settled_s, broken_s
        self._seen: dict[str, _Seen] = {}
        self._listed: dict[Path, list[_Listed]] = {}
        self._manifests: dict[Path, tuple[int, int]] = {}
        self._faults: dict[Path, str] = {}
        self._deleted: set[str] = set()
        self.changed_s = 0.0

    def look(self, now_s: float, *, ending: bool = False) -> Arrived:
        """What has arrived. An incomplete file counts as arrived after `broken_s`, or after only `settled_s` if the
        watch is `ending`. If anything changed, `changed_s` is set to `now_s`.
        """
        complete: list[Arrival] = []
        writing: set[str] = set()
        present: dict[str, Stamp] = {}
        for listed in self._list():
            stamp, seen = listed.stamp, self._seen.get(listed.key)
            if stamp[0] is None and (listed.key in self._deleted or (seen is not None and seen.arrival is not None)):
                continue  # the file is gone, and its line is still in the manifest
            present[listed.key] = stamp
            if seen is None or (seen.stamp, seen.entry) != (stamp, listed.entry):
                seen = self._seen[listed.key] = _Seen(stamp, listed.entry, now_s)
                self.changed_s = now_s
            if seen.arrival is None and self._is_complete(listed, now_s - seen.since_s, ending):
                seen.arrival = listed.arrival(stamp)
            if seen.arrival is None:
                writing.add(listed.place.checkpoint)
            else:
                complete.append(seen.arrival)
        return Arrived(tuple(complete), tuple(self._gone(present, now_s)), frozenset(writing))

    @property
    def faults(self) -> tuple[str, ...]:
        """Why paths cannot be listed at present."""
        return tuple(self._faults.values())

    def _gone(self, present: dict[str, Stamp], now_s: float) -> Iterator[Arrival]:
        """The complete clips that have disappeared; a clip was renamed, and is left out, if its stamp is found at
        another place.
        """
        files = {stamp[0] for stamp in present.values()}
        self._deleted -= present.keys()
        for key in sorted(self._seen.keys() - present.keys()):
            seen = self._seen.pop(key)
            self._deleted.add(key)
            self.changed_s = now_s
            if seen.arrival is not None and seen.stamp[0] not in files:
                yield seen.arrival

    def _is_complete(self, listed: _Listed, unchanged_s: float, ending: bool) -> bool:
        if unchanged_s < self._settled_s:
            return False
        if not listed.path.exists():  # a manifest may name a file before it exists
            return ending
        try:
            check_whole(listed.path)
        except VideoError:
            return unchanged_s >= (self._settled_s if ending else self._broken_s)
        return True

    def _list(self) -> Iterator[_Listed]:
        """The videos of all folders and the lines of all manifests. A path that cannot be read is logged once."""
        for path in self._paths:
            try:
                self._read(path)
            except InputError as error:
                if self._faults.get(path) != str(error):
                    _log.warning("%s; this path will be read again", error)
                self._faults[path] = str(error)
            yield from self._listed.get(path, ())

    def _read(self, path: Path) -> None:
        """List a path, unless it is a manifest that has not changed."""
        stamp = _stamp(path) if path.suffix == ".jsonl" else None
        if stamp is None or stamp != self._manifests.get(path):
            self._listed[path] = _lines(path) if path.suffix == ".jsonl" else _videos(path)
            self._faults.pop(path, None)
            if stamp is not None:
                self._manifests[path] = stamp


def place_of(relative: PurePosixPath, default: str) -> ClipPlace:
    """The checkpoint and the clip id of a path below a watched folder.

    The checkpoint is the innermost folder that names a step (`step_001000`, `checkpoint-1000`, `epoch=3-step=1000`,
    `checkpoints/010000`), else the step in the file's name, else `default`. The id is the rest of the path.
    """
    folder, parts = relative.parent.as_posix(), relative.parent.parts
    if found := list(_STEP.finditer(folder)):
        first, last = (folder[:end].count("/") for end in found[-1].span())
        return ClipPlace(parts[last], _id((*parts[:first], *parts[last + 1 :], relative.stem)))
    if found := list(_STEP.finditer(relative.stem)):
        start, end = found[-1].span()
        rest = f"{relative.stem[:start].rstrip('-_. ')}{relative.stem[end:]}".strip("-_. ")
        return ClipPlace(found[-1].group(), _id((*parts, rest)))
    return ClipPlace(default, _id((*parts, relative.stem)))


def _id(parts: Sequence[str]) -> str:
    return "/".join(map(stem_of, parts))[-_LONGEST_ID:]


def _videos(folder: Path) -> list[_Listed]:
    if not folder.is_dir():
        raise InputError(f"{folder} is currently not a folder")
    return [
        _Listed(f"{folder}\0{video}", folder / video, place_of(video, folder.resolve().name))
        for video in ImportSource.of(folder).videos
        if not _UNFINISHED.search(video.name)
    ]


def _lines(manifest: Path) -> list[_Listed]:
    """The lines of a manifest; a clip id is unique in a checkpoint. If several lines have the same id, the last line
    counts.
    """
    found = {}
    for _, entry in manifest_lines(manifest, growing=True):
        relative = PurePosixPath(os.path.relpath(entry.path, manifest.parent))
        place = place_of(relative, manifest.stem)
        place = ClipPlace(entry.checkpoint or place.checkpoint, entry.clip_id or place.clip_id.rpartition("/")[2])
        key = f"{manifest}\0{place.checkpoint}\0{entry.clip_id or (entry.address, entry.instruction)}"
        found[key] = _Listed(key, entry.path, place, entry)
    return list(found.values())


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns
