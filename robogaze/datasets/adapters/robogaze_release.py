"""The RoboGaze release: predictions in `<data set>/<video>/report.json`, references in `<video>.json`.

Both are an object with `video_id` and `glitches`. Where a glitch has frames, they decide, as in the released
evaluator, and so does its convention: `end_frame` is exclusive. A glitch that ends with the frame it starts with is
that one frame (the released evaluator gives it no overlap with anything). A prediction's report knows its frame rate;
references do not: read them with the predictions beside them, or with a rate.

A clip's id is `<data set>__<video>`: from `source_dataset` and `source_video_id` of a reference, and from the folders
of a prediction. The bare video is never used: the same number stands for another clip in every data set.
"""

from collections.abc import Iterator
from typing import Any

from robogaze.core.account import Account, Finding
from robogaze.core.time import Span
from robogaze.datasets.adapters.axis import Axis
from robogaze.datasets.adapters.base import Format, Part, Reading
from robogaze.datasets.adapters.documents import Document, Fault
from robogaze.datasets.adapters.foreign import Count, Foreign, Frame, Identifier, Level, Rate, Share, parse
from robogaze.datasets.adapters.places import Place

_SEPARATOR = "__"


class _Glitch(Foreign):
    glitch_id: Identifier | None = None
    event_id: Identifier | None = None
    glitch_type: str
    dimension: str | None = None
    start_frame: Frame | None = None
    end_frame: Frame | None = None
    start_time: float | None = None
    end_time: float | None = None
    severity: Level | None = None
    human_severity: Level | None = None
    confidence: Share | None = None
    description: str | None = None
    note: str | None = None


class _Video(Foreign):
    fps: Rate
    total_frames: Count
    duration_s: Rate


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


def split(document: Document) -> Iterator[Part]:
    """The one clip of a document."""
    yield Part(document, (), document.value)


def read(part: Part, reading: Reading) -> Account:
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


def _finding(glitch: _Glitch, number: int, axis: Axis, record: _Record, reading: Reading) -> Finding:
    at: Place = ("glitches", number)
    if not {"severity", "human_severity"} & glitch.model_fields_set:
        raise Fault("Field required; null says that it was not rated", (*at, "severity"))
    # The released evaluator reads a person's text from `note` first, and a prediction's from `description`.
    texts = (glitch.description, glitch.note) if record.video_meta else (glitch.note, glitch.description)
    text = next((text for text in texts if text is not None), None)
    if text is None:
        raise Fault("Field required, or a note", (*at, "description"))
    kind, dimension = reading.labelled(glitch.glitch_type, glitch.dimension, (*at, "glitch_type"), (*at, "dimension"))
    names = (glitch.glitch_id, glitch.event_id, number + 1)
    return Finding(
        id=str(next(name for name in names if name is not None)),
        spans=(_span(glitch, axis, at),),
        description=" ".join(text.split()),
        dimension=dimension,
        type=kind,
        severity=glitch.severity if glitch.severity is not None else glitch.human_severity,
        confidence=glitch.confidence,
    )


def _span(glitch: _Glitch, axis: Axis, at: Place) -> Span:
    if glitch.start_frame is not None and glitch.end_frame is not None:
        return axis.frames(glitch.start_frame, glitch.end_frame, (*at, "start_frame"), (*at, "end_frame"))
    if glitch.start_time is not None and glitch.end_time is not None:
        return axis.seconds(glitch.start_time, glitch.end_time, (*at, "start_time"), (*at, "end_time"))
    raise Fault("start_frame and end_frame are wanted, or start_time and end_time", at)


FORMAT = Format(
    "robogaze_release",
    "the RoboGaze release: {video_id, glitches: [{glitch_type, start_frame, end_frame, ...}]}",
    recognises,
    split,
    read,
)
