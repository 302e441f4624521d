"""Writing a run folder: lock it, add clips, store reports."""

import json
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from robogaze.core.data import dotted
from robogaze.core.report import Report, Unreadable
from robogaze.errors import RunError
from robogaze.store.files import file_name, sweep, write_whole
from robogaze.store.manifest import ManifestLine, read_manifest
from robogaze.store.stored import StoredRun, configuration_of

_SHOWN = 80
"""Characters of a setting that a message shows."""

_REPLACES = ("sha256", "instruction")
"""Fields of a clip that may change in a later start: the clip is scored again."""


class RunFolder:
    """A run folder, locked by this process; use it as a context manager. `stored` reads its content."""

    def __init__(self, root: Path, configuration: Mapping[str, Any]) -> None:
        """Start or resume a run. run.json is written when the first clip is added.

        Raises RunError if another process uses the folder, if the folder contains a run with another configuration, or
        if it cannot be written.
        """
        self.root = root
        self.stored = StoredRun(root)
        self._configuration = json.dumps(configuration, indent=2, ensure_ascii=False) + "\n"
        self._lock = FileLock(root / "run.lock", thread_local=False)  # a run may be opened in one thread of several
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            holder = _holder(root) or "another process"
            raise RunError(f"{root} is in use by {holder}; wait for it, or choose another `out`") from error
        except OSError as error:
            raise RunError(f"{root} cannot be written ({error.strerror}); choose another `out`") from error
        with ExitStack() as on_failure:
            on_failure.callback(self.close)
            sweep(root)
            sweep(root / "reports")
            self._write("run.holder", f"process {os.getpid()}")
            self._check_configuration()
            self._manifest = {line.clip_id: line for line in read_manifest(root)}
            self._names = {file_name(clip_id).lower(): clip_id for clip_id in self._manifest}
            self._ignores_case = (root / "RUN.HOLDER").is_file()
            on_failure.pop_all()

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the folder."""
        (self.root / "run.holder").unlink(missing_ok=True)
        self._lock.release()

    @property
    def lines(self) -> tuple[ManifestLine, ...]:
        """The clips of the run, in order."""
        return tuple(self._manifest.values())

    @property
    def answers(self) -> Path:
        """The path of the file that stores the answers."""
        return self.root / "calls.sqlite"

    def address(self, path: Path) -> str:
        """The relative path from the run folder to a file outside the folder."""
        return self.stored.address(path)

    def remove_page(self) -> None:
        """Remove the page, because its counts are about to change. A run that is interrupted then has no page."""
        (self.root / "index.html").unlink(missing_ok=True)

    def _check_configuration(self) -> None:
        """Raise RunError if run.json contains another configuration."""
        before = configuration_of(self.root)
        if not before:
            return
        if (changed := _difference(before, json.loads(self._configuration))) is not None:
            place, *values = changed
            was, now = (_in_words(value) for value in values)
            what = f"{dotted(place)} was {was} and is now {now}"
            raise RunError(f"{self.root} holds a run with other settings: {what}; choose another `out`")

    def claim(self) -> None:
        """Write run.json, unless it exists."""
        if not (self.root / "run.json").is_file():
            self._write("run.json", self._configuration)

    def replaced(self, line: ManifestLine) -> str | None:
        """The field that changed since a clip's report was written: `sha256` or `instruction`. None if neither changed.

        The result is also None if any other field changed, because `add` refuses such a change.
        """
        field, known = self._differs(line), self._manifest.get(line.clip_id)
        if field not in _REPLACES or known is None:
            return None
        return field if known.with_(**{name: getattr(line, name) for name in _REPLACES}).differs(line) is None else None

    def _differs(self, line: ManifestLine) -> str | None:
        """The first field that changed since the report of the same clip id was written; None if no field changed."""
        known = self._manifest.get(line.clip_id)
        field = None if known is None else known.differs(line)
        return field if field is not None and self.stored.has_report(line.clip_id) else None

    def add(self, *lines: ManifestLine, replace: bool = False) -> None:
        """Add clips to the manifest. A clip without a report may be replaced; a clip that moved gets its new path.

        With `replace`, a clip's report is removed if the file or the instruction of the clip has changed. Raises
        RunError if anything else has changed in a clip with a report, and if two clip ids have the same file name on
        this disk.
        """
        before = list(self._manifest.values())
        by_path = {line.path: line for line in lines}
        for old in [line for line in before if self._is_replaced(line, by_path.get(line.path))]:
            self._forget(old.clip_id)
        for line in lines:
            if replace and self.replaced(line) is not None:
                self.stored.report_path(line.clip_id).unlink()
            self._check(line)
            self._names[file_name(line.clip_id).lower()] = line.clip_id
            self._manifest[line.clip_id] = line
        after = list(self._manifest.values())
        if after:
            self.claim()
        if after != before:
            self._write_manifest()

    def drop(self, clip_ids: Collection[str]) -> None:
        """Remove clips without a report from the manifest."""
        dropped = [clip_id for clip_id in clip_ids if not self.stored.has_report(clip_id)]
        for clip_id in dropped:
            self._forget(clip_id)
        if dropped:
            self._write_manifest()

    def _forget(self, clip_id: str) -> None:
        del self._manifest[clip_id]
        self._names.pop(file_name(clip_id).lower(), None)  # ids that differ only in case have one entry

    def _write_manifest(self) -> None:
        self._write("manifest.jsonl", "".join(line.model_dump_json() + "\n" for line in self.lines))

    def _is_replaced(self, known: ManifestLine, new: ManifestLine | None) -> bool:
        """Whether a clip without a report is replaced by a clip with another id and content at the same path."""
        if new is None or new.sha256 == known.sha256 or new.clip_id == known.clip_id:
            return False
        return not self.stored.has_report(known.clip_id)

    def _check(self, line: ManifestLine) -> None:
        if (field := self._differs(line)) is not None:
            path = os.path.normpath(self.root / line.path)
            way_out = "choose another `out`, or give the clip another clip_id"
            if field == "sha256":
                raise RunError(f"{path} was replaced after {self.root} stored a report for {line.clip_id}; {way_out}")
            what = field.removesuffix("_sha256")
            raise RunError(
                f"the {what} of {path} changed after {self.root} stored a report for {line.clip_id}; {way_out}"
            )
        name = file_name(line.clip_id).lower()
        if self._ignores_case and self._names.get(name, line.clip_id) != line.clip_id:
            raise RunError(
                f"the clip ids {self._names[name]} and {line.clip_id} differ only in case, and the disk of {self.root} "
                "ignores case; give one of them another clip_id"
            )

    def write(self, report: Report, frames: Mapping[int, bytes], pictures: Mapping[str, bytes] | None = None) -> None:
        """Store a report, the frames that it shows, and the other pictures that are its evidence.

        These files replace the files of an earlier report of the clip. The report is written last, so a stored report
        always has its frames.
        """
        self.write_bytes(report.clip.id, (report.model_dump_json(indent=1) + "\n").encode(), frames, pictures)

    def write_bytes(
        self,
        clip_id: str,
        report: bytes,
        frames: Mapping[int, bytes],
        pictures: Mapping[str, bytes] | None = None,
    ) -> None:
        """Store a serialised report, as `write` does."""
        path, folder = self.stored.report_path(clip_id), self.stored.frames_folder(clip_id)
        sweep(folder)
        wanted = {f"{number:06d}.jpg": jpeg for number, jpeg in frames.items()}
        wanted |= {self.stored.picture_path(clip_id, name).name: jpeg for name, jpeg in (pictures or {}).items()}
        for name, jpeg in wanted.items():
            write_whole(folder / name, jpeg)
        write_whole(path, report)
        for old in folder.glob("*.jpg"):
            if old.name not in wanted:
                old.unlink()

    def write_unreadable(
        self, unreadable: Sequence[Unreadable], read: Collection[str] = (), listed: Collection[str] | None = None
    ) -> None:
        """Store the unreadable clips, together with the unreadable clips of earlier starts.

        All arguments identify a clip by the address of its file. A clip of an earlier start is dropped if it is in
        `read`, the clips that could be read since. If `listed` is given, clips that it does not contain are dropped,
        too.
        """
        known = {*read, *(clip.uri for clip in unreadable)}
        before = StoredRun(self.root).unreadable
        still = [clip for clip in before if clip.uri not in known and (listed is None or clip.uri in listed)]
        clips = (*still, *unreadable)
        if clips != before or not (self.root / "unreadable.json").is_file():
            listing = [clip.model_dump() for clip in clips]
            self._write("unreadable.json", json.dumps(listing, ensure_ascii=False) + "\n")

    def _write(self, name: str, content: str | bytes) -> None:
        write_whole(self.root / name, content)


def _difference(before: Any, after: Any, place: tuple[str, ...] = ()) -> tuple[tuple[str, ...], Any, Any] | None:
    """The path and both values of the first difference; None if there is no difference.

    Objects with different names differ as a whole.
    """
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return None if before == after else (place, before, after)
    if _named(before) != _named(after):
        return place, before, after
    inner = (_difference(before.get(key), after.get(key), (*place, key)) for key in sorted({*before, *after}))
    return next((difference for difference in inner if difference is not None), None)


def _in_words(value: Any) -> str:
    """A setting in a few words: the names in an object, the beginning of a long text."""
    if isinstance(value, dict):
        return ", ".join(dict.fromkeys(_names_in(value))) or f"set ({', '.join(map(str, value))})"
    text = "none" if value is None else f"{value}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _named(value: dict[str, Any]) -> str | None:
    """The name of a setting, after its kind if it has one: `openai:big-model`; None without a name."""
    name, kind = value.get("name"), value.get("kind")
    if not isinstance(name, str):
        return None
    return f"{kind}:{name}" if isinstance(kind, str) else name


def _names_in(value: dict[str, Any]) -> Iterator[str]:
    """The name of a setting, or the names of the settings in it."""
    name = _named(value)
    if name is not None:
        yield name
        return
    for inner in value.values():
        if isinstance(inner, dict):
            yield from _names_in(inner)


def _holder(root: Path) -> str | None:
    path = root / "run.holder"
    return path.read_text(encoding="utf-8") if path.is_file() else None
