"""Checks of every completion, for all backends."""

from pydantic import ValidationError

from robogaze.backends.base import Completion, Middleware, Request
from robogaze.backends.reply import check_finished
from robogaze.core.data import fault_of
from robogaze.errors import ServerFault


class TypeCheck(Middleware):
    """Checks the types of a completion's fields."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises ServerFault for a completion with a field of the wrong type."""
        try:
            return await self.inner.complete(request)
        except ValidationError as error:
            raise ServerFault(f"the completion is invalid: {fault_of(error)}") from error


class FinishCheck(Middleware):
    """Raises an error for refusals and for answers with an unknown finish reason. RateLimiter has already counted the
    cost of these completions.
    """

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises RequestRefused or ServerFault; see `robogaze.backends.reply.check_finished`."""
        completion = await self.inner.complete(request)
        check_finished(completion)
        return completion
