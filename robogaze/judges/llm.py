"""A language model as the judge: it reads both descriptions, sees no picture, and rates them on the axes of a rubric.

The model is asked at temperature 0. An invalid answer is sent back with the error, for up to three tries in all. A pair
without a valid answer is unscored, with the reason. Pairs with the same texts are sent once. The answer gives its
reasons first, so that the ratings follow from them (RoboGaze's own prompt asks for the reasons last).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any

from platformdirs import user_cache_path
from pydantic import Field, create_model

from robogaze.backends import AnswerStore, Model, ModelConfig, Models, ModelsConfig, Request
from robogaze.backends.answer_parsing import UnreadableAnswer, read_completion
from robogaze.domains import Prompts
from robogaze.domains.contract import Answer, Text, json_schema
from robogaze.domains.resources import resource_folder
from robogaze.errors import BackendError, InputError, RunStopped
from robogaze.judges import JudgeSpec
from robogaze.judges.base import DescriptionPair, Judgement, unscored
from robogaze.judges.rubric import REASONS, Rubric, read_rubric

TRIES = 3
STAGE = "judge"
_SENT_BACK = 2000
"""The maximum length, in characters, of an invalid answer that is sent back."""

_Texts = tuple[str, str, str | None, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class ModelJudge:
    """Asks the model with the role `judge`; see JudgeSpec for the fields.

    The model is opened for each call of `rate` and closed after it.
    """

    rubric: Rubric
    config: ModelsConfig
    answers: Path
    environ: Mapping[str, str] = field(repr=False)
    sample: int = 0

    @cached_property
    def _model(self) -> ModelConfig:
        return self.config.models[self.config.model_of("judge")]

    @cached_property
    def _prompts(self) -> Prompts:
        return Prompts((resource_folder("prompts") / "_judge", resource_folder("prompts") / "_shared"))

    @cached_property
    def _contract(self) -> type[Answer]:
        """The reasons, then a rating within the scale for each axis."""
        worst, best = self.rubric.file.scale
        number: Any = int if self.rubric.file.ratings == "whole" else float
        rating = Annotated[number, Field(ge=worst, le=best)]
        declared: Any = {REASONS: (Text, ...), **dict.fromkeys(self.rubric.axes, (rating, ...))}
        made: type[Answer] = create_model("Rating", __base__=Answer, **declared)
        return made

    @property
    def name(self) -> str:
        """The model and the rubric."""
        return f"{self._model.kind}:{self._model.name or self._model.url} by {self.rubric.id}"

    @property
    def identity(self) -> Mapping[str, Any]:
        """The model, how it decodes, the rubric and the prompts."""
        settings = ("kind", "name", "url", "decoding", "structured", "send", "extra_body")
        texts = [self._prompts.path(name).read_bytes() for name in ("system", "rate", "retry")]
        return {
            "judge": "model",
            "model": self._model.model_dump(mode="json", include=set(settings)),
            "rubric": self.rubric.fingerprint,
            "prompts": sha256(b"\0".join(texts)).hexdigest(),
            "sample": self.sample,
        }

    @property
    def note(self) -> str:
        """A text that says which model and rubric give the similarities, and how this judge can be measured."""
        return (
            f"The model {self._model.name or self._model.url} gives the similarities with the rubric "
            f"{self.rubric.id}, "
            "from the texts alone. To measure this judge against ratings by people, run: robogaze judge-check."
        )

    async def rate(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """A judgement for each pair, in their order.

        Raises Unreachable if no server answers, InputError if an API key is missing, and RunStopped if answers are
        pending or a limit is reached. The next call resumes from the stored answers.
        """
        texts = {_texts(pair): pair for pair in reversed(pairs) if pair.silent is None}
        judged = await self._ask_all(list(texts.values())) if texts else []
        found = dict(zip(texts, judged, strict=True))
        return [pair.silent or found[_texts(pair)] for pair in pairs]

    async def ask_ahead(self, pairs: Sequence[DescriptionPair]) -> Sequence[Judgement]:
        """Ask about each pair; `rate` then finds the stored answers. Raises the same errors as `rate`."""
        return await self.rate(pairs)

    async def _ask_all(self, pairs: Sequence[DescriptionPair]) -> list[Judgement]:
        """Ask about each pair, several at a time.

        RunStopped is raised only after all pairs are asked, so that a batch contains a whole round of requests.
        """
        name = self.config.model_of("judge")
        alone = self.config.with_(models={name: self._model}, roles={"vlm": name})
        answers = AnswerStore(self.answers)
        try:
            models = Models.open(alone, answers, self.environ)
            try:
                await models.ready()
                slots = asyncio.Semaphore(self._model.limits.concurrency)
                found = await asyncio.gather(*(self._ask_or_stop(pair, models["judge"], slots) for pair in pairs))
            finally:
                await models.close()
        finally:
            answers.close()
        if stopped := [result for result in found if isinstance(result, RunStopped)]:
            raise stopped[-1]
        return [result for result in found if isinstance(result, Judgement)]

    async def _ask_or_stop(
        self, pair: DescriptionPair, model: Model, slots: asyncio.Semaphore
    ) -> Judgement | RunStopped:
        async with slots:
            try:
                return await self._ask(pair, model)
            except RunStopped as stop:
                return stop

    async def _ask(self, pair: DescriptionPair, model: Model) -> Judgement:
        parts: tuple[str, ...] = (self._question(pair),)
        fault = ""
        for attempt in range(1, TRIES + 1):
            try:
                completion = await model.backend.complete(self._request(pair, parts, attempt))
                return self._judgement(read_completion(completion, self._contract))
            except BackendError as error:
                return unscored(f"{type(error).__name__}: {error}")
            except UnreadableAnswer as error:
                fault = str(error)
                again = {"answer": completion.text[:_SENT_BACK], "error": fault}
                parts = (self._question(pair), self._prompts.render("retry", again))
        return unscored(f"no valid answer in {TRIES} tries; fault of the last answer: {fault}")

    def _question(self, pair: DescriptionPair) -> str:
        rubric = self.rubric.file
        variables = {
            "subject": rubric.subject,
            "axes": rubric.axes,
            "worst": rubric.scale[0],
            "best": rubric.scale[1],
            "whole": rubric.ratings == "whole",
            "instruction": pair.instruction,
            "reference": pair.reference,
            "prediction": pair.prediction,
            "reference_steps": pair.reference_steps,
            "prediction_steps": pair.prediction_steps,
        }
        return self._prompts.render("rate", variables)

    def _request(self, pair: DescriptionPair, parts: tuple[str, ...], attempt: int) -> Request:
        decoding = self._model.decoding
        if decoding.temperature is not None:  # None: the server takes no temperature
            decoding = decoding.with_(temperature=0.0)
        return Request(
            stage=STAGE,
            subject=f"{pair.reference_id}/{pair.prediction_id}",
            clip=pair.clip_id,
            attempt=attempt,
            system=self._prompts.render("system", {"subject": self.rubric.file.subject}),
            parts=parts,
            schema=json_schema(self._contract),
            decoding=decoding,
            sample=self.sample,
        )

    def _judgement(self, answer: Answer) -> Judgement:
        ratings = answer.model_dump()
        reasons = ratings.pop(REASONS)
        return Judgement(self.rubric.similarity(ratings), ratings, reasons)


def _texts(pair: DescriptionPair) -> _Texts:
    return pair.reference, pair.prediction, pair.instruction, pair.reference_steps, pair.prediction_steps


def open_model_judge(spec: JudgeSpec) -> ModelJudge:
    """The judge that asks the model in `spec.value` (KIND:NAME[@URL] or a YAML file). Raises InputError if `spec.value`
    is not a model.
    """
    try:
        config = ModelsConfig.read(spec.value)
    except InputError as error:
        raise InputError(f"a judge must be 'offline', 'table:FILE' or a model; {error}") from error
    answers = spec.answers or user_cache_path("robogaze") / "answers.sqlite"
    return ModelJudge(read_rubric(spec.rubric), config, answers, spec.environ, spec.sample)
