"""What a format is, and what it is read with.

A format is one module with four things, gathered in a `Format`: `recognises` looks at a JSON value or a table,
`split` takes a document apart into what is said of one clip by one author, and `read` makes an account of such a
part. A part that does not fit raises Fault with its place; it is left out as a whole when that is allowed, for a clip
without one of its events would be another clip.
"""

from array import array
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from robogaze.core.annotation import AnnotatedEvent, ClipAnnotation
from robogaze.core.clip import ClipId
from robogaze.core.coverage import CoverageState
from robogaze.core.report import Status
from robogaze.datasets.documents import Document, FormatError
from robogaze.datasets.formats.labels import Labels, Vocabulary
from robogaze.datasets.formats.notes import Notes
from robogaze.datasets.formats.time_axis import TimeAxis
from robogaze.datasets.places import Place

_CLIP_ID: TypeAdapter[str] = TypeAdapter(ClipId)

Shared = TypeVar("Shared", bound=Hashable)


@dataclass(frozen=True)
class AnnotationPart:
    """What one author says of one clip, as it stands at a place of a document."""

    document: Document
    place: Place
    value: Any

    @property
    def source(self) -> str:
        """The place as it is told to people."""
        return self.document.source(self.place)


@dataclass(frozen=True)
class Format:
    """A format. `holds` says in a few words what it looks like."""

    name: str
    holds: str
    recognises: Callable[[Any], bool]
    split: Callable[[Document], Iterator[AnnotationPart]]
    read: Callable[[AnnotationPart, "ReadingContext"], ClipAnnotation]


