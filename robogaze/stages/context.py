"""What stages hand to one another: all that is known of a clip so far."""

from dataclasses import dataclass
from typing import Literal

from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Observation, Route, Segment
from robogaze.core.events import Event, Hypothesis
from robogaze.core.report import Failure
from robogaze.evidence import Evidence

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

    `assessed` are the dimensions this pipeline can judge for this clip, `in_part` others in which it finds some types
    of event; `judged` are those of `assessed` it has judged so far, and those of `in_part` it has looked at. `scanned`
    are windows without a frame in common that cover the clip; one about which no answer came has no notes.
    """

    clip: Clip
    assessed: tuple[str, ...]
    in_part: tuple[str, ...] = ()
    evidence: Evidence | None = None
    task: Memory | None = None
    scene: Memory | None = None
    observations: tuple[Observation, ...] | None = None
    scanned: tuple[Observation, ...] | None = None
    memory: Memory | None = None
    segments: tuple[Segment, ...] | None = None
    routes: tuple[Route, ...] | None = None
    hypotheses: tuple[Hypothesis, ...] | None = None
    events: tuple[Event, ...] | None = None
    judged: frozenset[str] = frozenset()
    failures: tuple[Failure, ...] = ()
