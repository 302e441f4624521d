"""remember: a memory of the whole clip, from the descriptions of its windows (GLIDE, 4.2.2).

Every later query includes the memory, so that a model that sees one window can compare it with the rest of the clip.
The front matter of the prompt declares what the memory contains.

The query is left out if it has no use: if no hypothesis is to be decided, or if fewer than two windows have a
description. One window cannot show what is usual in the clip.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict

from robogaze.core.context import WindowObservation
from robogaze.domains import Domain
from robogaze.domains.contract import record
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot


class RememberVariables(TypedDict):
    """The variables of the prompt `remember`: the windows that have a description."""

    observations: tuple[WindowObservation, ...]


class Remember(Stage):
    """Writes the memory."""

    prompts: ClassVar[Mapping[str, type]] = {"remember": RememberVariables}

    def reads(self) -> frozenset[Slot]:
        return frozenset({"scanned"})

    def writes(self) -> frozenset[Slot]:
        return frozenset({"memory"})

    def role(self) -> str:
        return "llm"

    def check(self, domain: Domain) -> None:
        """Raise DomainError if the prompt declares no answer."""
        domain.prompts.contract("remember")

    async def run(self, context: Context, client: ModelClient) -> Context:
        observations = tuple(observation for observation in context.scanned or () if observation.notes)
        is_open = any(hypothesis.verdict == "unverified" for hypothesis in context.hypotheses or ())
        if not is_open or len(observations) < 2:
            return context
        query = Query(
            stage="remember",
            subject="clip",
            role=self.role(),
            prompt="remember",
            variables=RememberVariables(observations=observations),
            images=(),
            contract=record("Memory", client.domain.prompts.contract("remember")),
        )
        answer = await client.ask(query, context)
        return replace(context, memory=answer.model_dump())
