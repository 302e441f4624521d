"""An annotation of a clip: the events that one author, a person or a system, reports in it.

Evaluation, agreement and comparison read annotations only. `annotation_of` makes an annotation from a report.
Annotations in other formats may lack dimensions, severities or times; these fields are then None or empty.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from robogaze.core.clip import address
from robogaze.core.coverage import COVERED, CoverageState, covers_all, states
from robogaze.core.events import Claim, Hypothesis
from robogaze.core.report import Report, Status, Usage, Verdict
from robogaze.core.time import Span

FIELDS = ("split", "task_family", "embodiment", "checkpoint", "prompt_id")
"""The fields of a clip by which results are broken down and clips are paired."""

PLAY_FIELDS = ("environment", "mode", "budget", "session", "agent", "memory")
"""How an interactive play was made, from the provenance of its report."""


@dataclass(frozen=True, slots=True)
class WrittenIntervals:
    """The intervals of an event exactly as in its file: they may be empty, reversed or overlapping.

    Only the released evaluators read these intervals; all other code reads `AnnotatedEvent.spans`.
    """

    unit: Literal["frames", "seconds"]
    intervals: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class AnnotatedEvent:
    """An event that an author reports.

    `spans` are disjoint, in order and in seconds (steps for interactive play); empty when the author gives no time.
    `dimension` and `type` are ids of the taxonomy; `secondary` lists further dimensions. `severity` is from 1 to 5 and
    `confidence` from 0 to 1; both are None when not given. `written` holds the intervals of a released file; it is None
    for other sources.

    For events of interactive play: `difficulty` is how hard a documented bug is to find. `reproduction` lists the steps
    that show the bug, and `reproduced` says whether the steps showed the bug again. These fields are None or empty when
    not given.
    """

    id: str
    spans: tuple[Span, ...]
    description: str
    dimension: str | None = None
    type: str | None = None
    secondary: tuple[str, ...] = ()
    severity: int | None = None
    confidence: float | None = None
    written: WrittenIntervals | None = field(default=None, compare=False)
    difficulty: str | None = None
    reproduction: tuple[str, ...] = ()
    reproduced: bool | None = None

    @property
    def content(self) -> tuple[Any, ...]:
        """A sort key of all fields but `id` and `written`; fields that are not given sort first."""
        severity, confidence = (-1 if value is None else value for value in (self.severity, self.confidence))
        label = self.dimension or "", self.type or ""
        return self.spans, *label, self.description, severity, confidence, self.secondary


@dataclass(frozen=True, slots=True)
class ClipAnnotation:
    """The events that one author reports in one clip.

    Annotations are paired by `clip_id`. If this fails, they are paired by `clip_sha256`, and then by the stem of
    `clip_file`; these two are None when not known, and name the part if the clip is a part of a file (see `address`).
    `status` is the status of a report; a person's finished annotation is "complete". `coverage` gives the state of each
    dimension; None means that all were examined. `candidates` are the events that a critic accepted or rejected; a
    confidence threshold can select among them. They are empty if none are stored. `frame_times_s` are the frames' times
    in seconds, in ascending order. The times are None when not known; overlap is then measured in seconds instead of
    frames. `duration_s` is in seconds. `taxonomy` and `fingerprint` identify the domain of a report, None for other
    formats. `fields` holds the clip's values of `FIELDS`; `play` holds the values of `PLAY_FIELDS` and is empty for a
    video. `usage` is copied from a report; it is None for other formats. `source` is the file that messages mention.
    """

    clip_id: str
    author: str
    status: Status
    findings: tuple[AnnotatedEvent, ...]
    coverage: Mapping[str, CoverageState] | None = None
    candidates: tuple[AnnotatedEvent, ...] = ()
    frame_times_s: Sequence[float] | None = None
    duration_s: float | None = None
    instruction: str | None = None
    clip_sha256: str | None = None
    clip_file: str | None = None
    taxonomy: str | None = None
    fingerprint: str | None = None
    fields: Mapping[str, str] = field(default_factory=dict)
    play: Mapping[str, Any] = field(default_factory=dict)
    usage: Usage | None = None
    source: str = ""

    @property
    def verdict(self) -> Verdict:
        """ "faulty" if there are events; "clean" if the annotation is complete, without events and with every dimension
        covered; else "undecided".
        """
        if self.findings:
            return "faulty"
        covers = self.coverage is None or covers_all(self.coverage.values())
        return "clean" if self.status == "complete" and covers else "undecided"

    @property
    def clean(self) -> bool:
        """Whether the verdict is "clean"."""
        return self.verdict == "clean"

    @property
    def nothing_found(self) -> bool:
        """Complete and without events, no matter which dimensions were covered."""
        return self.status == "complete" and not self.findings

    @property
    def covered(self) -> frozenset[str] | None:
        """The dimensions that were examined or ruled out; None means all dimensions."""
        return self._in(COVERED)

    @property
    def looked_for(self) -> frozenset[str] | None:
        """The dimensions in which events could be found: examined, ruled out or partial; None means all dimensions."""
        return self._in({*COVERED, "partial"})

    def _in(self, wanted: Collection[CoverageState]) -> frozenset[str] | None:
        if self.coverage is None:
            return None
        return frozenset(name for name, state in self.coverage.items() if state in wanted)


def annotation_of(report: Report, source: str = "") -> ClipAnnotation:
    """The annotation that a report contains. `source` is the report's file, which messages mention."""
    clip, media = report.clip, report.provenance.media
    return ClipAnnotation(
        clip_id=clip.id,
        author=report.author,
        status=report.status,
        findings=tuple(_annotated_events(report.events)),
        coverage=states(report.coverage),
        candidates=tuple(_annotated_events([hypothesis for hypothesis in report.hypotheses if _decided(hypothesis)])),
        frame_times_s=clip.frame_times_s,
        duration_s=clip.duration_s,
        instruction=clip.instruction,
        clip_sha256=address(clip.sha256, clip.start_s, clip.end_s),
        clip_file=clip.address,
        taxonomy=report.domain.taxonomy,
        fingerprint=report.domain.fingerprint,
        fields={name: value for name in FIELDS if (value := getattr(clip, name)) is not None},
        play={name: media[name] for name in PLAY_FIELDS if media.get(name) is not None} if "budget" in media else {},
        usage=report.usage,
        source=source,
    )


def _decided(hypothesis: Hypothesis) -> bool:
    return hypothesis.verdict in ("accepted", "rejected")


def _annotated_events(claims: Sequence[Claim]) -> Iterator[AnnotatedEvent]:
    for claim in claims:
        reproduction = getattr(claim, "reproduction", None)
        yield AnnotatedEvent(
            id=claim.id,
            spans=claim.spans,
            description=claim.description,
            dimension=claim.dimension,
            type=claim.type,
            secondary=getattr(claim, "secondary", ()),
            severity=claim.severity,
            confidence=claim.confidence,
            reproduction=() if reproduction is None else reproduction.commands,
            reproduced=None if reproduction is None else reproduction.reproduced,
        )
