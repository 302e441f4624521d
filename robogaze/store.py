"""A run folder: what a run was, what it asked, what it found.

    run.json              the resolved configuration, without secrets, from the first clip on
    manifest.jsonl        the clips, in the order they came: where each lies, its fingerprint, what was given of it
    <clip id>/report.json one report a clip; with its evidence frames in <clip id>/frames/
    unreadable.json       the clips whose file could not be read, of every start
    calls.sqlite          every answer, and what the asking took (see `robogaze.backends.cached`)
    index.html            the report to look at
    run.lock, run.holder  held while a process works on the folder, and which process that is

A file is there whole or not at all, so a run that is killed at any moment is taken up where it was: a clip with a
report is done. What a killed write leaves behind (`.part-...`) is swept away by the next process. Two processes never
work on one folder. Files outside are named as seen from the folder, so that it does not matter where a command runs.
"""

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import TypeAdapter, ValidationError

from robogaze.core.clip import Layout
from robogaze.core.data import Data, dotted, first_fault
from robogaze.core.report import Report, Unreadable
from robogaze.errors import InputError, RunError

_PART = ".part-"
"""How the name of a file begins that is still being written."""

_OWN = ("run.", "manifest.", "unreadable.", "calls.", "index.")
"""How the names of the run's own files begin."""

_NAME_LIMIT = 200
"""The longest name of a clip's folder, in bytes; file systems stop at 255."""


class ManifestLine(Data):
    """A clip of the run: where it lies, seen from the run folder, and all that shapes its report.

    `layout` is the one that was given, None where it is left to recognition.
    """

    clip_id: str
    path: str
    sha256: str
    instruction: str | None = None
    layout: Layout | None = None
    initial_frame_sha256: str | None = None
    checkpoint: str | None = None
    split: str | None = None
    task_family: str | None = None
    embodiment: str | None = None

    def differs(self, other: "ManifestLine") -> str | None:
        """The first field in which another line stands for another clip; where it lies makes no difference."""
        shaping = (name for name in type(self).model_fields if name not in ("clip_id", "path"))
        return next((name for name in shaping if getattr(self, name) != getattr(other, name)), None)


