"""Label Studio: JSON exports of projects with timeline labels.

Its ranges are frames, with the last one included. They become seconds with the clip's frame rate, and with the number
that the first frame was given: 1 in Label Studio's own timeline, 0 where a converter counted so; public ones
disagree. The number has to be said, for no file says it.

A region is one event. Its label names a type, or a dimension. What else was said of the region belongs to it: a text
is its description (without one, the label is), a rating or number named `severity` its severity.

A clip's id is the task's `clip_id`, else the name of its `video` without what Label Studio puts before an uploaded
file's. Each annotation is the account of whoever completed it; one that was cancelled says nothing. Predictions are
read where a file holds no annotation at all.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.time import union
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.records import Foreign, Frame, Identifier, Level, parse
from robogaze.datasets.formats.time_axis import TimeAxis
from robogaze.datasets.places import Place
from robogaze.errors import InputError

_LISTS = ("annotations", "predictions")
_SEVERITY = "severity"
_UPLOADED = re.compile(r"^[0-9a-f]{8}-")
"""What Label Studio puts before the name of an uploaded file."""


class _Person(Foreign):
    email: str


class _Range(Foreign):
    start: Frame
    end: Frame


class _Value(Foreign):
    """What a result says: of a timeline, a text, a rating or a number; the others are None."""

    timelinelabels: list[str] | None = None
    ranges: list[_Range] | None = None
    text: str | list[str] | None = None
    rating: Level | None = None
    number: Level | None = None


class _Result(Foreign):
    id: Identifier | None = None
    from_name: str | None = None
    value: dict[str, Any]


class _Said(Foreign):
    """An annotation or a prediction."""

    completed_by: Identifier | _Person | None = None
    model_version: str | None = None
    was_cancelled: bool = False
    result: list[_Result]

    @property
    def author(self) -> str | None:
        """Who says it: a person's address or number, or a model's version."""
        if isinstance(self.completed_by, _Person):
            return self.completed_by.email
        return self.model_version if self.completed_by is None else str(self.completed_by)


def recognises(value: Any) -> bool:
    """A task, or a list of them."""
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
    """Each annotation; where there is none, each prediction."""
    listed = isinstance(document.value, list)
    tasks = document.value if listed else [document.value]
    for number, task in enumerate(tasks):
        if not _is_task(task):
            raise FormatError("a task is wanted: 'data' and 'annotations'", (number,) if listed else ())
    key = next((key for key in _LISTS if any(task.get(key) for task in tasks)), _LISTS[0])
    for number, task in enumerate(tasks):
        for order, said in enumerate(task.get(key, [])):
            place: Place = (number, key, order) if listed else (key, order)
            yield AnnotationPart(document, place, (task["data"], said))


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """An annotation as an account. Raises InputError when it is not said how frames are counted."""
    if reading.first_frame is None:
        raise InputError(
            f"{part.document.path} counts in frames; say with --first-frame which number the first one has: 1 in Label "
            "Studio's own timeline, 0 where a converter counted so"
        )
    data, value = part.value
    said = parse(_Said, value)
    clip_id = _clip_id(data)
    if said.was_cancelled:
        return reading.account(part, clip_id, (), author=said.author, status="unscored")
    axis = reading.axis(clip_id)
    findings = list(_findings(said.result, axis, reading.first_frame, reading))
    return reading.account(part, clip_id, findings, axis, author=said.author)


def _clip_id(data: Mapping[str, Any]) -> str:
    if isinstance(data.get("clip_id"), str):
        return str(data["clip_id"])
    if not isinstance(data.get("video"), str):
        raise FormatError("the task's data names neither a clip_id nor a video")
    address = urlsplit(data["video"])
    # Files that Label Studio serves from a local folder stand in the query: /data/local-files/?d=folder/name.mp4
    path = parse_qs(address.query).get("d", [unquote(address.path)])[0]
    return _UPLOADED.sub("", PurePosixPath(path).stem)


def _findings(
    results: Sequence[_Result], axis: TimeAxis, first_frame: int, reading: ReadingContext
) -> Iterator[AnnotatedEvent]:
    values = [_value(one, number) for number, one in enumerate(results)]
    for number, (result, value) in enumerate(zip(results, values, strict=True)):
        if value.timelinelabels is None:
            continue
        at: Place = ("result", number, "value")
        if len(value.timelinelabels) != 1:
            raise FormatError(f"a region has one label, not {len(value.timelinelabels)}", (*at, "timelinelabels"))
        if not value.ranges:
            raise FormatError("a region has a range at least", (*at, "ranges"))
        spans = union(
            axis.frames(
                one.start - first_frame,
                one.end - first_frame + 1,
                (*at, "ranges", order, "start"),
                (*at, "ranges", order, "end"),
            )
            for order, one in enumerate(value.ranges)
        )
        label = value.timelinelabels[0]
        kind, dimension = reading.label(label, (*at, "timelinelabels", 0))
        beside = [
            (one, said)
            for one, said in zip(results, values, strict=True)
            if one.id is not None and one.id == result.id and said.timelinelabels is None
        ]
        name = str(number + 1) if result.id is None else str(result.id)
        yield AnnotatedEvent(name, spans, _text(beside) or label, dimension, kind, severity=_severity(beside))
    _count_others(results, values, reading)


def _value(result: _Result, number: int) -> _Value:
    try:
        return parse(_Value, result.value)
    except FormatError as fault:
        raise FormatError(fault.message, ("result", number, "value", *fault.place)) from fault


def _text(beside: Sequence[tuple[_Result, _Value]]) -> str:
    texts = [[said.text] if isinstance(said.text, str) else said.text or [] for _, said in beside]
    return " ".join(text for said in texts for text in said)


def _severity(beside: Sequence[tuple[_Result, _Value]]) -> int | None:
    named = [said for one, said in beside if one.from_name == _SEVERITY]
    return next((level for said in named for level in (said.rating, said.number) if level is not None), None)


def _count_others(results: Sequence[_Result], values: Sequence[_Value], reading: ReadingContext) -> None:
    regions = {one.id for one, value in zip(results, values, strict=True) if value.timelinelabels is not None}
    for one, value in zip(results, values, strict=True):
        if value.timelinelabels is None and (one.id is None or one.id not in regions):
            reading.notes.count("result", "outside every timeline label, left out")


FORMAT = Format(
    "label_studio",
    "Label Studio's JSON export: [{data, annotations: [{result: [{value: {ranges, timelinelabels}}]}]}]",
    recognises,
    split,
    read,
)
