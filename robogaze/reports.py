"""Reports from files: `robogaze.load_reports`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from pydantic import ValidationError

from robogaze.core.data import fault_of
from robogaze.core.report import Report, Unreadable
from robogaze.dataframes import data_frame
from robogaze.datasets.documents import FormatError, documents
from robogaze.datasets.formats import report as report_format
from robogaze.datasets.formats.read import find_files
from robogaze.errors import InputError
from robogaze.store import StoredRun

if TYPE_CHECKING:
    from pandas import DataFrame

_CLIP_FIELDS = ("checkpoint", "prompt_id", "split", "task_family", "embodiment", "instruction", "duration_s")
_CLIP_COLUMNS = (
    *("clip_id", "file", "author", "pipeline", "status", "verdict", "events", "max_severity", "calls", "cost_usd"),
    *_CLIP_FIELDS,
)
_EVENT_COLUMNS = (
    *("clip_id", "event_id", "dimension", "type", "severity", "confidence", "start_s", "end_s", "spans"),
    "description",
)


@dataclass(frozen=True)
class Reports(Sequence[Report]):
    """Reports in the order of their files. `unreadable` are the clips of a run folder without a report."""

    reports: tuple[Report, ...]
    unreadable: tuple[Unreadable, ...] = ()

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> "Reports": ...
    def __getitem__(self, index: int | slice) -> "Report | Reports":
        return Reports(self.reports[index]) if isinstance(index, slice) else self.reports[index]

    def __len__(self) -> int:
        return len(self.reports)

    def to_dataframe(self) -> "DataFrame":
        """One row per clip. `events` counts its events; `max_severity` and `cost_usd` are missing if not known.

        A column `coverage.DIMENSION` holds the state of each dimension of the domain. Raises MissingExtra without
        pandas.
        """
        rows = [_clip_row(report) for report in self.reports]
        dimensions = dict.fromkeys(name for row in rows for name in row if name.startswith("coverage."))
        return data_frame(rows, (*_CLIP_COLUMNS, *dimensions))

    def events_to_dataframe(self) -> "DataFrame":
        """One row per event. `spans` holds all its spans in seconds, `start_s` and `end_s` their outer ends.

        Raises MissingExtra without pandas.
        """
        return data_frame((row for report in self.reports for row in _event_rows(report)), _EVENT_COLUMNS)


def load_reports(path: str | Path) -> Reports:
    """Load the reports of a run folder, a folder of reports, a report or a JSONL file of reports.

    Raises InputError with file, line and key for what is not a report, and if there is no file of reports.
    """
    reports = tuple(report for _, report in iter_reports(Path(path)))
    return Reports(reports, StoredRun(Path(path)).unreadable if Path(path).is_dir() else ())


def iter_reports(path: Path) -> Iterator[tuple[str, Report]]:
    """The reports of `load_reports` as they are read, each with its place: the file, or file and line."""
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


def _clip_row(report: Report) -> dict[str, Any]:
    clip = report.clip
    severities = [event.severity for event in report.events if event.severity is not None]
    return {
        "clip_id": clip.id,
        "file": clip.uri,
        "author": report.author,
        "pipeline": report.pipeline,
        "status": report.status,
        "verdict": report.verdict,
        "events": len(report.events),
        "max_severity": max(severities, default=None),
        "calls": report.usage.calls,
        "cost_usd": report.usage.cost_usd,
        **{name: getattr(clip, name) for name in _CLIP_FIELDS},
        **{f"coverage.{name}": coverage.state for name, coverage in report.coverage.items()},
    }


def _event_rows(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        yield {
            "clip_id": report.clip.id,
            "event_id": event.id,
            "dimension": event.dimension,
            "type": event.type,
            "severity": event.severity,
            "confidence": event.confidence,
            "start_s": event.onset_s,
            "end_s": event.offset_s,
            "spans": [(span.start, span.end) for span in event.spans],
            "description": event.description,
        }
