"""Queries: a question to a model, and an answer that fits the contract of the query.

A query is a prompt with images; an unknown variable in the prompt is an error. The answer must fit the query's
contract. An invalid answer is sent back with the error, up to three tries. A query with more images than its model
accepts is not sent. Every request is recorded in the ledger: which images were shown, how the request ended and what it
cost.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from pydantic import BaseModel

from robogaze.backends import ClipTiming, Completion, Model, Models, Request
from robogaze.backends.answer_parsing import UnreadableAnswer, read_completion
from robogaze.core.pictures import FrameImage, Picture
from robogaze.core.report import Call, Failure, Usage
from robogaze.domains import Domain
from robogaze.domains.contract import json_schema
from robogaze.errors import BackendError, FailureKind

TRIES = 3

Parts = tuple[str | FrameImage, ...]
"""Text and images, in the order in which a model sees them."""


class SystemVariables(TypedDict):
    """The variables of the prompt `system`; `summary` says in a few words what the clips of the domain show."""

    summary: str


class RetryVariables(TypedDict):
    """The variables of the prompt `retry`: the invalid answer, and what is wrong with it."""

    answer: str
    error: str


class NoAnswer(Exception):
    """A query has no valid answer; `failure` says why."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True)
class Query:
    """A query of a stage.

    `subject` distinguishes the queries of one stage (a dimension, a group of windows, a round). `images` come first in
    the request, before the known facts about the clip; `extra_images` come after these facts. `contract` is the type of
    the answer; `check` returns an error that the contract cannot express, or None. `constrained` is False if the model
    may reason before it answers; then no schema is sent. `sample` distinguishes independent answers to the same prompt.
    With `hide_suspicions`, the model is given the observations without their suspicions.
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
    hide_suspicions: bool = False


class Asker:
    """Sends queries and keeps the ledger of one report. `models` is None for a pipeline without roles.

    Subclasses must be dataclasses that have these fields.
    """

    domain: Domain
    models: Models | None
    pictures: dict[str, Picture]
    calls: list[Call]
    _rounds: int

    @property
    def clip_id(self) -> str:
        """The id of the report's clip."""
        raise NotImplementedError

    @property
    def timing(self) -> ClipTiming | None:
        """The timing of the frames that requests show; None if they show no frames."""
        raise NotImplementedError

    def model(self, role: str) -> Model:
        """The model of a role."""
        assert self.models is not None, "a pipeline with roles needs models"
        return self.models[role]

    async def _ask(self, query: Query, parts: Parts, first_round: int) -> Any:
        model = self.model(query.role)
        error: str | None = None
        asked = parts
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
            parts = (*asked, self.domain.prompts.render("retry", retry))
        message = f"no valid answer in {TRIES} tries; fault of the last answer: {error}"
        raise NoAnswer(_failure(query, FailureKind.INVALID_ANSWER, message))

    def request(self, query: Query, parts: Parts, model: Model, attempt: int) -> Request:
        """The request that is made from a query; `parts` alternate text and images."""
        decoding = model.config.decoding
        if query.temperature is not None:
            decoding = decoding.with_(temperature=query.temperature, seed=(decoding.seed or 0) + query.sample)
        return Request(
            stage=query.stage,
            subject=query.subject,
            clip=self.clip_id,
            attempt=attempt,
            system=self.domain.prompts.render("system", SystemVariables(summary=self.domain.file.summary)),
            parts=parts,
            schema=json_schema(query.contract) if query.constrained else None,
            decoding=decoding,
            timing=self.timing,
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
        """The calls, in an order that does not depend on when the answers arrived."""
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
    """Raise NoAnswer if a query has more images than the model accepts; a server would refuse the request or drop some
    images.
    """
    number, most = len(query.images) + len(query.extra_images), model.config.max_pictures
    if number > most:
        message = (
            f"{query.stage} {query.subject} holds {number} pictures, but max_pictures of {model.name} is {most}; "
            "raise max_pictures if the server allows more pictures, or show fewer frames"
        )
        raise NoAnswer(_failure(query, FailureKind.TOO_MANY_PICTURES, message))
