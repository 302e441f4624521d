"""Label Studio: JSON exports of projects with timeline labels, and tasks with predictions to correct by hand.

The ranges of Label Studio are frame numbers, and the last frame is included. The reader converts frame numbers to
seconds with the clip's frame rate and the number of the first frame: 1 in Label Studio's own timeline, 0 in some
converters. The files do not state this number, so the caller gives it. The frame rate is the number `fps` in the task's
data, if there is one.

A region is one event. The label of a region names a type or a dimension. The text of the region is the description, or
the label if there is no text. A rating or number named `severity` is the severity.

A clip's id is the task's `clip_id`. If there is none, the id is the file name of the task's `video`, without the prefix
that Label Studio gives to uploaded files. The author of an annotation is the person who completed it; a cancelled
annotation is unscored. Predictions are read if a file has no annotation.

Writes `tasks.json` and the labelling configuration `config.xml`. A region is one span, so an event with several spans
is several regions. Clips without a constant frame rate and parts of longer videos are left out. A report that is
incomplete or undecided is a task without a prediction.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import quoteattr

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.clip import Clip
from robogaze.core.report import Report
from robogaze.core.time import Span, frames_in, union
from robogaze.datasets.documents import Document, FormatError, Place
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    has_constant_rate,
    leave_out_undecided,
)
from robogaze.datasets.formats.records import ForeignRecord, FrameNumber, Identifier, SeverityLevel, parse
from robogaze.datasets.formats.time_axis import TimeAxis
from robogaze.errors import InputError

_LISTS = ("annotations", "predictions")
_VIDEO, _TIMELINE, _TEXT, _SEVERITY = "video", "events", "description", "severity"
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")
"""The prefix of an uploaded file's name."""


class _Person(ForeignRecord):
    email: str


class _Range(ForeignRecord):
    start: FrameNumber
    end: FrameNumber


class _Value(ForeignRecord):
    """The value of a timeline, text, rating or number; the other fields are None."""

    timelinelabels: list[str] | None = None
    ranges: list[_Range] | None = None
    text: str | list[str] | None = None
    rating: SeverityLevel | None = None
    number: SeverityLevel | None = None


class _Result(ForeignRecord):
    id: Identifier | None = None
    from_name: str | None = None
    value: dict[str, Any]


ResultValue = tuple[_Result, _Value]
"""A result with its parsed value."""


class _Completed(ForeignRecord):
    """An annotation or a prediction."""

    completed_by: Identifier | _Person | None = None
    model_version: str | None = None
    was_cancelled: bool = False
    result: list[_Result]

    @property
    def author(self) -> str | None:
        """The e-mail address or the number of a person, or the version of a model."""
        if isinstance(self.completed_by, _Person):
            return self.completed_by.email
        return self.model_version if self.completed_by is None else str(self.completed_by)


def recognises(value: Any) -> bool:
    """A task, or a list of tasks."""
    tasks = value if isinstance(value, list) else [value]
    return bool(tasks) and all(map(_is_task, tasks))


def _is_task(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("data"), dict)
        and any(key in value for key in _LISTS)
        and all(isinstance(value.get(key, []), list) for key in _LISTS)
    )


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each annotation or, if the document contains no annotation, each prediction."""
    listed = isinstance(document.value, list)
    tasks = document.value if listed else [document.value]
    for number, task in enumerate(tasks):
        if not _is_task(task):
            raise FormatError("expected a task with 'data' and 'annotations'", (number,) if listed else ())
    key = next((key for key in _LISTS if any(task.get(key) for task in tasks)), _LISTS[0])
    for number, task in enumerate(tasks):
        for order, completed in enumerate(task.get(key, [])):
            place: Place = (number, key, order) if listed else (key, order)
            yield AnnotationPart(document, place, (task["data"], completed))


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """One person's annotation. Raises InputError if the number of the first frame is not given."""
    if context.first_frame is None:
        raise InputError(
            f"{part.document.path} gives times in frames; give the number of the first frame with --first-frame: "
            f"1 in Label "
            "Studio's own timeline, 0 in some converters"
        )
    data, value = part.value
    completed = parse(_Completed, value)
    clip_id = _clip_id(data)
    if completed.was_cancelled:
        return context.annotation(part, clip_id, (), author=completed.author, status="unscored")
    axis = context.time_axis(clip_id, _rate(data))
    events = list(_events(completed.result, axis, context.first_frame, context))
    return context.annotation(part, clip_id, events, axis, author=completed.author)


def _clip_id(data: Mapping[str, Any]) -> str:
    if isinstance(data.get("clip_id"), str):
        return str(data["clip_id"])
    if not isinstance(data.get("video"), str):
        raise FormatError("the task's data has neither a clip_id nor a video")
    address = urlsplit(data["video"])
    # Files that Label Studio serves from a local folder are in the query: /data/local-files/?d=folder/name.mp4
    path = parse_qs(address.query).get("d", [unquote(address.path)])[0]
    return _UPLOADED.sub("", PurePosixPath(path).stem)


def _rate(data: Mapping[str, Any]) -> float | None:
    """The frame rate of the task's video; None if the data has none."""
    fps = data.get("fps")
    if fps is None:
        return None
    if not isinstance(fps, int | float) or isinstance(fps, bool) or not 0 < fps < math.inf:
        raise FormatError(f"the fps in the task's data must be a number above 0, not {fps!r}")
    return float(fps)


