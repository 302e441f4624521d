"""Reading reports and annotations, whatever they are written in, as accounts."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from robogaze.core.annotation import ClipAnnotation
from robogaze.core.data import dotted, first_fault
from robogaze.core.report import Unreadable
from robogaze.datasets.documents import Document, FormatError, documents
from robogaze.datasets.formats import (
    activitynet,
    csv_events,
    gbqa,
    label_studio,
    report,
    robogaze_demo,
    robogaze_release,
    videoglitchbench,
)
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.files import find_files
from robogaze.datasets.formats.labels import Labels
from robogaze.datasets.formats.notes import Notes, Skipped
from robogaze.datasets.places import Place
from robogaze.errors import InputError

_MODULES = (report, robogaze_demo, robogaze_release, videoglitchbench, gbqa, activitynet, label_studio, csv_events)

FORMATS: Mapping[str, Format] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
"""The formats by name."""

AUTO = "auto"
"""Says that the format is to be recognised."""


@dataclass(frozen=True)
class Accounts:
    """What a path holds.

    `skipped` are the parts that did not fit and were left out, and the clips whose video a run could not read.
    `warnings` are sentences that say, with their number, what was understood in a certain way.
    """

    format: str
    accounts: tuple[ClipAnnotation, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...]


def read_accounts(
    path: Path,
    *,
    format: str = AUTO,  # noqa: A002 (as the command line calls it)
    lenient: bool = False,
    labels: Labels | None = None,
    fps: float | None = None,
    first_frame: int | None = None,
    clips: Mapping[str, ClipAnnotation] | None = None,
    as_written: bool = False,
) -> Accounts:
    """All accounts of a path; see `iter_accounts`."""
    notes = Notes()
    found = tuple(
        iter_accounts(
            path,
            notes,
            format=format,
            lenient=lenient,
            labels=labels,
            fps=fps,
            first_frame=first_frame,
            clips=clips,
            as_written=as_written,
        )
    )
    return Accounts(notes.format, found, tuple(notes.skipped), notes.warnings)


def iter_accounts(
    path: Path,
    notes: Notes,
    *,
    format: str = AUTO,  # noqa: A002 (as the command line calls it)
    lenient: bool = False,
    labels: Labels | None = None,
    fps: float | None = None,
    first_frame: int | None = None,
    clips: Mapping[str, ClipAnnotation] | None = None,
    as_written: bool = False,
) -> Iterator[ClipAnnotation]:
    """The accounts of a report, of a file or of a folder, one after the other, in the order of the files' names.

    `format` is a name in FORMATS; "auto" recognises it by the first document's content, and all others have to be in
    it, too. With `labels`, foreign labels become those of a taxonomy. `fps` and the frames of `clips` (accounts by
    clip id, such as those of the other side) serve where a file counts in frames and does not say how long they
    last, the clips' frames first; `first_frame` is the number of the first one where a format leaves that open.
    `as_written` takes from files of a release what its evaluator takes (see `ReadingContext`).

    What does not fit stops the reading with its file, line and key (InputError); when `lenient`, what is said of that
    clip is left out as a whole, and noted. Two accounts of one clip by one author are never chosen from: InputError.
    """
    if format != AUTO and format not in FORMATS:
        raise InputError(f"there is no format {format!r}; there is: {AUTO}, {', '.join(FORMATS)}")
    if fps is not None and not 0 < fps < math.inf:
        raise InputError(f"a frame rate of {fps:g} fps is none; --fps wants a number above 0")
    author = path.resolve().name if path.is_dir() else path.stem
    reading = ReadingContext(author, notes, lenient, labels, fps, first_frame, clips or {}, as_written)
    yield from _Source(path, reading, FORMATS.get(format)).accounts()


class _Source:
    """A path that is being read."""

    def __init__(self, path: Path, reading: ReadingContext, chosen: Format | None) -> None:
        self._path = path
        self._reading = reading
        self._notes = reading.notes
        self._format = chosen
        self._seen: dict[tuple[str, str], str] = {}

    def accounts(self) -> Iterator[ClipAnnotation]:
        """The accounts, in order."""
        found = find_files(self._path)
        self._notes.skipped.extend(_unreadable(self._path / "unreadable.json"))
        if found.overlooked:
            self._notes.count("file", "beside those named report.json, not looked at", found.overlooked)
        for file in found.files:
            for document in self._documents(found.root / file, file.parts[:-1]):
                for part in self._parts(document):
                    account = self._account(part)
                    if account is not None:
                        self._only_once(account)
                        yield account
        if not (self._seen or self._notes.skipped):
            raise InputError(f"{self._path} holds no report and no annotation")

    def _documents(self, file: Path, folders: tuple[str, ...]) -> Iterator[Document]:
        try:
            yield from documents(file, folders)
        except FormatError as fault:
            self._leave_out(Skipped(f"{file}", None, dotted(fault.place), fault.message), fault)

    def _parts(self, document: Document) -> list[AnnotationPart]:
        try:
            if self._format is None:
                self._format = _recognised(document)
            self._notes.format = self._format.name
            return list(self._format.split(document))
        except FormatError as fault:
            self._leave_out(_skipped(document, fault.place, fault.message), fault)
            return []

    def _account(self, part: AnnotationPart) -> ClipAnnotation | None:
        assert self._format is not None
        try:
            return self._format.read(part, self._reading)
        except FormatError as fault:
            self._leave_out(_skipped(part.document, (*part.place, *fault.place), fault.message), fault)
            return None

    def _leave_out(self, what: Skipped, fault: FormatError) -> None:
        if not self._reading.lenient:
            raise InputError(f"{what}; --lenient leaves out what does not fit") from fault
        self._notes.skipped.append(what)

    def _only_once(self, account: ClipAnnotation) -> None:
        key = (account.clip_id, account.author)
        if key in self._seen:
            places = f"in {self._seen[key]} and in {account.source}"
            raise InputError(f"{account.author} has two accounts of {account.clip_id}: {places}; keep one of them")
        self._seen[key] = account.source


def _skipped(document: Document, place: Place, message: str) -> Skipped:
    line, key = document.where(place)
    return Skipped(f"{document.path}", line, key, message)


def _recognised(document: Document) -> Format:
    """The one format a document is in. Raises Fault when it is in none, or could be in several."""
    found = [one for one in FORMATS.values() if one.recognises(document.value)]
    if len(found) == 1:
        return found[0]
    if found:
        names = " and ".join(one.name for one in found)
        raise FormatError(f"could be in the formats {names}; name the right one with --format")
    known = "; ".join(f"{one.name}, {one.holds}" for one in FORMATS.values())
    raise FormatError(f"is in no known format ({known}); if it is, name it with --format to see what does not fit")


def _unreadable(path: Path) -> Iterator[Skipped]:
    """The clips of a run whose video could not be read. Raises InputError for a damaged list."""
    try:
        listed = TypeAdapter(tuple[Unreadable, ...]).validate_json(path.read_bytes()) if path.is_file() else ()
    except ValidationError as error:
        place, message = first_fault(error)
        raise InputError(f"{path}: {dotted(place)}: {message}; remove it and start the run again") from error
    for one in listed:
        yield Skipped(f"{path}", None, one.uri, one.reason)
