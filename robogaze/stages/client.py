"""The one door to the models of a diagnosis.

A question is a prompt, rendered strictly, with pictures; the answer must keep its contract. A broken answer is sent
back with what is wrong, up to three tries in all. A question with more pictures than its model takes is not put. Every
request is written into the ledger: which pictures were shown, what came of it and what it cost.

The order within a request is fixed: pictures first, then what is known of the clip, then the question. What several
questions about a clip have in common thus comes first and is byte for byte the same, so that a server can reuse it.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from pydantic import BaseModel

from robogaze.backends import ClipTiming, Completion, Model, Models, Request
from robogaze.backends.answers import UnreadableAnswer, read_completion
from robogaze.backends.config import SHEET_COLUMNS
from robogaze.core.clip import Clip
from robogaze.core.context import Memory, Observation, Segment
from robogaze.core.pictures import FrameImage, Picture
from robogaze.core.report import Call, Failure, Usage
from robogaze.domains import Domain
from robogaze.domains.contract import json_schema
from robogaze.errors import BackendError, FailureKind
from robogaze.evidence import summarise
from robogaze.media import DecodedClip
from robogaze.stages.context import Context

TRIES = 3
_SHEET_FRAMES = SHEET_COLUMNS**2


class SystemVariables(TypedDict):
    """What the prompt `system` may use."""

    summary: str


class ContextVariables(TypedDict):
    """What the prompt `context` may use: all that is known of the clip, None for what is not.

    `shown` says whether the question comes with pictures. `clip_text` is what the domain calls the clip's instruction.
    """

    shown: bool
    duration_s: float
    frame_count: int
    views: tuple[str, ...]
    clip_text: str
    instruction: str | None
    task: Memory | None
    scene: Memory | None
    memory: Memory | None
    observations: tuple[Observation, ...] | None
    segments: tuple[Segment, ...] | None
    measurements: tuple[str, ...] | None


class AgainVariables(TypedDict):
    """What the prompt `again` may use: the answer that was not accepted, and why."""

    answer: str
    fault: str


PROMPTS: Mapping[str, type] = {"system": SystemVariables, "context": ContextVariables, "again": AgainVariables}
"""The prompts every question is made with, besides the stage's own."""


