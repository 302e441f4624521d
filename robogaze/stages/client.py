"""Requests to the models about one clip.

A query is a prompt, rendered strictly, with images; the answer must fit its contract. An invalid answer is sent back
with the error, up to three tries. A query with more images than its model accepts is not sent. Every request is
recorded in the ledger: which images were shown, how it ended and what it cost.

The order within a request is fixed: images, what is known about the clip, then the prompt of the stage. The part that
several queries about a clip share comes first and is byte-identical, so that a server can cache it.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal, TypedDict

from pydantic import BaseModel

from robogaze.backends import ClipTiming, Completion, Model, Models, Request
from robogaze.backends.answers import UnreadableAnswer, read_completion
from robogaze.backends.config import SHEET_COLUMNS
from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Observation, Segment
from robogaze.core.pictures import FrameImage, Picture
from robogaze.core.report import Call, Failure, Usage
from robogaze.core.time import Span
from robogaze.domains import Domain
from robogaze.domains.contract import json_schema
from robogaze.errors import BackendError, FailureKind
from robogaze.evidence import summarise
from robogaze.media import DecodedClip
from robogaze.stages.context import Context
from robogaze.threads import on_core

TRIES = 3
_SHEET_FRAMES = SHEET_COLUMNS**2
_READING_GRIDS, _READING_SIDE_PX = ((3, 3), (4, 2)), 1600
"""The columns and rows of the contact sheets that stages read, and their longer side at most.

The sheet has the grid on which the views are largest: several views make a high or a wide frame.
"""

_AT_ONCE = 8
"""How many queries about a clip are sent at once."""


Known = Literal["suspicions", "observations", "segments", "task", "scene"]
"""A part of what is known about a clip that a query may hide from the model."""


class SystemVariables(TypedDict):
    """The variables of the prompt `system`: what a clip of the domain shows, in a few words."""

    summary: str


class ContextVariables(TypedDict):
    """The variables of the prompt `context`: the known facts about the clip; None for unknown ones.

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
    observations: tuple[Observation, ...] | None
    suspicions: tuple[str, ...]
    segments: tuple[Segment, ...] | None
    measurements: tuple[str, ...] | None


class RetryVariables(TypedDict):
    """The variables of the prompt `retry`: the invalid answer, and what is wrong with it."""

    answer: str
    error: str


PROMPTS: Mapping[str, type] = {"system": SystemVariables, "context": ContextVariables, "retry": RetryVariables}
"""The prompts that every request uses in addition to the stage's own."""


