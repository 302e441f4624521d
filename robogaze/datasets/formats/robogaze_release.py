"""The RoboGaze release: predictions in `<data set>/<video>/report.json`, references in `<video>.json`.

Both are objects with `video_id` and `glitches`. If a glitch has frames, they are read as the released evaluator reads
them: `end_frame` is exclusive. A glitch that ends where it starts covers the one frame at its start; in the released
evaluator, it overlaps nothing. A prediction's report contains the frame rate of the video. References contain no frame
rate, so read them together with the predictions, or with `fps`.

A clip's id is `<data set>__<video>`. For a reference, the two parts are `source_dataset` and `source_video_id`; for a
prediction, they are the names of its folders. The name of the video alone is not used as the id, because the same
number means a different clip in each data set.
"""

from typing import Any, Literal

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation, WrittenIntervals
from robogaze.core.time import Span
from robogaze.datasets.documents import Document, FormatError, Place
from robogaze.datasets.formats.base import AnnotationPart, AnnotationReader, Format, ReadingContext, split_whole
from robogaze.datasets.formats.records import (
    Confidence,
    ForeignRecord,
    FrameCount,
    FrameNumber,
    Identifier,
    Rate,
    SeverityLevel,
    parse,
)
from robogaze.datasets.formats.time_axis import TimeAxis

_SEPARATOR = "__"


class _Glitch(ForeignRecord):
    glitch_id: Identifier | None = None
    event_id: Identifier | None = None
    glitch_type: str | None = None
    dimension: str | None = None
    start_frame: FrameNumber | None = None
    end_frame: FrameNumber | None = None
    start_time: float | None = None
    end_time: float | None = None
    severity: SeverityLevel | Literal[0] | None = None
    human_severity: SeverityLevel | Literal[0] | None = None
    confidence: Confidence | None = None
    description: str | None = None
    note: str | None = None


class _Video(ForeignRecord):
    fps: Rate | None = None
    total_frames: FrameCount | None = None
    duration_s: Rate | None = None


class _Record(ForeignRecord):
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


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a clip."""
    record = parse(_Record, part.value)
    clip_id, dataset = _names(record, part.document)
    video = record.video_meta
    axis = context.time_axis(clip_id) if video is None else context.time_axis(clip_id, video.fps, video.total_frames)
    return context.annotation(
        part,
        clip_id,
        [_event(glitch, number, axis, record, context) for number, glitch in enumerate(record.glitches)],
        axis,
        instruction=record.task or record.task_instruction,
        fields={"split": dataset},
    )


def _names(record: _Record, document: Document) -> tuple[str, str | None]:
    """The clip's id, and its data set if one is named."""
    video = str(record.video_id)
    if record.source_dataset and record.source_video_id is not None:
        return f"{record.source_dataset}{_SEPARATOR}{record.source_video_id}", record.source_dataset
    above = document.folders[:-1] if document.path.name == "report.json" else ()
    if not above:
        return video, record.source_dataset
    prefix = _SEPARATOR.join(above) + _SEPARATOR
    return (video if video.startswith(prefix) else prefix + video), above[-1]


def _event(glitch: _Glitch, number: int, axis: TimeAxis, record: _Record, context: ReadingContext) -> AnnotatedEvent:
    place: Place = ("glitches", number)
    # The released evaluator reads a person's text from `note` first, and the text of a prediction from `description`.
    texts = (glitch.description, glitch.note) if record.video_meta else (glitch.note, glitch.description)
    text = next((text for text in texts if text), None)
    severity = next((level for level in (glitch.severity, glitch.human_severity) if level), None)
    ids = (glitch.glitch_id, glitch.event_id, number + 1)
    if context.as_written:
        spans, labels = _valid_spans(glitch, axis, place), (glitch.glitch_type, glitch.dimension)
    else:
        _check_complete(glitch, text, place)
        spans = (_span(glitch, axis, place),)
        labels = context.map_labels(
            glitch.glitch_type, glitch.dimension, (*place, "glitch_type"), (*place, "dimension")
        )
    return AnnotatedEvent(
        id=str(next(event_id for event_id in ids if event_id is not None)),
        spans=spans,
        description=" ".join((text or "").split()),
        dimension=labels[1] or None,
        type=labels[0] or None,
        severity=severity,
        confidence=glitch.confidence,
        written=WrittenIntervals("frames", (_written_frames(glitch, record),)),
    )


def _check_complete(glitch: _Glitch, text: str | None, place: Place) -> None:
    """Raises FormatError for an event without a type, a description or a severity; null means that it was not rated."""
    if glitch.glitch_type is None:
        raise FormatError("Field required", (*place, "glitch_type"))
    if not {"severity", "human_severity"} & glitch.model_fields_set:
        raise FormatError("Field required; null means that the severity was not rated", (*place, "severity"))
    for name in ("severity", "human_severity"):
        if getattr(glitch, name) == 0:
            raise FormatError("Input should be greater than or equal to 1", (*place, name))
    if text is None and glitch.description is None and glitch.note is None:
        raise FormatError("Field required unless there is a note", (*place, "description"))


def _written_frames(glitch: _Glitch, record: _Record) -> tuple[float, float]:
    """The frames as the released evaluator reads them: as written, else from a prediction's times, else 0."""
    fps = record.video_meta.fps if record.video_meta else None
    ends = ((glitch.start_frame, glitch.start_time), (glitch.end_frame, glitch.end_time))
    start, end = (_frame(frame, time_s, fps) for frame, time_s in ends)
    return start, end


def _frame(frame: int | None, time_s: float | None, fps: float | None) -> int:
    if frame is not None:
        return frame
    return 0 if time_s is None or fps is None else round(time_s * fps)


def _valid_spans(glitch: _Glitch, axis: TimeAxis, place: Place) -> tuple[Span, ...]:
    try:
        return (_span(glitch, axis, place),)
    except FormatError:
        return ()


def _span(glitch: _Glitch, axis: TimeAxis, place: Place) -> Span:
    if glitch.start_frame is not None and glitch.end_frame is not None:
        return axis.frames(glitch.start_frame, glitch.end_frame, (*place, "start_frame"), (*place, "end_frame"))
    if glitch.start_time is not None and glitch.end_time is not None:
        return axis.seconds(glitch.start_time, glitch.end_time, (*place, "start_time"), (*place, "end_time"))
    raise FormatError("expected start_frame and end_frame, or start_time and end_time", place)


FORMAT = Format(
    AnnotationReader(
        recognises,
        split_whole,
        read,
    ),
)
