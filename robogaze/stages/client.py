"""Requests to the models about one clip; `robogaze.stages.asking` sends them.

The order within a request is fixed: images, what is known about the clip, then the prompt of the stage. The part that
several queries about a clip share comes first and is byte-identical, so that a server can cache it.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypedDict

from robogaze.backends import ClipTiming, Models
from robogaze.backends.config import SHEET_COLUMNS
from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Segment, WindowObservation
from robogaze.core.pictures import FrameImage, Picture
from robogaze.core.report import Call
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.evidence import summarise
from robogaze.media import DecodedClip
from robogaze.stages.asking import Asker, NoAnswer, Query, RetryVariables, SystemVariables
from robogaze.stages.context import Context
from robogaze.threads import on_core

__all__ = ["PROMPTS", "ContextVariables", "ModelClient", "NoAnswer", "Query"]

_SHEET_FRAMES = SHEET_COLUMNS**2
_READING_GRIDS, _READING_SIDE_PX = ((3, 3), (4, 2)), 1600
"""The columns and rows of the contact sheets that stages read, and their longer side at most.

The sheet has the grid on which the views are largest: several views make a high or a wide frame.
"""

_AT_ONCE = 8
"""How many queries about a clip are sent at once."""


class ContextVariables(TypedDict):
    """The variables of the prompt `context`: the known facts about the clip; an unknown fact is None.

    `has_pictures` says whether the request contains images. `clip_text` is the domain's name for the instruction.
    """

    has_pictures: bool
    duration_s: float
    frame_count: int
    views: tuple[str, ...]
    clip_text: str
    instruction: str | None
    task: Memory | None
    scene: Memory | None
    memory: Memory | None
    observations: tuple[WindowObservation, ...] | None
    suspicions: tuple[str, ...]
    segments: tuple[Segment, ...] | None
    measurements: tuple[str, ...] | None


PROMPTS: Mapping[str, type] = {"system": SystemVariables, "context": ContextVariables, "retry": RetryVariables}
"""The prompts that every request uses in addition to the stage's own."""


@dataclass
class ModelClient(Asker):
    """Queries the models about one clip and keeps the ledger. `models` is None for a pipeline without roles."""

    domain: Domain
    clip: Clip
    decoded_clip: DecodedClip
    models: Models | None
    pictures: dict[str, Picture] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _rounds: int = 0

    def frames(self, role: str) -> tuple[int, ...]:
        """The frames of the clip that are shown to the model of a role."""
        config = self.model(role).config
        return config.frames.frames(self.clip.frame_times_s, self.clip.duration_s)

    def frames_within(self, role: str, spans: Sequence[Span], rate_fps: float) -> tuple[int, ...]:
        """The frames inside some spans, at the rate of the role's model or at `rate_fps` if that is higher.

        If a span contains no frame at this rate, the frame at its middle is used. Without spans, there are no frames.
        """
        clip = self.clip
        regime = self.model(role).config.frames.at_least(rate_fps, clip.duration_s)
        found = (regime.within(span, clip.frame_times_s, clip.duration_s) for span in spans)
        return tuple(sorted({number for numbers in found for number in numbers}))

    def rate_fps(self, role: str, least_fps: float) -> float | None:
        """The rate of `frames_within`; None if every frame is shown."""
        return self.model(role).config.frames.at_least(least_fps, self.clip.duration_s).rate_fps

    def show(self, role: str, frames: Sequence[int]) -> tuple[FrameImage, ...]:
        """Frames in the form in which the model of a role sees them: one image per frame, or contact sheets."""
        if self.model(role).config.present == "frames":
            self.decoded_clip.make_pictures(frames)
            return tuple(self.decoded_clip.frame_image(number) for number in frames)
        groups = [frames[start : start + _SHEET_FRAMES] for start in range(0, len(frames), _SHEET_FRAMES)]
        return tuple(self.decoded_clip.sheet(group, SHEET_COLUMNS) for group in groups)

    @property
    def frames_per_sheet(self) -> int:
        """The number of frames on a contact sheet that a stage reads."""
        columns, rows = self._reading_grid
        return columns * rows

    def sheets(self, frames: Sequence[int]) -> tuple[FrameImage, ...]:
        """Frames on contact sheets to be read in order."""
        columns, rows = self._reading_grid
        groups = [frames[start : start + columns * rows] for start in range(0, len(frames), columns * rows)]
        return tuple(self.decoded_clip.sheet(group, columns, _READING_SIDE_PX, rows) for group in groups)

    @property
    def _reading_grid(self) -> tuple[int, int]:
        return self.decoded_clip.largest_grid(_READING_GRIDS, _READING_SIDE_PX)

    async def ask_all(self, queries: Iterable[Query], context: Context) -> tuple[Any, ...]:
        """Send several queries in parallel. If a query gets no valid answer, its result is a NoAnswer.

        All queries are sent before any error is raised, so that a batch contains every request of the round. An
        iterator is read in a thread, a few queries at a time, because making a query also makes its pictures.
        """
        first_round, results, remaining = self._rounds + 1, list[Any](), iter(queries)
        while group := await on_core(lambda: tuple(islice(remaining, _AT_ONCE))):
            waiting = (self._ask(query, self._parts(query, context), first_round) for query in group)
            results += await asyncio.gather(*waiting, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, NoAnswer):
                raise result
        return tuple(results)

    async def ask(self, query: Query, context: Context) -> Any:
        """Send a query until the answer fits its contract. Raises NoAnswer after three invalid answers."""
        return await self._ask(query, self._parts(query, context), self._rounds + 1)

    @property
    def clip_id(self) -> str:
        return self.clip.id

    @property
    def timing(self) -> ClipTiming:
        return ClipTiming(self.clip.fps, self.clip.frame_count, self.clip.duration_s)

    def _parts(self, query: Query, context: Context) -> tuple[str | FrameImage, ...]:
        prompts = self.domain.prompts
        known = prompts.render("context", self._known(context, query))
        return (*query.images, known, *query.extra_images, prompts.render(query.prompt, query.variables))

    def _known(self, context: Context, query: Query) -> ContextVariables:
        suspicions = tuple(text for observation in context.observations or () for text in observation.suspicions)
        return ContextVariables(
            has_pictures=bool(query.images or query.extra_images),
            duration_s=self.clip.duration_s,
            frame_count=self.clip.frame_count,
            views=self.clip.layout.active,
            clip_text=self.domain.file.clip_text,
            instruction=self.clip.instruction,
            task=context.task,
            scene=context.scene,
            memory=context.memory,
            observations=context.observations,
            suspicions=() if query.hide_suspicions else suspicions,
            segments=context.segments,
            measurements=None if context.evidence is None else tuple(summarise(context.evidence)),
        )
