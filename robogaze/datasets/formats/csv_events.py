"""CSV: one row per event. A row without event columns means that nothing was found in the clip.

    clip_id                                   required; the rows of one clip_id and author are one annotation
    author status instruction                 status is complete (the default), partial or unscored
    coverage                                  dimension=state, separated by spaces; if empty, all are examined
    split task_family embodiment checkpoint prompt_id   for breakdowns of results, and for pairing clips
    duration_s fps frame_count                of the clip; fps where times are frames
    event_id dimension type description       rows of one event_id are one event with several spans
    start_s end_s                             in seconds
    start_frame end_frame                     or in frames, from 0, end_frame exclusive
    severity confidence                       1 to 5; in [0, 1]; empty if not given

In files that are read, cells are separated by commas, semicolons or tabs, and numbers have a decimal point. In files
that are written, a row is a span of an event; the frame rate is left out if it is not constant.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, get_args

from pydantic import TypeAdapter

from robogaze.core.annotation import FIELDS, AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState, as_cell, states
from robogaze.core.report import Report, Status
from robogaze.core.time import Span, union
from robogaze.datasets.documents import Document, FormatError, Table, TableRow
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    has_constant_rate,
    keep_all,
)
from robogaze.datasets.formats.records import (
    Confidence,
    ForeignRecord,
    FrameCount,
    FrameNumber,
    Rate,
    Record,
    SeverityLevel,
    parse,
)
from robogaze.datasets.formats.time_axis import TimeAxis

_STATES = TypeAdapter(dict[str, CoverageState])
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class _Clip(ForeignRecord):
    clip_id: str
    author: str | None = None
    status: Status = "complete"
    coverage: str | None = None
    instruction: str | None = None
    split: str | None = None
    task_family: str | None = None
    embodiment: str | None = None
    checkpoint: str | None = None
    prompt_id: str | None = None
    duration_s: Rate | None = None
    fps: Rate | None = None
    frame_count: FrameCount | None = None


class _Event(ForeignRecord):
    event_id: str | None = None
    dimension: str | None = None
    type: str | None = None
    description: str = ""
    start_s: float | None = None
    end_s: float | None = None
    start_frame: FrameNumber | None = None
    end_frame: FrameNumber | None = None
    severity: SeverityLevel | None = None
    confidence: Confidence | None = None


_CLIP_COLUMNS, _EVENT_COLUMNS = tuple(_Clip.model_fields), tuple(_Event.model_fields)
_TIMES = ("start_s", "end_s", "start_frame", "end_frame")
_NUMBERS = {"duration_s", "fps", "frame_count", *_TIMES, "severity", "confidence"}

NumberedRow = tuple[int, TableRow]
"""A row with its index in the table."""


def recognises(value: Any) -> bool:
    """A table with a column for the clip."""
    return isinstance(value, Table) and "clip_id" in value.columns


def split(document: Document) -> Iterator[AnnotationPart]:
    """The rows of each clip and author, wherever they are in the table."""
    table = document.value
    if not isinstance(table, Table) or "clip_id" not in table.columns:
        raise FormatError("expected a table with a column 'clip_id'")
    known = (*_CLIP_COLUMNS, *_EVENT_COLUMNS)
    if unknown := [name for name in table.columns if name not in known]:
        raise FormatError(f"unknown column {unknown[0]!r}; the columns are: {', '.join(known)}")
    groups: dict[tuple[str, str], list[NumberedRow]] = {}
    for number, row in enumerate(table.rows):
        key = row.cells.get("clip_id", ""), row.cells.get("author", "")
        groups.setdefault(key, []).append((number, row))
    for rows in groups.values():
        yield AnnotationPart(document, (rows[0][0],), rows)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation that the rows of a clip describe."""
    rows: Sequence[NumberedRow] = part.value
    clip = _merged(_Clip, rows, _CLIP_COLUMNS)
    axis = context.time_axis(clip.clip_id, clip.fps, clip.frame_count, clip.duration_s)
    event_rows = [(number, row) for number, row in rows if any(name in row.cells for name in _EVENT_COLUMNS)]
    if event_rows and (len(event_rows) < len(rows) or clip.status == "unscored"):
        raise FormatError(
            "if a clip has events, each of its rows must describe an event, and its status cannot be unscored"
        )
    ids = {row.cells["event_id"] for _, row in event_rows if "event_id" in row.cells}
    unused_ids = (f"{number}" for number in count(1) if f"{number}" not in ids)
    events: dict[str, list[NumberedRow]] = {}
    for number, row in event_rows:
        event_id = row.cells["event_id"] if "event_id" in row.cells else next(unused_ids)
        events.setdefault(event_id, []).append((number, row))
    return context.annotation(
        part,
        clip.clip_id,
        [_event(event_id, event_rows, axis, context) for event_id, event_rows in events.items()],
        axis,
        author=clip.author,
        status=clip.status,
        coverage=None if clip.coverage is None else _coverage(clip.coverage, rows, context),
        instruction=clip.instruction,
        fields={name: getattr(clip, name) for name in FIELDS},
    )