class RunFolder:
    """A run folder, held by this process; use it as a context manager."""

    def __init__(self, root: Path, configuration: Mapping[str, Any]) -> None:
        """Make or take up a run. The folder is claimed for the configuration only when a clip is entered.

        Raises RunError when another process holds the folder, when it holds a run of another configuration, or when
        it cannot be written.
        """
        self.root = root
        self._configuration = json.dumps(dict(configuration), indent=2, ensure_ascii=False) + "\n"
        self._lock = FileLock(root / "run.lock")
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            holder = _text(root / "run.holder") or "another process"
            raise RunError(f"{root} is in use by {holder}; wait for it, or choose another --out") from error
        except OSError as error:
            raise RunError(f"{root} cannot be written ({error.strerror}); choose another --out") from error
        try:
            _sweep(root)
            self._write("run.holder", f"process {os.getpid()}")
            self._check_configuration()
            self._manifest = {line.clip_id: line for line in _manifest(root)}
            self._names = {file_name(clip_id).lower(): clip_id for clip_id in self._manifest}
            self._ignores_case = (root / "RUN.HOLDER").is_file()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "RunFolder":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the folder go."""
        (self.root / "run.holder").unlink(missing_ok=True)
        self._lock.release()

    @property
    def answers(self) -> Path:
        """The file of the answers."""
        return self.root / "calls.sqlite"

    def address(self, path: Path) -> str:
        """Where a file outside lies, seen from the run folder."""
        try:
            return Path(os.path.relpath(path.absolute(), self.root.resolve())).as_posix()
        except ValueError:  # no way leads from one drive to another
            return path.absolute().as_posix()

    def _check_configuration(self) -> None:
        """Find the same configuration in run.json, if it is there."""
        path = self.root / "run.json"
        if not path.is_file():
            return
        try:
            before = TypeAdapter(dict[str, Any]).validate_json(path.read_bytes())
        except ValidationError as error:
            raise RunError(f"{path} is damaged ({_fault(error)}); choose another --out") from error
        if (changed := _difference(before, json.loads(self._configuration))) is not None:
            place, *values = changed
            was, now = (json.dumps(value, ensure_ascii=False)[:120] for value in values)
            what = f"{dotted(place)} was {was} and is now {now}"
            raise RunError(f"{self.root} holds another run: {what}; choose another --out")

    def enter(self, *lines: ManifestLine) -> None:
        """Put clips on the manifest. What has no report yet may be replaced; a clip that lies elsewhere now is moved.

        Raises RunError when a report stands there for another clip under the same id, or when the disk gives its
        folder to another clip.
        """
        before = list(self._manifest.values())
        for gone in [one for one in before if self._is_replaced(one, lines)]:
            del self._manifest[gone.clip_id], self._names[file_name(gone.clip_id).lower()]
        for line in lines:
            self._check(line)
            self._names[file_name(line.clip_id).lower()] = line.clip_id
            self._manifest[line.clip_id] = line
        after = list(self._manifest.values())
        if after and not (self.root / "run.json").is_file():
            self._write("run.json", self._configuration)
        if after != before:
            self._write("manifest.jsonl", "".join(one.model_dump_json() + "\n" for one in after))

    def _is_replaced(self, known: ManifestLine, lines: Iterable[ManifestLine]) -> bool:
        """Whether a clip of another id and content stands now where this one lay, which has no report."""
        there = [line for line in lines if line.path == known.path and line.sha256 != known.sha256]
        return any(line.clip_id != known.clip_id for line in there) and not self._has_report(known.clip_id)

    def _check(self, line: ManifestLine) -> None:
        known = self._manifest.get(line.clip_id)
        field = None if known is None else known.differs(line)
        if field is not None and self._has_report(line.clip_id):
            path = os.path.normpath(self.root / line.path)
            way_out = "choose another --out, or give it another clip_id"
            if field == "sha256":
                raise RunError(
                    f"{path} is not the file that {self.root} knows as {line.clip_id}: it was replaced since; {way_out}"
                )
            what = field.removesuffix("_sha256")
            raise RunError(f"the {what} of {path} is not the one that {self.root} knows for {line.clip_id}; {way_out}")
        name = file_name(line.clip_id).lower()
        if self._ignores_case and self._names.get(name, line.clip_id) != line.clip_id:
            raise RunError(
                f"the clip ids {self._names[name]} and {line.clip_id} differ only in case, which {self.root} does not "
                "tell apart; give one of them another clip_id"
            )

    def report(self, clip_id: str) -> Report | None:
        """A clip's report, None when it is not done. Raises InputError when the file was damaged from outside."""
        path = self._folder(clip_id) / "report.json"
        return read_report(path) if path.is_file() else None

    def keep(self, report: Report, frames: Mapping[int, bytes]) -> None:
        """Store a report and the frames it shows, in place of an earlier one of the clip.

        The report comes last, so that it is there only when all is.
        """
        folder = self._folder(report.clip.id)
        _sweep(folder)
        _sweep(folder / "frames")
        wanted = {f"{number:06d}.jpg": jpeg for number, jpeg in frames.items()}
        for name, jpeg in wanted.items():
            self._write(f"{folder.name}/frames/{name}", jpeg)
        self._write(f"{folder.name}/report.json", report.model_dump_json(indent=1) + "\n")
        for path in (folder / "frames").glob("*.jpg"):
            if path.name not in wanted:
                path.unlink()

    def keep_unreadable(self, unreadable: Sequence[Unreadable], read: Collection[str] = ()) -> None:
        """Store which clips could not be read, beside those of earlier starts; less those that could be `read` since.

        Both are named by the address of their file.
        """
        path = self.root / "unreadable.json"
        settled = {*read, *(one.uri for one in unreadable)}
        every = [*(one for one in _unreadable(path) if one.uri not in settled), *unreadable]
        self._write(path.name, json.dumps([one.model_dump() for one in every], ensure_ascii=False) + "\n")

    def _has_report(self, clip_id: str) -> bool:
        return (self._folder(clip_id) / "report.json").is_file()

    def _folder(self, clip_id: str) -> Path:
        return self.root / file_name(clip_id)

    def _write(self, name: str, content: str | bytes) -> None:
        write_whole(self.root / name, content)


