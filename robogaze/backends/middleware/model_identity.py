"""Checks that all results of a run come from the same model: a server must serve the model that it served at the start
of the run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.errors import ModelChanged

FirstName = Callable[[str, str, str], str]
"""Takes a model of the run, what its server does ("serves", "answers as") and the name it uses; returns the name that
the server used first. See `AnswerStore.first_name`."""


def check_name(first_name: FirstName, model: str, does: str, name: str) -> None:
    """Raise ModelChanged when a server uses a different name than at the start of the run."""
    if (first := first_name(model, does, name)) != name:
        raise ModelChanged(
            f"the server of the model {model} {does} {name}, but used the name {first} when this run began; "
            f"serve {first}, or use another `out`"
        )


@dataclass
class ModelIdentityGuard(Middleware):
    """Raises ModelChanged when the server of `model` uses a different name than at the start of the run."""

    model: str
    first_name: FirstName

    async def ready(self) -> str | None:
        """The name of the served model. Raises ModelChanged."""
        served = await self.inner.ready()
        if served is not None:
            check_name(self.first_name, self.model, "serves", served)
        return served

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises ModelChanged."""
        completion = await self.inner.complete(request)
        if completion.model:
            check_name(self.first_name, self.model, "answers as", completion.model)
        return completion
