"""Requests to the models that build an environment: each request contains the draft so far, followed by the prompt."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from pydantic import BaseModel

from robogaze.backends import Model, Models, Request
from robogaze.core.pictures import Picture
from robogaze.core.report import Call
from robogaze.domains import Domain
from robogaze.stages.asking import Asker, Parts, Query

ROLE = "llm"


class BuildVariables(TypedDict):
    """The variables of the prompt `build`, which shows the draft so far. `concept` is None until the producer has
    answered.
    """

    request: str
    concept: Mapping[str, Any] | None
    sections: tuple[Mapping[str, Any], ...]
    code: Mapping[str, tuple[str, ...]]
    walkthrough: tuple[str, ...]


BUILD_PROMPTS: Mapping[str, tuple[str, ...]] = {
    "build_system": (),
    "build": tuple(BuildVariables.__annotations__),
    "build_proposal": (),
    "build_plan": ("team", "required"),
    "build_section": ("team", "task", "tasks", "reason", "before", "modules"),
    "build_part": ("team", "task", "tasks", "reason", "before", "modules"),
    "build_review": ("team", "tasks"),
    "build_walkthrough": (),
    "build_repair": ("problem", "replies", "modules"),
    "build_bug": ("difficulty", "taken", "bugs", "problem", "before"),
    "build_extension": ("found", "total", "taken", "modules"),
}
"""The prompts of a build and their variables."""


@dataclass
class BuildClient(Asker):
    """Queries the models about one environment and keeps the ledger."""

    domain: Domain
    models: Models
    name: str
    pictures: dict[str, Picture] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _rounds: int = 0

    @property
    def clip_id(self) -> str:
        return self.name

    @property
    def timing(self) -> None:
        return None

    @property
    def next_round(self) -> int:
        """The round of a request that is sent now, when all earlier requests have been answered."""
        return self._rounds + 1

    async def ask(
        self,
        prompt: str,
        subject: str,
        contract: type[BaseModel],
        known: BuildVariables,
        variables: Mapping[str, Any],
        check: Callable[[Any], str | None] = lambda answer: None,
        first_round: int | None = None,
    ) -> Any:
        """Send a prompt and return the answer; an answer that does not fit `contract` is asked for again. Raises
        NoAnswer as `ModelClient.ask` does.

        Requests that are sent at the same time have the same `first_round`; see `next_round`.
        """
        query = Query(prompt, subject, ROLE, prompt, variables, (), contract, check=check)
        prompts = self.domain.prompts
        parts: Parts = (prompts.render("build", known), prompts.render(prompt, variables))
        return await self._ask(query, parts, first_round or self.next_round)

    def request(self, query: Query, parts: Parts, model: Model, attempt: int) -> Request:
        """The request for a query, with the system prompt of a build."""
        return replace(
            super().request(query, parts, model, attempt), system=self.domain.prompts.render("build_system", {})
        )
