"""The types of a format, and the context that it gets while it reads.

A format is one module with a `Format`. To read, `recognises` checks a JSON value or a table, `split` divides a document
into one part for each author and clip, and `read` makes an annotation from a part. A part that does not fit raises
FormatError with its place; a lenient reading skips the whole part, because an annotation without one of its events
would be wrong. To write, `files` makes files from reports.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.clip import Clip, ClipId
from robogaze.core.coverage import CoverageState
from robogaze.core.report import Report, Status
from robogaze.core.time import Span
from robogaze.datasets.documents import Document, FormatError, Place
from robogaze.datasets.formats.label_mapping import Labels, Vocabulary
from robogaze.datasets.formats.time_axis import TimeAxis

_CLIP_ID: TypeAdapter[str] = TypeAdapter(ClipId)

_RATE_TOLERANCE_S = 1e-5
"""How far a frame may be from its place at a constant rate, because times and rates are rounded."""

_OTHER_RATE = 0.01
"""The relative difference from which two frame rates are not the same rate, differently rounded (29.97 and 30)."""


@dataclass(frozen=True)
class AnnotationPart:
    """One author's annotation of one clip. `value` is its content, and `place` says where it is in the document."""

    document: Document
    place: Place
    value: Any

    @property
    def source(self) -> str:
        """Where the part is, as messages give it."""
        return self.document.source(self.place)


def split_whole(document: Document) -> Iterator[AnnotationPart]:
    """The whole document as one part."""
    yield AnnotationPart(document, (), document.value)


def split_records(document: Document) -> Iterator[AnnotationPart]:
    """Each record of a list; the whole document if it is a single record."""
    if isinstance(document.value, list):
        for number, record in enumerate(document.value):
            yield AnnotationPart(document, (number,), record)
    else:
        yield from split_whole(document)


@dataclass(frozen=True)
class AnnotationReader:
    """Reads a format."""

    recognises: Callable[[Any], bool]
    split: Callable[[Document], Iterator[AnnotationPart]]
    read: Callable[[AnnotationPart, "ReadingContext"], ClipAnnotation]


@dataclass(frozen=True)
class ExportedReport:
    """A report to export, with the file of its clip.

    `video` is the path of the video, relative to the folder in which the export will be written. For a part of a video,
    it is `file.mp4#t=5.2,10.1`.
    """

    report: Report
    path: Path
    video: str

    @property
    def clip(self) -> Clip:
        """The report's clip."""
        return self.report.clip


def keep_all(report: Report) -> str | None:
    """Leave out no report: for formats that express what was not examined."""
    return None


def leave_out_undecided(report: Report) -> str | None:
    """The reason to leave out a report that is partial, unscored or undecided; None for any other report. In a format
    without coverage, such a report would look clean.
    """
    state = report.status if report.status != "complete" else report.verdict
    return (
        f"with the state {state}, which the format cannot express"
        if state in ("partial", "unscored", "undecided")
        else None
    )


@dataclass(frozen=True)
class ReportWriter:
    """Writes a format.

    `files` makes the content of each file, keyed by the file's name. `why_left_out` gives the reason why a report is
    left out, or None if the report is kept.
    """

    files: Callable[[Sequence[ExportedReport]], Mapping[str, str | bytes]]
    why_left_out: Callable[[Report], str | None]


@dataclass(frozen=True)
class Format:
    """A format; `reader` is None if the format cannot be read, `writer` is None if it cannot be written."""

    reader: AnnotationReader | None = None
    writer: ReportWriter | None = None


def span_in_file(span: Span, clip: Clip) -> Span:
    """A span of a clip, with times that count from the start of the clip's file instead of the start of the clip."""
    shift_s = clip.start_s or 0.0
    return Span(round(span.start + shift_s, 6), round(span.end + shift_s, 6)) if shift_s else span


def has_constant_rate(clip: Clip) -> bool:
    """Whether all frames have the same duration, so that a frame's number gives its time."""
    frame_s = clip.duration_s / clip.frame_count
    gaps_s = (after - before for before, after in pairwise((*clip.frame_times_s, clip.duration_s)))
    return all(abs(gap - frame_s) <= _RATE_TOLERANCE_S for gap in gaps_s)


