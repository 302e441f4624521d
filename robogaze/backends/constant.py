"""Noticing when a server answers as another model than before: half a run by one model and half by another is none."""

from collections.abc import Callable
from dataclasses import dataclass

from robogaze.backends.base import Completion, Request, Wrapper
from robogaze.errors import ModelChanged

_SERVES, _ANSWERS = "serves", "answers as"


@dataclass(frozen=True)
class Constant(Wrapper):
    """Raises ModelChanged when a server names another model than it did first.

    `first` is given what a server does (serve, answer) and the name it uses, and returns the name it used first.
    """

    where: str
    first: Callable[[str, str], str]

    async def ready(self) -> str | None:
        """What the server says it serves. Raises ModelChanged."""
        served = await self.inner.ready()
        if served is not None:
            self._check(_SERVES, served)
        return served

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises ModelChanged."""
        completion = await self.inner.complete(request)
        if completion.model:
            self._check(_ANSWERS, completion.model)
        return completion

    def _check(self, does: str, name: str) -> None:
        if (before := self.first(does, name)) != name:
            raise ModelChanged(
                f"{self.where} {does} {name} now and {does} {before} when this run began; start that one again, or "
                "choose another --out"
            )
