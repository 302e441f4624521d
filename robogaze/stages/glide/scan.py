"""scan: one look at every window of the clip, side by side, for anything that may be wrong (GLIDE, 4.2.2).

Recall comes first: what is doubtful is named with a low confidence, and stages after this one decide. Every answer
also says what the window shows, whether or not something is wrong in it; `remember` makes a memory of that.

A window about which no answer comes is a failure. The others count; without any answer the diagnosis ends.
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

NOTHING = "none"
"""What stands for a type in a window where nothing seems wrong."""


class ScanVariables(TypedDict):
    """The window, and what can go wrong."""

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
    """Writes what each window shows, and a hypothesis for each in which something may be wrong."""

    prompts: ClassVar[Mapping[str, type]] = {"scan": ScanVariables}

    fps: float = Field(default=4.0, gt=0)
    frames: int = Field(default=8, ge=2)
    """How many frames a window holds."""

    def writes(self) -> frozenset[Slot]:
        """The windows with what they show, and the hypotheses."""
        return frozenset({"scanned", "hypotheses"})

    def check(self, domain: Domain) -> None:
        """Raise ValueError for a type that could not be told from nothing."""
        if NOTHING in domain.types:
            raise ValueError(f"a type cannot be called {NOTHING!r} here, for that says that nothing is wrong")

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask about all windows. Raises NoAnswer when none is answered."""
        windows = cut(context.clip, self.fps, self.frames)
        answers = await desk.ask_each([self._question(window, context, desk) for window in windows], context)
        missed = [answer for answer in answers if isinstance(answer, NoAnswer)]
        if len(missed) == len(windows):
            raise missed[0]
        heard = (None if isinstance(said, NoAnswer) else said for said in answers)
        seen = list(zip(windows, heard, strict=True))
        named = [(window, said) for window, said in seen if said is not None and said.type != NOTHING]
        first = len(context.hypotheses or ()) + 1
        found = (_hypothesis(f"H{n}", window, said, desk.domain) for n, (window, said) in enumerate(named, start=first))
        coverage = _coverage(len(windows), len(missed))
        return replace(
            context.covering_all(coverage),
            scanned=tuple(_observation(window, said) for window, said in seen),
            hypotheses=(*(context.hypotheses or ()), *found),
            failures=(*context.failures, *(one.failure for one in missed)),
        )

    def _question(self, window: Window, context: Context, desk: ModelClient) -> Query:
        dimensions = tuple(desk.domain.dimensions[name] for name in context.dimensions)
        return Query(
            stage="scan",
            subject=f"W{window.id}",
            role=self.role(),
            prompt="scan",
            variables=ScanVariables(window=window, dimensions=dimensions),
            shots=(picture(window, desk.footage),),
            contract=_contract(dimensions, window.frames),
            check=_contradiction,
        )


def _coverage(windows: int, missed: int) -> Coverage:
    if missed:
        return Coverage(state="partial", reason=f"{windows - missed} of {windows} windows were answered")
    return Coverage(state="examined", reason=f"all {windows} windows were answered")


@lru_cache(maxsize=256)
def _contract(dimensions: tuple[Dimension, ...], frames: tuple[int, ...]) -> type[ScanAnswer]:
    types = (kind.id for dimension in dimensions for kind in dimension.types)
    return narrowed(ScanAnswer, type=one_of([*types, NOTHING]), frames=list_of(one_of(frames), len(frames)))


def _contradiction(said: ScanAnswer) -> str | None:
    if said.type != NOTHING and not said.frames:
        return f"frames: name those in which {said.type} can be seen"
    if said.type == NOTHING and said.frames:
        return f"frames: nothing is wrong ({NOTHING}), so no frame shows it; or name the type of what it shows"
    return None


def _observation(window: Window, said: ScanAnswer | None) -> Observation:
    return Observation(window=window, notes={} if said is None else {"context": said.context})


def _hypothesis(name: str, window: Window, said: ScanAnswer, domain: Domain) -> Hypothesis:
    # One name for all: which windows show one event is decided by meaning, not by how much time they share.
    return Hypothesis(
        id=name,
        dimension=domain.dimension_of[said.type],
        type=said.type,
        spans=(window.span,),
        severity=None,
        confidence=said.confidence,
        description=said.cues,
        evidence=(Evidence(text=said.cues, frames=tuple(sorted(set(said.frames))), source="scan"),),
        proposed_by="scan",
    )