@dataclass
class ReadLog:
    """Records, while annotations are read, which format was recognised, and what was skipped or interpreted.

    `skipped` has a message for each part that was skipped; the message gives the place.
    """

    format: str = ""
    skipped: list[str] = field(default_factory=list)
    _counts: Counter[tuple[str, str]] = field(default_factory=Counter)

    def count(self, noun: str, rest: str, times: int = 1) -> None:
        """Count something for the warnings: `count("label", "'x' read as y")`."""
        self._counts[noun, rest] += times

    @property
    def warnings(self) -> tuple[str, ...]:
        """One sentence for each kind of thing that was counted, in the order in which the kinds first occurred."""
        return tuple(f"{n} {noun if n == 1 else noun + 's'} {rest}" for (noun, rest), n in self._counts.items())


@dataclass(frozen=True)
class ReadingContext:
    """The options and the data that a format uses when it reads annotations.

    `author` is used if a file does not name an author. `clips` are annotations of the same clips from another source,
    keyed by clip id. If a file contains no frame times, the frame times of `clips` are used; if these are missing too,
    `fps` is used. `first_frame` is the number that the annotation tool gives to the first frame. `as_written` accepts
    what a release's evaluator accepts: unmapped labels, and events without severity, description or valid times
    (`AnnotatedEvent.written` holds the times).
    """

    author: str
    log: ReadLog
    lenient: bool = False
    labels: Labels | None = None
    fps: float | None = None
    first_frame: int | None = None
    clips: Mapping[str, ClipAnnotation] = field(default_factory=dict)
    as_written: bool = False
    _times: dict[bytes, Sequence[float]] = field(default_factory=dict)

    def shared_times(self, times_s: Sequence[float]) -> Sequence[float]:
        """Frame times in a compact form; equal times are stored once."""
        times = array("d", times_s)
        return self._times.setdefault(times.tobytes(), cast(Sequence[float], times))

    def time_axis(
        self, clip_id: str, fps: float | None = None, frames: int | None = None, duration_s: float | None = None
    ) -> TimeAxis:
        """The time axis of a clip, made from these values. If they are not enough, `clips` and the context's `fps` are
        used as well. A rate that contradicts `clips` is used, and counted: the file then numbers other frames. Raises
        FormatError if the values contradict each other.
        """
        if fps is not None and frames is not None:
            length_s = frames / fps
            if duration_s is not None and abs(duration_s - length_s) > 1 / fps:
                raise FormatError(f"a duration of {duration_s:g} s contradicts {frames} frames at {fps:g} fps")
            times_s = self.shared_times([number / fps for number in range(frames)])
            return TimeAxis(self.log.count, fps, times_s, max(duration_s or length_s, length_s))
        known = self.clips.get(clip_id)
        if known is None or known.frame_times_s is None or known.duration_s is None:
            return TimeAxis(self.log.count, fps or self.fps, None, duration_s)
        if fps is not None and _contradicts(fps, known.frame_times_s):
            self.log.count("clip", "with another frame rate than in the compared files (the file's own is used)")
            return TimeAxis(self.log.count, fps, None, known.duration_s)
        return TimeAxis(self.log.count, fps or self.fps, known.frame_times_s, known.duration_s)

    def map_labels(
        self, event_type: str | None, dimension: str | None, type_place: Place, dimension_place: Place
    ) -> tuple[str | None, str | None]:
        """The ids of a type and a dimension. A type with a dimension that is not its own is kept, and counted for the
        warnings. Raises FormatError for a label that is not in the taxonomy.
        """
        if self.labels is None:
            return event_type, dimension
        if event_type is not None:
            event_type = self._map(event_type, {"type": self.labels.types}, type_place)[1]
        own = self.labels.dimension_of.get(event_type) if event_type is not None else None
        if dimension is None:
            return event_type, own
        dimension = self._map(dimension, {"dimension": self.labels.dimensions}, dimension_place)[1]
        if own not in (None, dimension):
            self.log.count("event", f"of the type {event_type} with the dimension {dimension}; its own is {own}")
        return event_type, dimension

    def map_label(self, label: str, place: Place) -> tuple[str | None, str | None]:
        """The ids of the type and the dimension that a label stands for. The label may name a type, or only a
        dimension; without a taxonomy, it names a type. Raises FormatError.
        """
        if self.labels is None:
            return label, None
        kind, found = self._map(label, {"type": self.labels.types, "dimension": self.labels.dimensions}, place)
        return (found, self.labels.dimension_of.get(found)) if kind == "type" else (None, found)

    def map_coverage(self, coverage: Mapping[str, CoverageState], place: Place) -> Mapping[str, CoverageState]:
        """The coverage by dimension id; a dimension that the coverage does not name was not examined.

        Raises FormatError for a dimension that is not in the taxonomy.
        """
        if self.labels is None:
            return coverage
        mapped = {self.map_labels(None, name, place, place)[1] or name: state for name, state in coverage.items()}
        return {**dict.fromkeys(self.labels.dimension_of.values(), "not_examined"), **mapped}

    def _map(self, label: str, vocabularies: Mapping[str, Vocabulary], place: Place) -> tuple[str, str]:
        """The kind of a label and its id."""
        assert self.labels is not None
        for kind, vocabulary in vocabularies.items():
            if found := vocabulary.find(label):
                name, is_alias = found
                if is_alias:
                    self.log.count("label", f"{label!r} read as {name}")
                return kind, name
        if not self.lenient:
            unknown = f"{label!r} is not a {' or '.join(vocabularies)} of {self.labels.domain}"
            close = [id_ for words in vocabularies.values() if (id_ := words.close_to(label)) is not None]
            way_out = f"did you mean {close[0]}?" if close else f"add the label as an alias to {self.labels.table}"
            raise FormatError(f"{unknown}; {way_out}", place)
        self.log.count("label", f"{label!r} outside the taxonomy (kept as written)")
        return next(iter(vocabularies)), label

    def annotation(
        self,
        part: AnnotationPart,
        clip_id: str,
        events: Sequence[AnnotatedEvent],
        axis: TimeAxis | None = None,
        *,
        author: str | None = None,
        status: Status = "complete",
        coverage: Mapping[str, CoverageState] | None = None,
        instruction: str | None = None,
        fields: Mapping[str, str | None] | None = None,
        clip_file: str | None = None,
    ) -> ClipAnnotation:
        """The annotation of a part. Raises FormatError for an invalid clip id, and for two events with the same id."""
        try:
            _CLIP_ID.validate_python(clip_id, strict=True)
        except ValidationError as error:
            raise FormatError(f"{clip_id!r} is not a valid clip id: {error.errors()[0]['msg']}") from error
        if self.as_written:
            events = _with_unique_ids(events)
        ids = [event.id for event in events]
        if duplicate := next((event_id for event_id in ids if ids.count(event_id) > 1), None):
            raise FormatError(f"{clip_id} has two events with the id {duplicate!r}")
        return ClipAnnotation(
            clip_id=clip_id,
            author=author or self.author,
            status=status,
            coverage=coverage,
            findings=tuple(events),
            # If every event has a confidence, a threshold can select from them.
            candidates=tuple(events) if all(event.confidence is not None for event in events) else (),
            frame_times_s=None if axis is None else axis.times_s,
            duration_s=None if axis is None else axis.duration_s,
            instruction=instruction or None,
            clip_file=clip_file or None,
            fields={name: value for name, value in (fields or {}).items() if value},
            source=part.source,
        )


def _contradicts(fps: float, times_s: Sequence[float]) -> bool:
    """Whether frames with these times have another rate. The clip's duration is not used, because files state a
    duration that may be a frame longer.
    """
    return len(times_s) > 1 and abs(fps * (times_s[-1] - times_s[0]) / (len(times_s) - 1) - 1) > _OTHER_RATE


def _with_unique_ids(events: Sequence[AnnotatedEvent]) -> list[AnnotatedEvent]:
    """The events; a repeated id gets a number."""
    seen: Counter[str] = Counter()
    renamed = []
    for event in events:
        seen[event.id] += 1
        renamed.append(event if seen[event.id] == 1 else replace(event, id=f"{event.id} ({seen[event.id]})"))
    return renamed
