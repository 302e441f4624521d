"""Work in threads that never keep a program from ending, and coroutines for callers that cannot await.

Python waits for the threads of `asyncio.to_thread` when it ends. These are daemons, and work that calls `check` ends as
soon as nobody waits for its result any more.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, InvalidStateError
from contextvars import ContextVar, copy_context
from functools import wraps
from typing import Any, ParamSpec, TypeVar

NAME = "robogaze work"
"""What every such thread is called."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Abandoned(BaseException):
    """Nobody waits for this work any more. It passes through `except Exception`, as a cancellation does."""


_current: ContextVar["Future[Any] | None"] = ContextVar("current", default=None)


def check() -> None:
    """Raise Abandoned in a thread of `in_thread` whose caller was cancelled; anywhere else, do nothing."""
    current = _current.get()
    if current is not None and current.cancelled():
        raise Abandoned


async def in_thread(work: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
    """Do work in a daemon thread, in the caller's context; return its result, or raise what it raises."""
    result: Future[Result] = Future()
    context = copy_context()
    context.run(_current.set, result)
    _start(lambda: context.run(work, *args, **kwargs), result)
    return await asyncio.wrap_future(result)


def _start(work: Callable[[], Result], result: "Future[Result]") -> None:
    """Do work in a daemon thread and settle its result."""

    def run() -> None:
        try:
            found = work()
        except BaseException as error:  # noqa: BLE001 - it is the caller's, whatever it is
            _settle(result.set_exception, error)
        else:
            _settle(result.set_result, found)

    threading.Thread(target=run, daemon=True, name=NAME).start()


def synchronous(work: Callable[Arguments, Coroutine[Any, Any, Result]]) -> Callable[Arguments, Result]:
    """The same function for callers that cannot await.

    In a thread with a running event loop, as in a notebook, the work runs in another thread, and the call blocks.
    """

    @wraps(work)
    def call(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work(*args, **kwargs))
        result: Future[Result] = Future()
        _start(lambda: asyncio.run(work(*args, **kwargs)), result)
        return result.result()

    call.__name__ = call.__qualname__ = work.__name__.removesuffix("_async")
    return call


def _settle(tell: Callable[[Any], None], value: object) -> None:
    """Hand a result over, unless nobody waits for it."""
    try:
        tell(value)
    except InvalidStateError:
        return
    except RuntimeError:  # the caller's event loop is closed
        return
