"""scan: one query per window of the clip, in parallel, for anything that may be wrong (GLIDE, 4.2.2).

Recall comes first: a doubtful finding is reported with a low confidence, and later stages decide. Every answer also
describes what the window shows, whether or not something is wrong; `remember` summarises these descriptions.

A window without an answer is a failure and the others count; if no window has an answer, the diagnosis ends.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import ClassVar, TypedDict

from pydantic import Field

from robogaze.core.context import Observation, Window
from robogaze.core.coverage import Coverage
from robogaze.core.events import Evidence, Hypothesis
from robogaze.domains import Dimension, Domain
from robogaze.domains.contract import Answer, Text, list_of
from robogaze.stages.answers import ShareAnswer, narrowed, one_of
from robogaze.stages.base import Examiner
from robogaze.stages.client import ModelClient, NoAnswer, Query
from robogaze.stages.context import Context, Slot
from robogaze.stages.glide.windows import cut, picture

NONE = "none"
"""The type of an answer in which nothing seems wrong."""


class ScanVariables(TypedDict):
    """The variables of the prompt `scan`: a window, and the dimensions with their types."""

    window: Window
    dimensions: tuple[Dimension, ...]


class ScanAnswer(Answer):
    """What a window shows, and what may be wrong in it."""

    context: Text
    cues: Text
    frames: list[int]
    type: str
    confidence: ShareAnswer


class Scan(Examiner):
    """Writes what each window shows, and a hypothesis for each window in which something may be wrong."""

    prompts: ClassVar[Mapping[str, type]] = {"scan": ScanVariables}

    fps: float = Field(default=4.0, gt=0)
    frames_per_window: int = Field(default=8, ge=2)

    def writes(self) -> frozenset[Slot]:
        return frozenset({"scanned", "hypotheses"})

    def check(self, domain: Domain) -> None:
        """Raise ValueError if the taxonomy has a type named like the answer without a fault."""
        if NONE in domain.types:
            raise ValueError(f"no type can be named {NONE!r}, because this answer means that nothing is wrong")

    async def run(self, context: Context, client: ModelClient) -> Context:
        """Query all windows. Raises NoAnswer if none has an answer."""
        windows = cut(context.clip, self.fps, self.frames_per_window)
        results = await client.ask_all([self._query(window, context, client) for window in windows], context)
        missing = [result for result in results if isinstance(result, NoAnswer)]
        if len(missing) == len(windows):
            raise missing[0]
        answers = [None if isinstance(result, NoAnswer) else result for result in results]
        scanned = list(zip(windows, answers, strict=True))
        suspicious = [(window, answer) for window, answer in scanned if answer is not None and answer.type != NONE]
        first = len(context.hypotheses or ()) + 1
        found = (
            _hypothesis(f"H{number}", window, answer, client.domain)
            for number, (window, answer) in enumerate(suspicious, start=first)
        )
        coverage = _coverage(len(windows), len(missing))
        return replace(
            context.covering_all(coverage),
            scanned=tuple(_observation(window, answer) for window, answer in scanned),
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *(result.failure for result in missing)),
        )

    def _query(self, window: Window, context: Context, client: ModelClient) -> Query:
        dimensions = tuple(client.domain.dimensions[name] for name in context.dimensions)
        return Query(
            stage="scan",
            subject=f"W{window.id}",
            role=self.role(),
            prompt="scan",
            variables=ScanVariables(window=window, dimensions=dimensions),
            images=(picture(window, client.decoded_clip),),
            contract=_contract(dimensions, window.frames),
            check=_contradiction,
        )


def _coverage(windows: int, missing: int) -> Coverage:
    if missing:
        return Coverage(state="partial", reason=f"{windows - missing} of {windows} windows were answered")
    return Coverage(state="examined", reason=f"all {windows} windows were answered")


@lru_cache(maxsize=256)
def _contract(dimensions: tuple[Dimension, ...], frames: tuple[int, ...]) -> type[ScanAnswer]:
    types = (kind.id for dimension in dimensions for kind in dimension.types)
    return narrowed(ScanAnswer, type=one_of([*types, NONE]), frames=list_of(one_of(frames), len(frames)))


def _contradiction(answer: ScanAnswer) -> str | None:
    if answer.type != NONE and not answer.frames:
        return f"frames: name those in which {answer.type} can be seen"
    if answer.type == NONE and answer.frames:
        return f"frames: nothing is wrong ({NONE}), so no frame shows it; or name the type of what it shows"
    return None


def _observation(window: Window, answer: ScanAnswer | None) -> Observation:
    return Observation(window=window, notes={} if answer is None else {"context": answer.context})


def _hypothesis(name: str, window: Window, answer: ScanAnswer, domain: Domain) -> Hypothesis:
    # `proposed_by` is the same for all windows, so that compose does not merge them by their overlap in time.
    return Hypothesis(
        id=name,
        dimension=domain.dimension_of[answer.type],
        type=answer.type,
        spans=(window.span,),
        severity=None,
        confidence=answer.confidence,
        description=answer.cues,
        evidence=(Evidence(text=answer.cues, frames=tuple(sorted(set(answer.frames))), source="scan"),),
        proposed_by="scan",
    )
