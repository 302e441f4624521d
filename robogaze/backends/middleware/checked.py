"""What every backend's completions go through, whoever wrote it: no odd reply gets past these two."""

from robogaze.backends.base import Completion, Request, Wrapper
from robogaze.backends.reply import check, check_ended
from robogaze.errors import ServerFault


class Typed(Wrapper):
    """Lets well-typed completions through."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises ServerFault for a completion with a field of another type."""
        completion = await self.inner.complete(request)
        try:
            check(completion)
        except ValueError as error:
            raise ServerFault(f"a completion came that cannot be read: {error}") from error
        return completion


class Ended(Wrapper):
    """Lets completions through that ended by themselves or at the token limit; it comes after their cost is counted."""

    async def complete(self, request: Request) -> Completion:
        """Answer a request. Raises RequestRefused or ServerFault; see `robogaze.backends.reply.check_ended`."""
        completion = await self.inner.complete(request)
        check_ended(completion)
        return completion
