"""Taking stock: which clips a run has, each once, and what is known of their files.

A file is read to the end once, to know it by its content. While its size and the time it was changed stay as the run
folder knows them, later starts do not read it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

from robogaze.core.report import Unreadable
from robogaze.datasets import ManifestEntry, UnusableEntry, with_ids
from robogaze.diagnose import content_sha256
from robogaze.engines.base import Task
from robogaze.errors import InputError, VideoError
from robogaze.media.picture_files import picture_bytes
from robogaze.store import ManifestLine, RunFolder


@dataclass(frozen=True)
class ListedClip:
    """A clip of the run, before it is opened."""

    entry: ManifestEntry
    line: ManifestLine

    @property
    def task(self) -> Task:
        """What an engine is given of it."""
        return Task(self.line.clip_id, self.entry)


@dataclass
class RunPlan:
    """The clips of a run by id; the files that cannot be read; those that are the same clip as another."""

    clips: dict[str, ListedClip] = field(default_factory=dict)
    unreadable: list[Unreadable] = field(default_factory=list)
    repeated: list[str] = field(default_factory=list)


def take_stock(entries: Sequence[ManifestEntry], run: RunFolder | None = None) -> RunPlan:
    """Which clips there are. A manifest line's path is as given; see `RunFolder.address` for how a run names it.

    Raises InputError for two clips of which one would be lost, because their ids are made of what they have in common.
    """
    stock, contents = RunPlan(), _Contents(run)
    for entry in with_ids(entries):
        if isinstance(entry, UnusableEntry):
            stock.unreadable.append(Unreadable(uri=entry.address, reason=entry.fault))
            continue
        try:
            clip = ListedClip(entry, _line(entry, contents))
        except VideoError as error:
            stock.unreadable.append(Unreadable(uri=entry.address, reason=str(error)))
            continue
        first = stock.clips.setdefault(clip.line.clip_id, clip)
        if differs := first.line.differs(clip.line):
            both, what = f"{first.entry.address} and {entry.address}", differs.removesuffix("_sha256")
            raise InputError(f"{both} are one film and differ in {what} only; give each a clip_id")
        if first is not clip:
            stock.repeated.append(entry.address)
    return stock


class _Contents:
    """The contents of files, by SHA-256. Each file is read once, and none that a run knows as it is now."""

    def __init__(self, run: RunFolder | None) -> None:
        self._run = run
        lines = () if run is None else run.lines
        self._known = {(line.path, line.size_bytes, line.modified_ns): line.sha256 for line in lines}

    def of(self, entry: ManifestEntry, size_bytes: int | None = None, modified_ns: int | None = None) -> str:
        """The content of a clip's file. Raises VideoError when it cannot be read, or is another than it is to be."""
        path = entry.path.as_posix() if self._run is None else self._run.address(entry.path)
        stamp = (path, size_bytes, modified_ns)
        if size_bytes is not None and stamp in self._known:
            entry.check_content(self._known[stamp])
        else:
            self._known[stamp] = content_sha256(entry)
        return self._known[stamp]


def _line(entry: ManifestEntry, contents: _Contents) -> ManifestLine:
    """What shapes a clip's report. Raises VideoError when its file, or its initial frame, cannot be read."""
    stamp = _stamp(entry.path)
    content = contents.of(entry, **stamp)
    given = {name: getattr(entry, name) for name in ManifestLine.model_fields if name in ManifestEntry.model_fields}
    made = {"clip_id": entry.id_for(content), "path": entry.path.as_posix(), "sha256": content, **stamp}
    initial = entry.initial_frame
    return ManifestLine(**{**given, **made}, initial_frame_sha256=None if initial is None else _sha256(initial))


def _stamp(path: Path) -> Mapping[str, int]:
    """How large a file is and when it was changed; empty when there is none, which reading it will say."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return {"size_bytes": found.st_size, "modified_ns": found.st_mtime_ns}


def _sha256(initial_frame: Path) -> str:
    return sha256(picture_bytes(initial_frame, f"the initial frame {initial_frame}")).hexdigest()
