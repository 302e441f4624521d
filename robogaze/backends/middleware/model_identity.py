"""Noticing when a server answers as another model than before: half a run by one model and half by another is none."""

from collections.abc import Callable
from dataclasses import dataclass

from robogaze.backends.base import Completion, Request, Wrapper
from robogaze.errors import ModelChanged

FirstTold = Callable[[str, str, str], str]
"""Is given a model, what its server does (serve, answer) and the name that it uses; returns the first such name."""

_SERVES, _ANSWERS = "serves", "answers as"


def check_answer(first: FirstTold, model: str, name: str) -> None:
    """Raise ModelChanged when a server answered under another name than it did first."""
    _check(first, model, _ANSWERS, name)


def _check(first: FirstTold, model: str, does: str, name: str) -> None:
    if (before := first(model, does, name)) != name:
        raise ModelChanged(
            f"the server of the model {model} {does} {name} now and {does} {before} when this run began; start that "
            "one again, or choose another --out"
        )


@dataclass(frozen=True)
class ModelIdentityGuard(Wrapper):
    """Raises ModelChanged when the server of `model` names another one than it did first."""

    model: str
    first: FirstTold

    async def ready(self) -> str | None:
        """What the server says it serves. Raises ModelChanged."""
        served = await self.inner.ready()
        if served is not None:
            _check(self.first, self.model, _SERVES, served)
        return served

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises ModelChanged."""
        completion = await self.inner.complete(request)
        if completion.model:
            check_answer(self.first, self.model, completion.model)
        return completion
