"""The plan of a run: its clips without duplicates, and which of them are still to be scored.

Files are identified by their content, so each file is read once. Later starts read a file again only if its size or
modification time differs from the run folder's manifest.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from robogaze.core.report import Unreadable
from robogaze.core.report_summary import ReportSummary
from robogaze.datasets import ManifestEntry, UnusableEntry, with_ids
from robogaze.diagnose import content_sha256
from robogaze.errors import InputError, RunError, VideoError
from robogaze.media.picture_files import picture_bytes
from robogaze.run.engines.base import ClipTask
from robogaze.run.retry import awaits_answer
from robogaze.run.shards import random_order
from robogaze.store import ManifestLine, RunFolder


@dataclass(frozen=True)
class RunClip:
    """A clip of the run, before it is opened."""

    entry: ManifestEntry
    line: ManifestLine


@dataclass(frozen=True)
class RunPlan:
    """The clips of a run, and which of them are to be scored.

    `clips` are all clips by id, in the order in which they were given; `finished` are the clips with a report; `tasks`
    are the other clips, in the order in which they are scored. `repeated` are the files that repeat an earlier clip:
    the id and the content are the same. `replaced` maps each clip whose report is out of date to what changed ("file"
    or "instruction"); these clips are scored again. `added` are the ids that the run folder's manifest does not list.
    `removed` are the ids with a report that only the manifest lists; `never_scored` are the ids without a report that
    only the manifest lists and whose file does not exist any more. All three are empty for a new run.
    """

    clips: Mapping[str, RunClip]
    finished: Mapping[str, ReportSummary]
    tasks: Sequence[ClipTask]
    unreadable: Sequence[Unreadable]
    repeated: Sequence[str]
    replaced: Mapping[str, str]
    added: Sequence[str]
    removed: Sequence[str]
    never_scored: Sequence[str]


def make_plan(
    entries: Sequence[ManifestEntry], folder: RunFolder | None = None, *, retry_failed: bool = False, seed: int = 0
) -> RunPlan:
    """Plan a run. Nothing is written.

    Raises InputError for two clips with the same id and different fields, and RunError if the file of a scored clip was
    replaced.
    """
    clips, unreadable, repeated = _clips(entries, folder)
    finished: dict[str, ReportSummary] = {}
    replaced: dict[str, str] = {}
    tasks = []
    for clip_id, clip in clips.items():
        summary = None if folder is None else folder.stored.summary(clip_id)
        changed = None if folder is None else folder.replaced(clip.line)
        if changed is not None:
            replaced[clip_id] = "file" if changed == "sha256" else changed
        if summary is None or changed is not None or _is_scored_again(summary, retry_failed):
            tasks.append(ClipTask(clip_id, clip.entry))
        else:
            finished[clip_id] = summary
    order = random_order(seed)
    tasks.sort(key=lambda task: order(task.clip_id))
    added, removed, never_scored = _changes(clips, unreadable, folder)
    return RunPlan(clips, finished, tasks, unreadable, repeated, replaced, added, removed, never_scored)


def _clips(
    entries: Sequence[ManifestEntry], folder: RunFolder | None
) -> tuple[dict[str, RunClip], list[Unreadable], list[str]]:
    """The clips by id, the files that cannot be read, and the duplicates."""
    clips: dict[str, RunClip] = {}
    unreadable: list[Unreadable] = []
    repeated: list[str] = []
    contents = _Contents(folder)
    for entry in with_ids(entries):
        if isinstance(entry, UnusableEntry):
            unreadable.append(Unreadable(uri=entry.address, reason=entry.fault))
            continue
        try:
            clip = RunClip(entry, _line(entry, contents))
        except VideoError as error:
            unreadable.append(Unreadable(uri=entry.address, reason=str(error), clip_id=entry.clip_id))
            continue
        first = clips.setdefault(clip.line.clip_id, clip)
        if differs := first.line.differs(clip.line):
            both, field = f"{first.entry.address} and {entry.address}", differs.removesuffix("_sha256")
            raise InputError(f"{both} are the same video and differ in {field} only; give each a clip_id")
        if first is not clip:
            repeated.append(entry.address)
    return clips, unreadable, repeated


def _is_scored_again(summary: ReportSummary, retry_failed: bool) -> bool:
    return summary.status != "complete" and (retry_failed or awaits_answer(summary))


def _changes(
    clips: Mapping[str, RunClip], unreadable: Sequence[Unreadable], folder: RunFolder | None
) -> tuple[Sequence[str], Sequence[str], Sequence[str]]:
    """The `added`, `removed` and `never_scored` clips of a plan."""
    known = {} if folder is None else {line.clip_id: line for line in folder.lines}
    if folder is None or not known:
        return (), (), ()
    bad = {folder.address(Path(clip.uri)) for clip in unreadable}
    missing = [clip_id for clip_id, line in known.items() if clip_id not in clips and line.address not in bad]
    removed = [clip_id for clip_id in missing if folder.stored.has_report(clip_id)]
    gone = [clip_id for clip_id in missing if not (folder.root / known[clip_id].path).exists()]
    never_scored = [clip_id for clip_id in gone if not folder.stored.has_report(clip_id)]
    present = {folder.address(clip.entry.path): clip.line for clip in clips.values()}
    for clip_id in removed:
        line = known[clip_id]
        now = present.get(line.path)
        if now is not None and now.sha256 != line.sha256:
            raise RunError(f"{now.path} was replaced after {folder.root} stored a report for it; choose another `out`")
    added = [clip_id for clip_id in clips if clip_id not in known]
    return added, removed, never_scored


class _Contents:
    """The SHA-256 of files. A file is read once, and not at all if it is unchanged since the manifest was written."""

    def __init__(self, folder: RunFolder | None) -> None:
        self._folder = folder
        lines = () if folder is None else folder.lines
        self._known = {(line.path, line.size_bytes, line.modified_ns): line.sha256 for line in lines}

    def of(self, entry: ManifestEntry, size_bytes: int | None = None, modified_ns: int | None = None) -> str:
        """The SHA-256 of a clip's file. Raises VideoError if the file cannot be read or differs from the
        expected hash.
        """
        path = entry.path.as_posix() if self._folder is None else self._folder.address(entry.path)
        stamp = (path, size_bytes, modified_ns)
        if size_bytes is not None and stamp in self._known:
            entry.check_content(self._known[stamp])
        else:
            self._known[stamp] = content_sha256(entry)
        return self._known[stamp]


def _line(entry: ManifestEntry, contents: _Contents) -> ManifestLine:
    """The manifest line of a clip. Raises VideoError if the clip's file or its initial frame cannot be read."""
    stamp = _stamp(entry.path)
    content = contents.of(entry, **stamp)
    given = {name: getattr(entry, name) for name in ManifestLine.model_fields if name in ManifestEntry.model_fields}
    made = {"clip_id": entry.id_for(content), "path": entry.path.as_posix(), "sha256": content, **stamp}
    initial = entry.initial_frame
    return ManifestLine(**{**given, **made}, initial_frame_sha256=None if initial is None else _sha256(initial))


def _stamp(path: Path) -> Mapping[str, int]:
    """The size and modification time of a file; empty if it is missing (reading it raises the error)."""
    try:
        found = path.stat()
    except OSError:
        return {}
    return {"size_bytes": found.st_size, "modified_ns": found.st_mtime_ns}


def _sha256(initial_frame: Path) -> str:
    return sha256(picture_bytes(initial_frame, f"the initial frame {initial_frame}")).hexdigest()
