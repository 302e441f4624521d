"""CSV: one row an event. A row without anything about an event says that nothing was found in its clip.

    clip_id                                   required; the rows of one clip_id and author are one account
    author status instruction                 status is complete (also where it is empty), partial or unscored
    coverage                                  dimension=state, separated by spaces; all examined where it is empty
    split task_family embodiment checkpoint prompt_id   what results can be broken down, and clips paired by
    duration_s fps frame_count                of the clip; fps where times are frames
    event_id dimension type description       rows of one event_id are one event with several spans
    start_s end_s                             in seconds
    start_frame end_frame                     or in frames, counted from 0, end_frame exclusive
    severity confidence                       1 to 5; in [0, 1]; empty where nothing was said

Cells are separated by commas, semicolons or tabs; numbers have a decimal point.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, get_args

from pydantic import TypeAdapter

from robogaze.core.annotation import FIELDS, AnnotatedEvent, ClipAnnotation
from robogaze.core.coverage import CoverageState
from robogaze.core.report import Status
from robogaze.core.time import Span, union
from robogaze.datasets.documents import Document, FormatError, Table, TableRow
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.records import Count, Foreign, Frame, Level, Rate, Record, Share, parse
from robogaze.datasets.formats.time_axis import TimeAxis

_STATES = TypeAdapter(dict[str, CoverageState])
_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")


class _Clip(Foreign):
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
    frame_count: Count | None = None


class _Event(Foreign):
    event_id: str | None = None
    dimension: str | None = None
    type: str | None = None
    description: str = ""
    start_s: float | None = None
    end_s: float | None = None
    start_frame: Frame | None = None
    end_frame: Frame | None = None
    severity: Level | None = None
    confidence: Share | None = None


_OF_THE_CLIP, _OF_THE_EVENT = tuple(_Clip.model_fields), tuple(_Event.model_fields)
_TIMES = ("start_s", "end_s", "start_frame", "end_frame")
_NUMBERS = {"duration_s", "fps", "frame_count", *_TIMES, "severity", "confidence"}


def recognises(value: Any) -> bool:
    """A table with a column for the clip."""
    return isinstance(value, Table) and "clip_id" in value.columns


def split(document: Document) -> Iterator[AnnotationPart]:
    """The rows of each clip and author, wherever they stand."""
    table = document.value
    if not isinstance(table, Table) or "clip_id" not in table.columns:
        raise FormatError("a table with a column 'clip_id' is wanted")
    known = (*_OF_THE_CLIP, *_OF_THE_EVENT)
    if unknown := [name for name in table.columns if name not in known]:
        raise FormatError(f"unknown column {unknown[0]!r}; a table has: {', '.join(known)}")
    together: dict[tuple[str, str], list[tuple[int, TableRow]]] = {}
    for number, row in enumerate(table.rows):
        key = row.cells.get("clip_id", ""), row.cells.get("author", "")
        together.setdefault(key, []).append((number, row))
    for rows in together.values():
        yield AnnotationPart(document, (rows[0][0],), rows)


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """The rows of a clip as an account."""
    rows: Sequence[tuple[int, TableRow]] = part.value
    clip = _one(_Clip, rows, _OF_THE_CLIP)
    axis = reading.axis(clip.clip_id, clip.fps, clip.frame_count, clip.duration_s)
    events = [(number, row) for number, row in rows if any(name in row.cells for name in _OF_THE_EVENT)]
    if events and (len(events) < len(rows) or clip.status == "unscored"):
        raise FormatError("a clip with events has no row without one, and is not unscored")
    named = {row.cells["event_id"] for _, row in events if "event_id" in row.cells}
    unused = (f"{number}" for number in count(1) if f"{number}" not in named)
    together: dict[str, list[tuple[int, TableRow]]] = {}
    for number, row in events:
        name = row.cells["event_id"] if "event_id" in row.cells else next(unused)
        together.setdefault(name, []).append((number, row))
    findings = [_finding(name, rows, axis, reading) for name, rows in together.items()]
    return reading.account(
        part,
        clip.clip_id,
        findings,
        axis,
        author=clip.author,
        status=clip.status,
        coverage=None if clip.coverage is None else _coverage(clip.coverage, rows, reading),
        instruction=clip.instruction,
        fields={name: getattr(clip, name) for name in FIELDS},
    )


def _coverage(cell: str, rows: Sequence[tuple[int, TableRow]], reading: ReadingContext) -> Mapping[str, CoverageState]:
    """The states of a cell. Raises FormatError for what is none."""
    place = next(number for number, row in rows if "coverage" in row.cells), "coverage"
    try:
        found = [each.split("=") for each in cell.split()]
        if len({name for name, _ in found}) < len(found):
            raise ValueError("a dimension has two states")
        states = _STATES.validate_python(dict(found))
    except ValueError as error:
        wanted = f"dimension=state, with the states {', '.join(get_args(CoverageState))}"
        raise FormatError(f"{cell!r} is no coverage; it is {wanted}", place) from error
    return reading.covered(states, place)


def _one(kind: type[Record], rows: Sequence[tuple[int, TableRow]], columns: Sequence[str]) -> Record:
    """What rows say together. Raises Fault where they contradict each other, or where a cell does not fit."""
    said: dict[str, tuple[int, TableRow]] = {}
    for number, row in rows:
        for name in columns:
            if name not in row.cells:
                continue
            _, first = said.setdefault(name, (number, row))
            if first.cells[name] != row.cells[name]:
                before = f"{first.cells[name]!r} on line {first.line}"
                raise FormatError(f"{row.cells[name]!r} contradicts {before}", (number, name))
    try:
        return parse(kind, {name: _typed(name, row.cells[name]) for name, (_, row) in said.items()})
    except FormatError as fault:
        name = str(fault.place[0])
        raise FormatError(fault.message, (said[name][0] if name in said else rows[0][0], name)) from fault


def _typed(column: str, cell: str) -> str | float:
    """A cell as the number its column wants; whatever does not look like one stays a text, and is refused as such."""
    return float(cell) if column in _NUMBERS and _NUMBER.fullmatch(cell) else cell


def _finding(
    name: str, rows: Sequence[tuple[int, TableRow]], axis: TimeAxis, reading: ReadingContext
) -> AnnotatedEvent:
    number = rows[0][0]
    event = _one(_Event, rows, [column for column in _OF_THE_EVENT if column not in _TIMES])
    kind, dimension = reading.labelled(event.type, event.dimension, (number, "type"), (number, "dimension"))
    spans = [span for one in rows if (span := _span(one, axis)) is not None]
    if len(spans) < len(rows) and len(rows) > 1:
        raise FormatError(f"the rows of event {name!r} each need a span", (number, "event_id"))
    return AnnotatedEvent(
        name, union(spans), event.description, dimension, kind, severity=event.severity, confidence=event.confidence
    )


def _span(numbered: tuple[int, TableRow], axis: TimeAxis) -> Span | None:
    """The span of a row, None when it has none."""
    number, row = numbered
    times = _one(_Event, [numbered], _TIMES)
    given = tuple(name for name in _TIMES if name in row.cells)
    if times.start_s is not None and times.end_s is not None and len(given) == 2:
        return axis.seconds(times.start_s, times.end_s, (number, "start_s"), (number, "end_s"))
    if times.start_frame is not None and times.end_frame is not None and len(given) == 2:
        return axis.frames(times.start_frame, times.end_frame, (number, "start_frame"), (number, "end_frame"))
    if given:
        raise FormatError("start_s and end_s are wanted, or start_frame and end_frame", (number, given[0]))
    return None


FORMAT = Format("csv", "CSV with a column clip_id, a row an event", recognises, split, read)