def _events(
    results: Sequence[_Result], axis: TimeAxis, first_frame: int, context: ReadingContext
) -> Iterator[AnnotatedEvent]:
    parsed = [
        (result, parse(_Value, result.value, ("result", number, "value"))) for number, result in enumerate(results)
    ]
    for number, (result, value) in enumerate(parsed):
        if value.timelinelabels is None:
            continue
        place: Place = ("result", number, "value")
        if len(value.timelinelabels) != 1:
            raise FormatError(
                f"a region must have one label, not {len(value.timelinelabels)}", (*place, "timelinelabels")
            )
        if not value.ranges:
            raise FormatError("a region needs a range", (*place, "ranges"))
        spans = union(
            axis.frames(
                frames.start - first_frame,
                frames.end - first_frame + 1,
                (*place, "ranges", order, "start"),
                (*place, "ranges", order, "end"),
            )
            for order, frames in enumerate(value.ranges)
        )
        label = value.timelinelabels[0]
        type_, dimension = context.map_label(label, (*place, "timelinelabels", 0))
        of_region = [
            (other, other_value)
            for other, other_value in parsed
            if other.id is not None and other.id == result.id and other_value.timelinelabels is None
        ]
        event_id = str(number + 1) if result.id is None else str(result.id)
        description = _description(of_region) or label
        yield AnnotatedEvent(event_id, spans, description, dimension, type_, severity=_severity(of_region))
    _count_others(parsed, context)


def _description(of_region: Sequence[ResultValue]) -> str:
    texts = [[value.text] if isinstance(value.text, str) else value.text or [] for _, value in of_region]
    return " ".join(line for lines in texts for line in lines)


def _severity(of_region: Sequence[ResultValue]) -> int | None:
    values = [value for result, value in of_region if result.from_name == _SEVERITY]
    return next((level for value in values for level in (value.rating, value.number) if level is not None), None)


def _count_others(parsed: Sequence[ResultValue], context: ReadingContext) -> None:
    regions = {result.id for result, value in parsed if value.timelinelabels is not None}
    for result, value in parsed:
        if value.timelinelabels is None and (result.id is None or result.id not in regions):
            context.log.count("result", "outside every timeline label (left out)")


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`tasks.json` and `config.xml`."""
    tasks = [_task(clip) for clip in clips]
    labels = sorted({event.type for clip in clips for event in clip.report.events})
    return {"tasks.json": json.dumps(tasks, ensure_ascii=False, indent=1) + "\n", "config.xml": _configuration(labels)}


def why_left_out(report: Report) -> str | None:
    """The reason to leave out a clip without a constant frame rate, or a part of a longer video; None for any other
    clip.
    """
    if report.clip.start_s is not None:
        return "cut from a longer video, which the format cannot express"
    return None if has_constant_rate(report.clip) else "without the constant frame rate that the format needs"


def _task(exported: ExportedReport) -> dict[str, Any]:
    clip, report = exported.clip, exported.report
    data = {
        "clip_id": clip.id,
        "video": exported.video,
        "fps": clip.fps,
        "instruction": clip.instruction or "",
        "status": report.status,
        "verdict": report.verdict,
    }
    decided = leave_out_undecided(report) is None
    predictions = [{"model_version": report.author, "result": list(_results(report))}] if decided else []
    return {"data": data, "predictions": predictions}


def _results(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        for number, span in enumerate(event.spans, start=1):
            ranges = [_frame_range(span, report.clip)]
            region = {"id": event.id if len(event.spans) == 1 else f"{event.id}.{number}", "to_name": _VIDEO}
            label = {"ranges": ranges, "timelinelabels": [event.type]}
            yield {**region, "from_name": _TIMELINE, "type": "timelinelabels", "value": label}
            text = {"ranges": ranges, "text": [event.description]}
            yield {**region, "from_name": _TEXT, "type": "textarea", "value": text}
            if event.severity is not None:
                rating = {"ranges": ranges, "rating": event.severity}
                yield {**region, "from_name": _SEVERITY, "type": "rating", "value": rating}


def _frame_range(span: Span, clip: Clip) -> dict[str, int]:
    """The first and last frame of a span, counted from 1; if the span contains no frame, the frame shown at its
    start.
    """
    numbers = frames_in([span], clip.frame_times_s) or {clip.frame_at(span.start)}
    return {"start": min(numbers) + 1, "end": max(numbers) + 1}


def _configuration(labels: Sequence[str]) -> str:
    lines = "\n".join(f"    <Label value={quoteattr(label)}/>" for label in labels)
    return f"""<View>
  <Text name="instruction" value="$instruction"/>
  <Video name="{_VIDEO}" value="$video" frameRate="$fps"/>
  <TimelineLabels name="{_TIMELINE}" toName="{_VIDEO}">
{lines}
  </TimelineLabels>
  <TextArea name="{_TEXT}" toName="{_VIDEO}" perRegion="true"/>
  <Rating name="{_SEVERITY}" toName="{_VIDEO}" perRegion="true" maxRating="5"/>
</View>
"""


FORMAT = Format(
    AnnotationReader(
        recognises,
        split,
        read,
    ),
    ReportWriter(files, why_left_out),
)
