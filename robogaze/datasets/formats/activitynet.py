"""ActivityNet: references in `database`, predictions in `results`.

    {"database": {video: {"duration", "subset", "annotations": [{"label", "segment": [s, e]}]}}}
    {"results": {video: [{"label", "score", "segment": [s, e]}]}}

Times are seconds. A label names a type or a dimension; it is also the description if there is no other description. The
`subset` is the split. The keys `dimension`, `severity` and `description` are read if they are there.

The writer produces a `database`. An annotation is one span, so an event with several spans is several annotations.
`dimension`, `severity`, `score` and `description` are extra keys, which other readers ignore.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.report import Report
from robogaze.datasets.documents import Document, FormatError, Place
from robogaze.datasets.formats.base import (
    AnnotationPart,
    AnnotationReader,
    ExportedReport,
    Format,
    ReadingContext,
    ReportWriter,
    leave_out_undecided,
)
from robogaze.datasets.formats.records import Confidence, ForeignRecord, Interval, Rate, SeverityLevel, parse
from robogaze.datasets.formats.time_axis import TimeAxis

_KINDS = ("database", "results")
_VERSION = "1.3"
_ROOT = "Root"


class _Segment(ForeignRecord):
    label: str
    segment: Interval
    score: Confidence | None = None
    description: str | None = None
    dimension: str | None = None
    severity: SeverityLevel | None = None


class _Video(ForeignRecord):
    duration: Rate | None = None
    subset: str | None = None
    annotations: list[_Segment]


def recognises(value: Any) -> bool:
    """An object in which `database` contains objects, or `results` contains lists."""
    if not isinstance(value, dict):
        return False
    database, results = (value.get(kind) for kind in _KINDS)
    return _contains_only(database, dict) or _contains_only(results, list)


def _contains_only(videos: Any, kind: type) -> bool:
    return isinstance(videos, dict) and bool(videos) and all(isinstance(video, kind) for video in videos.values())


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each video."""
    value = document.value
    kinds = [kind for kind in _KINDS if isinstance(value, dict) and isinstance(value.get(kind), dict)]
    if len(kinds) != 1:
        raise FormatError("expected exactly one of the keys 'database' and 'results'")
    for name, video in value[kinds[0]].items():
        yield AnnotationPart(document, (kinds[0], name), video)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a video."""
    kind, name = str(part.place[0]), str(part.place[1])
    if kind == "results":
        if not isinstance(part.value, list):
            raise FormatError("expected a list")
        segments = [parse(_Segment, segment, (number,)) for number, segment in enumerate(part.value)]
        axis = context.time_axis(name)
        return context.annotation(part, name, _events(segments, (), axis, context), axis)
    video = parse(_Video, part.value)
    if not video.annotations:
        context.log.count("clip", "without annotations (read as clean)")
    axis = context.time_axis(name, duration_s=video.duration)
    events = _events(video.annotations, ("annotations",), axis, context)
    return context.annotation(part, name, events, axis, fields={"split": video.subset})


def _events(
    segments: Sequence[_Segment], above: Place, axis: TimeAxis, context: ReadingContext
) -> list[AnnotatedEvent]:
    events = []
    for number, segment in enumerate(segments):
        place: Place = (*above, number)
        type_, dimension = context.map_label(segment.label, (*place, "label"))
        if segment.dimension is not None:
            type_, dimension = context.map_labels(type_, segment.dimension, (*place, "label"), (*place, "dimension"))
        start, end = segment.segment
        span = axis.seconds(start, end, (*place, "segment", 0), (*place, "segment", 1))
        text = segment.description or segment.label
        events.append(
            AnnotatedEvent(
                str(number + 1),
                (span,),
                text,
                dimension,
                type_,
                severity=segment.severity,
                confidence=segment.score,
            )
        )
    return events


def files(clips: Sequence[ExportedReport]) -> Mapping[str, str | bytes]:
    """`activitynet.json`."""
    database = {
        clip.clip.id: {
            "duration": clip.clip.duration_s,
            "subset": clip.clip.split or "",
            "annotations": list(_annotations(clip.report)),
        }
        for clip in clips
    }
    value = {"version": _VERSION, "taxonomy": _taxonomy(clips), "database": database}
    return {"activitynet.json": json.dumps(value, ensure_ascii=False, indent=1) + "\n"}


def _annotations(report: Report) -> Iterator[dict[str, Any]]:
    for event in report.events:
        extra = {name: getattr(event, name) for name in ("dimension", "severity", "description")}
        score = {} if event.confidence is None else {"score": event.confidence}
        for span in event.spans:
            yield {"label": event.type, "segment": [span.start, span.end], **extra, **score}


def _taxonomy(clips: Sequence[ExportedReport]) -> list[dict[str, Any]]:
    """The types that occur, as a tree below their dimensions."""
    types = sorted({(event.dimension, event.type) for clip in clips for event in clip.report.events})
    nodes: list[dict[str, Any]] = []
    numbers: dict[str | None, int | None] = {None: None}

    def add(name: str, parent: str | None) -> None:
        number = len(nodes)
        nodes.append({"nodeId": number, "nodeName": name, "parentId": numbers[parent], "parentName": parent})
        numbers[name] = number

    add(_ROOT, None)
    for dimension, type_ in types:
        if dimension not in numbers:
            add(dimension, _ROOT)
        add(type_, dimension)
    return nodes


FORMAT = Format(
    AnnotationReader(
        recognises,
        split,
        read,
    ),
    ReportWriter(files, leave_out_undecided),
)
