"""The RoboGaze release: predictions in `<data set>/<video>/report.json`, references in `<video>.json`.

Both are an object with `video_id` and `glitches`. Where a glitch has frames, they decide, as in the released
evaluator, and so does its convention: `end_frame` is exclusive. A glitch that ends with the frame it starts with is
that one frame (the released evaluator gives it no overlap with anything). A prediction's report knows its frame rate;
references do not: read them with the predictions beside them, or with a rate.

A clip's id is `<data set>__<video>`: from `source_dataset` and `source_video_id` of a reference, and from the folders
of a prediction. The bare video is never used: the same number stands for another clip in every data set.
"""

from collections.abc import Iterator
from typing import Any, Literal

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, WrittenIntervals
from robogaze.core.time import Span
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, Format, ReadingContext
from robogaze.datasets.formats.records import Count, Foreign, Frame, Identifier, Level, Rate, Share, parse
from robogaze.datasets.formats.time_axis import TimeAxis
from robogaze.datasets.places import Place

_SEPARATOR = "__"


class _Glitch(Foreign):
    glitch_id: Identifier | None = None
    event_id: Identifier | None = None
    glitch_type: str | None = None
    dimension: str | None = None
    start_frame: Frame | None = None
    end_frame: Frame | None = None
    start_time: float | None = None
    end_time: float | None = None
    severity: Level | Literal[0] | None = None
    human_severity: Level | Literal[0] | None = None
    confidence: Share | None = None
    description: str | None = None
    note: str | None = None


class _Video(Foreign):
    fps: Rate | None = None
    total_frames: Count | None = None
    duration_s: Rate | None = None


class _Record(Foreign):
    video_id: Identifier
    source_dataset: str | None = None
    source_video_id: Identifier | None = None
    task: str | None = None
    task_instruction: str | None = None
    video_meta: _Video | None = None
    glitches: list[_Glitch]


def recognises(value: Any) -> bool:
    """An object with glitches."""
    return isinstance(value, dict) and isinstance(value.get("glitches"), list)


def split(document: Document) -> Iterator[AnnotationPart]:
    """The one clip of a document."""
    yield AnnotationPart(document, (), document.value)


def read(part: AnnotationPart, reading: ReadingContext) -> ClipAnnotation:
    """A clip as an account."""
    record = parse(_Record, part.value)
    clip_id, dataset = _names(record, part.document)
    video = record.video_meta
    axis = reading.axis(clip_id) if video is None else reading.axis(clip_id, video.fps, video.total_frames)
    findings = [_finding(one, number, axis, record, reading) for number, one in enumerate(record.glitches)]
    return reading.account(
        part,
        clip_id,
        findings,
        axis,
        instruction=record.task or record.task_instruction,
        fields={"split": dataset},
    )


def _names(record: _Record, document: Document) -> tuple[str, str | None]:
    """The clip's id, and its data set where one is named."""
    video = str(record.video_id)
    if record.source_dataset and record.source_video_id is not None:
        return f"{record.source_dataset}{_SEPARATOR}{record.source_video_id}", record.source_dataset
    above = document.folders[:-1] if document.path.name == "report.json" else ()
    if not above:
        return video, record.source_dataset
    prefix = _SEPARATOR.join(above) + _SEPARATOR
    return (video if video.startswith(prefix) else prefix + video), above[-1]


def _finding(glitch: _Glitch, number: int, axis: TimeAxis, record: _Record, reading: ReadingContext) -> AnnotatedEvent:
    at: Place = ("glitches", number)
    # The released evaluator reads a person's text from `note` first, and a prediction's from `description`.
    texts = (glitch.description, glitch.note) if record.video_meta else (glitch.note, glitch.description)
    text = next((text for text in texts if text), None)
    severity = next((one for one in (glitch.severity, glitch.human_severity) if one), None)
    names = (glitch.glitch_id, glitch.event_id, number + 1)
    if reading.as_written:
        spans, labels = _spans_if_any(glitch, axis, at), (glitch.glitch_type, glitch.dimension)
    else:
        _refuse_gaps(glitch, text, at)
        spans = (_span(glitch, axis, at),)
        labels = reading.labelled(glitch.glitch_type, glitch.dimension, (*at, "glitch_type"), (*at, "dimension"))
    return AnnotatedEvent(
        id=str(next(name for name in names if name is not None)),
        spans=spans,
        description=" ".join((text or "").split()),
        dimension=labels[1] or None,
        type=labels[0] or None,
        severity=severity,
        confidence=glitch.confidence,
        written=WrittenIntervals("frames", (_written(glitch, record),)),
    )


def _refuse_gaps(glitch: _Glitch, text: str | None, at: Place) -> None:
    """Raises Fault for an event that does not say what it is, or how severe; null says that it was not rated."""
    if glitch.glitch_type is None:
        raise FormatError("Field required", (*at, "glitch_type"))
    if not {"severity", "human_severity"} & glitch.model_fields_set:
        raise FormatError("Field required; null says that it was not rated", (*at, "severity"))
    for name in ("severity", "human_severity"):
        if getattr(glitch, name) == 0:
            raise FormatError("Input should be greater than or equal to 1", (*at, name))
    if text is None and glitch.description is None and glitch.note is None:
        raise FormatError("Field required, or a note", (*at, "description"))


def _written(glitch: _Glitch, record: _Record) -> tuple[float, float]:
    """The frames as the released evaluator reads them: as written, else from a prediction's time, else 0."""
    fps = record.video_meta.fps if record.video_meta else None
    ends = ((glitch.start_frame, glitch.start_time), (glitch.end_frame, glitch.end_time))
    start, end = (_frame(frame, time_s, fps) for frame, time_s in ends)
    return start, end


def _frame(frame: int | None, time_s: float | None, fps: float | None) -> int:
    if frame is not None:
        return frame
    return 0 if time_s is None or fps is None else round(time_s * fps)


def _spans_if_any(glitch: _Glitch, axis: TimeAxis, at: Place) -> tuple[Span, ...]:
    try:
        return (_span(glitch, axis, at),)
    except FormatError:
        return ()


def _span(glitch: _Glitch, axis: TimeAxis, at: Place) -> Span:
    if glitch.start_frame is not None and glitch.end_frame is not None:
        return axis.frames(glitch.start_frame, glitch.end_frame, (*at, "start_frame"), (*at, "end_frame"))
    if glitch.start_time is not None and glitch.end_time is not None:
        return axis.seconds(glitch.start_time, glitch.end_time, (*at, "start_time"), (*at, "end_time"))
    raise FormatError("start_frame and end_frame are wanted, or start_time and end_time", at)


FORMAT = Format(
    "robogaze_release",
    "the RoboGaze release: {video_id, glitches: [{glitch_type, start_frame, end_frame, ...}]}",
    recognises,
    split,
    read,
)