def _coverage(cell: str, rows: Sequence[NumberedRow], context: ReadingContext) -> Mapping[str, CoverageState]:
    """The states by dimension. Raises FormatError if the cell is not a valid coverage."""
    place = next(number for number, row in rows if "coverage" in row.cells), "coverage"
    try:
        pairs = [item.split("=") for item in cell.split()]
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a dimension has two states")
        coverage = _STATES.validate_python(dict(pairs))
    except ValueError as error:
        expected = f"dimension=state, with the states {', '.join(get_args(CoverageState))}"
        raise FormatError(f"{cell!r} is not a valid coverage; expected {expected}", place) from error
    return context.map_coverage(coverage, place)


def _merged(record: type[Record], rows: Sequence[NumberedRow], columns: Sequence[str]) -> Record:
    """The record that several rows give together. Raises FormatError if the rows contradict each other, or for an
    invalid cell.
    """
    first_with: dict[str, NumberedRow] = {}
    for number, row in rows:
        for name in columns:
            if name not in row.cells:
                continue
            _, first = first_with.setdefault(name, (number, row))
            if first.cells[name] != row.cells[name]:
                other = f"{first.cells[name]!r} on line {first.line}"
                raise FormatError(f"{row.cells[name]!r} contradicts {other}", (number, name))
    try:
        return parse(record, {name: _typed(name, row.cells[name]) for name, (_, row) in first_with.items()})
    except FormatError as error:
        name = str(error.place[0])
        number = first_with[name][0] if name in first_with else rows[0][0]
        raise FormatError(error.message, (number, name)) from error


def _typed(column: str, cell: str) -> str | float:
    """A cell as a number if its column has numbers; a cell that is not a number stays text, and is then refused."""
    return float(cell) if column in _NUMBERS and _NUMBER.fullmatch(cell) else cell


def _event(event_id: str, rows: Sequence[NumberedRow], axis: TimeAxis, context: ReadingContext) -> AnnotatedEvent:
    number = rows[0][0]
    event = _merged(_Event, rows, [column for column in _EVENT_COLUMNS if column not in _TIMES])
    type_, dimension = context.map_labels(event.type, event.dimension, (number, "type"), (number, "dimension"))
    spans = [span for row in rows if (span := _span(row, axis)) is not None]
    if len(spans) < len(rows) and len(rows) > 1:
        raise FormatError(f"each row of event {event_id!r} needs a start and an end", (number, "event_id"))
    return AnnotatedEvent(
        event_id,
        union(spans),
        event.description,
        dimension,
        type_,
        severity=event.severity,
        confidence=event.confidence,
    )


def _span(numbered: NumberedRow, axis: TimeAxis) -> Span | None:
    """The span of a row, None if the row has no span."""
    number, row = numbered
    times = _merged(_Event, [numbered], _TIMES)
    given = tuple(name for name in _TIMES if name in row.cells)
    if times.start_s is not None and times.end_s is not None and len(given) == 2:
        return axis.seconds(times.start_s, times.end_s, (number, "start_s"), (number, "end_s"))
    if times.start_frame is not None and times.end_frame is not None and len(given) == 2:
        return axis.frames(times.start_frame, times.end_frame, (number, "start_frame"), (number, "end_frame"))
    if given:
        raise FormatError("expected start_s and end_s, or start_frame and end_frame", (number, given[0]))
    return None


SPAN_COLUMNS: Mapping[str, str] = {
    "clip_id": "string",
    "author": "string",
    "checkpoint": "string",
    "event_id": "string",
    "dimension": "string",
    "type": "string",
    "start_s": "double",
    "end_s": "double",
    "severity": "int64",
    "confidence": "double",
    "description": "string",
}
"""The columns of `span_rows`, with their types in Parquet."""


def span_rows(report: Report) -> list[dict[str, Any]]:
    """One row per span of an event. Rows with one `event_id` are one event."""
    clip = {"clip_id": report.clip.id, "author": report.author, "checkpoint": report.clip.checkpoint}
    names = ("dimension", "type", "severity", "confidence", "description")
    return [
        {
            **clip,
            "event_id": event.id,
            **{name: getattr(event, name) for name in names},
            "start_s": span.start,
            "end_s": span.end,
        }
        for event in report.events
        for span in event.spans
    ]


_WRITTEN_COLUMNS = tuple(dict.fromkeys((*_CLIP_COLUMNS, *SPAN_COLUMNS)))


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`events.csv`."""
    text = io.StringIO(newline="")
    table = csv.DictWriter(text, _WRITTEN_COLUMNS, restval="", lineterminator="\n")
    table.writeheader()
    for clip in clips:
        table.writerows(_rows(clip.report))
    return {"events.csv": text.getvalue()}


def _rows(report: Report) -> Iterator[dict[str, Any]]:
    clip = report.clip
    fields = {
        "clip_id": clip.id,
        "author": report.author,
        "status": report.status,
        "coverage": as_cell(states(report.coverage)),
        **{name: getattr(clip, name) for name in ("instruction", *FIELDS, "duration_s")},
    }
    if has_constant_rate(clip):
        fields |= {"fps": clip.fps, "frame_count": clip.frame_count}
    for row in span_rows(report) or [{}]:
        yield {**fields, **row}


FORMAT = Format(
    AnnotationReader(recognises, split, read),
    ReportWriter(files, keep_all),
)
