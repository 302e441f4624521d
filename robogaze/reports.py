"""Reports from files: `robogaze.load_reports`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pydantic import ValidationError

from robogaze.core.data import fault_of
from robogaze.core.events import Event
from robogaze.core.report import Report, Unreadable
from robogaze.dataframes import data_frame
from robogaze.datasets.documents import FormatError, documents
from robogaze.datasets.formats import report as report_format
from robogaze.datasets.formats.read import find_files
from robogaze.errors import InputError
from robogaze.paths import given_path
from robogaze.store import ManifestLine, StoredRun

if TYPE_CHECKING:
    from pandas import DataFrame

_CLIP_COLUMNS: Mapping[str, Callable[[Report], Any]] = {
    "clip_id": attrgetter("clip.id"),
    "file": attrgetter("clip.uri"),
    **{name: attrgetter(name) for name in ("author", "pipeline", "status", "verdict")},
    "events": lambda report: len(report.events),
    "max_severity": lambda report: max((event.severity for event in report.events if event.severity), default=None),
    "calls": attrgetter("usage.calls"),
    "cost_usd": attrgetter("usage.cost_usd"),
    **{
        name: attrgetter(f"clip.{name}")
        for name in ("checkpoint", "prompt_id", "split", "task_family", "embodiment", "instruction", "duration_s")
    },
}
"""The columns of the table of clips, each with the function that gives its value."""

_EVENT_COLUMNS: Mapping[str, Callable[[Event], Any]] = {
    "event_id": attrgetter("id"),
    **{name: attrgetter(name) for name in ("dimension", "type", "severity", "confidence")},
    "start_s": attrgetter("onset_s"),
    "end_s": attrgetter("offset_s"),
    "spans": lambda event: [(span.start, span.end) for span in event.spans],
    "description": attrgetter("description"),
}
"""The columns of the table of events after `clip_id`, each with the function that gives its value."""


@dataclass(frozen=True)
class Reports(Sequence[Report]):
    """Reports in the order of their files. `unreadable` are the clips of a run folder whose file cannot be read.
    `listed` are all clips of the run folder, with and without a report; both are empty without a run folder.
    """

    reports: tuple[Report, ...]
    unreadable: tuple[Unreadable, ...] = ()
    listed: tuple[ManifestLine, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> "Reports": ...
    def __getitem__(self, index: int | slice) -> "Report | Reports":
        return Reports(self.reports[index]) if isinstance(index, slice) else self.reports[index]

    def __len__(self) -> int:
        return len(self.reports)

    def to_dataframe(self) -> "DataFrame":
        """One row per clip. `events` counts the clip's events; `max_severity` and `cost_usd` are missing if not known.

        A column `coverage.DIMENSION` holds the state of each dimension of the domain. Raises MissingExtra without
        pandas.
        """
        rows = [
            {
                **{name: value(report) for name, value in _CLIP_COLUMNS.items()},
                **{f"coverage.{name}": coverage.state for name, coverage in report.coverage.items()},
            }
            for report in self.reports
        ]
        dimensions = dict.fromkeys(name for report in self.reports for name in report.coverage)
        return data_frame(rows, (*_CLIP_COLUMNS, *(f"coverage.{name}" for name in dimensions)))

    def events_to_dataframe(self) -> "DataFrame":
        """One row per event. `spans` holds all its spans in seconds, `start_s` the first start and `end_s` the last
        end.

        Raises MissingExtra without pandas.
        """
        rows = [
            {"clip_id": report.clip.id, **{name: value(event) for name, value in _EVENT_COLUMNS.items()}}
            for report in self.reports
            for event in report.events
        ]
        return data_frame(rows, ("clip_id", *_EVENT_COLUMNS))


def load_reports(path: str | Path) -> Reports:
    """Load the reports of a run folder, a folder of reports, a report or a JSONL file of reports.

    Raises InputError if there is no file of reports, or if a file or a line is not a report; the message then gives the
    file, the line and the key.
    """
    root = given_path(path, "the path of the reports")
    reports = tuple(report for _, report in iter_reports(root))
    if not root.is_dir():
        return Reports(reports)
    run = StoredRun(root)
    return Reports(reports, run.unreadable, run.lines if (run.root / "run.json").is_file() else ())


def iter_reports(path: Path) -> Iterator[tuple[str, Report]]:
    """Like `load_reports`, but yields one report at a time. Each comes with its source: a file, or a file and a
    line.
    """
    found = find_files(path)
    for file in found.files:
        yield from _of_file(found.root / file)


def _of_file(path: Path) -> Iterator[tuple[str, Report]]:
    try:
        for document in documents(path):
            for part in report_format.split(document):
                try:
                    yield part.source, Report.model_validate_json(part.value)
                except ValidationError as error:
                    raise InputError(f"{part.source}: {fault_of(error)}; it is not a report of RoboGaze") from error
    except FormatError as error:
        raise InputError(f"{path}: {error.message}") from error