@dataclass(frozen=True)
class FinishedRun:
    """What a run folder holds, for those who only read it; `videos` says where the file of each clip lies."""

    root: Path
    reports: tuple[Report, ...]
    unreadable: tuple[Unreadable, ...]
    videos: Mapping[str, Path]

    def frames(self, clip_id: str) -> dict[int, bytes]:
        """The frames kept beside a report (JPEG), by number."""
        kept = sorted((self.root / file_name(clip_id) / "frames").glob("*.jpg"))
        return {int(path.stem): path.read_bytes() for path in kept}


def read_run(root: Path) -> FinishedRun:
    """Read a run folder; its reports come in the manifest's order. Raises InputError for a damaged file."""
    lines = tuple(_manifest(root))
    folders = (root / file_name(line.clip_id) for line in lines)
    reports = tuple(read_report(path) for folder in folders if (path := folder / "report.json").is_file())
    videos = {line.clip_id: root.resolve() / line.path for line in lines}
    return FinishedRun(root, reports, _unreadable(root / "unreadable.json"), videos)


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file that is there whole or not at all. Raises RunError when the disk refuses."""
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f"{_PART}{uuid4().hex}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with part.open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        way_out = "free space, or choose another folder, and start again"
        raise RunError(f"{path} cannot be written ({error.strerror}); {way_out}") from error


def _sweep(folder: Path) -> None:
    """Remove what killed writes left in a folder."""
    for part in folder.glob(f"{_PART}*"):
        part.unlink(missing_ok=True)


def _difference(before: Any, after: Any, place: tuple[str, ...] = ()) -> tuple[tuple[str, ...], Any, Any] | None:
    """The first value that differs, with its place; None when all are the same."""
    if not (isinstance(before, dict) and isinstance(after, dict)):
        return None if before == after else (place, before, after)
    inner = (_difference(before.get(key), after.get(key), (*place, key)) for key in sorted({*before, *after}))
    return next((found for found in inner if found is not None), None)


def _manifest(root: Path) -> Iterator[ManifestLine]:
    path = root / "manifest.jsonl"
    # Bytes, for a line ends with a newline only; text would also end at the separators an instruction may hold.
    for number, line in enumerate(path.read_bytes().splitlines() if path.is_file() else (), start=1):
        try:
            yield ManifestLine.model_validate_json(line)
        except ValidationError as error:
            raise InputError(f"{path}:{number} is damaged ({_fault(error)}); choose another --out") from error


def _unreadable(path: Path) -> tuple[Unreadable, ...]:
    try:
        return TypeAdapter(tuple[Unreadable, ...]).validate_json(path.read_bytes()) if path.is_file() else ()
    except ValidationError as error:
        raise InputError(f"{path} is damaged ({_fault(error)}); remove it and start the run again") from error


def file_name(clip_id: str) -> str:
    """A clip's id as the name of a folder: another name for every id, and nothing that a file system reads as a path.

    It is the percent-encoded id, so that a person can read it. The first sign is encoded, too, where the name would
    be hidden or one of the run's own; the last where Windows would drop it. Where the name would be too long, a digest
    stands for its end.
    """
    name = quote(clip_id, safe=" ")
    if name.startswith(".") or name.lower().startswith(_OWN):
        name = f"%{ord(name[0]):02X}{name[1:]}"
    if name.endswith((".", " ")):
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if len(name) > _NAME_LIMIT:
        # A plus sign occurs in no encoded name, so a shortened one is never the whole of another.
        digest = sha256(clip_id.encode()).hexdigest()[:32]
        name = f"{name[: _NAME_LIMIT - 33]}+{digest}"
    return name


def read_report(path: Path) -> Report:
    """Read a report. Raises InputError with the file and the key of what does not fit."""
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        raise InputError(f"{path} is not a report: {_fault(error)}") from error


def _fault(error: ValidationError) -> str:
    """What is wrong with a file, with the key if there is one."""
    place, message = first_fault(error)
    return f"{dotted(place)}: {message}" if place else message


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None
