"""The annotations of the RoboGaze project page: `{"clips": [{"clip_id", "events": [...]}]}`, or one clip per file.

Times are seconds. If a severity is null, the severity was not rated. `type` is the taxonomy's id; older files have only
`label`. Events of the second version have no `event_id`; they are numbered. `video` or `file` is the name of the video;
clips whose ids differ are paired by this name.
"""

from collections.abc import Iterator
from typing import Any

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.base import AnnotationPart, AnnotationReader, Format, ReadingContext
from robogaze.datasets.formats.records import ForeignRecord, FrameCount, Rate, SeverityLevel, Whole, parse

_FIELDS = ("split", "embodiment", "generator", "generation_mechanism", "duration_band")
"""The fields of a clip that results can be broken down by."""


class _Event(ForeignRecord):
    event_id: str | None = None
    type: str | None = None
    label: str | None = None
    dimension: str | None = None
    start_s: float
    end_s: float
    severity: SeverityLevel | None
    description: str


class _Clip(ForeignRecord):
    clip_id: str
    instruction: str | None = None
    duration_s: Rate | None = None
    fps: Rate | None = None
    frames: FrameCount | None = None
    failure_free: bool | None = None
    n_events: Whole | None = None
    events: list[_Event]
    split: str | None = None
    embodiment: str | None = None
    generator: str | None = None
    generation_mechanism: str | None = None
    duration_band: str | None = None
    video: str | None = None
    file: str | None = None


def recognises(value: Any) -> bool:
    """An object with clips, or one clip."""
    clips = value.get("clips", [value]) if isinstance(value, dict) else None
    return isinstance(clips, list) and bool(clips) and all(map(_is_clip, clips))


def _is_clip(value: Any) -> bool:
    return isinstance(value, dict) and "clip_id" in value and isinstance(value.get("events"), list)


def split(document: Document) -> Iterator[AnnotationPart]:
    """Each clip."""
    value = document.value
    if not isinstance(value, dict):
        raise FormatError("expected an object with 'clips', or one clip")
    if "clips" not in value:
        yield AnnotationPart(document, (), value)
        return
    if not isinstance(value["clips"], list):
        raise FormatError("expected a list", ("clips",))
    for number, clip in enumerate(value["clips"]):
        yield AnnotationPart(document, ("clips", number), clip)


def read(part: AnnotationPart, context: ReadingContext) -> ClipAnnotation:
    """The annotation of a clip."""
    clip = parse(_Clip, part.value)
    if clip.n_events not in (None, len(clip.events)):
        raise FormatError(f"this value contradicts the number of events: {len(clip.events)}", ("n_events",))
    if clip.failure_free not in (None, not clip.events):
        raise FormatError(f"this value contradicts the number of events: {len(clip.events)}", ("failure_free",))
    axis = context.time_axis(clip.clip_id, clip.fps, clip.frames, clip.duration_s)
    events = []
    for number, event in enumerate(clip.events):
        place = ("events", number)
        if event.type is None and event.label is None:
            raise FormatError("a type or a label is missing", (*place, "type"))
        label, key = (event.type, "type") if event.type is not None else (event.label, "label")
        type_, dimension = context.map_labels(label, event.dimension, (*place, key), (*place, "dimension"))
        span = axis.seconds(event.start_s, event.end_s, (*place, "start_s"), (*place, "end_s"))
        event_id = event.event_id or f"E{number + 1}"
        events.append(AnnotatedEvent(event_id, (span,), event.description, dimension, type_, severity=event.severity))
    fields = {name: getattr(clip, name) for name in _FIELDS}
    return context.annotation(
        part,
        clip.clip_id,
        events,
        axis,
        instruction=clip.instruction,
        fields=fields,
        clip_file=clip.video or clip.file,
    )


FORMAT = Format(
    AnnotationReader(
        recognises,
        split,
        read,
    ),
)