class NoAnswer(Exception):
    """A query has no valid answer; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Query:
    """A query of a stage.

    `subject` distinguishes the queries of one stage (a dimension, a group of windows, a round). `images` come first in
    the request, `extra_images` after what is known about the clip. `contract` is the type of the answer; `check`
    returns an error that the contract cannot express, or None. `constrained` is False where the model may reason
    before it answers, so that no schema is sent. `sample` distinguishes independent answers to the same prompt.
    `hide` names the parts of what is known about the clip that the model is not shown.
    """

    stage: str
    subject: str
    role: str
    prompt: str
    variables: Mapping[str, Any]
    images: tuple[FrameImage, ...]
    contract: type[BaseModel]
    dimension: str | None = None
    extra_images: tuple[FrameImage, ...] = ()
    sample: int = 0
    temperature: float | None = None
    constrained: bool = True
    check: Callable[[Any], str | None] = lambda answer: None
    hide: frozenset[Known] = frozenset()


@dataclass
class ModelClient:
    """Queries the models about one clip and keeps the ledger. `models` is None for a pipeline without roles."""

    domain: Domain
    clip: Clip
    decoded_clip: DecodedClip
    models: Models | None
    pictures: dict[str, Picture] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _rounds: int = 0

    def model(self, role: str) -> Model:
        """The model of a role."""
        assert self.models is not None, "a pipeline with roles needs models"
        return self.models[role]

    def frames(self, role: str) -> tuple[int, ...]:
        """The frames of the clip that the model of a role is shown."""
        config = self.model(role).config
        return config.frames.frames(self.clip.frame_times_s, self.clip.duration_s)

    def frames_within(self, role: str, spans: Sequence[Span], rate_fps: float) -> tuple[int, ...]:
        """The frames inside some spans, at the rate of the role's model or at `rate_fps` if that is higher.

        A span without a frame at that rate gives the frame at its middle; no spans give no frames.
        """
        clip = self.clip
        regime = self.model(role).config.frames.at_least(rate_fps, clip.duration_s)
        found = (regime.within(span, clip.frame_times_s, clip.duration_s) for span in spans)
        return tuple(sorted({number for numbers in found for number in numbers}))

    def rate_fps(self, role: str, least_fps: float) -> float | None:
        """The rate of `frames_within`; None if every frame is shown."""
        return self.model(role).config.frames.at_least(least_fps, self.clip.duration_s).rate_fps

    def show(self, role: str, frames: Sequence[int]) -> tuple[FrameImage, ...]:
        """Frames as the model of a role is shown them: one image per frame, or contact sheets."""
        if self.model(role).config.present == "frames":
            self.decoded_clip.make_pictures(frames)
            return tuple(self.decoded_clip.frame_image(number) for number in frames)
        groups = [frames[start : start + _SHEET_FRAMES] for start in range(0, len(frames), _SHEET_FRAMES)]
        return tuple(self.decoded_clip.sheet(group, SHEET_COLUMNS) for group in groups)

    @property
    def frames_per_sheet(self) -> int:
        """How many frames a contact sheet holds that a stage reads."""
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
        """Send several queries in parallel; the result of a query without a valid answer is its NoAnswer.

        All are sent before any error is raised, so that a batch contains every request of the round. An iterator is
        read in a thread, because queries make pictures, and a few queries at a time.
        """
        first_round, results, remaining = self._rounds + 1, list[Any](), iter(queries)
        while group := await on_core(lambda: tuple(islice(remaining, _AT_ONCE))):
            waiting = (self._ask(query, context, first_round) for query in group)
            results += await asyncio.gather(*waiting, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, NoAnswer):
                raise result
        return tuple(results)

    async def ask(self, query: Query, context: Context) -> Any:
        """Send a query until the answer fits its contract. Raises NoAnswer after three invalid answers."""
        return await self._ask(query, context, self._rounds + 1)

    async def _ask(self, query: Query, context: Context, first_round: int) -> Any:
        model = self.model(query.role)
        error: str | None = None
        parts = self._parts(query, context)
        _check_image_count(query, model)
        for attempt in range(1, TRIES + 1):
            request = self.request(query, parts, model, attempt)
            round_ = first_round + attempt - 1
            self._rounds = max(self._rounds, round_)
            try:
                completion = await model.backend.complete(request)
                answer, error = _read(completion, query)
            except BackendError as failed:
                self._record(query, request, model, round_, "failed", str(failed))
                raise NoAnswer(_failure(query, failed.kind, str(failed))) from failed
            if error is None:
                self._record(query, request, model, round_, "answered", None, completion)
                return answer
            self._record(query, request, model, round_, "invalid", error, completion)
            retry = RetryVariables(answer=completion.text[:2000], error=error)
            parts = (*self._parts(query, context), self.domain.prompts.render("retry", retry))
        message = f"no valid answer in {TRIES} tries; the last: {error}"
        raise NoAnswer(_failure(query, FailureKind.INVALID_ANSWER, message))

    def _parts(self, query: Query, context: Context) -> tuple[str | FrameImage, ...]:
        prompts = self.domain.prompts
        known = prompts.render("context", self._known(context, query))
        return (*query.images, known, *query.extra_images, prompts.render(query.prompt, query.variables))

    def _known(self, context: Context, query: Query) -> ContextVariables:
        hide = query.hide
        observations = None if "observations" in hide else context.observations
        suspicions = [text for observation in context.observations or () for text in observation.suspicions]
        return ContextVariables(
            has_pictures=bool(query.images or query.extra_images),
            duration_s=self.clip.duration_s,
            frame_count=self.clip.frame_count,
            views=self.clip.layout.active,
            clip_text=self.domain.file.clip_text,
            instruction=self.clip.instruction,
            task=None if "task" in hide else context.task,
            scene=None if "scene" in hide else context.scene,
            memory=context.memory,
            observations=observations,
            suspicions=() if hide & {"suspicions", "observations"} else tuple(suspicions),
            segments=None if "segments" in hide else context.segments,
            measurements=None if context.evidence is None else tuple(summarise(context.evidence)),
        )

    def request(self, query: Query, parts: tuple[str | FrameImage, ...], model: Model, attempt: int) -> Request:
        """The request that a query becomes; `parts` alternate text and images."""
        decoding = model.config.decoding
        if query.temperature is not None:
            decoding = decoding.with_(temperature=query.temperature, seed=(decoding.seed or 0) + query.sample)
        clip = self.clip
        return Request(
            stage=query.stage,
            subject=query.subject,
            clip=clip.id,
            attempt=attempt,
            system=self.domain.prompts.render("system", SystemVariables(summary=self.domain.file.summary)),
            parts=parts,
            schema=json_schema(query.contract) if query.constrained else None,
            decoding=decoding,
            timing=ClipTiming(clip.fps, clip.frame_count, clip.duration_s),
            sample=query.sample,
        )

    def _record(
        self,
        query: Query,
        request: Request,
        model: Model,
        round_: int,
        outcome: Any,
        error: str | None,
        completion: Completion | None = None,
    ) -> None:
        pictures = [image.picture for image in (*query.images, *query.extra_images)]
        self.pictures.update({picture.id: picture for picture in pictures})
        counted = {} if completion is None else _usage_of(completion)
        call = Call(
            id=f"C{len(self.calls) + 1}",
            stage=query.stage,
            subject=query.subject,
            role=query.role,
            model=model.name,
            round=round_,
            attempt=request.attempt,
            pictures=tuple(picture.id for picture in pictures),
            key=request.key(model.backend.identity),
            outcome=outcome,
            error=error,
            **counted,
        )
        self.calls.append(call)

    def ledger(self) -> tuple[Call, ...]:
        """The calls, in an order that does not depend on which answer arrived first."""
        ordered = sorted(self.calls, key=lambda call: (call.round, call.stage, call.subject, call.attempt, call.key))
        return tuple(call.with_(id=f"C{number}") for number, call in enumerate(ordered, start=1))

    def usage(self) -> Usage:
        """What the answers cost; see `robogaze.core.report.Usage`."""
        rounds = sorted({call.round for call in self.calls})
        slowest = (max(call.latency_s for call in self.calls if call.round == number) for number in rounds)
        answers = [call for call in self.calls if call.outcome != "failed"]
        return Usage(
            calls=len(self.calls),
            rounds=len(rounds),
            prompt_tokens=self._total([call.prompt_tokens for call in answers]),
            cached_tokens=self._total([call.cached_tokens for call in answers]),
            completion_tokens=self._total([call.completion_tokens for call in answers]),
            cost_usd=self._total([call.cost_usd for call in answers]),
            wall_s=round(sum(slowest), 3),
        )

    def _total(self, values: Sequence[Any]) -> Any:
        """The sum over the answers; None if a value is unknown, or if there were calls but no answer."""
        return None if any(value is None for value in values) or (self.calls and not values) else sum(values)


def _read(completion: Completion, query: Query) -> tuple[Any, str | None]:
    """The answer and the error in it; one of the two is None. Raises BackendError if there is no answer at all."""
    try:
        answer = read_completion(completion, query.contract)
    except UnreadableAnswer as error:
        return None, str(error)
    return answer, query.check(answer)


def _usage_of(completion: Completion) -> dict[str, Any]:
    return {
        "prompt_tokens": completion.prompt_tokens,
        "cached_tokens": completion.cached_tokens,
        "completion_tokens": completion.completion_tokens,
        "cost_usd": completion.cost_usd,
        "latency_s": completion.latency_s,
        "answered_by": completion.model,
        "facts": dict(completion.facts),
    }


def _failure(query: Query, kind: FailureKind, message: str) -> Failure:
    return Failure(stage=query.stage, dimension=query.dimension, kind=kind, message=message)


def _check_image_count(query: Query, model: Model) -> None:
    """Raise NoAnswer if a query has more images than the model accepts; a server would refuse it or drop some."""
    number, most = len(query.images) + len(query.extra_images), model.config.max_pictures
    if number > most:
        message = (
            f"{query.stage} {query.subject} holds {number} pictures and max_pictures of {model.name} is {most}; "
            "raise it if the server allows, or show fewer frames"
        )
        raise NoAnswer(_failure(query, FailureKind.TOO_MANY_PICTURES, message))