@dataclass(frozen=True)
class ReadingContext:
    """What accounts are read with.

    `author` stands for whoever a file does not name. `clips` are accounts of the same clips, by id, whose frames
    serve where a file does not know its own; `fps` serves where they do not either. `first_frame` is the number that
    a tool that counts frames gives to the first one. `as_written` takes what a released evaluator takes: labels as they
    are, events without a severity, a description or a place that can be told (`AnnotatedEvent.written` holds it).
    """

    author: str
    notes: Notes
    lenient: bool = False
    labels: Labels | None = None
    fps: float | None = None
    first_frame: int | None = None
    clips: Mapping[str, ClipAnnotation] = field(default_factory=dict)
    as_written: bool = False
    _kept: dict[Any, Any] = field(default_factory=dict)

    def times(self, times_s: Sequence[float]) -> Sequence[float]:
        """Frame times, kept small, and once for all clips that have the same."""
        kept = array("d", times_s)
        return cast(Sequence[float], self._kept.setdefault(kept.tobytes(), kept))

    def once(self, value: Shared) -> Shared:
        """The value itself, or one that is equal to it and was here before, so that many accounts share it."""
        return cast(Shared, self._kept.setdefault(value, value))

    def axis(
        self, clip_id: str, fps: float | None = None, frames: int | None = None, duration_s: float | None = None
    ) -> TimeAxis:
        """A clip's axis, from what its record says of it and from what is known beside. Raises Fault."""
        if fps is not None and frames is not None:
            length = frames / fps
            if duration_s is not None and abs(duration_s - length) > 1 / fps:
                raise FormatError(f"a length of {duration_s:g} s does not go with {frames} frames at {fps:g} fps")
            times = self.times([number / fps for number in range(frames)])
            return TimeAxis(self.notes, fps, times, max(duration_s or length, length))
        known = self.clips.get(clip_id)
        if known is not None and known.frame_times_s is not None and known.duration_s is not None:
            return TimeAxis(self.notes, fps or self.fps, known.frame_times_s, known.duration_s)
        return TimeAxis(self.notes, fps or self.fps, None, duration_s)

    def labelled(
        self, kind: str | None, dimension: str | None, kind_at: Place, dimension_at: Place
    ) -> tuple[str | None, str | None]:
        """The type and the dimension that two labels stand for. Raises Fault for one that is not in the taxonomy."""
        if self.labels is None:
            return kind, dimension
        if kind is not None:
            kind = self._known(kind, {"type": self.labels.types}, kind_at)[1]
        if dimension is not None:
            return kind, self._known(dimension, {"dimension": self.labels.dimensions}, dimension_at)[1]
        return kind, self.labels.dimension_of.get(kind) if kind is not None else None

    def covered(self, coverage: Mapping[str, CoverageState], place: Place) -> Mapping[str, CoverageState]:
        """The coverage under the taxonomy's names; dimensions that it leaves out were not examined.

        Raises FormatError for a dimension that is not in the taxonomy.
        """
        if self.labels is None:
            return coverage
        named = {self.labelled(None, name, place, place)[1] or name: state for name, state in coverage.items()}
        return {**dict.fromkeys(self.labels.dimension_of.values(), "not_examined"), **named}

    def label(self, label: str, place: Place) -> tuple[str | None, str | None]:
        """The type and the dimension of a label that may name either; a type where no taxonomy says. Raises Fault."""
        if self.labels is None:
            return label, None
        of, found = self._known(label, {"type": self.labels.types, "dimension": self.labels.dimensions}, place)
        return (found, self.labels.dimension_of.get(found)) if of == "type" else (None, found)

    def _known(self, label: str, kinds: Mapping[str, Vocabulary], place: Place) -> tuple[str, str]:
        """What kind of word a label is, and the id it stands for."""
        assert self.labels is not None
        for kind, words in kinds.items():
            if found := words.find(label):
                name, is_alias = found
                if is_alias:
                    self.notes.count("label", f"{label!r} read as {name}")
                return kind, name
        if not self.lenient:
            known = f"no {' or '.join(kinds)} of {self.labels.domain}"
            close = [meant for words in kinds.values() if (meant := words.close_to(label)) is not None]
            way_out = f"did you mean {close[0]}?" if close else f"say in {self.labels.table} what it stands for"
            raise FormatError(f"{label!r} is {known}; {way_out}", place)
        self.notes.count("label", f"{label!r} outside the taxonomy, kept as written")
        return next(iter(kinds)), label

    def account(
        self,
        part: AnnotationPart,
        clip_id: str,
        findings: Sequence[AnnotatedEvent],
        axis: TimeAxis | None = None,
        *,
        author: str | None = None,
        status: Status = "complete",
        coverage: Mapping[str, CoverageState] | None = None,
        instruction: str | None = None,
        fields: Mapping[str, str | None] | None = None,
    ) -> ClipAnnotation:
        """The account of a part. Raises Fault for an id that cannot be one, and for two findings of one id."""
        try:
            _CLIP_ID.validate_python(clip_id, strict=True)
        except ValidationError as error:
            raise FormatError(f"{clip_id!r} cannot be the id of a clip: {error.errors()[0]['msg']}") from error
        if self.as_written:
            findings = _numbered(findings)
        ids = [finding.id for finding in findings]
        if twice := next((name for name in ids if ids.count(name) > 1), None):
            raise FormatError(f"{clip_id} has two events with the id {twice!r}")
        return ClipAnnotation(
            clip_id=clip_id,
            author=author or self.author,
            status=status,
            coverage=coverage,
            findings=tuple(findings),
            # Where every finding has a confidence, a threshold can choose from them.
            candidates=tuple(findings) if all(one.confidence is not None for one in findings) else (),
            frame_times_s=None if axis is None else axis.times_s,
            duration_s=None if axis is None else axis.duration_s,
            instruction=instruction or None,
            fields={name: value for name, value in (fields or {}).items() if value},
            source=part.source,
        )


def _numbered(findings: Sequence[AnnotatedEvent]) -> list[AnnotatedEvent]:
    """The findings, those after the first of one id with a number behind it."""
    seen: dict[str, int] = {}
    kept = []
    for one in findings:
        seen[one.id] = seen.get(one.id, 0) + 1
        kept.append(one if seen[one.id] == 1 else replace(one, id=f"{one.id} ({seen[one.id]})"))
    return kept