class NoAnswer(Exception):
    """A question was not answered; `failure` says how."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Query:
    """What a stage asks.

    `subject` tells apart the questions of one stage (a dimension, a group of windows, a round). `check` returns what
    is wrong with an answer beyond its contract, None when nothing is.
    """

    stage: str
    subject: str
    role: str
    prompt: str
    variables: Mapping[str, Any]
    shots: tuple[FrameImage, ...]
    contract: type[BaseModel]
    dimension: str | None = None
    more_shots: tuple[FrameImage, ...] = ()
    sample: int = 0
    temperature: float | None = None
    constrained: bool = True
    check: Callable[[Any], str | None] = lambda answer: None


@dataclass
class ModelClient:
    """Asks the models about one clip and keeps the ledger."""

    domain: Domain
    clip: Clip
    footage: DecodedClip
    models: Models | None
    pictures: dict[str, Picture] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _rounds: int = 0

    def model(self, role: str) -> Model:
        """The model that plays a role; a pipeline that asks one is given models."""
        assert self.models is not None, "a pipeline with roles needs models"
        return self.models[role]

    def frames(self, role: str) -> tuple[int, ...]:
        """The frames of the clip that the model of a role is shown."""
        config = self.model(role).config
        return config.frames.frames(self.clip.frame_times_s, self.clip.duration_s)

    def show(self, role: str, frames: Sequence[int]) -> tuple[FrameImage, ...]:
        """Frames as the pictures that the model of a role is shown: one each, or on contact sheets."""
        if self.model(role).config.present == "frames":
            return tuple(self.footage.shot(number) for number in frames)
        groups = [frames[start : start + _SHEET_FRAMES] for start in range(0, len(frames), _SHEET_FRAMES)]
        return tuple(self.footage.sheet(group, SHEET_COLUMNS) for group in groups)

    async def ask_each(self, questions: Sequence[Query], context: Context) -> tuple[Any, ...]:
        """Put several questions side by side; in place of an answer that never came stands its NoAnswer.

        All are put before any is missed: a batch then holds every request of the round.
        """
        round_ = self._rounds + 1
        asked = (self._ask(one, context, round_) for one in questions)
        results = await asyncio.gather(*asked, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, NoAnswer):
                raise result
        return tuple(results)

    async def ask(self, question: Query, context: Context) -> Any:
        """Put a question until the answer keeps its contract. Raises NoAnswer when it does not in three tries."""
        return await self._ask(question, context, self._rounds + 1)

    async def _ask(self, question: Query, context: Context, first_round: int) -> Any:
        model = self.model(question.role)
        fault: str | None = None
        parts = self._parts(question, context)
        _check_pictures(question, model)
        for attempt in range(1, TRIES + 1):
            request = self._request(question, parts, model, attempt)
            round_ = first_round + attempt - 1
            self._rounds = max(self._rounds, round_)
            try:
                completion = await model.backend.complete(request)
                answer, fault = _read(completion, question)
            except BackendError as error:
                self._record(question, request, model, round_, "failed", str(error))
                raise NoAnswer(_failure(question, error.kind, str(error))) from error
            if fault is None:
                self._record(question, request, model, round_, "answered", None, completion)
                return answer
            self._record(question, request, model, round_, "invalid", fault, completion)
            again = AgainVariables(answer=completion.text[:2000], fault=fault)
            parts = (*self._parts(question, context), self.domain.prompts.render("again", again))
        raise NoAnswer(
            _failure(question, FailureKind.INVALID_ANSWER, f"no valid answer in {TRIES} tries; the last: {fault}")
        )

    def _parts(self, question: Query, context: Context) -> tuple[str | FrameImage, ...]:
        prompts = self.domain.prompts
        known = prompts.render("context", self._known(context, bool(question.shots or question.more_shots)))
        return (*question.shots, known, *question.more_shots, prompts.render(question.prompt, question.variables))

    def _known(self, context: Context, shown: bool) -> ContextVariables:
        return ContextVariables(
            shown=shown,
            duration_s=self.clip.duration_s,
            frame_count=self.clip.frame_count,
            views=self.clip.layout.active,
            clip_text=self.domain.file.clip_text,
            instruction=self.clip.instruction,
            task=context.task,
            scene=context.scene,
            memory=context.memory,
            observations=context.observations,
            segments=context.segments,
            measurements=None if context.evidence is None else tuple(summarise(context.evidence)),
        )

    def _request(self, question: Query, parts: tuple[str | FrameImage, ...], model: Model, attempt: int) -> Request:
        decoding = model.config.decoding
        if question.temperature is not None:
            decoding = decoding.with_(temperature=question.temperature, seed=(decoding.seed or 0) + question.sample)
        clip = self.clip
        return Request(
            stage=question.stage,
            subject=question.subject,
            clip=clip.id,
            attempt=attempt,
            system=self.domain.prompts.render("system", SystemVariables(summary=self.domain.file.summary)),
            parts=parts,
            schema=json_schema(question.contract) if question.constrained else None,
            decoding=decoding,
            timing=ClipTiming(clip.fps, clip.frame_count, clip.duration_s),
            sample=question.sample,
        )

    def _record(
        self,
        question: Query,
        request: Request,
        model: Model,
        round_: int,
        outcome: Any,
        error: str | None,
        completion: Completion | None = None,
    ) -> None:
        self.pictures.update({shot.picture.id: shot.picture for shot in request.images})
        counted = {} if completion is None else _counted(completion)
        call = Call(
            id=f"C{len(self.calls) + 1}",
            stage=question.stage,
            subject=question.subject,
            role=question.role,
            model=model.name,
            round=round_,
            attempt=request.attempt,
            pictures=tuple(shot.picture.id for shot in request.images),
            key=request.key(model.backend.identity),
            outcome=outcome,
            error=error,
            **counted,
        )
        self.calls.append(call)

    def ledger(self) -> tuple[Call, ...]:
        """The calls in an order that does not depend on which answer came first."""
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
        """The sum over the answers; None when a part is not known, or when there were calls and no answer."""
        return None if any(value is None for value in values) or (self.calls and not values) else sum(values)


def _read(completion: Completion, question: Query) -> tuple[Any, str | None]:
    """The answer, and what is wrong with it; one of both is None. Raises BackendError for what is no answer at all."""
    try:
        answer = read_completion(completion, question.contract)
    except UnreadableAnswer as error:
        return None, str(error)
    return answer, question.check(answer)


def _counted(completion: Completion) -> dict[str, Any]:
    return {
        "prompt_tokens": completion.prompt_tokens,
        "cached_tokens": completion.cached_tokens,
        "completion_tokens": completion.completion_tokens,
        "cost_usd": completion.cost_usd,
        "latency_s": completion.latency_s,
        "answered_by": completion.model,
        "facts": dict(completion.facts),
    }


def _failure(question: Query, kind: FailureKind, message: str) -> Failure:
    return Failure(stage=question.stage, dimension=question.dimension, kind=kind, message=message)


def _check_pictures(question: Query, model: Model) -> None:
    """Raise NoAnswer for a question of more pictures than the model takes; a server would refuse it, or drop some."""
    number, most = len(question.shots) + len(question.more_shots), model.config.max_pictures
    if number > most:
        message = (
            f"{question.stage} {question.subject} holds {number} pictures and max_pictures of {model.name} is {most}; "
            "raise it if the server allows, or show fewer frames"
        )
        raise NoAnswer(_failure(question, FailureKind.TOO_MANY_PICTURES, message))
