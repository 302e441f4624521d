"""Checks of every completion, whichever backend it comes from."""

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.backends.reply import check_finished, check_types
from robogaze.errors import ServerFault


class TypeCheck(Middleware):
    """Refuses completions with fields of the wrong type."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises ServerFault for a completion with a field of the wrong type."""
        completion = await self.inner.complete(request)
        try:
            check_types(completion)
        except ValueError as error:
            raise ServerFault(f"the completion is invalid: {error}") from error
        return completion


class FinishCheck(Middleware):
    """Refuses completions that are refusals or did not finish. RateLimiter has counted their cost already."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises RequestRefused or ServerFault; see `robogaze.backends.reply.check_finished`."""
        completion = await self.inner.complete(request)
        check_finished(completion)
        return completion
