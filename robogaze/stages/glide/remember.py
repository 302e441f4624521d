"""remember: what the windows of the clip show, taken together (GLIDE, 4.2.2).

The memory is told with every question after this stage, so that what looks odd in a window can be held against the rest
of the clip. What it holds is declared in the prompt's front matter.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, TypedDict

from robogaze.core.context import Observation
from robogaze.domains import Domain
from robogaze.domains.contract import record
from robogaze.stages.base import Stage
from robogaze.stages.client import ModelClient, Query
from robogaze.stages.context import Context, Slot


class RememberVariables(TypedDict):
    """The windows with what they show."""

    observations: tuple[Observation, ...]


class Remember(Stage):
    """Writes the memory."""

    prompts: ClassVar[Mapping[str, type]] = {"remember": RememberVariables}

    def reads(self) -> frozenset[Slot]:
        """The windows with what they show."""
        return frozenset({"scanned"})

    def writes(self) -> frozenset[Slot]:
        """The memory."""
        return frozenset({"memory"})

    def role(self) -> str:
        """A model that reads."""
        return "llm"

    def check(self, domain: Domain) -> None:
        """Raise DomainError when the prompt declares no answer."""
        domain.prompts.contract("remember")

    async def run(self, context: Context, desk: ModelClient) -> Context:
        """Ask once about all windows that say something."""
        question = Query(
            stage="remember",
            subject="clip",
            role=self.role(),
            prompt="remember",
            variables=RememberVariables(observations=tuple(one for one in context.scanned or () if one.notes)),
            shots=(),
            contract=record("Memory", desk.domain.prompts.contract("remember")),
        )
        answer = await desk.ask(question, context)
        return replace(context, memory=answer.model_dump())
