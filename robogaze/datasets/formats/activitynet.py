"""ActivityNet: references in `database`, predictions in `results`.

    {"database": {video: {"duration", "subset", "annotations": [{"label", "segment": [s, e]}]}}}
    {"results": {video: [{"label", "score", "segment": [s, e]}]}}

Times are seconds. A label names a type, or a dimension; it is the description, too, where there is no other. The
`subset` is the split.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.records import Foreign, Interval, Rate, Share, parse
from robogaze.datasets.formats.time_axis import TimeAxis
from robogaze.datasets.places import Place

_KINDS = ("database", "results")


class _Segment(Foreign):
    label: str
    segment: Interval
    score: Share | None = None
    description: str | None = None


class _Video(Foreign):
    duration: Rate | None = None
    subset: str | None = None
    annotations: list[_Segment]


class _Result(Foreign):
    segments: list[_Segment]


def recognises(value: Any) -> bool:
    """An object with a database of objects, or with results in lists."""
    if not isinstance(value, dict):
        return False
    database, results = (value.get(kind) for kind in _KINDS)
    return _holds(database, dict) or _holds(results, list)


def _holds(videos: Any, kind: type) -> bool:
    return isinstance(videos, dict) and bool(videos) and all(isinstance(video, kind) for video in videos.values())


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each video."""
    found = [kind for kind in _KINDS if isinstance(document.value, dict) and isinstance(document.value.get(kind), dict)]
    if len(found) != 1:
        raise FormatError("either a database or results are wanted, and not both")
    for name, video in document.value[found[0]].items():
        yield AnnotationPart(document, (found[0], name), video)


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """A video as an account."""
    kind, name = str(part.place[0]), str(part.place[1])
    if kind == "results":
        segments = _results(part.value)
        axis = reading.axis(name)
        return reading.account(part, name, _findings(segments, (), axis, reading), axis)
    video = parse(_Video, part.value)
    if not video.annotations:
        reading.notes.count("clip", "without annotations, read as clean")
    axis = reading.axis(name, duration_s=video.duration)
    findings = _findings(video.annotations, ("annotations",), axis, reading)
    return reading.account(part, name, findings, axis, fields={"split": video.subset})


def _results(value: Any) -> Sequence[_Segment]:
    try:
        return parse(_Result, {"segments": value}).segments
    except FormatError as fault:
        raise FormatError(fault.message, fault.place[1:]) from fault


def _findings(
    segments: Sequence[_Segment], above: Place, axis: TimeAxis, reading: ReadingContext
) -> list[AnnotatedEvent]:
    found = []
    for number, one in enumerate(segments):
        at: Place = (*above, number)
        kind, dimension = reading.label(one.label, (*at, "label"))
        start, end = one.segment
        span = axis.seconds(start, end, (*at, "segment", 0), (*at, "segment", 1))
        text = one.description or one.label
        found.append(AnnotatedEvent(str(number + 1), (span,), text, dimension, kind, confidence=one.score))
    return found


FORMAT = Format(
    "activitynet",
    "ActivityNet: {database: {video: {annotations: [{label, segment}]}}} or {results: {video: [...]}}",
    recognises,
    split,
    read,
)
