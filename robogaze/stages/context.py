"""The data that stages pass on: everything known about a clip so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from robogaze.core.clip import Clip
from robogaze.core.context import Memory, ObjectTrack, Route, Segment, WindowObservation
from robogaze.core.coverage import Coverage, furthest
from robogaze.core.events import Event, Hypothesis
from robogaze.core.report import Failure
from robogaze.evidence import ClipSignals

Slot = Literal[
    "evidence",
    "task",
    "scene",
    "tracks",
    "observations",
    "scanned",
    "memory",
    "segments",
    "routes",
    "hypotheses",
    "verdicts",
    "events",
]
"""What stages write and read. Verdicts are fields of the hypotheses; "verdicts" means that a stage has set them."""


@dataclass(frozen=True)
class Context:
    """The data about a clip so far. A slot is None until a stage has written it.

    `dimensions` are the dimensions that the pipeline can examine in this clip; `partial_dimensions` are further
    dimensions in which it can find some types. `coverage` has an entry for every dimension of the domain. `scanned` are
    disjoint windows that cover the clip; a window without an answer has no notes. `whole_clip_frames` are the frames
    shown in answered requests about the whole clip and all dimensions; it is None if there was no such request. `notes`
    are sentences for the report; each says what a stage could not do in this clip.
    """

    clip: Clip
    dimensions: tuple[str, ...]
    partial_dimensions: tuple[str, ...] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    evidence: ClipSignals | None = None
    task: Memory | None = None
    scene: Memory | None = None
    tracks: tuple[ObjectTrack, ...] | None = None
    observations: tuple[WindowObservation, ...] | None = None
    scanned: tuple[WindowObservation, ...] | None = None
    memory: Memory | None = None
    segments: tuple[Segment, ...] | None = None
    routes: tuple[Route, ...] | None = None
    whole_clip_frames: frozenset[int] | None = None
    hypotheses: tuple[Hypothesis, ...] | None = None
    events: tuple[Event, ...] | None = None
    failures: tuple[Failure, ...] = ()
    notes: tuple[str, ...] = ()

    def covering(self, found: Mapping[str, Coverage]) -> Self:
        """The context after a stage has added its coverage. If an earlier stage covered a dimension better, that
        coverage is kept.
        """
        merged = {name: furthest(before, found.get(name, before)) for name, before in self.coverage.items()}
        return replace(self, coverage=merged)

    def covering_all(self, coverage: Coverage) -> Self:
        """The context after a stage has added the same coverage for all its dimensions; better earlier coverage is
        kept.
        """
        return self.covering(dict.fromkeys(self.dimensions, coverage))
