"""scan: one query per window of the clip, in parallel, for everything that may be wrong (GLIDE, 4.2.2).

Recall comes first: a doubtful finding is reported with a low confidence, and later stages decide. Every answer also
describes what the window shows, even if nothing is wrong; `remember` summarises these descriptions. What looks wrong is
reported separately from the descriptions, so that later queries do not take it for something that is usual in this
clip.

A finding gives the first and the last sampled frame that show it; its span is computed from these two frames.
Neighbouring windows share a frame. If a finding ends with the shared frame, and a finding of the same type in the next
window begins with it, the two are one hypothesis.

A window without an answer is a failure, and the other windows count; if no window has an answer, the diagnosis ends.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypedDict

from pydantic import Field

from robogaze.core.clip import Clip
from robogaze.core.context import Window, WindowObservation
from robogaze.core.coverage import Coverage
from robogaze.core.events import Evidence, Hypothesis
from robogaze.domains import Dimension, Domain
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.stages.answers import ShareAnswer, narrowed, one_of
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.edges import span_of
from robogaze.stages.glide.windows import cut, picture, samples_of
from robogaze.stages.tools.zoom_in import REGIONS

_MAX_FINDINGS = 4

TypesShown = Literal["defined", "named"]
"""How prompts list the event types: with definitions and contrasts, or by their names alone."""


class ScanVariables(TypedDict):
    """The variables of the prompt `scan`: a window, the dimensions with their types, and the conventions.

    `defined` says whether the types are listed with their definitions. `beside` says whether the first frame of the
    clip is shown before the window.
    """

    window: Window
    dimensions: tuple[Dimension, ...]
    defined: bool
    beside: bool
    cascade: str
    not_annotated: tuple[str, ...]


class FindingAnswer(Answer):
    """Something that may be wrong in a window; `frames` are the first and the last frame that show it."""

    what: Text
    frames: list[int]
    region: str
    type: str
    confidence: ShareAnswer


class ScanAnswer(Answer):
    """What a window shows, and what may be wrong in it."""

    context: Text
    cues: list[Any]


class Scan(Examiner):
    """Writes what each window shows, and a hypothesis for everything that may be wrong."""

    prompts: ClassVar[Mapping[str, type]] = {"scan": ScanVariables}

    fps: float = Field(default=4.0, gt=0)
    frames_per_window: int = Field(default=8, ge=2)
    types: TypesShown = "defined"
    first_frame: bool = False
    """Show the first frame of the clip beside each window."""

    def writes(self) -> frozenset[Slot]:
        return frozenset({"scanned", "hypotheses"})

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Query all windows. Raises NoAnswer if no window has an answer."""
        windows = cut(context.clip, self.fps, self.frames_per_window)
        results = await client.ask_all([self._query(window, context, client) for window in windows], context)
        missing = [result for result in results if isinstance(result, NoAnswer)]
        if len(missing) == len(windows):
            raise missing[0]
        answers = [None if isinstance(result, NoAnswer) else result for result in results]
        findings = [
            _Finding(window, cue)
            for window, answer in zip(windows, answers, strict=True)
            for cue in (() if answer is None else answer.cues)
        ]
        first = len(context.hypotheses or ()) + 1
        samples = samples_of(windows)
        found = (
            _hypothesis(f"H{number}", parts, samples, context.clip, client.domain)
            for number, parts in enumerate(_continued(findings), start=first)
        )
        return replace(
            context.covering_all(_coverage(len(windows), len(missing))),
            scanned=tuple(_observation(window, answer) for window, answer in zip(windows, answers, strict=True)),
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *(result.failure for result in missing)),
        )

    def _query(self, window: Window, context: Context, client: ModelClient) -> Query:
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions)
        first = (client.decoded_clip.frame_image(0),) if self.first_frame else ()
        return Query(
            stage="scan",
            subject=f"W{window.id}",
            role=self.role(),
            prompt="scan",
            variables=ScanVariables(
                window=window,
                dimensions=dimensions,
                defined=self.types == "defined",
                beside=self.first_frame,
                cascade=client.domain.taxonomy.cascade,
                not_annotated=client.domain.taxonomy.not_annotated,
            ),
            images=(*first, picture(window, client.decoded_clip)),
            contract=_contract(dimensions, window.frames),
        )


@dataclass(frozen=True)
class _Finding:
    """A finding with its window."""

    window: Window
    cue: FindingAnswer

    @property
    def frames(self) -> tuple[int, ...]:
        """The first and the last frame, or a single frame if they are the same."""
        return tuple(sorted(set(self.cue.frames)))

    def continues(self, other: "_Finding") -> bool:
        """Whether the other finding ends with the frame that the two windows share, and this finding begins with that
        frame.
        """
        return (
            self.window.id == other.window.id + 1
            and self.cue.type == other.cue.type
            and self.frames[0] == other.frames[-1] == self.window.frames[0]
        )


def _continued(findings: Sequence[_Finding]) -> list[list[_Finding]]:
    """The findings, in order; a finding and its continuations in the next windows are in one list."""
    chains: list[list[_Finding]] = []
    for finding in findings:
        chain = next((chain for chain in chains if finding.continues(chain[-1])), None)
        if chain is None:
            chains.append([finding])
        else:
            chain.append(finding)
    return chains


def _coverage(windows: int, missing: int) -> Coverage:
    if missing:
        return Coverage(state="partial", reason=f"{windows - missing} of {windows} windows got an answer")
    return Coverage(state="examined", reason=f"all {windows} windows got an answer")


def _contract(dimensions: tuple[Dimension, ...], frames: tuple[int, ...]) -> type[ScanAnswer]:
    cue = narrowed(
        FindingAnswer,
        frames=list_of(one_of(frames), 2, least=2),
        region=one_of(REGIONS),
        type=one_of(kind.id for dimension in dimensions for kind in dimension.types),
    )
    return narrowed(ScanAnswer, cues=list_of(cue, _MAX_FINDINGS))


def _observation(window: Window, answer: ScanAnswer | None) -> WindowObservation:
    return WindowObservation(window=window, notes={} if answer is None else {"context": answer.context})


def _hypothesis(name: str, parts: Sequence[_Finding], samples: Sequence[int], clip: Clip, domain: Domain) -> Hypothesis:
    """A hypothesis of a finding and its continuations in the next windows."""
    first, last = parts[0], parts[-1]
    # `proposed_by` is the same for all windows, so that compose does not merge them by their overlap in time.
    return Hypothesis(
        id=name,
        dimension=domain.dimension_of[first.cue.type],
        type=first.cue.type,
        spans=(span_of(first.frames[0], last.frames[-1], samples, clip),),
        severity=None,
        confidence=max(part.cue.confidence for part in parts),
        description=first.cue.what,
        evidence=tuple(_evidence(part, clip) for part in parts),
        proposed_by="scan",
    )


def _evidence(part: _Finding, clip: Clip) -> Evidence:
    """The evidence of a finding, with its region if it has one and the clip has one view."""
    views, box = clip.layout.active, REGIONS[part.cue.region]
    is_placed = len(views) == 1 and box != REGIONS["whole"]
    return Evidence(
        text=part.cue.what,
        frames=part.frames,
        view=views[0] if is_placed else None,
        box=box if is_placed else None,
        source="scan",
    )
