"""What stages hand to one another: all that is known of a clip so far."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self

from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Observation, Route, Segment
from robogaze.core.coverage import Coverage, furthest
from robogaze.core.events import Event, Hypothesis
from robogaze.core.report import Failure
from robogaze.evidence import ClipSignals

Slot = Literal[
    "evidence",
    "task",
    "scene",
    "observations",
    "scanned",
    "memory",
    "segments",
    "routes",
    "hypotheses",
    "verdicts",
    "events",
]
"""What stages write and read. The hypotheses carry their verdicts; "verdicts" says that something has decided them."""


@dataclass(frozen=True)
class Context:
    """What is known of a clip so far. None in a slot means that no stage has written it.

    `dimensions` are those that the pipeline examines in this clip, `partial_dimensions` others of which it can find
    some types. `coverage` says of every dimension of the domain how far it was examined so far. `scanned` are windows
    without a frame in common that cover the clip; a window without an answer has no notes.
    """

    clip: Clip
    dimensions: tuple[str, ...]
    partial_dimensions: tuple[str, ...] = ()
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    evidence: ClipSignals | None = None
    task: Memory | None = None
    scene: Memory | None = None
    observations: tuple[Observation, ...] | None = None
    scanned: tuple[Observation, ...] | None = None
    memory: Memory | None = None
    segments: tuple[Segment, ...] | None = None
    routes: tuple[Route, ...] | None = None
    hypotheses: tuple[Hypothesis, ...] | None = None
    events: tuple[Event, ...] | None = None
    failures: tuple[Failure, ...] = ()

    def covering(self, found: Mapping[str, Coverage]) -> Self:
        """The context with what a stage covered; what an earlier stage covered further stays."""
        merged = {name: furthest(before, found.get(name, before)) for name, before in self.coverage.items()}
        return replace(self, coverage=merged)

    def covering_all(self, coverage: Coverage) -> Self:
        """The same for a stage that looks for every dimension at once."""
        return self.covering(dict.fromkeys(self.dimensions, coverage))
