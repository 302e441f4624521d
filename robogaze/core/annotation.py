"""An account of a clip: what one author, a person or a system, says went wrong in it.

All that scores reads accounts and nothing else. A report is one (`annotation_of`); what foreign formats hold becomes
one, too, though they know less: a finding without a dimension, a severity or a place in time says None or nothing
there.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from robogaze.core.coverage import COVERED, CoverageState, covers_all, states
from robogaze.core.events import Claim, Hypothesis
from robogaze.core.report import Report, Status, Verdict
from robogaze.core.time import Span

FIELDS = ("split", "task_family", "embodiment", "checkpoint", "prompt_id")
"""The fields of a clip by which results can be broken down, or clips paired."""


@dataclass(frozen=True, slots=True)
class WrittenIntervals:
    """The intervals of a finding as its file has them, in the file's unit: they may be empty, reversed or overlap.

    Only the released evaluators look at them; everything else reads `AnnotatedEvent.spans`.
    """

    unit: Literal["frames", "seconds"]
    intervals: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True)
class AnnotatedEvent:
    """Something an author says went wrong.

    `spans` are disjoint and in order, empty when the author gives no time. `severity` is 1 to 5, `confidence` in
    [0, 1], None when not said. `written` are the intervals as a file of a release has them, None for other sources.
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

    @property
    def content(self) -> tuple[Any, ...]:
        """All it says but its id and `written`, comparable; what is not said comes first. It decides between equals."""
        severity, confidence = (-1 if said is None else said for said in (self.severity, self.confidence))
        kind = self.dimension or "", self.type or ""
        return self.spans, *kind, self.description, severity, confidence, self.secondary


@dataclass(frozen=True, slots=True)
class ClipAnnotation:
    """What one author says of one clip.

    `clip_id` pairs accounts; where ids differ, `clip_sha256` and the stem of `clip_file` do, None when not known.
    `status` is a report's; a person's finished annotation is "complete". `coverage` says how far each dimension was
    examined, None where that is not known, which means that all were. `candidates` are the findings that a threshold on
    confidence chooses from: those a critic accepted or rejected, empty where none are stored. `frame_times_s` are the
    clip's frames, ascending, None when not known: then overlap is measured on the axis itself. `taxonomy` and
    `fingerprint` are those of the domain a report speaks in, None for foreign formats. `fields` are the clip's by which
    results are broken down. `source` says where it was read, for messages.
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
    source: str = ""

    @property
    def verdict(self) -> Verdict:
        """Faulty with a finding; clean where it is complete and covers every dimension; else undecided."""
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
        """Complete and without a finding, whatever was covered."""
        return self.status == "complete" and not self.findings

    @property
    def covered(self) -> frozenset[str] | None:
        """The dimensions that were examined or ruled out; None for all."""
        return self._in(COVERED)

    @property
    def looked_for(self) -> frozenset[str] | None:
        """The dimensions of which something could have been found, those covered partially included; None for all."""
        return self._in({*COVERED, "partial"})

    def _in(self, wanted: Collection[CoverageState]) -> frozenset[str] | None:
        if self.coverage is None:
            return None
        return frozenset(name for name, state in self.coverage.items() if state in wanted)


def annotation_of(report: Report, source: str = "") -> ClipAnnotation:
    """A report as an account."""
    clip = report.clip
    return ClipAnnotation(
        clip_id=clip.id,
        author=report.author,
        status=report.status,
        findings=tuple(_findings(report.events)),
        coverage=states(report.coverage),
        candidates=tuple(_findings([one for one in report.hypotheses if _decided(one)])),
        frame_times_s=clip.frame_times_s,
        duration_s=clip.duration_s,
        instruction=clip.instruction,
        clip_sha256=clip.sha256,
        clip_file=clip.uri,
        taxonomy=report.domain.taxonomy,
        fingerprint=report.domain.fingerprint,
        fields={name: value for name in FIELDS if (value := getattr(clip, name)) is not None},
        source=source,
    )


def _decided(claim: Hypothesis) -> bool:
    return claim.verdict in ("accepted", "rejected")


def _findings(claims: Sequence[Claim]) -> Iterator[AnnotatedEvent]:
    for claim in claims:
        yield AnnotatedEvent(
            id=claim.id,
            spans=claim.spans,
            description=claim.description,
            dimension=claim.dimension,
            type=claim.type,
            secondary=getattr(claim, "secondary", ()),
            severity=claim.severity,
            confidence=claim.confidence,
        )
