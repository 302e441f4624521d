"""Read reports and annotations in any format.

The files of a folder that are read, in this order:

files named report.json, at any depth   if there are any, no other files are read: in runs of `robogaze score`, of the
                                        RoboGaze release and of others, each clip has a folder with other files, too
reports/*.json                          a run that keeps its reports together; its plays are not read again
*.json *.jsonl *.csv *.tsv              at any depth
files named report.md, at any depth     if there are no others

Names that start with a dot or an underscore are skipped, as the released evaluator does. Other files are not read and
are counted.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from robogaze.core.annotation import ClipAnnotation
from robogaze.datasets.documents import Document, FormatError, Place, documents
from robogaze.datasets.formats import FORMATS
from robogaze.datasets.formats.base import AnnotationPart, AnnotationReader, ReadingContext, ReadLog
from robogaze.datasets.formats.label_mapping import Labels
from robogaze.errors import InputError
from robogaze.store import StoredRun

AUTO = "auto"
"""The name by which the format is recognised automatically."""

_REPORT = "report.json"
_REPORTS = "reports"
_MARKDOWN = "report.md"
_OF_PLAYS = ("plays", "memory")
"""Folders of a run with what an agent did and remembered; what it reported is in the reports."""
_SUFFIXES = (".json", ".jsonl", ".csv", ".tsv")
_RUN_FILES = ("run.json", "manifest.jsonl", "unreadable.json")
"""Files of a run folder that are not reports."""


@dataclass(frozen=True)
class ReadAnnotations:
    """The annotations of a path.

    `skipped` has a message for each part that did not fit, and for each clip whose video a run could not read; the
    message gives the place. `warnings` are sentences that say how values were interpreted, and how often.
    """

    format: str
    annotations: tuple[ClipAnnotation, ...]
    skipped: tuple[str, ...]
    warnings: tuple[str, ...]


def read_annotations(path: Path, **options: Any) -> ReadAnnotations:
    """All annotations of a path. The options are the same as the options of `iter_annotations`."""
    log = ReadLog()
    annotations = tuple(iter_annotations(path, log, **options))
    return ReadAnnotations(log.format, annotations, tuple(log.skipped), log.warnings)


def iter_annotations(
    path: Path,
    log: ReadLog,
    *,
    format: str = AUTO,  # noqa: A002 (the name on the command line)
    lenient: bool = False,
    labels: Labels | None = None,
    fps: float | None = None,
    first_frame: int | None = None,
    clips: Mapping[str, ClipAnnotation] | None = None,
    as_written: bool = False,
) -> Iterator[ClipAnnotation]:
    """The annotations of a report, a file or a folder, in the order of the files' names.

    `format` is a name in FORMATS; "auto" recognises the format by the content of the first document. All other
    documents must be in the same format. `labels` maps labels to a taxonomy. If a file contains frame numbers but not
    the times of the frames, the times are taken from `clips`, or else computed with `fps`. `clips` are other
    annotations of the same clips, keyed by clip id; for predictions, they can be the references. `first_frame` is the
    number of the first frame if the format does not state this number. `as_written` accepts what a release's evaluator
    accepts (see `ReadingContext`).

    Raises InputError with file, line and key for input that does not fit. With `lenient`, the annotation that contains
    this input is skipped and logged instead. Two annotations of one clip by one author always raise InputError.
    """
    readers = format_readers()
    if format not in (AUTO, *readers):
        raise InputError(f"there is no format {format!r} to read; the formats are: {AUTO}, {', '.join(readers)}")
    author = path.resolve().name if path.is_dir() else path.stem
    context = ReadingContext(author, log, lenient, labels, fps, first_frame, clips or {}, as_written)
    yield from _PathReader(path, context, readers, None if format == AUTO else format).annotations()


def format_of(path: Path, format: str = AUTO) -> str:  # noqa: A002 (the name on the command line)
    """The format of a file or folder, from its first document; AUTO if the format is not recognised.

    Raises InputError if there is no file to read.
    """
    if format != AUTO:
        return format
    found = find_files(path)
    try:
        document = next(documents(found.root / found.files[0]))
        return _recognised(document, format_readers())
    except FormatError:
        return AUTO


@cache
def format_readers() -> Mapping[str, AnnotationReader]:
    """The formats that can be read, by name. Cached, because looking up entry points takes milliseconds."""
    formats = {name: FORMATS.load(name) for name in FORMATS.names()}
    return {name: format_.reader for name, format_ in formats.items() if format_.reader is not None}


@dataclass
class _PathReader:
    """Reads a path. If `format` is None, the format is recognised from the first document.

    `seen` holds the place of each annotation that was read, by clip and author.
    """

    path: Path
    context: ReadingContext
    readers: Mapping[str, AnnotationReader]
    format: str | None
    seen: dict[tuple[str, str], str] = field(default_factory=dict)

    def annotations(self) -> Iterator[ClipAnnotation]:
        """The annotations, in the order of the files."""
        found, log = find_files(self.path), self.context.log
        for clip in StoredRun(self.path).unreadable:
            log.skipped.append(f"{self.path / 'unreadable.json'}: {clip.uri}: {clip.reason}")
        if found.others:
            log.count("file", "with a name other than report.json (not read)", found.others)
        for file in found.files:
            for document in self._documents(found.root / file, file.parts[:-1]):
                for part in self._parts(document):
                    annotation = self._read(part)
                    if annotation is not None:
                        self._check_unique(annotation)
                        yield annotation
        if not (self.seen or log.skipped):
            raise InputError(f"{self.path} contains no report and no annotation")

    def _documents(self, file: Path, folders: tuple[str, ...]) -> Iterator[Document]:
        try:
            yield from documents(file, folders)
        except FormatError as error:
            self._skip(f"{file}: {error.message}", error)

    def _parts(self, document: Document) -> list[AnnotationPart]:
        try:
            if self.format is None:
                self.format = _recognised(document, self.readers)
            self.context.log.format = self.format
            return list(self.readers[self.format].split(document))
        except FormatError as error:
            self._skip(_located(document, error.place, error.message), error)
            return []

    def _read(self, part: AnnotationPart) -> ClipAnnotation | None:
        assert self.format is not None
        try:
            return self.readers[self.format].read(part, self.context)
        except FormatError as error:
            self._skip(_located(part.document, (*part.place, *error.place), error.message), error)
            return None

    def _skip(self, message: str, error: FormatError) -> None:
        if not self.context.lenient:
            raise InputError(f"{message}; use --lenient to skip what does not fit") from error
        self.context.log.skipped.append(message)

    def _check_unique(self, annotation: ClipAnnotation) -> None:
        key = (annotation.clip_id, annotation.author)
        if key in self.seen:
            places = f"in {self.seen[key]} and in {annotation.source}"
            raise InputError(
                f"{annotation.author} has two annotations of {annotation.clip_id}: {places}; keep one of them"
            )
        self.seen[key] = annotation.source


def _located(document: Document, place: Place, message: str) -> str:
    """A message after its file, line and key; only the known ones are written."""
    line, key = document.where(place)
    where = f"{document.path}" if line is None else f"{document.path}:{line}"
    return f"{where}: {key}: {message}" if key else f"{where}: {message}"


def _recognised(document: Document, readers: Mapping[str, AnnotationReader]) -> str:
    """The name of a document's format. Raises FormatError if no format or several formats fit."""
    fitting = [name for name, reader in readers.items() if reader.recognises(document.value)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise FormatError(f"fits the formats {' and '.join(fitting)}; give the right format with --format")
    known = ", ".join(readers)
    raise FormatError(f"is in no known format; to see why a format does not fit, give it with --format: {known}")


@dataclass(frozen=True)
class AnnotationFiles:
    """The files to read, relative to `root`. `others` counts files with the same suffixes that are not read."""

    root: Path
    files: tuple[PurePosixPath, ...]
    others: int = 0


def find_files(path: Path) -> AnnotationFiles:
    """The files of a path to read, in the order of their names. Raises InputError if there are no files to read."""
    if path.is_file():
        return AnnotationFiles(path.parent, (PurePosixPath(path.name),))
    if not path.is_dir():
        raise InputError(f"{path} does not exist; give a file or a folder that contains reports or annotations")
    files = _candidates(path)
    _check_single_run(path, files)
    rules: tuple[Callable[[PurePosixPath], bool], ...] = (
        lambda file: file.name == _REPORT,
        lambda file: file.parts[:-1] == (_REPORTS,) and file.suffix.lower() == ".json",
        lambda file: file.name != _MARKDOWN,
        lambda file: True,
    )
    for rule in rules:
        if chosen := tuple(file for file in files if rule(file)):
            others = sum(file.suffix.lower() in _SUFFIXES for file in files if file not in chosen)
            return AnnotationFiles(path, chosen, others)
    raise InputError(f"{path} contains no file of reports or annotations ({', '.join(_SUFFIXES)})")


def _check_single_run(path: Path, files: Sequence[PurePosixPath]) -> None:
    """Raise InputError for a folder of run folders, such as the output folder of `robogaze bench`."""
    runs = sorted(file.parts[0] for file in files if len(file.parts) == 2 and file.name == "run.json")
    if runs and not (path / "run.json").is_file():
        raise InputError(
            f"{path} is not a run folder, but contains the run folders {', '.join(runs)}; use one of them, for "
            f"example {path / runs[0]}"
        )


def _candidates(root: Path) -> list[PurePosixPath]:
    files = []
    is_run = (root / "run.json").is_file()
    unreadable = {path.relative_to(root).as_posix() for path in StoredRun(root).left_out} if is_run else set()
    for folder, folders, names in os.walk(root):
        inner = Path(folder).relative_to(root).as_posix()
        left_out = _OF_PLAYS if is_run and inner == "." else ()
        folders[:] = [name for name in folders if not name.startswith((".", "_")) and name not in left_out]
        excluded = _RUN_FILES if inner == "." else ()
        for name in names:
            if (
                name.lower().endswith((*_SUFFIXES, _MARKDOWN))
                and not name.startswith((".", "_"))
                and name not in excluded
            ):
                files.append(PurePosixPath(inner, name))
    return sorted(file for file in files if file.as_posix() not in unreadable)
