"""Requests to the models about one play.

A request begins with what is known about the play: the environment, the types of faults, memories, and the steps with
the oldest first. Consecutive requests therefore share a long beginning. The pictures of the last reply and the prompt
follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from robogaze.backends import Model, Models, Request
from robogaze.core.context import Memory
from robogaze.core.pictures import Picture
from robogaze.core.report import Call
from robogaze.domains import Dimension, Domain
from robogaze.stages.asking import Asker, Parts, Query


class PlayVariables(TypedDict):
    """The variables of the prompt `play`, which shows what is known about a play.

    `documents` are the names of the documents that can be read, or None if none can be read. `memory` has the notes of
    earlier sessions. `summary` is the summary of the steps up to the step `summarised`, and `entries` are the steps
    after this step.
    """

    session: int
    sessions: int
    budget: int
    documents: tuple[str, ...] | None
    dimensions: tuple[Dimension, ...]
    cascade: str
    not_annotated: tuple[str, ...]
    memory: tuple[Memory, ...]
    summary: Memory | None
    summarised: int
    entries: tuple[Mapping[str, Any], ...]


PLAY_PROMPTS: Mapping[str, tuple[str, ...]] = {
    "play": tuple(PlayVariables.__annotations__),
    "play_step": ("budget", "steps_left", "reflects", "tools", "claims"),
    "play_ruling": ("claim", "steps", "commands", "replay"),
    "play_summary": ("until",),
    "play_memory": ("steps", "budget", "claims"),
}
"""The prompts of a play and their variables."""


@dataclass
class PlayClient(Asker):
    """Queries the models about one play and keeps the ledger. If `seed` is None, the seed in the model's settings is
    used.
    """

    domain: Domain
    models: Models
    play_id: str
    seed: int | None = None
    pictures: dict[str, Picture] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    _rounds: int = 0

    @property
    def clip_id(self) -> str:
        return self.play_id

    @property
    def timing(self) -> None:
        return None

    async def ask(self, query: Query, known: PlayVariables) -> Any:
        """Send a query and return the answer; an answer that does not fit the contract is asked for again. Raises
        NoAnswer as `ModelClient.ask` does.
        """
        prompts = self.domain.prompts
        parts: Parts = (prompts.render("play", known), *query.images, prompts.render(query.prompt, query.variables))
        return await self._ask(query, parts, self._rounds + 1)

    def request(self, query: Query, parts: Parts, model: Model, attempt: int) -> Request:
        """The request for a query, with the seed of the play."""
        request = super().request(query, parts, model, attempt)
        if self.seed is None:
            return request
        return replace(request, decoding=request.decoding.with_(seed=self.seed))
